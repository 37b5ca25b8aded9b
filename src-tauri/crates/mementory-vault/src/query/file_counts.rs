//! Counts the files of each kind that a query finds.
use crate::{
    VaultResult,
    query::{list::ListQuery, list::Queries},
};
use mementory_store::{FileKind, KIND_SQL};
use std::collections::BTreeMap;

/// Number of files of a kind, and total size in bytes of the files whose bytes are in the vault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FileCount {
    pub count: u32,
    pub bytes: u64,
}

impl Queries<'_> {
    /// Counts the attachments that a query finds, by kind. Reads neither bodies nor blobs.
    pub fn file_counts(&self, query: &ListQuery) -> VaultResult<BTreeMap<FileKind, FileCount>> {
        let (condition, values) = query.condition();
        let sql = format!(
            "SELECT {KIND_SQL}, count(*), sum(CASE WHEN f.blob IS NULL THEN 0 ELSE f.size END) \
             FROM records r LEFT JOIN files f ON f.row = r.row WHERE {condition} GROUP BY 1"
        );
        self.context.store.read(|c| {
            let mut statement = c.prepare(&sql)?;
            let mut rows = statement.query(rusqlite::params_from_iter(values.iter()))?;
            let mut out = BTreeMap::new();
            while let Some(row) = rows.next()? {
                let name: String = row.get(0)?;
                let bytes: Option<i64> = row.get(2)?;
                let bytes = bytes.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
                out.insert(FileKind::parse(&name).unwrap_or(FileKind::Other), FileCount { count: row.get(1)?, bytes });
            }
            Ok(out)
        })
    }
}
