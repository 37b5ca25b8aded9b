//! Compares the times at which exports were made (PAM §16). Increments may arrive in any order; of each record, the
//! version of the newest export that contains it counts.
use super::{ImportRun, KnownRecord};
use crate::{VaultError, VaultResult, import_report::DatedExport, row_ranges::RowRanges};
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_model::{Record, Timestamp};
use rusqlite::Connection;
use serde::Deserialize;

/// Reason for keeping a version from an export that was made later.
pub(super) const EARLIER_EXPORT: &str = "of an earlier export than what the vault has";

/// Keyed digest of a name in a [`DatedExport`].
pub(in crate::import) fn name_digest(keys: &VaultKeys, name: &str) -> String {
    hex::encode(keyed_id(keys.ids(), &[b"dated export", name.as_bytes()]))
}

/// The imports of dated exports that were not undone.
pub(super) struct KnownExports(Vec<Batch>);

struct Batch {
    id: i64,
    /// Rows that the batch contained unchanged.
    same: RowRanges,
    exports: Vec<DatedExport>,
}

impl KnownExports {
    fn load(connection: &Connection) -> VaultResult<Self> {
        #[derive(Deserialize)]
        struct Stored {
            #[serde(default)]
            exports: Vec<DatedExport>,
        }
        let mut statement = connection.prepare("SELECT id, report, same FROM batches WHERE undone_at IS NULL")?;
        let mut rows = statement.query([])?;
        let mut batches = Vec::new();
        while let Some(row) = rows.next()? {
            let report: Option<String> = row.get(1)?;
            // The batch of the current import has no report yet.
            let Ok(Stored { exports }) = serde_json::from_str(&report.unwrap_or_default()) else { continue };
            if exports.is_empty() {
                continue;
            }
            let bytes: Option<Vec<u8>> = row.get(2)?;
            let same = RowRanges::decode(&bytes.unwrap_or_default())
                .ok_or_else(|| VaultError::Damaged("the rows that an import contained".into()))?;
            batches.push(Batch { id: row.get(0)?, same, exports });
        }
        Ok(Self(batches))
    }

    /// When the newest export was made that contained a row. `batches` wrote versions of the row, the first of them the
    /// current one, whose record was read from the file with the digest `container`.
    fn newest(&self, row: i64, batches: &[i64], container: &str, group: &str) -> Option<Timestamp> {
        let mut newest: Option<Timestamp> = None;
        for batch in self.0.iter().filter(|batch| batches.contains(&batch.id) || batch.same.contains(row)) {
            let of_group = || batch.exports.iter().filter(move |export| export.group == group);
            // A batch may contain several exports; the file says which one the current version was read from.
            let read_from = of_group().find(|export| export.place == container);
            let time = match read_from.filter(|_| batches.first() == Some(&batch.id)) {
                Some(export) => Some(export.time),
                None => of_group().map(|export| export.time).max(),
            };
            newest = newest.max(time);
        }
        newest
    }
}

impl ImportRun<'_> {
    /// True if an export that was made later than the current source contained the record.
    pub(super) fn is_of_earlier_export(&self, known: &KnownRecord, record: &Record) -> VaultResult<bool> {
        let Some(time) = self.recency.export_time() else { return Ok(false) };
        let exports = match self.known_exports.get() {
            Some(exports) => exports,
            None => {
                let exports = KnownExports::load(self.connection)?;
                self.known_exports.get_or_init(|| exports)
            }
        };
        let sql = "SELECT version_batch, 0 FROM records WHERE row = ?1 UNION ALL \
                   SELECT batch, 1 FROM records WHERE row = ?1 UNION ALL \
                   SELECT batch, 1 FROM versions WHERE row = ?1 ORDER BY 2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let batches: Vec<i64> = statement
            .query_map([known.row], |row| row.get::<_, Option<i64>>(0))?
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        let stored = self.stored_record(known.row)?;
        let digest = |name: &str| name_digest(&self.context.keys, name);
        let (container, group) = (digest(&stored.origin.container), digest(&record.key.scope));
        let newest = exports.newest(known.row, &batches, &container, &group);
        Ok(newest.is_some_and(|newest| newest > time))
    }
}
