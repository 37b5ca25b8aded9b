//! Adds the vectors of erased and redacted texts to the evidence, before database triggers delete them together with
//! the text.
use crate::VaultResult;
use mementory_erasure_check::Evidence;
use rusqlite::Connection;

/// Adds the current vectors of a row to the evidence, so that the erasure check searches for them.
pub(crate) fn add_to_evidence(c: &Connection, row: i64, evidence: &mut Evidence) -> VaultResult<()> {
    let mut statement = c.prepare_cached("SELECT vector FROM vectors WHERE row = ?1")?;
    let mut rows = statement.query([row])?;
    while let Some(row) = rows.next()? {
        evidence.add_vector(row.get_ref(0)?.as_blob().unwrap_or_default());
    }
    Ok(())
}
