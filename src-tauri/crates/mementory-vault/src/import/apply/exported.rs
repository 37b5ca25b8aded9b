//! Compares the times at which exports were made (PAM §16). Increments may arrive in any order; of each record, the
//! version of the newest export that contains it counts.
use super::ImportRun;
use crate::{VaultError, VaultResult, import::sequence::Recency, import_report::DatedExport, row_ranges::RowRanges};
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_model::{Record, Timestamp};
use rusqlite::Connection;
use serde::Deserialize;
use std::{cell::OnceCell, cmp::Ordering, collections::BTreeMap};

/// Reason for keeping a version from an export that was made later.
pub(super) const EARLIER_EXPORT: &str = "of an earlier export than what the vault has";

/// Keyed digest of a key scope, for [`DatedExport::group`].
pub(in crate::import) fn scope_digest(keys: &VaultKeys, scope: &str) -> [u8; 16] {
    keyed_id(keys.ids(), &[b"dated export", scope.as_bytes()])
}

/// The dated exports of the imports that were not undone, each with its rows.
struct KnownExports(Vec<(DatedExport, RowRanges)>);

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

/// The dated exports that the vault knows, and the rows of those in this input.
#[derive(Default)]
pub(super) struct DatedExports {
    /// Loaded when the first record of a dated export differs from the vault's version.
    known: OnceCell<KnownExports>,
    /// The rows whose content the vault has from the dated exports of this input, by the times of these exports.
    rows: BTreeMap<Timestamp, RowRanges>,
}

impl DatedExports {
    /// Adds the rows of this input to its exports in the report.
    pub(super) fn add_rows_to(&self, exports: &mut [DatedExport]) {
        for export in exports {
            let rows = self.rows.get(&export.time).cloned().unwrap_or_default();
            export.rows = hex::encode(rows.encode().unwrap_or_default());
        }
    }

    /// Whether `time` is before or after the time of the newest export of the group that contained the row. None if no
    /// known export contained it.
    pub(super) fn compare(
        &self,
        connection: &Connection,
        row: i64,
        time: Timestamp,
        group: [u8; 16],
    ) -> VaultResult<Option<Ordering>> {
        let known = match self.known.get() {
            Some(known) => known,
            None => {
                let known = KnownExports::load(connection)?;
                self.known.get_or_init(|| known)
            }
        };
        Ok(known.newest(row, group).map(|newest| time.cmp(&newest)))
    }
}

/// When the source was made, if it is a dated export and the record is one of its own, with the digest of their key
/// scope. A record that an export only carries for another source may be newer in an older export.
pub(super) fn export_of(recency: Recency, keys: &VaultKeys, record: &Record) -> Option<(Timestamp, [u8; 16])> {
    let Recency::Dated { time, group } = recency else { return None };
    (scope_digest(keys, &record.key.scope) == group).then_some((time, group))
}

impl ImportRun<'_> {
    /// Notes that the vault has the content of a row from the current source.
    pub(super) fn note_exported(&mut self, record: &Record, row: i64) {
        if export_of(self.recency, &self.context.keys, record).is_some() {
            self.note_exported_file(row);
        }
    }

    /// Notes that the vault has the bytes of a file from the current source. All files of an export are its own.
    pub(super) fn note_exported_file(&mut self, row: i64) {
        if let Recency::Dated { time, .. } = self.recency
            && self.staging.is_some()
            && row > 0
        {
            self.exports.rows.entry(time).or_default().add(row);
        }
    }

    /// True if the vault has the file with this row from a later state of the current source.
    pub(super) fn has_later_file(&self, row: i64) -> VaultResult<bool> {
        match self.recency {
            Recency::Earlier => Ok(true),
            Recency::Dated { time, group } => {
                Ok(self.exports.compare(self.connection, row, time, group)? == Some(Ordering::Less))
            }
            Recency::Unnumbered | Recency::Later | Recency::Next => Ok(false),
        }
    }
}
