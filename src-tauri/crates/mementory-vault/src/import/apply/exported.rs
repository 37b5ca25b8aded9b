//! Compares the times at which exports were made (PAM §16). Increments may arrive in any order; of each record, the
//! version of the newest export that contains it counts.
use super::{ImportRun, KnownRecord};
use crate::{VaultError, VaultResult, import::sequence::Recency, import_report::DatedExport, row_ranges::RowRanges};
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_model::{Record, Timestamp};
use rusqlite::Connection;
use serde::Deserialize;
use std::cmp::Ordering;

/// Reason for keeping a version from an export that was made later.
pub(super) const EARLIER_EXPORT: &str = "of an earlier export than what the vault has";

/// Keyed digest of a key scope, for [`DatedExport::group`].
pub(in crate::import) fn scope_digest(keys: &VaultKeys, scope: &str) -> [u8; 16] {
    keyed_id(keys.ids(), &[b"dated export", scope.as_bytes()])
}

/// The dated exports of the imports that were not undone, each with its rows.
pub(super) struct KnownExports(Vec<(DatedExport, RowRanges)>);

impl KnownExports {
    fn load(connection: &Connection) -> VaultResult<Self> {
        #[derive(Deserialize)]
        struct Stored {
            #[serde(default)]
            exports: Vec<DatedExport>,
        }
        let mut statement = connection.prepare("SELECT report FROM batches WHERE undone_at IS NULL")?;
        let mut rows = statement.query([])?;
        let mut known = Vec::new();
        while let Some(row) = rows.next()? {
            let report: Option<String> = row.get(0)?;
            // The batch of the current import has no report yet.
            let Ok(Stored { exports }) = serde_json::from_str(&report.unwrap_or_default()) else { continue };
            for export in exports {
                let ranges = hex::decode(&export.rows).ok().and_then(|bytes| RowRanges::decode(&bytes));
                let ranges = ranges.ok_or_else(|| VaultError::Damaged("the rows of a dated export".into()))?;
                known.push((export, ranges));
            }
        }
        Ok(Self(known))
    }

    /// When the newest export of the group was made that contained the row.
    fn newest(&self, row: i64, group: [u8; 16]) -> Option<Timestamp> {
        let containing = self.0.iter().filter(|(export, rows)| export.group == group && rows.contains(row));
        containing.map(|(export, _)| export.time).max()
    }
}

impl ImportRun<'_> {
    /// When the current source was made, if it is a dated export and the record is one of its own. A record that an
    /// export only carries for another source may be newer in an older export.
    pub(super) fn export_time(&self, record: &Record) -> Option<Timestamp> {
        let Recency::Dated { time, group } = self.recency else { return None };
        (scope_digest(&self.context.keys, &record.key.scope) == group).then_some(time)
    }

    /// Notes that the vault has the content of a row from the current source.
    pub(super) fn note_exported(&mut self, record: &Record, row: i64) {
        if self.staging.is_some()
            && row > 0
            && let Some(time) = self.export_time(record)
        {
            self.exported_rows.entry(time).or_default().add(row);
        }
    }

    /// Adds the rows to the exports in the report.
    pub(super) fn report_exported_rows(&mut self) {
        for export in &mut self.report.exports {
            let rows = self.exported_rows.get(&export.time).cloned().unwrap_or_default();
            export.rows = hex::encode(rows.encode().unwrap_or_default());
        }
    }

    /// Whether the current source was made before or after the newest export that contained the record. None if one of
    /// them has no date.
    pub(super) fn compare_exports(&self, known: &KnownRecord, record: &Record) -> VaultResult<Option<Ordering>> {
        let Some(time) = self.export_time(record) else { return Ok(None) };
        let exports = match self.known_exports.get() {
            Some(exports) => exports,
            None => {
                let exports = KnownExports::load(self.connection)?;
                self.known_exports.get_or_init(|| exports)
            }
        };
        let group = scope_digest(&self.context.keys, &record.key.scope);
        Ok(exports.newest(known.row, group).map(|newest| time.cmp(&newest)))
    }
}
