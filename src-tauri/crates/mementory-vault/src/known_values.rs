//! The sensitive values that the last scan found, in the form that masking needs.
use crate::{VaultResult, findings::ValueId, word_removal::Removal};
use rusqlite::Connection;
use std::collections::HashSet;

/// The values that masking knows before it scans a record.
pub(crate) struct KnownValues {
    /// Values that the person ignores.
    pub(crate) ignored: HashSet<ValueId>,
    /// Spellings that the scan finds in some record. Other records may contain them without the context that the scan
    /// needs.
    pub(crate) spellings: Option<Removal>,
}

/// The state that determines the known values: the number of the last change, the last scanned row, the number of
/// findings, the number of decisions, and the time of the last decision.
pub(crate) type ValuesState = (i64, i64, i64, i64, i64);

impl KnownValues {
    /// Returns the current state on which the known values depend.
    pub(crate) fn state(c: &Connection) -> VaultResult<ValuesState> {
        let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0), \
             coalesce((SELECT value FROM meta WHERE key = 'looked_row'), 0), (SELECT count(*) FROM findings), \
             (SELECT count(*) FROM judged), coalesce((SELECT max(at) FROM judged), 0)";
        let mut statement = c.prepare_cached(sql)?;
        Ok(statement.query_row([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?)))?)
    }
}
