//! Moves rows to the Trash and back.
use crate::StoreResult;
use mementory_model::Timestamp;
use rusqlite::{Connection, params};

/// Moves a row, and the rows that it owns, to the Trash. `batch` is the import whose tombstones request this, or None
/// for a person. Restoring the row `root` restores all of these rows. Returns the moved rows, which the caller must
/// remove from the index.
pub fn trash_row(tx: &Connection, row: i64, root: i64, now: Timestamp, batch: Option<i64>) -> StoreResult<Vec<i64>> {
    let moved = query_rows(tx, "SELECT row FROM records WHERE (row = ?1 OR owner = ?1) AND trashed IS NULL", row)?;
    for moved in &moved {
        tx.prepare_cached("UPDATE records SET trashed = ?2, trash_root = ?3, trash_batch = ?4 WHERE row = ?1")?
            .execute(params![moved, now.as_micros(), root, batch])?;
        tx.prepare_cached("INSERT INTO changes (op, target) VALUES (2, ?1)")?.execute([moved])?;
    }
    Ok(moved)
}

/// Takes one row out of the Trash. The caller must index it again.
pub fn untrash(tx: &Connection, row: i64) -> StoreResult<()> {
    tx.prepare_cached("UPDATE records SET trashed = NULL, trash_root = NULL, trash_batch = NULL WHERE row = ?1")?
        .execute([row])?;
    tx.prepare_cached("INSERT INTO changes (op, target) VALUES (1, ?1)")?.execute([row])?;
    Ok(())
}

/// Makes a row in the Trash its own root if its former root is no longer in the Trash, because the Trash lists only
/// rows that are their own root.
pub fn reroot_orphans(tx: &Connection) -> StoreResult<()> {
    tx.execute(
        "UPDATE records SET trash_root = row WHERE trashed IS NOT NULL AND trash_root <> row \
         AND NOT EXISTS (SELECT 1 FROM records root WHERE root.row = records.trash_root AND root.trashed IS NOT NULL)",
        [],
    )?;
    Ok(())
}

/// Runs a query whose parameter is `row`, and returns the row numbers in its result.
///
/// # Errors
/// Errors of the database.
pub fn query_rows(tx: &Connection, sql: &str, row: i64) -> StoreResult<Vec<i64>> {
    let mut statement = tx.prepare_cached(sql)?;
    let rows = statement.query_map([row], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
