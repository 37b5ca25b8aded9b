//! The independent check after a deletion: it looks for what was erased in decrypted database pages (free ones too), index
//! files, blobs, the WAL and scratch files. It shares no code with the deletion: pages come through `sqlite_dbpage`,
//! index files through their own reader, and everything is searched as bytes.
mod again;
mod folder;
mod live;
mod pages;
mod parts;
mod unused;

pub(crate) use again::Tidied;
pub(crate) use folder::clear_partials;

use crate::{Vault, VaultResult, change::says, store::RowView};
use memchr::memmem;
use mementory_model::Timestamp;
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Wipes the unused parts of these pages; answers whether the WAL is clean afterwards.
pub(crate) type Wipe<'a> = &'a dyn Fn(&[i64]) -> VaultResult<bool>;

/// What is left to do in the index: done in a thread of its own before that is looked through.
pub(crate) type Beside<'a> = &'a (dyn Fn() -> VaultResult<()> + Sync);

/// Result of one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceOutcome {
    /// It was there and is gone.
    Erased,
    /// The words were replaced.
    Redacted,
    /// It was never there.
    NotPresent,
    /// It could not be shown to be gone.
    Failed,
}

/// One place of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ReceiptPlace {
    pub place: String,
    pub outcome: PlaceOutcome,
    pub detail: String,
}

/// What the check found. Complete only if no place failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Receipt {
    pub id: String,
    pub at: Timestamp,
    pub complete: bool,
    pub places: Vec<ReceiptPlace>,
    /// Other records that still say the same. What was left on purpose is no failure of a place, and said beside them.
    pub copies_left: u32,
    /// Other records that said the same and lost the words. None where it is not known: in receipts of former versions,
    /// and of what was cut off.
    #[serde(default)]
    pub copies_redacted: Option<u32>,
}

impl Receipt {
    /// True when only places failed that may be different by now: a WAL that somebody was reading, a file in the folder,
    /// an attachment that could not be removed.
    pub(crate) fn may_have_passed(&self) -> bool {
        let mut failed = self.places.iter().filter(|p| p.outcome == PlaceOutcome::Failed).peekable();
        failed.peek().is_some()
            && failed.all(|p| ["write_ahead_log", "temporary_files", "attachments"].contains(&p.place.as_str()))
    }
}

/// How the detail begins of a place that could not be searched.
const NOT_SEARCHED: &str = "not searched";

/// Sentences looked for in other records.
const SENTENCES: usize = 200;
/// Records looked at for one of them.
const FOUND: usize = 50;
/// Bytes taken from a replaced pack to look for; long enough never to meet by chance.
const WINDOW: usize = 32;
/// Windows for one pack.
const WINDOWS: usize = 6;

/// What the deletion hands over to the check: traces to look for.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    windows: Vec<Vec<u8>>,
    /// The pack that each window is of.
    window_packs: Vec<i64>,
    /// Rows that are to be nowhere.
    pub(crate) gone_rows: Vec<i64>,
    /// Rows that stay and lost words.
    pub(crate) rewritten_rows: Vec<i64>,
    pub(crate) texts: Vec<String>,
    pub(crate) sentences: Vec<String>,
    pub(crate) blobs: Vec<[u8; 32]>,
    pub(crate) parts: u32,
    /// Records that lost words because they said the same.
    pub(crate) copies: u32,
    pub(crate) wal_clean: bool,
    /// The deletion was cut off, and what its packs and texts were is not known any more.
    pub(crate) traces_unknown: bool,
}

impl Evidence {
    /// Of a deletion that was cut off: rows are known from the change log, what they said is not.
    pub(crate) fn cut_off(gone_rows: Vec<i64>, rewritten_rows: Vec<i64>, wal_clean: bool) -> Self {
        Self { traces_unknown: true, gone_rows, rewritten_rows, wal_clean, ..Self::default() }
    }

    /// Remembers what a pack's former bytes looked like, where they differ from what replaced them.
    pub(crate) fn pack(&mut self, pack: i64, old: &[u8], new: &[u8]) {
        // A pack that is replaced once more may have bytes again that it had before: those are there by right.
        if self.window_packs.contains(&pack) {
            let (windows, packs) = std::mem::take(&mut self.windows)
                .into_iter()
                .zip(std::mem::take(&mut self.window_packs))
                .filter(|(window, of)| *of != pack || memmem::find(new, window).is_none())
                .unzip();
            (self.windows, self.window_packs) = (windows, packs);
        }
        let common = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let rest = old.get(common..).unwrap_or_default();
        let step = (rest.len() / WINDOWS).max(WINDOW);
        let windows = rest.chunks(step).filter_map(|c| c.get(..WINDOW)).filter(|w| memmem::find(new, w).is_none());
        self.windows.extend(windows.take(WINDOWS).map(<[u8]>::to_vec));
        self.window_packs.resize(self.windows.len(), pack);
    }
}

impl Vault {
    /// Does what is left to do (`beside`), looks everywhere and says what it found, place by place. `wipe` is called once, with pages that hold traces, before
    /// any of them is excused.
    pub(crate) fn prove(
        &self,
        id: String,
        evidence: &mut Evidence,
        now: Timestamp,
        wipe: Option<Wipe<'_>>,
        beside: Beside<'_>,
    ) -> VaultResult<Receipt> {
        let mut places = vec![self.prove_records(evidence)?];
        let told = &*evidence;
        let stopped = || crate::VaultError::Usage("the check stopped".into());
        let (pages, index, parts, copies_left) = std::thread::scope(|scope| {
            let others = scope.spawn(|| {
                beside()?;
                VaultResult::Ok((self.prove_index(told), self.prove_parts(told), self.copies_left(told)))
            });
            let pages = self.prove_pages(told, wipe);
            let (index, parts, copies) =
                others.join().unwrap_or_else(|_| Ok((Err(stopped()), Err(stopped()), Err(stopped()))))?;
            VaultResult::Ok((pages, index, parts, copies))
        })?;
        // What cannot be searched cannot be called clean.
        let failed =
            |name: &str, e: crate::VaultError| place(name, false, PlaceOutcome::Failed, format!("{NOT_SEARCHED}: {e}"));
        let (pages, wal_clean) = pages.unwrap_or_else(|e| (failed("database_pages", e), None));
        evidence.wal_clean = wal_clean.unwrap_or(evidence.wal_clean);
        places.extend([pages, index.unwrap_or_else(|e| failed("search_index", e)), self.prove_blobs(evidence)]);
        places.push(parts.unwrap_or_else(|e| failed("passthrough", e)));
        places.push(self.prove_wal(evidence.wal_clean));
        places.push(self.prove_folder());
        let copies_left = copies_left?;
        let complete = places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        let copies_redacted = (!evidence.traces_unknown).then_some(evidence.copies);
        Ok(Receipt { id, at: now, complete, places, copies_left, copies_redacted })
    }

    fn prove_records(&self, evidence: &Evidence) -> VaultResult<ReceiptPlace> {
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

    fn prove_index(&self, evidence: &Evidence) -> VaultResult<ReceiptPlace> {
        // Words that no live record says any more must not even be in a dictionary.
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
        let folder = self.dir().join("index");
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

    fn prove_blobs(&self, evidence: &Evidence) -> ReceiptPlace {
        let left = evidence.blobs.iter().filter(|b| self.blobs.exists(b)).count();
        let outcome = if evidence.blobs.is_empty() { PlaceOutcome::NotPresent } else { PlaceOutcome::Erased };
        place(
            "attachments",
            left == 0,
            outcome,
            if left == 0 { format!("{} files", evidence.blobs.len()) } else { format!("{left} files are still there") },
        )
    }

    fn prove_wal(&self, written_back: bool) -> ReceiptPlace {
        let size = std::fs::metadata(self.dir().join("store.db-wal")).map_or(0, |m| m.len());
        let clean = written_back && size == 0;
        let detail = match (clean, size) {
            (true, _) => "written back and truncated".into(),
            (false, 0) => "not written back: somebody was reading".into(),
            (false, size) => format!("{size} bytes remain"),
        };
        place("write_ahead_log", clean, PlaceOutcome::Erased, detail)
    }

    /// Records that say one of the sentences now: found by their words in the index, and read.
    fn copies_left(&self, evidence: &Evidence) -> VaultResult<u32> {
        let connection = self.store.extra_reader()?;
        let mut rows = BTreeSet::new();
        for sentence in evidence.sentences.iter().take(SENTENCES) {
            for row in self.with_index(|i| i.rows_with_phrase(sentence, FOUND))? {
                let row = row as i64;
                if !rows.contains(&row)
                    && let Some(view) = RowView::by_row(&connection, row)?
                    // One that cannot be read may say it.
                    && self.store.packs.record(&connection, view.pack, view.slot).map_or(true, |r| says(&r, sentence))
                {
                    rows.insert(row);
                }
            }
        }
        Ok(rows.len() as u32)
    }
}

fn place(name: &str, ok: bool, outcome: PlaceOutcome, detail: String) -> ReceiptPlace {
    ReceiptPlace { place: name.into(), outcome: if ok { outcome } else { PlaceOutcome::Failed }, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pack_has_again_is_no_trace() {
        let state = |word: &str| format!("{}{}", "the same beginning ", word.repeat(60)).into_bytes();
        let [first, second, other] = ["once upon a time ", "no words here yet ", "somebody else's pack "].map(state);
        let mut evidence = Evidence::default();
        evidence.pack(2, &other, &second);
        evidence.pack(1, &first, &second);
        let held = |evidence: &Evidence, bytes: &[u8]| {
            evidence.windows.iter().filter(|window| memmem::find(bytes, window).is_some()).count()
        };
        assert!(held(&evidence, &first) > 0, "the former bytes are looked for");
        evidence.pack(1, &second, &first);
        assert_eq!(held(&evidence, &first), 0, "they are there by right");
        assert!(held(&evidence, &second) > 0 && held(&evidence, &other) > 0, "the others are not");
        assert_eq!(evidence.windows.len(), evidence.window_packs.len());
    }
}
