//! Looks for what a deletion erased: in the records, the decrypted database pages (free ones too), the index files, the
//! blobs, the passthrough files, the WAL and the vault's folder. It uses nothing of the vault crate, which plans and
//! carries out deletions. It reads through the store and search crates, which the deletion uses too.
use crate::{
    Evidence, PlaceOutcome, Receipt, ReceiptPlace,
    receipt::{NOT_SEARCHED, place},
    sentence::contains_sentence,
};
use mementory_crypto::VaultKeys;
use mementory_model::Timestamp;
use mementory_search::{IndexResult, SearchIndex};
use mementory_store::{RowView, Store, StoreError, StoreResult, blobs::Blobs};
use rusqlite::OptionalExtension;
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{PoisonError, RwLock},
};

/// Access to one open vault for the check.
#[derive(Clone, Copy)]
pub struct ErasureCheck<'c> {
    /// Folder of the vault.
    pub dir: &'c Path,
    /// Its keys.
    pub keys: &'c VaultKeys,
    /// Its database.
    pub store: &'c Store,
    /// Its attachments.
    pub blobs: &'c Blobs,
    /// Its search index.
    pub index: &'c RwLock<SearchIndex>,
}

/// A function that wipes the unused bytes of these pages and returns whether the WAL is clean afterwards.
pub type Wipe<'a> = &'a dyn Fn(&[i64]) -> StoreResult<bool>;

/// The deletion's remaining work in the index. It runs in a thread of its own before the index is searched.
pub type Beside<'a> = &'a (dyn Fn() -> StoreResult<()> + Sync);

/// Upper limit for the sentences that are searched in other records.
const MAX_SENTENCES: usize = 200;
/// Upper limit for the records that are read for one sentence.
const MAX_RECORDS_PER_SENTENCE: usize = 50;
impl ErasureCheck<'_> {
    /// Runs `f` with the index.
    pub(crate) fn with_index<T>(&self, f: impl FnOnce(&SearchIndex) -> IndexResult<T>) -> StoreResult<T> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        f(&index).map_err(|e| StoreError::Index(e.to_string()))
    }

    /// Runs `beside`, searches every place and reports what it found. `wipe` is called once, with the pages that
    /// contain traces, before any of them is excused.
    ///
    /// # Errors
    /// Errors of the database and of `beside`. A place that cannot be searched is no error, but fails in the receipt.
    pub fn run(
        &self,
        id: String,
        evidence: &mut Evidence,
        now: Timestamp,
        wipe: Option<Wipe<'_>>,
        beside: Beside<'_>,
    ) -> StoreResult<Receipt> {
        let mut places = vec![self.check_records(evidence)?];
        let shared = &*evidence;
        let stopped = || StoreError::Usage("the check stopped".into());
        let (pages, index, parts, copies_left) = std::thread::scope(|scope| {
            let others = scope.spawn(|| {
                beside()?;
                StoreResult::Ok((self.check_index(shared), self.check_passthrough(shared), self.copies_left(shared)))
            });
            let pages = self.check_pages(shared, wipe);
            let (index, parts, copies) =
                others.join().unwrap_or_else(|_| Ok((Err(stopped()), Err(stopped()), Err(stopped()))))?;
            StoreResult::Ok((pages, index, parts, copies))
        })?;
        // A place that cannot be searched counts as failed.
        let failed =
            |name: &str, e: StoreError| place(name, false, PlaceOutcome::Failed, format!("{NOT_SEARCHED}: {e}"));
        let (pages, wal_clean) = pages.unwrap_or_else(|e| (failed("database_pages", e), None));
        evidence.wal_clean = wal_clean.unwrap_or(evidence.wal_clean);
        places.extend([pages, index.unwrap_or_else(|e| failed("search_index", e)), self.check_blobs(evidence)]);
        places.push(parts.unwrap_or_else(|e| failed("passthrough", e)));
        places.push(self.check_wal(evidence.wal_clean));
        places.push(self.check_folder());
        let copies_left = copies_left?;
        let complete = places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        let copies_redacted = (!evidence.traces_unknown).then_some(evidence.copies);
        Ok(Receipt { id, at: now, complete, places, copies_left, copies_redacted })
    }

    fn check_records(&self, evidence: &Evidence) -> StoreResult<ReceiptPlace> {
        let connection = self.store.extra_reader()?;
        let mut left = 0;
        for row in &evidence.gone_rows {
            for sql in [
                "SELECT 1 FROM records WHERE row = ?1",
                "SELECT 1 FROM versions WHERE row = ?1",
                "SELECT 1 FROM tags WHERE row = ?1",
                "SELECT 1 FROM links WHERE row = ?1",
            ] {
                left += i64::from(connection.prepare_cached(sql)?.query_row([row], |_| Ok(())).optional()?.is_some());
            }
        }
        Ok(place(
            "record",
            left == 0,
            if evidence.gone_rows.is_empty() { PlaceOutcome::Redacted } else { PlaceOutcome::Erased },
            format!(
                "{} records, their versions, verbatim texts and links",
                evidence.gone_rows.len().max(evidence.rewritten_rows.len())
            ),
        ))
    }

    fn check_index(&self, evidence: &Evidence) -> StoreResult<ReceiptPlace> {
        // A word that no live record contains must not be in the index's dictionaries either.
        let mut words: BTreeSet<String> = BTreeSet::new();
        for text in &evidence.texts {
            words.extend(mementory_search::tokens(text).into_iter().filter(|w| w.len() >= 5));
        }
        let mut orphaned = Vec::new();
        for word in words.into_iter().take(64) {
            if self.with_index(|i| i.rows_with_phrase(&word, 1))?.is_empty() {
                orphaned.push(word);
            }
        }
        let rows: Vec<u64> = evidence.gone_rows.iter().map(|r| *r as u64).collect();
        let rewritten: Vec<u64> = evidence.rewritten_rows.iter().map(|r| *r as u64).collect();
        let folder = self.dir.join("index");
        let residue = mementory_search::residue(&folder, self.keys.index(), &rows, &rewritten, &orphaned);
        Ok(match residue {
            Ok(r) if r.findings.is_empty() => place(
                "search_index",
                true,
                PlaceOutcome::Erased,
                format!("{} files, {} words and {} rows looked for", r.files, orphaned.len(), rows.len()),
            ),
            Ok(r) => place(
                "search_index",
                false,
                PlaceOutcome::Failed,
                format!(
                    "{} leftovers: {}",
                    r.findings.len(),
                    r.findings.first().map(|f| format!("{}: {}", f.file, f.reason)).unwrap_or_default()
                ),
            ),
            Err(e) => place("search_index", false, PlaceOutcome::Failed, e.to_string()),
        })
    }

    fn check_blobs(&self, evidence: &Evidence) -> ReceiptPlace {
        let left = evidence.blobs.iter().filter(|b| self.blobs.exists(b)).count();
        let outcome = if evidence.blobs.is_empty() { PlaceOutcome::NotPresent } else { PlaceOutcome::Erased };
        place(
            "attachments",
            left == 0,
            outcome,
            if left == 0 { format!("{} files", evidence.blobs.len()) } else { format!("{left} files are still there") },
        )
    }

    pub(crate) fn check_wal(&self, written_back: bool) -> ReceiptPlace {
        let size = std::fs::metadata(self.dir.join("store.db-wal")).map_or(0, |m| m.len());
        let clean = written_back && size == 0;
        let detail = match (clean, size) {
            (true, _) => "written back and truncated".into(),
            (false, 0) => "not written back: somebody was reading".into(),
            (false, size) => format!("{size} bytes remain"),
        };
        place("write_ahead_log", clean, PlaceOutcome::Erased, detail)
    }

    /// Number of records that contain one of the erased sentences. The index finds candidates, which are then read.
    fn copies_left(&self, evidence: &Evidence) -> StoreResult<u32> {
        let connection = self.store.extra_reader()?;
        let mut rows = BTreeSet::new();
        for sentence in evidence.sentences.iter().take(MAX_SENTENCES) {
            for row in self.with_index(|i| i.rows_with_phrase(sentence, MAX_RECORDS_PER_SENTENCE))? {
                let row = row as i64;
                if !rows.contains(&row)
                    && let Some(view) = RowView::by_row(&connection, row)?
                    // A record that cannot be read is counted, since it may contain the sentence.
                    && self.store.packs.record(&connection, view.pack, view.slot).map_or(true, |r| contains_sentence(&r, sentence))
                {
                    rows.insert(row);
                }
            }
        }
        Ok(rows.len() as u32)
    }
}
