//! The imports after the undone one, and the rows that they contained without writing them.
use crate::{VaultError, VaultResult, row_ranges::RowRanges};
use rusqlite::Connection;

struct Batch {
    id: i64,
    /// Rows that the batch contained unchanged.
    same: RowRanges,
    /// Rows for which the batch contained an older or a blocked version, and unchanged rows of units from older
    /// exports.
    older: RowRanges,
}

/// Batches after the undone one, the oldest first.
pub(super) struct LaterBatches(Vec<Batch>);

impl LaterBatches {
    pub(super) fn load(tx: &Connection, batch: i64) -> VaultResult<Self> {
        let mut statement =
            tx.prepare("SELECT id, same, older FROM batches WHERE id > ?1 AND undone_at IS NULL ORDER BY id")?;
        let mut rows = statement.query([batch])?;
        let mut batches = Vec::new();
        while let Some(row) = rows.next()? {
            let ranges = |at: usize| -> VaultResult<RowRanges> {
                let bytes: Option<Vec<u8>> = row.get(at)?;
                RowRanges::decode(&bytes.unwrap_or_default())
                    .ok_or_else(|| VaultError::Damaged("the rows that an import contained".into()))
            };
            batches.push(Batch { id: row.get(0)?, same: ranges(1)?, older: ranges(2)? });
        }
        Ok(Self(batches))
    }

    /// Returns the ranges of rows that each batch contained, each with the batch's id.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (i64, (i64, i64))> + '_ {
        self.0.iter().flat_map(|b| b.same.iter().chain(b.older.iter()).map(|range| (b.id, range)))
    }

    /// Returns the first batch that contained `row` unchanged. If `until` is given, searches only batches before the
    /// batch `until`.
    pub(super) fn first_batch_with(&self, row: i64, until: Option<i64>) -> Option<i64> {
        self.0.iter().take_while(|b| until.is_none_or(|u| b.id < u)).find(|b| b.same.contains(row)).map(|b| b.id)
    }

    /// True if a batch contained `row`, but only in an older or a blocked version.
    pub(super) fn have_only_other_version(&self, row: i64) -> bool {
        self.0.iter().any(|b| b.older.contains(row)) && self.first_batch_with(row, None).is_none()
    }

    /// Returns the first batch that contained the version of `row` before the version that the batch `next` wrote.
    /// Without `next`, the first batch that contained the current version. `next` itself counts too, since one input
    /// can contain a version and then a newer one.
    pub(super) fn first_batch_with_version(&self, row: i64, next: Option<i64>) -> Option<i64> {
        self.0.iter().take_while(|b| next.is_none_or(|n| b.id <= n)).find(|b| b.same.contains(row)).map(|b| b.id)
    }

    /// Like [`Self::first_batch_with`], but without batches from an older export, which do not set the position of the
    /// row in its list.
    pub(super) fn first_batch_with_position(&self, row: i64, until: Option<i64>) -> Option<i64> {
        let batches = self.0.iter().take_while(|b| until.is_none_or(|u| b.id < u));
        batches.filter(|b| b.same.contains(row)).find(|b| !b.older.contains(row)).map(|b| b.id)
    }
}
