//! Compares the times at which exports were made. Exports may be imported in any order. Of several versions of a
//! record, the version in the newest export counts (PAM §16). In other formats, the times of the records are compared
//! first.
use super::ImportRun;
use crate::{
    VaultError, VaultResult,
    import::sequence::{DateRule, Recency, SourceTime, StateOrder},
    import_report::DatedExport,
    row_ranges::RowRanges,
};
use mementory_crypto::VaultKeys;
use mementory_model::{Record, Timestamp};
use rusqlite::Connection;
use serde::Deserialize;
use std::{cell::OnceCell, cmp::Ordering, collections::BTreeMap};

/// Reason for keeping a version from an export that was made later.
pub(super) const EARLIER_EXPORT: &str = "of an earlier export than what the vault has";

/// Reason for keeping a version from a source with a higher state number.
pub(super) const EARLIER_STATE: &str = "of an earlier state than what the vault has";

/// Reason for keeping a version with a later time.
pub(super) const OLDER: &str = "older than what the vault has";

/// Keyed digest of a key scope, for [`DatedExport::group`].
pub(in crate::import) fn scope_digest(keys: &VaultKeys, scope: &str) -> [u8; 16] {
    keys.id_hasher().id_of(&[b"dated export", scope.as_bytes()])
}

/// The dated exports of the imports that were not undone, newest first, each with its rows.
struct KnownExports(Vec<(DatedExport, RowRanges)>);

impl KnownExports {
    fn load(connection: &Connection) -> VaultResult<Self> {
        #[derive(Deserialize)]
        struct StoredExports {
            #[serde(default)]
            exports: Vec<DatedExport>,
        }
        let mut statement = connection.prepare("SELECT report FROM batches WHERE undone_at IS NULL")?;
        let mut rows = statement.query([])?;
        let mut known = Vec::new();
        while let Some(row) = rows.next()? {
            let report: Option<String> = row.get(0)?;
            // The batch of the current import has no report yet.
            let Ok(StoredExports { exports }) = serde_json::from_str(&report.unwrap_or_default()) else { continue };
            for export in exports {
                let ranges = hex::decode(&export.rows).ok().and_then(|bytes| RowRanges::decode(&bytes));
                let ranges = ranges.ok_or_else(|| VaultError::Damaged("the rows of a dated export".into()))?;
                known.push((export, ranges));
            }
        }
        known.sort_by_key(|(export, _)| std::cmp::Reverse(export.time));
        Ok(Self(known))
    }

    /// Returns the time at which the newest export of `group` that contained `row` was made.
    fn newest(&self, row: i64, group: [u8; 16]) -> Option<Timestamp> {
        let mut containing_exports = self.0.iter().filter(|(export, rows)| export.group == group && rows.contains(row));
        containing_exports.next().map(|(export, _)| export.time)
    }
}

/// The dated exports that earlier imports recorded, and the rows that this input's dated exports contain.
#[derive(Default)]
pub(super) struct DatedExports {
    /// Loaded when the first record of a dated export is compared with the vault's version.
    known: OnceCell<KnownExports>,
    /// For each dated export of this input, by its time: the rows whose content in the vault comes from the export.
    rows: BTreeMap<Timestamp, RowRanges>,
    /// The key scope of the last record, and its digest. Nearly all records of an export have the same scope.
    last_scope: Option<(String, [u8; 16])>,
}

impl DatedExports {
    /// Adds the rows of each dated export of this input to its entry in the report.
    pub(super) fn add_rows_to(&self, exports: &mut [DatedExport]) {
        for export in exports {
            let rows = self.rows.get(&export.time).cloned().unwrap_or_default();
            export.rows = hex::encode(rows.encode().unwrap_or_default());
        }
    }

    /// Returns whether the export was made before or after the newest known export of its group that contained the row.
    /// Returns None if the export states no time, if no known export contained the row, or if the state numbers decide.
    pub(super) fn compare(
        &self,
        connection: &Connection,
        row: i64,
        export: Option<SourceTime>,
        state: StateOrder,
    ) -> VaultResult<Option<Ordering>> {
        let Some(export) = export.filter(|_| state == StateOrder::Unknown) else { return Ok(None) };
        let known = match self.known.get() {
            Some(known) => known,
            None => {
                let known = KnownExports::load(connection)?;
                self.known.get_or_init(|| known)
            }
        };
        Ok(known.newest(row, export.group).map(|newest| export.time.cmp(&newest)))
    }

    /// Returns the time of the current source, if it is a dated export and the record has the export's scope. An export
    /// may also carry records of other scopes, and these may be newer in an older export.
    pub(super) fn own_export(&mut self, recency: Recency, keys: &VaultKeys, record: &Record) -> Option<SourceTime> {
        let export = recency.made_at?;
        let scope = &record.key.scope;
        let digest = match &self.last_scope {
            Some((last, digest)) if last == scope => *digest,
            _ => self.last_scope.insert((scope.clone(), scope_digest(keys, scope))).1,
        };
        (digest == export.group).then_some(export)
    }
}

/// Returns the order of two versions of a record, determined from the order of their exports and the times in the
/// records. Also returns the reason to report if the vault's version is kept because it is newer.
pub(super) fn decisive_order(
    export: Option<SourceTime>,
    by_export: Option<Ordering>,
    by_time: Option<Ordering>,
) -> Option<(Ordering, &'static str)> {
    let (by_export, by_time) = (by_export.map(|order| (order, EARLIER_EXPORT)), by_time.map(|order| (order, OLDER)));
    let export_counts_first = export.is_some_and(|export| export.rule == DateRule::OverRecords);
    let (first, second) = if export_counts_first { (by_export, by_time) } else { (by_time, by_export) };
    first.filter(|(order, _)| order.is_ne()).or(second).or(first)
}

impl ImportRun<'_> {
    /// Records that the vault's current content of a row comes from this export.
    pub(super) fn note_exported(&mut self, export: Option<SourceTime>, row: i64) {
        if self.staging.is_some()
            && row > 0
            && let Some(export) = export
        {
            self.exports.rows.entry(export.time).or_default().add(row);
        }
    }
}
