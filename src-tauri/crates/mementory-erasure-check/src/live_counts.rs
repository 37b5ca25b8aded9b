//! Counts how often the needles (the byte strings that the check searches for) occur in live data. Occurrences in the
//! database pages beyond this number are leftovers of the erased data.
use crate::{
    ErasureCheck,
    internal::{search_for, thread_stopped},
};
use mementory_search::Needles;
use mementory_store::{Store, StoreResult};
use rusqlite::{Connection, Row, types::ValueRef};
use std::{collections::BTreeSet, ops::Range};

/// Queries for columns with text, each with the number of times that the database stores a value (once, or twice if an
/// index contains it). Some columns contain only names that the program defines. They are included because such a name
/// may also be part of a record, for example its title.
const TEXT_COLUMNS: [(&str, u64); 19] = [
    // Rows in which all four columns are null, as for most messages, are skipped to save time.
    ("SELECT title, preview, type, status FROM records WHERE coalesce(title, preview, type, status) IS NOT NULL", 1),
    ("SELECT tag FROM tags", 2),
    ("SELECT name FROM platforms", 2),
    ("SELECT format FROM batches", 1),
    ("SELECT actor, op, target, detail FROM audit", 1),
    ("SELECT id, kind, target, scope, source, actor, reason, derived FROM tombstones", 1),
    // The vault's own tombstones are left out, since erased words are removed from them.
    ("SELECT origin_id, verbatim FROM tombstones WHERE own = 0", 1),
    ("SELECT id, body FROM receipts", 1),
    ("SELECT uid FROM batches", 2),
    ("SELECT detector FROM findings", 1),
    // The index on links contains the relation too, because an index on a `WITHOUT ROWID` table contains its primary
    // key.
    ("SELECT relation FROM links", 2),
    ("SELECT media_type FROM files", 1),
    // Vectors are counted too, because a record with the same text as an erased one has the same vector.
    ("SELECT vector FROM vectors", 1),
    ("SELECT type, name, tbl_name, sql FROM sqlite_schema", 1),
    ("SELECT key FROM meta", 1),
    // The subjects that the person chose for memories, and the name of the encoder that made the vectors.
    ("SELECT value FROM meta WHERE key >= 'about/' AND key < 'about0' OR key = 'vectors_by'", 1),
    // Names that the person gave to other people's keys.
    ("SELECT value FROM meta WHERE key = 'known_keys'", 1),
    // Watched folders, and the names of files in them that wait for the person's answer.
    ("SELECT value FROM meta WHERE key = 'watched' OR (key >= 'seen/' AND key < 'seen0')", 1),
    // Grants of clients, with the names that the person gave, and suggestions of clients.
    (
        "SELECT value FROM meta WHERE key >= 'grant/' AND key < 'grant0' OR key >= 'suggestion/' AND key < 'suggestion0'",
        1,
    ),
];

/// Members of import reports whose values are words that the program defines.
const MEMBERS_WITH_OUR_VALUES: [&str; 5] = ["batch", "format", "version", "kind", "outcome"];

/// Largest number of records that the index returns for one needle. If more records contain the needle, counting in
/// these records gives too low a number, and all live data is counted instead.
const MAX_RECORDS_PER_NEEDLE: usize = 200;
/// With more needles than this, counting all live data is quicker than searching the index.
const MAX_NEEDLES: usize = 32;

/// A lower bound for how often each needle occurs in live data: the occurrences in the records that the index finds for
/// the needle. Usually no other records contain the needle. The count of a needle with an owner stays 0, because such a
/// needle consists of bytes of a pack or of a vector, which the index does not contain.
pub(crate) fn counts_by_index(
    check: &ErasureCheck<'_>,
    needles: &[&[u8]],
    owners: &[Option<i64>],
) -> StoreResult<Vec<u64>> {
    let search = search_for(needles)?;
    let mut counter = NeedleCounter { search: &search, counts: vec![0; needles.len()] };
    if needles.len() > MAX_NEEDLES {
        return Ok(counter.counts);
    }
    let mut found_rows = BTreeSet::new();
    let is_word = |needle: usize| owners.get(needle).is_none_or(Option::is_none);
    let texts = needles.iter().enumerate().filter(|(n, _)| is_word(*n));
    for text in texts.filter_map(|(_, needle)| needle.utf8_chunks().next()).map(|chunk| chunk.valid()) {
        // The last word is left out, because it may be cut off.
        let phrase = text.rsplit_once(' ').map_or(text, |(whole, _)| whole);
        found_rows.extend(
            check.with_index(|i| i.rows_with_phrase(phrase, MAX_RECORDS_PER_NEEDLE))?.into_iter().map(|row| row as i64),
        );
    }
    let connection = check.store.new_reader()?;
    let mut columns = connection.prepare("SELECT title, preview, type, status, pack FROM records WHERE row = ?1")?;
    let mut packs = BTreeSet::new();
    for row in found_rows {
        let mut rows = columns.query([row])?;
        while let Some(row) = rows.next()? {
            counter.add_columns(row, 0..4, 1, is_word)?;
            packs.insert(row.get::<_, i64>(4)?);
        }
    }
    let mut data = connection.prepare("SELECT data FROM packs WHERE id = ?1")?;
    for pack in packs {
        let mut rows = data.query([pack])?;
        while let Some(row) = rows.next()? {
            counter.add_columns(row, 0..1, 1, is_word)?;
        }
    }
    Ok(counter.counts)
}

/// How often each needle occurs in live data. Packs are searched in their compressed form, which contains some words
/// unchanged. A needle that was taken from an earlier version of a pack (`owners` has the id of that pack for each
/// needle) is counted in the other packs, which may contain the same bytes, but not in that pack itself.
pub(crate) fn counts(store: &Store, needles: &[&[u8]], owners: &[Option<i64>]) -> StoreResult<Vec<u64>> {
    let search = search_for(needles)?;
    let counter = || NeedleCounter { search: &search, counts: vec![0; needles.len()] };
    let connection = store.new_reader()?;
    let last_pack: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM packs", [], |r| r.get(0))?;
    let packs = |from: i64, to: i64| counter().count_packs(&store.new_reader()?, owners, from, to);
    std::thread::scope(|scope| {
        let first_thread = scope.spawn(|| packs(0, last_pack / 2));
        let second_thread = scope.spawn(|| packs(last_pack / 2 + 1, last_pack));
        let mut sum = counter().count_columns(&connection)?;
        for half_counts in [first_thread.join(), second_thread.join()] {
            let half_counts = half_counts.unwrap_or_else(|_| Err(thread_stopped()))?;
            sum.iter_mut().zip(half_counts).for_each(|(all, one)| *all += one);
        }
        Ok(sum)
    })
}

/// Counts needles in bytes.
struct NeedleCounter<'n> {
    search: &'n Needles,
    /// Number of occurrences of each needle.
    counts: Vec<u64>,
}

impl NeedleCounter<'_> {
    fn add(&mut self, bytes: &[u8], times: u64, is_counted: impl Fn(usize) -> bool) {
        for (found, _) in self.search.occurrences(bytes) {
            if is_counted(found) {
                self.counts[found] += times;
            }
        }
    }

    fn add_columns(
        &mut self,
        row: &Row<'_>,
        columns: Range<usize>,
        times: u64,
        is_counted: impl Fn(usize) -> bool + Copy,
    ) -> StoreResult<()> {
        for column in columns {
            if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column)? {
                self.add(bytes, times, is_counted);
            }
        }
        Ok(())
    }

    /// Counts needles in the columns of tables, and in those members of import reports whose values the program
    /// defines. The other words of a report are removed with the record.
    fn count_columns(mut self, connection: &Connection) -> StoreResult<Vec<u64>> {
        for (sql, times) in TEXT_COLUMNS {
            let mut statement = connection.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                self.add_columns(row, 0..columns, times, |_| true)?;
            }
        }
        let mut statement = connection.prepare("SELECT report FROM batches")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Ok(report) = serde_json::from_str(row.get_ref(0)?.as_str().unwrap_or_default()) {
                self.add_keys(&report);
            }
        }
        Ok(self.counts)
    }

    fn add_keys(&mut self, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                for (key, value) in members {
                    self.add(key.as_bytes(), 1, |_| true);
                    if let Some(text) = value.as_str().filter(|_| MEMBERS_WITH_OUR_VALUES.contains(&key.as_str())) {
                        self.add(text.as_bytes(), 1, |_| true);
                    }
                    self.add_keys(value);
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| self.add_keys(item)),
            _ => {}
        }
    }

    /// Counts needles in the packs with ids from `from` to `to`.
    fn count_packs(
        mut self,
        connection: &Connection,
        owners: &[Option<i64>],
        from: i64,
        to: i64,
    ) -> StoreResult<Vec<u64>> {
        let mut statement = connection.prepare("SELECT id, data FROM packs WHERE id BETWEEN ?1 AND ?2")?;
        let mut rows = statement.query([from, to])?;
        while let Some(row) = rows.next()? {
            let pack: i64 = row.get(0)?;
            if let Ok(Some(bytes)) = row.get_ref(1)?.as_blob_or_null() {
                self.add(bytes, 1, |needle| owners.get(needle).copied().flatten() != Some(pack));
            }
        }
        Ok(self.counts)
    }
}
