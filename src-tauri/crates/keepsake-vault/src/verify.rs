//! The independent check after a deletion: it looks for what was erased in decrypted database pages (free ones too), index
//! files, blobs, the WAL and scratch files. It shares no code with the deletion: pages come through `sqlite_dbpage`,
//! index files through their own reader, and everything is searched as bytes.
use crate::{Vault, VaultResult, index::IndexFilter};
use keepsake_model::Timestamp;
use memchr::memmem;
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
    pub copies_left: u32,
}

/// Bytes taken from a replaced pack to look for; long enough never to meet by chance.
const WINDOW: usize = 32;
/// Windows for one pack.
const WINDOWS: usize = 6;

/// What the deletion hands over to the check: traces to look for.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    windows: Vec<Vec<u8>>,
    packs: u32,
    pub(crate) rows: Vec<i64>,
    pub(crate) gone_rows: Vec<i64>,
    pub(crate) redacted_rows: Vec<i64>,
    pub(crate) texts: Vec<String>,
    pub(crate) sentences: Vec<String>,
    pub(crate) blobs: Vec<[u8; 32]>,
    pub(crate) parts: u32,
    pub(crate) wal_clean: bool,
    /// Pages in which traces were found, for a second wiping.
    pub(crate) dirty_pages: Vec<i64>,
}

impl Evidence {
    /// Remembers what a pack's former bytes looked like, where they differ from what replaced them.
    pub(crate) fn pack(&mut self, old: &[u8], new: &[u8]) {
        self.packs += 1;
        let common = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let rest = old.get(common..).unwrap_or_default();
        let step = (rest.len() / WINDOWS).max(WINDOW);
        let windows = rest.chunks(step).filter_map(|c| c.get(..WINDOW)).filter(|w| memmem::find(new, w).is_none());
        self.windows.extend(windows.take(WINDOWS).map(<[u8]>::to_vec));
    }
}

impl Vault {
    /// Looks everywhere and says what it found, place by place.
    pub(crate) fn prove(&self, id: String, evidence: &mut Evidence, now: Timestamp) -> VaultResult<Receipt> {
        let mut places = vec![self.prove_records(evidence)?];
        let (pages, index) = std::thread::scope(|scope| {
            let index = scope.spawn(|| self.prove_index(evidence));
            let pages = self.prove_pages(evidence);
            let index =
                index.join().unwrap_or_else(|_| Err(crate::VaultError::Usage("the index check stopped".into())));
            (pages, index)
        });
        let (pages, dirty) = pages?;
        places.extend([pages, index?]);
        evidence.dirty_pages = dirty;
        let evidence = &*evidence;
        places.push(self.prove_blobs(evidence));
        places.push(ReceiptPlace {
            place: "passthrough".into(),
            outcome: if evidence.parts > 0 { PlaceOutcome::Redacted } else { PlaceOutcome::NotPresent },
            detail: if evidence.parts > 0 {
                format!("{} parts of imports rewritten", evidence.parts)
            } else {
                "no part of an import holds the words".into()
            },
        });
        places.push(self.prove_wal(evidence));
        places.push(self.prove_scratch());
        let copies_left = self.copies_left(evidence)?;
        let complete = places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        Ok(Receipt { id, at: now, complete, places, copies_left })
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
                evidence.gone_rows.len().max(evidence.redacted_rows.len())
            ),
        ))
    }

    /// Every page of the database, free ones too, decrypted and searched as bytes. Also answers the pages with traces.
    fn prove_pages(&self, evidence: &Evidence) -> VaultResult<(ReceiptPlace, Vec<i64>)> {
        let connection = self.store.extra_reader()?;
        let texts: Vec<&str> = evidence.texts.iter().map(String::as_str).filter(|t| t.len() >= 8).collect();
        let mut needles: Vec<&[u8]> = evidence.windows.iter().map(Vec::as_slice).collect();
        // The head of a text stands for it: a preview keeps its beginning.
        needles.extend(texts.iter().map(|t| t.as_bytes().get(..t.len().min(48)).unwrap_or_default()));
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |r| r.get(0))?;
        if needles.is_empty() {
            let place =
                place("database_pages", true, PlaceOutcome::NotPresent, "no traces are known to look for".into());
            return Ok((place, Vec::new()));
        }
        let search = aho_corasick::AhoCorasick::new(&needles).map_err(|e| crate::VaultError::Usage(e.to_string()))?;
        let middle = pages / 2;
        let mut hits = std::thread::scope(|scope| {
            let second = scope.spawn(|| scan_pages(&self.store.extra_reader()?, &search, middle + 1, pages));
            let mut first = scan_pages(&connection, &search, 1, middle)?;
            let second =
                second.join().unwrap_or_else(|_| Err(crate::VaultError::Usage("the page check stopped".into())));
            first.extend(second?);
            Ok::<_, crate::VaultError>(first)
        })?;
        // Words that live records still say are not a leftover; they are counted as copies.
        let said: Vec<bool> = texts
            .iter()
            .enumerate()
            .map(|(i, t)| {
                let hit = evidence.windows.len() + i;
                hits.iter().any(|(needle, _)| *needle == hit)
                    && (self.said_elsewhere(t) || said_by_live_record(&connection, t))
            })
            .collect();
        hits.retain(|(needle, _)| {
            needle.checked_sub(evidence.windows.len()).is_none_or(|t| !said.get(t).copied().unwrap_or(false))
        });
        let traces: BTreeSet<usize> = hits.iter().map(|(needle, _)| *needle).collect();
        let detail = if traces.is_empty() {
            format!("{pages} pages searched for {} traces", needles.len())
        } else {
            format!("{} traces found in {pages} pages", traces.len())
        };
        let dirty: BTreeSet<i64> = hits.into_iter().map(|(_, page)| page).collect();
        Ok((place("database_pages", traces.is_empty(), PlaceOutcome::Erased, detail), dirty.into_iter().collect()))
    }

    /// True when a live record says how the text begins: packs keep some words as they are, also those of copies.
    fn said_elsewhere(&self, text: &str) -> bool {
        let words: Vec<String> = crate::index::tokens(text).into_iter().take(12).collect();
        let phrase = format!("\"{}\"", words.join(" "));
        !words.is_empty()
            && self.with_index(|i| i.search(&phrase, &IndexFilter::default(), 1, 0)).is_ok_and(|o| !o.hits.is_empty())
    }

    fn prove_index(&self, evidence: &Evidence) -> VaultResult<ReceiptPlace> {
        // Words that no live record says any more must not even be in a dictionary.
        let mut words: BTreeSet<String> = BTreeSet::new();
        for text in &evidence.texts {
            words.extend(crate::index::tokens(text).into_iter().filter(|w| w.len() >= 5));
        }
        let mut orphaned = Vec::new();
        for word in words.into_iter().take(64) {
            let outcome = self.with_index(|i| i.search(&format!("+{word}"), &IndexFilter::default(), 1, 0))?;
            if outcome.hits.is_empty() {
                orphaned.push(word);
            }
        }
        let rows: Vec<u64> = evidence.gone_rows.iter().map(|r| *r as u64).collect();
        let residue = crate::index::residue(&self.dir().join("index"), self.keys.index(), &rows, &orphaned);
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

    fn prove_wal(&self, evidence: &Evidence) -> ReceiptPlace {
        let size = std::fs::metadata(self.dir().join("store.db-wal")).map_or(0, |m| m.len());
        let clean = evidence.wal_clean && size == 0;
        place(
            "write_ahead_log",
            clean,
            PlaceOutcome::Erased,
            if clean { "written back and truncated".into() } else { format!("{size} bytes remain") },
        )
    }

    fn prove_scratch(&self) -> ReceiptPlace {
        let known = ["vault.json", "store.db", "store.db-wal", "store.db-shm", "index", "blobs", "lock"];
        let strangers: Vec<String> = std::fs::read_dir(self.dir())
            .map(|l| {
                l.filter_map(|e| e.ok()?.file_name().into_string().ok())
                    .filter(|n| !known.contains(&n.as_str()))
                    .collect()
            })
            .unwrap_or_default();
        // A backup made before a schema upgrade still holds everything.
        place(
            "temporary_files",
            strangers.is_empty(),
            PlaceOutcome::NotPresent,
            if strangers.is_empty() {
                "none".into()
            } else {
                format!("other files in the vault folder: {}", strangers.join(", "))
            },
        )
    }

    fn copies_left(&self, evidence: &Evidence) -> VaultResult<u32> {
        let mut rows = BTreeSet::new();
        for sentence in evidence.sentences.iter().filter(|s| s.contains(' ')).take(200) {
            let outcome = self.with_index(|i| i.search(&format!("\"{sentence}\""), &IndexFilter::default(), 50, 0))?;
            rows.extend(outcome.hits.into_iter().map(|(row, _)| row));
        }
        Ok(rows.len() as u32)
    }
}

fn place(name: &str, ok: bool, outcome: PlaceOutcome, detail: String) -> ReceiptPlace {
    ReceiptPlace { place: name.into(), outcome: if ok { outcome } else { PlaceOutcome::Failed }, detail }
}

/// Which needles occur in which of the pages `from..=to`.
fn scan_pages(
    connection: &rusqlite::Connection,
    search: &aho_corasick::AhoCorasick,
    from: i64,
    to: i64,
) -> VaultResult<Vec<(usize, i64)>> {
    let mut hits = Vec::new();
    let mut statement = connection.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    for page in from..=to {
        let mut rows = statement.query([page])?;
        if let Some(row) = rows.next()?
            && let Ok(Some(bytes)) = row.get_ref(0)?.as_blob_or_null()
        {
            hits.extend(search.find_iter(bytes).map(|m| (m.pattern().as_usize(), page)));
        }
    }
    Ok(hits)
}

/// True when a live record's own columns hold the words.
fn said_by_live_record(connection: &rusqlite::Connection, text: &str) -> bool {
    let head: String = text.chars().take(16).collect();
    connection
        .query_row("SELECT 1 FROM records WHERE instr(preview, ?1) > 0 OR instr(title, ?1) > 0 LIMIT 1", [head], |_| {
            Ok(())
        })
        .optional()
        .is_ok_and(|found| found.is_some())
}
