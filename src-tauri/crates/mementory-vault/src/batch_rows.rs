//! The rows that an import contained, including unchanged rows.
use crate::{VaultResult, row_ranges::RowRanges};
use rusqlite::Connection;
use std::collections::HashSet;

/// The rows of one import.
pub(crate) struct BatchRows {
    id: i64,
    /// Rows that the import contained and did not change. The batch's columns `same` and `older` list these rows.
    unchanged: [RowRanges; 2],
    /// Rows that have a version from this import in their history.
    versions: HashSet<i64>,
}

impl BatchRows {
    /// Reads the rows of an import. `same` and `older` are the values of the batch's columns with these names.
    pub(crate) fn read(c: &Connection, id: i64, same: Option<&[u8]>, older: Option<&[u8]>) -> VaultResult<Self> {
        let unchanged = [same, older].map(|ranges| ranges.and_then(RowRanges::decode).unwrap_or_default());
        let mut statement = c.prepare_cached("SELECT row FROM versions WHERE batch = ?1")?;
        let versions = statement.query_map([id], |r| r.get(0))?.collect::<Result<_, _>>()?;
        Ok(Self { id, unchanged, versions })
    }

    /// True if the row's history contains a version that this import wrote.
    pub(crate) fn has_version(&self, row: i64) -> bool {
        self.versions.contains(&row)
    }

    /// True if the import contained the row. `batch` and `version_batch` are the values of the row's columns with these
    /// names.
    pub(crate) fn contains(&self, row: i64, batch: Option<i64>, version_batch: Option<i64>) -> bool {
        batch == Some(self.id)
            || version_batch == Some(self.id)
            || self.unchanged.iter().any(|ranges| ranges.contains(row))
            || self.has_version(row)
    }
}
