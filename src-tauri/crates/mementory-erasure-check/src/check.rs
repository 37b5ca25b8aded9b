//! Looks for traces of erased data in the records, the decrypted database pages (including free pages), the index
//! files, the blobs, the passthrough files, the WAL and the vault's folder. It uses no code of the vault crate, which
//! plans and carries out deletions. It reads through the store and search crates, which the deletion uses too.
use crate::{
    Evidence, PlaceOutcome, Receipt, ReceiptPlace,
    indexed_words::indexed_words,
    internal::thread_stopped,
    receipt::{NOT_SEARCHED, checked_place},
};
use mementory_crypto::VaultKeys;
use mementory_model::Timestamp;
use mementory_search::{IndexResult, SearchIndex};
use mementory_store::{Store, StoreError, StoreResult, blobs::Blobs};
use rusqlite::OptionalExtension;
use std::{
    collections::HashSet,
    path::Path,
    sync::{PoisonError, RwLock},
};

/// Access to one open vault for the check.
#[derive(Clone, Copy)]
pub struct ErasureCheck<'c> {
    /// Folder of the vault.
    pub dir: &'c Path,
    /// Keys of the vault, with which the check reads the index files.
    pub keys: &'c VaultKeys,
    /// Database of the vault, which is searched row by row and page by page.
    pub store: &'c Store,
    /// Encrypted attachments.
    pub blobs: &'c Blobs,
    /// Search index; the check takes the lock for reading only.
    pub index: &'c RwLock<SearchIndex>,
}

/// A function that wipes the unused bytes of the given pages and returns whether the WAL is clean afterwards.
pub type Wipe<'a> = &'a dyn Fn(&[i64]) -> StoreResult<bool>;

/// A function that removes what the deletion left in the index. The check calls it on a separate thread before it
/// searches the index.
pub type IndexCleanup<'a> = &'a (dyn Fn() -> StoreResult<()> + Sync);

impl ErasureCheck<'_> {
    /// Runs `f` with the index.
    pub(crate) fn with_index<T>(&self, f: impl FnOnce(&SearchIndex) -> IndexResult<T>) -> StoreResult<T> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        f(&index).map_err(|e| StoreError::Index(e.to_string()))
    }

    /// Runs `clean_index`, searches every place and reports what it found. If database pages contain traces, `wipe` is
    /// called once with these pages, before the check decides which traces belong to live data.
    ///
    /// # Errors
    /// Errors of the database and of `clean_index`. A place that cannot be searched is not an error; the receipt lists
    /// it as failed.
    pub fn run(
        &self,
        id: String,
        evidence: &mut Evidence,
        now: Timestamp,
        wipe: Option<Wipe<'_>>,
        clean_index: IndexCleanup<'_>,
    ) -> StoreResult<Receipt> {
        let mut places = vec![self.check_records(evidence)?];
        let shared_evidence = &*evidence;
        let (pages, index, passthrough, copies_left) = std::thread::scope(|scope| {
            let other_checks = scope.spawn(|| {
                clean_index()?;
                let (index, present) = self.check_index(shared_evidence)?;
                StoreResult::Ok((
                    index,
                    self.check_passthrough(shared_evidence),
                    self.copies_left(shared_evidence, &present),
                ))
            });
            let pages = self.check_pages(shared_evidence, wipe);
            let (index, passthrough, copies) = other_checks.join().unwrap_or_else(|_| Err(thread_stopped()))?;
            StoreResult::Ok((pages, index, passthrough, copies))
        })?;
        // A place that cannot be searched counts as failed.
        let failed_place = |name: &str, e: StoreError| {
            checked_place(name, false, PlaceOutcome::Failed, format!("{NOT_SEARCHED}: {e}"))
        };
        let (pages, wal_clean) = pages.unwrap_or_else(|e| (failed_place("database_pages", e), None));
        evidence.wal_clean = wal_clean.unwrap_or(evidence.wal_clean);
        places.extend([pages, index, self.check_blobs(evidence)]);
        places.push(passthrough.unwrap_or_else(|e| failed_place("passthrough", e)));
        places.push(self.check_wal(evidence.wal_clean));
        places.push(self.check_folder());
        let copies_left = copies_left?;
        let complete = places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        let copies_redacted = (!evidence.traces_unknown).then_some(evidence.copies);
        Ok(Receipt { id, at: now, complete, places, copies_left, copies_redacted })
    }

    fn check_records(&self, evidence: &Evidence) -> StoreResult<ReceiptPlace> {
        let connection = self.store.new_reader()?;
        let mut rows_left = 0;
        for row in &evidence.erased_rows {
            for sql in [
                "SELECT 1 FROM records WHERE row = ?1",
                "SELECT 1 FROM versions WHERE row = ?1",
                "SELECT 1 FROM tags WHERE row = ?1",
                "SELECT 1 FROM links WHERE row = ?1",
                "SELECT 1 FROM vectors WHERE row = ?1",
            ] {
                rows_left +=
                    i64::from(connection.prepare_cached(sql)?.query_row([row], |_| Ok(())).optional()?.is_some());
            }
        }
        Ok(checked_place(
            "record",
            rows_left == 0,
            if evidence.erased_rows.is_empty() { PlaceOutcome::Redacted } else { PlaceOutcome::Erased },
            format!(
                "{} records, their versions, verbatim texts, links and vectors",
                evidence.erased_rows.len().max(evidence.rewritten_rows.len())
            ),
        ))
    }

    /// Checks the index. Also returns the words of the evidence that the index still contains because other records
    /// have them. If the index cannot be searched, returns all words of the evidence.
    fn check_index(&self, evidence: &Evidence) -> StoreResult<(ReceiptPlace, HashSet<String>)> {
        let words: Vec<String> = evidence.words.iter().cloned().collect();
        let rows: Vec<u64> = evidence.erased_rows.iter().map(|r| *r as u64).collect();
        let changed_rows: Vec<u64> = evidence.rewritten_rows.iter().map(|r| *r as u64).collect();
        let folder = self.dir.join("index");
        let residue = match mementory_search::residue(&folder, self.keys.index(), &rows, &changed_rows, &words) {
            Ok(residue) => residue,
            Err(e) => {
                let failed_place =
                    checked_place("search_index", false, PlaceOutcome::Failed, format!("{NOT_SEARCHED}: {e}"));
                return Ok((failed_place, words.into_iter().collect()));
            }
        };
        let mut leftovers: Vec<String> = residue.findings.iter().map(|f| format!("{}: {}", f.file, f.reason)).collect();
        for (row, numbers) in &residue.words_by_row {
            let own_words = self.words_of_row(*row as i64)?;
            let word = |number: &u32| words.get(*number as usize);
            if numbers.iter().filter_map(word).any(|word| !own_words.contains(word)) {
                leftovers.push(format!("row {row} is found by a word that its record does not have"));
            }
        }
        let detail = match leftovers.first() {
            None => format!("{} files, {} words and {} rows looked for", residue.files, words.len(), rows.len()),
            Some(first) => format!("{} leftovers: {first}", leftovers.len()),
        };
        let present_words = residue.present.iter().filter_map(|n| words.get(*n as usize).cloned()).collect();
        Ok((checked_place("search_index", leftovers.is_empty(), PlaceOutcome::Erased, detail), present_words))
    }

    /// The words that the index may contain for a record, read from all of its versions in the store.
    fn words_of_row(&self, row: i64) -> StoreResult<HashSet<String>> {
        let connection = self.store.new_reader()?;
        let sql = "SELECT pack, slot FROM records WHERE row = ?1 UNION SELECT pack, slot FROM versions WHERE row = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let places = statement.query_map([row], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<Result<Vec<_>, _>>()?;
        let mut out = HashSet::new();
        for (pack, slot) in places {
            indexed_words(&self.store.packs.record(&connection, pack, slot)?, &mut |word| {
                out.insert(word.to_owned());
            });
        }
        Ok(out)
    }

    fn check_blobs(&self, evidence: &Evidence) -> ReceiptPlace {
        let files_left = evidence.blobs.iter().filter(|b| self.blobs.exists(b)).count();
        let outcome = if evidence.blobs.is_empty() { PlaceOutcome::NotPresent } else { PlaceOutcome::Erased };
        checked_place(
            "attachments",
            files_left == 0,
            outcome,
            if files_left == 0 {
                format!("{} files", evidence.blobs.len())
            } else {
                format!("{files_left} files are still there")
            },
        )
    }

    pub(crate) fn check_wal(&self, is_written_back: bool) -> ReceiptPlace {
        let size = std::fs::metadata(self.dir.join("store.db-wal")).map_or(0, |m| m.len());
        let is_clean = is_written_back && size == 0;
        let detail = match (is_clean, size) {
            (true, _) => "written back and truncated".into(),
            (false, 0) => "not written back: somebody was reading".into(),
            (false, size) => format!("{size} bytes remain"),
        };
        checked_place("write_ahead_log", is_clean, PlaceOutcome::Erased, detail)
    }
}
