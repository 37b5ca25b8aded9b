//! Every page of the database, free ones too, decrypted and searched as bytes.
use crate::{ErasureCheck, Evidence, PlaceOutcome, ReceiptPlace, Wipe, live_counts, receipt::place, unused_bytes};
use mementory_search::Needles;
use mementory_store::{StoreError, StoreResult};
use std::collections::{BTreeSet, HashMap};

/// The head of a text stands for it: a preview keeps its beginning.
const HEAD: usize = 48;
/// Shorter texts stand everywhere.
const LEAST: usize = 8;

/// An occurrence: which needle, on which page.
type Hit = (usize, i64);

impl ErasureCheck<'_> {
    /// Searches, has pages with traces wiped, and searches those again. Also answers whether the WAL was clean after the
    /// wiping, if there was one.
    pub(crate) fn check_pages(
        &self,
        evidence: &Evidence,
        wipe: Option<Wipe<'_>>,
    ) -> StoreResult<(ReceiptPlace, Option<bool>)> {
        let connection = self.store.extra_reader()?;
        if evidence.traces_unknown {
            return Ok((unused_bytes::check(&connection)?, None));
        }
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |r| r.get(0))?;
        let heads: BTreeSet<&[u8]> = evidence.texts.iter().map(|t| head(t)).filter(|t| t.len() >= LEAST).collect();
        let mut needles: Vec<&[u8]> = evidence.windows.iter().map(Vec::as_slice).collect();
        needles.extend(heads);
        if needles.is_empty() {
            let detail = "nothing in it is long enough to be looked for".into();
            return Ok((place("database_pages", true, PlaceOutcome::NotPresent, detail), None));
        }
        let search = Needles::new(&needles).map_err(|e| StoreError::Usage(e.to_string()))?;
        let mut hits = self.scan_halves(&connection, &search, pages)?;
        let mut wal_clean = None;
        if let (Some(wipe), false) = (wipe, hits.is_empty()) {
            // Before anything is excused: what a page has between its cells nobody misses.
            let dirty: Vec<i64> = hits.iter().map(|(_, page)| *page).collect::<BTreeSet<_>>().into_iter().collect();
            wal_clean = Some(wipe(&dirty)?);
            hits = scan(&connection, &search, dirty.into_iter())?;
        }
        let left = unexcused(self, &hits, &needles, evidence)?;
        let detail = if left == 0 {
            format!("{pages} pages searched for {} traces", needles.len())
        } else {
            format!("{left} traces found in {pages} pages")
        };
        Ok((place("database_pages", left == 0, PlaceOutcome::Erased, detail), wal_clean))
    }

    fn scan_halves(&self, connection: &rusqlite::Connection, search: &Needles, pages: i64) -> StoreResult<Vec<Hit>> {
        let middle = pages / 2;
        std::thread::scope(|scope| {
            let second = scope.spawn(|| scan(&self.store.extra_reader()?, search, middle + 1..=pages));
            let mut first = scan(connection, search, 1..=middle)?;
            let second = second.join().unwrap_or_else(|_| Err(StoreError::Usage("the page check stopped".into())));
            first.extend(second?);
            Ok(first)
        })
    }
}

fn head(text: &str) -> &[u8] {
    let bytes = text.as_bytes();
    bytes.get(..HEAD).unwrap_or(bytes)
}

/// Every occurrence of every needle, also of one that begins like another.
fn scan(
    connection: &rusqlite::Connection,
    search: &Needles,
    pages: impl Iterator<Item = i64>,
) -> StoreResult<Vec<Hit>> {
    let mut hits = Vec::new();
    let mut statement = connection.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    for page in pages {
        let mut rows = statement.query([page])?;
        if let Some(row) = rows.next()?
            && let Ok(Some(bytes)) = row.get_ref(0)?.as_blob_or_null()
        {
            hits.extend(search.each(bytes).map(|(needle, _)| (needle, page)));
        }
    }
    Ok(hits)
}

/// How many needles stand in the pages more often than what is in the vault now accounts for.
fn unexcused(check: &ErasureCheck<'_>, hits: &[Hit], needles: &[&[u8]], evidence: &Evidence) -> StoreResult<usize> {
    let mut seen: HashMap<usize, u64> = HashMap::new();
    for (needle, _) in hits {
        *seen.entry(*needle).or_default() += 1;
    }
    if seen.is_empty() {
        return Ok(0);
    }
    let numbers: Vec<usize> = seen.keys().copied().collect();
    let patterns: Vec<&[u8]> = numbers.iter().filter_map(|n| needles.get(*n).copied()).collect();
    let owners: Vec<Option<i64>> = numbers.iter().map(|n| evidence.window_packs.get(*n).copied()).collect();
    let left = |counts: &[u64]| {
        numbers.iter().zip(counts).filter(|(n, count)| seen.get(*n).is_some_and(|s| s > *count)).count()
    };
    // Quicker than counting everywhere, which is only needed for what this leaves open.
    if left(&live_counts::counts_by_index(check, &patterns, &owners)?) == 0 {
        return Ok(0);
    }
    Ok(left(&live_counts::counts(check.store, &patterns, &owners)?))
}
