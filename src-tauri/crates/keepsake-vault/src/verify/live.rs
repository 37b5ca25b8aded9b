//! What the vault says now. Words that a record still says are no leftover: they are counted, and only what stands in the
//! pages more often than that is one.
use crate::{VaultError, VaultResult};
use aho_corasick::AhoCorasick;
use rusqlite::{Connection, types::ValueRef};

/// Columns with text, and how often the database holds each value (once more for an index over it). The last few are
/// words of our own, which somebody may have used as a title.
const COLUMNS: [(&str, u64); 10] = [
    ("SELECT title, preview, type, status FROM records", 1),
    ("SELECT tag FROM tags", 2),
    ("SELECT name FROM platforms", 2),
    ("SELECT format FROM batches", 1),
    ("SELECT op, target, detail FROM audit", 1),
    ("SELECT kind, scope, source, reason FROM tombstones", 1),
    ("SELECT relation FROM links", 1),
    ("SELECT media_type FROM files", 1),
    ("SELECT sql FROM sqlite_schema", 1),
    ("SELECT key FROM meta", 1),
];

/// Counts needles in what is there by right.
pub(super) struct Counter {
    search: AhoCorasick,
    /// By needle.
    pub(super) counts: Vec<u64>,
}

impl Counter {
    pub(super) fn new(needles: &[&[u8]]) -> VaultResult<Self> {
        let search = AhoCorasick::new(needles).map_err(|e| VaultError::Usage(e.to_string()))?;
        Ok(Self { search, counts: vec![0; needles.len()] })
    }

    fn add(&mut self, bytes: &[u8], times: u64, counted: impl Fn(usize) -> bool) {
        if self.search.is_match(bytes) {
            for found in self.search.find_overlapping_iter(bytes).map(|m| m.pattern().as_usize()) {
                if counted(found) {
                    self.counts[found] += times;
                }
            }
        }
    }

    /// Columns of tables, and the keys of import reports (their values lose erased words).
    pub(super) fn columns(&mut self, connection: &Connection) -> VaultResult<()> {
        for (sql, times) in COLUMNS {
            let mut statement = connection.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                for column in 0..columns {
                    if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column)? {
                        self.add(bytes, times, |_| true);
                    }
                }
            }
        }
        let mut statement = connection.prepare("SELECT report FROM batches")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Ok(report) = serde_json::from_str(row.get_ref(0)?.as_str().unwrap_or_default()) {
                self.keys(&report);
            }
        }
        Ok(())
    }

    fn keys(&mut self, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                for (key, value) in members {
                    self.add(key.as_bytes(), 1, |_| true);
                    self.keys(value);
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| self.keys(item)),
            _ => {}
        }
    }

    /// Packs as they are stored: compression leaves some words as they are. What a pack looked like before is excused by
    /// other packs, which may hold the same bytes, and never by that pack itself (`owners`, by needle).
    pub(super) fn packs(&mut self, connection: &Connection, owners: &[Option<i64>]) -> VaultResult<()> {
        let mut statement = connection.prepare("SELECT id, data FROM packs")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let pack: i64 = row.get(0)?;
            if let Ok(Some(bytes)) = row.get_ref(1)?.as_blob_or_null() {
                self.add(bytes, 1, |needle| owners.get(needle).copied().flatten() != Some(pack));
            }
        }
        Ok(())
    }
}
