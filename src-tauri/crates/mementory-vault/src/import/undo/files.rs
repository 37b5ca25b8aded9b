//! Restores the bytes of files that the undone batch replaced.
use crate::{VaultResult, import::undo::later_batches::LaterBatches};
use rusqlite::{Connection, params};

/// Restores the earlier bytes of files.
pub(super) fn restore_bytes(tx: &Connection, batch: i64, later_batches: &LaterBatches) -> VaultResult<()> {
    for row in crate::import::undo::query_integers(tx, "SELECT row FROM file_versions WHERE batch = ?1", batch)? {
        let next = next_batch(tx, "file_versions", row, batch)?;
        if let Some(keeping_batch) = later_batches.first_batch_with(row, next) {
            reassign(tx, "file_versions", row, batch, keeping_batch)?;
            continue;
        }
        // If a later batch replaced the bytes again, the file keeps the later bytes. The later batch's entry gets the
        // bytes from before this batch as its earlier bytes, so that undoing the later batch restores them.
        let sql = match next {
            Some(_) => {
                "UPDATE file_versions SET (blob, size, media_type) = \
                 (SELECT blob, size, media_type FROM file_versions WHERE row = ?1 AND batch = ?2) WHERE row = ?1 AND batch = ?3"
            }
            None => {
                "UPDATE files SET (blob, size, media_type) = \
                 (SELECT blob, size, media_type FROM file_versions WHERE row = ?1 AND batch = ?2) WHERE row = ?1 AND ?3 IS NULL"
            }
        };
        tx.prepare_cached(sql)?.execute(params![row, batch, next])?;
        tx.prepare_cached("DELETE FROM file_versions WHERE row = ?1 AND batch = ?2")?.execute([row, batch])?;
    }
    // A file that this batch added stays if a later batch contains it. The first remaining entry of the file then
    // counts as the one that added the file, so it must not have earlier bytes.
    tx.execute(
        "UPDATE file_versions SET blob = NULL, size = NULL, media_type = NULL \
         WHERE row IN (SELECT s.row FROM temp.staying s JOIN records r ON r.row = s.row WHERE r.batch = ?1) \
         AND batch = (SELECT min(batch) FROM file_versions f WHERE f.row = file_versions.row)",
        [batch],
    )?;
    Ok(())
}

/// Returns the first later batch that has an entry for the row in `table`.
pub(super) fn next_batch(tx: &Connection, table: &str, row: i64, batch: i64) -> VaultResult<Option<i64>> {
    let sql = format!("SELECT min(batch) FROM {table} WHERE row = ?1 AND batch > ?2");
    Ok(tx.prepare_cached(&sql)?.query_row([row, batch], |r| r.get(0))?)
}

/// Assigns the row's entry in `table` to the later batch `keeping_batch`, which contained the row unchanged and
/// therefore has no entry for it.
pub(super) fn reassign(tx: &Connection, table: &str, row: i64, batch: i64, keeping_batch: i64) -> VaultResult<()> {
    let sql = format!("UPDATE {table} SET batch = ?3 WHERE row = ?1 AND batch = ?2");
    tx.prepare_cached(&sql)?.execute([row, batch, keeping_batch])?;
    Ok(())
}
