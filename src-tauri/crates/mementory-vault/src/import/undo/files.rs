//! Restores the bytes of files that the undone batch replaced, and the list positions and times of unchanged
//! records that it changed.
use crate::{
    VaultResult,
    import::{undo::later_batches::LaterBatches, undo::versions::with_position_flags},
};
use rusqlite::{Connection, OptionalExtension, params};

/// Restores the earlier bytes of files.
pub(super) fn restore_bytes(tx: &Connection, batch: i64, later: &LaterBatches) -> VaultResult<()> {
    for row in crate::import::undo::query_integers(tx, "SELECT row FROM file_versions WHERE batch = ?1", batch)? {
        let next = next_batch(tx, "file_versions", row, batch)?;
        if let Some(keeping_batch) = later.first_batch_with(row, next) {
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
    // If this batch added a file that stays because of a later batch, its first remaining entry becomes the one that
    // added it. Before that entry, the file had no bytes.
    tx.execute(
        "UPDATE file_versions SET blob = NULL, size = NULL, media_type = NULL \
         WHERE row IN (SELECT s.row FROM temp.staying s JOIN records r ON r.row = s.row WHERE r.batch = ?1) \
         AND batch = (SELECT min(batch) FROM file_versions f WHERE f.row = file_versions.row)",
        [batch],
    )?;
    Ok(())
}

/// Restores the list positions that the batch changed.
pub(super) fn restore_positions(tx: &Connection, batch: i64, later: &LaterBatches) -> VaultResult<()> {
    for row in crate::import::undo::query_integers(tx, "SELECT row FROM moved WHERE batch = ?1", batch)? {
        let next = next_batch(tx, "moved", row, batch)?;
        if let Some(keeping_batch) = later.first_batch_with_position(row, next) {
            reassign(tx, "moved", row, batch, keeping_batch)?;
            continue;
        }
        let former: (i64, i64, i64, Option<i64>) = tx
            .prepare_cached("DELETE FROM moved WHERE row = ?1 AND batch = ?2 RETURNING sort, position, flags, updated")?
            .query_row([row, batch], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?;
        let (sort, position, former_flags, updated) = former;
        if let Some(next) = next {
            tx.prepare_cached(
                "UPDATE moved SET sort = ?3, position = ?4, flags = ?5, updated = ?6 WHERE row = ?1 AND batch = ?2",
            )?
            .execute(params![row, next, sort, position, former_flags, updated])?;
            continue;
        }
        let present = tx
            .prepare_cached("SELECT flags, version_batch FROM records WHERE row = ?1")?
            .query_row([row], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, Option<i64>>(1)?)))
            .optional()?;
        // If a later batch wrote the current version, that version keeps its own position.
        if let Some((flags, version_batch)) = present
            && version_batch.is_none_or(|written_by| written_by <= batch)
        {
            // A version that the person wrote after the import keeps its own time.
            tx.prepare_cached(
                "UPDATE records SET sort = ?2, position = ?3, flags = ?4, updated = CASE \
                 WHEN version_batch IS NULL AND since > (SELECT at FROM batches WHERE id = ?6) THEN updated ELSE ?5 END \
                 WHERE row = ?1",
            )?
            .execute(params![row, sort, position, with_position_flags(flags, former_flags), updated, batch])?;
        }
    }
    Ok(())
}

/// The first later batch that has an entry for the row in `table`.
fn next_batch(tx: &Connection, table: &str, row: i64, batch: i64) -> VaultResult<Option<i64>> {
    let sql = format!("SELECT min(batch) FROM {table} WHERE row = ?1 AND batch > ?2");
    Ok(tx.prepare_cached(&sql)?.query_row([row, batch], |r| r.get(0))?)
}

/// Assigns the row's entry in `table` to the later batch `keeping_batch`, which contained the row unchanged and
/// therefore has no entry for it.
fn reassign(tx: &Connection, table: &str, row: i64, batch: i64, keeping_batch: i64) -> VaultResult<()> {
    let sql = format!("UPDATE {table} SET batch = ?3 WHERE row = ?1 AND batch = ?2");
    tx.prepare_cached(&sql)?.execute([row, batch, keeping_batch])?;
    Ok(())
}
