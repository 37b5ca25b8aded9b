//! Searches every page of the database for traces, including free pages. Pages are decrypted and searched as bytes.
use crate::{
    ErasureCheck, Evidence, PlaceOutcome, ReceiptPlace, Wipe,
    internal::{search_for, thread_stopped},
    live_counts,
    page_values::PageLayout,
    receipt::checked_place,
    unused_bytes,
};
use mementory_search::Needles;
use mementory_store::StoreResult;
use std::collections::{BTreeSet, HashMap};

/// Length in bytes of the beginning of a text that is searched for. The rest is not searched for, since previews store
/// only the beginning.
const HEAD_BYTES: usize = 48;
/// Texts with fewer bytes than this are not searched for, since they occur everywhere.
const MIN_HEAD_BYTES: usize = 8;

/// An occurrence: index of the needle, and number of the page.
type Hit = (usize, i64);

impl ErasureCheck<'_> {
    /// Searches all pages. Pages with traces are wiped and then searched again. If pages were wiped, also returns
    /// whether the WAL is clean afterwards.
    pub(crate) fn check_pages(
        &self,
        evidence: &Evidence,
        wipe: Option<Wipe<'_>>,
    ) -> StoreResult<(ReceiptPlace, Option<bool>)> {
        let connection = self.store.new_reader()?;
        if evidence.traces_unknown {
            return Ok((unused_bytes::check(&connection)?, None));
        }
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |r| r.get(0))?;
        let heads: BTreeSet<&[u8]> =
            evidence.texts.iter().map(|t| head(t)).filter(|t| t.len() >= MIN_HEAD_BYTES).collect();
        let mut needles: Vec<&[u8]> = evidence.windows.iter().map(Vec::as_slice).collect();
        needles.extend(heads);
        if needles.is_empty() {
            let detail = "nothing in it is long enough to be looked for".into();
            return Ok((checked_place("database_pages", true, PlaceOutcome::NotPresent, detail), None));
        }
        let search = PageSearch::new(&connection, &needles)?;
        let mut hits = self.scan_in_two_threads(&connection, &search, pages)?;
        let mut wal_clean = None;
        if let (Some(wipe), false) = (wipe, hits.is_empty()) {
            // Pages are wiped before their traces are attributed to live data, since traces in unused bytes belong to
            // no live data.
            let dirty_pages: Vec<i64> =
                hits.iter().map(|(_, page)| *page).collect::<BTreeSet<_>>().into_iter().collect();
            wal_clean = Some(wipe(&dirty_pages)?);
            hits = search.scan(&connection, dirty_pages.into_iter())?;
        }
        let unexplained_count = count_unexplained(self, &hits, &needles, evidence)?;
        let detail = if unexplained_count == 0 {
            format!("{pages} pages searched for {} traces", needles.len())
        } else {
            format!("{unexplained_count} traces found in {pages} pages")
        };
        Ok((checked_place("database_pages", unexplained_count == 0, PlaceOutcome::Erased, detail), wal_clean))
    }

    fn scan_in_two_threads(
        &self,
        connection: &rusqlite::Connection,
        search: &PageSearch<'_>,
        pages: i64,
    ) -> StoreResult<Vec<Hit>> {
        let middle = pages / 2;
        std::thread::scope(|scope| {
            let second_thread = scope.spawn(|| search.scan(&self.store.new_reader()?, middle + 1..=pages));
            let mut hits = search.scan(connection, 1..=middle)?;
            let second_thread = second_thread.join().unwrap_or_else(|_| Err(thread_stopped()));
            hits.extend(second_thread?);
            Ok(hits)
        })
    }
}

fn head(text: &str) -> &[u8] {
    let bytes = text.as_bytes();
    bytes.get(..HEAD_BYTES).unwrap_or(bytes)
}

/// The search for the needles in pages.
struct PageSearch<'n> {
    needles: &'n [&'n [u8]],
    search: Needles,
    /// Number of bytes at the end of each page that the cipher uses.
    reserved_bytes: usize,
}

impl<'n> PageSearch<'n> {
    fn new(connection: &rusqlite::Connection, needles: &'n [&'n [u8]]) -> StoreResult<Self> {
        let search = search_for(needles)?;
        let sql = "SELECT data FROM sqlite_dbpage WHERE pgno = 1";
        let first_page: Vec<u8> = connection.query_row(sql, [], |r| r.get(0))?;
        Ok(Self { needles, search, reserved_bytes: first_page.get(20).copied().map_or(0, usize::from) })
    }

    /// All occurrences of all needles in these pages, overlapping ones included.
    fn scan(&self, connection: &rusqlite::Connection, pages: impl Iterator<Item = i64>) -> StoreResult<Vec<Hit>> {
        let mut hits = Vec::new();
        let mut statement = connection.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
        for page in pages {
            let mut rows = statement.query([page])?;
            if let Some(row) = rows.next()?
                && let Ok(Some(bytes)) = row.get_ref(0)?.as_blob_or_null()
            {
                self.add_hits(page, bytes, &mut hits);
            }
        }
        Ok(hits)
    }

    /// Adds the occurrences in one page. Occurrences that extend over several values are left out, because they match
    /// by chance. For example, one text may end with all letters of a needle but the last, and the hash stored after it
    /// may begin with that letter.
    fn add_hits(&self, page: i64, bytes: &[u8], hits: &mut Vec<Hit>) {
        let mut layout = None;
        for (needle, start) in self.search.occurrences(bytes) {
            let layout = layout.get_or_insert_with(|| PageLayout::of(bytes, page == 1, self.reserved_bytes));
            let end = start + self.needles.get(needle).map_or(0, |needle| needle.len());
            if !layout.as_ref().is_some_and(|layout| layout.is_across_values(&(start..end))) {
                hits.push((needle, page));
            }
        }
    }
}

/// Number of needles that occur in the pages more often than live data accounts for.
fn count_unexplained(
    check: &ErasureCheck<'_>,
    hits: &[Hit],
    needles: &[&[u8]],
    evidence: &Evidence,
) -> StoreResult<usize> {
    let mut occurrences: HashMap<usize, u64> = HashMap::new();
    for (needle, _) in hits {
        *occurrences.entry(*needle).or_default() += 1;
    }
    if occurrences.is_empty() {
        return Ok(0);
    }
    let numbers: Vec<usize> = occurrences.keys().copied().collect();
    let patterns: Vec<&[u8]> = numbers.iter().filter_map(|n| needles.get(*n).copied()).collect();
    let owners: Vec<Option<i64>> = numbers.iter().map(|n| evidence.window_packs.get(*n).copied()).collect();
    let count_exceeding = |counts: &[u64]| {
        numbers.iter().zip(counts).filter(|(n, count)| occurrences.get(*n).is_some_and(|s| s > *count)).count()
    };
    // Counting only in the records that the index finds is faster. All live data is counted only if some occurrences
    // are then still unexplained.
    if count_exceeding(&live_counts::counts_by_index(check, &patterns, &owners)?) == 0 {
        return Ok(0);
    }
    Ok(count_exceeding(&live_counts::counts(check.store, &patterns, &owners)?))
}
