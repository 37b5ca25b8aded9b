//! Restores the list positions and times of unchanged records that the undone batch changed.
use crate::{
    VaultResult,
    import::undo::{later_batches::LaterBatches, query_integers},
};
use mementory_model::{Kind, Timestamp};
use mementory_store::{Flags, ListPosition, Packs, kind_code};
use rusqlite::{Connection, OptionalExtension, named_params, params};

/// The position and the time that a version had before the batch. `version` is the version that was current after the
/// batch.
struct Former {
    row: i64,
    version: u32,
    sort: i64,
    position: i64,
    flags: i64,
    updated: Option<i64>,
}

/// Restores the list positions and times that the batch changed. They are stored with the version that was current
/// after the batch, even if that version has been superseded since. Returns the conversations whose position the batch
/// had changed. They must be indexed again, because the index stores their time.
pub(super) fn restore_positions(
    tx: &Connection,
    packs: &Packs,
    batch: i64,
    later_batches: &LaterBatches,
) -> VaultResult<Vec<i64>> {
    let conversations = format!(
        "SELECT m.row FROM moved m JOIN records r ON r.row = m.row WHERE m.batch = ?1 AND r.kind = {}",
        kind_code(Kind::Conversation)
    );
    let conversations = query_integers(tx, &conversations, batch)?;
    for row in query_integers(tx, "SELECT row FROM moved WHERE batch = ?1", batch)? {
        let version = version_after(tx, row, batch)?;
        let next = super::files::next_batch(tx, "moved", row, batch)?;
        let until = [next, next_writing_batch(tx, row, batch)?].into_iter().flatten().min();
        if let Some(keeping_batch) = later_batches.first_batch_with_position(row, until)
            && version_after(tx, row, keeping_batch)? == version
        {
            super::files::reassign(tx, "moved", row, batch, keeping_batch)?;
            continue;
        }
        let former: (i64, i64, i64, Option<i64>) = tx
            .prepare_cached("DELETE FROM moved WHERE row = ?1 AND batch = ?2 RETURNING sort, position, flags, updated")?
            .query_row([row, batch], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?;
        let (sort, position, flags, updated) = former;
        let Some(version) = version else { continue };
        let updated = match updated {
            Some(_) => updated,
            None => time_in_body(tx, packs, row, version)?,
        };
        let former = Former { row, version, sort, position, flags, updated };
        // A version that a later batch wrote keeps its own position. A version that a person wrote has taken over the
        // position of the version before it, so its position is restored too.
        let end = next_imported_version(tx, row, version)?;
        let next_move = next.map(|next| VaultResult::Ok((next, version_after(tx, row, next)?))).transpose()?;
        match next_move {
            Some((next, Some(moved))) if end.is_none_or(|end| moved < end) => {
                former.store_in_next_entry(tx, next, moved == version)?;
                former.restore(tx, Some(moved))?;
            }
            _ => former.restore(tx, end)?,
        }
    }
    Ok(conversations)
}

impl Former {
    /// Stores these values as the former values in the entry of the later batch `next`, which changed the position of
    /// the row again. Leaves out the time if the row has another version since then, because the time belongs to one
    /// version only.
    fn store_in_next_entry(&self, tx: &Connection, next: i64, is_same_version: bool) -> VaultResult<()> {
        tx.prepare_cached(
            "UPDATE moved SET sort = :sort, position = :position, flags = :flags, \
             updated = CASE WHEN :same THEN :updated ELSE updated END WHERE row = :row AND batch = :next",
        )?
        .execute(named_params! {
            ":row": self.row, ":next": next, ":sort": self.sort, ":position": self.position, ":flags": self.flags,
            ":updated": self.updated, ":same": is_same_version,
        })?;
        Ok(())
    }

    /// Restores the position of this version and of the versions after it that are before `end`. Restores the time of
    /// this version.
    fn restore(&self, tx: &Connection, end: Option<u32>) -> VaultResult<()> {
        for table in ["records", "versions"] {
            let sql = format!(
                "UPDATE {table} SET sort = :sort, position = :position, \
                 flags = flags & ~:position_flags | :flags & :position_flags, \
                 updated = CASE version WHEN :version THEN :updated ELSE updated END \
                 WHERE row = :row AND version >= :version AND version < :end"
            );
            tx.prepare_cached(&sql)?.execute(named_params! {
                ":row": self.row, ":version": self.version, ":end": end.map_or(i64::MAX, i64::from),
                ":sort": self.sort, ":position": self.position, ":updated": self.updated, ":flags": self.flags,
                ":position_flags": ListPosition::FLAGS,
            })?;
        }
        debug_assert_eq!(ListPosition::FLAGS & (Flags::EDITED | Flags::REDACTED), 0);
        Ok(())
    }
}

/// Returns the time in the body of a version. Before schema 5, times were stored only in bodies, so entries in `moved`
/// from then have no time. Returns None if the row has no time that an undo could clear.
fn time_in_body(tx: &Connection, packs: &Packs, row: i64, version: u32) -> VaultResult<Option<i64>> {
    let place: Option<(i64, u32)> = tx
        .prepare_cached(
            "SELECT pack, slot FROM records WHERE row = ?1 AND version = ?2 AND updated IS NOT NULL \
             UNION ALL SELECT pack, slot FROM versions WHERE row = ?1 AND version = ?2 AND updated IS NOT NULL",
        )?
        .query_row(params![row, version], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    let Some((pack, slot)) = place else { return Ok(None) };
    Ok(packs.record(tx, pack, slot)?.times.updated.map(Timestamp::as_micros))
}

/// All versions of a row, each with the batch that wrote it. The batch of a version that a person wrote is NULL.
const ALL_VERSIONS: &str = "(SELECT version, batch, since FROM versions WHERE row = :row \
     UNION ALL SELECT version, version_batch AS batch, since FROM records WHERE row = :row)";

/// Returns the version of a row that was current after a batch.
fn version_after(tx: &Connection, row: i64, batch: i64) -> VaultResult<Option<u32>> {
    let sql = format!(
        "SELECT max(version) FROM {ALL_VERSIONS} WHERE CASE WHEN batch IS NULL \
         THEN since <= (SELECT at FROM batches WHERE id = :batch) ELSE batch <= :batch END"
    );
    let parameters = named_params! { ":row": row, ":batch": batch };
    Ok(tx.prepare_cached(&sql)?.query_row(parameters, |r| r.get(0))?)
}

/// Returns the first later batch that wrote a version of the row.
fn next_writing_batch(tx: &Connection, row: i64, batch: i64) -> VaultResult<Option<i64>> {
    let sql = format!("SELECT min(batch) FROM {ALL_VERSIONS} WHERE batch > :batch");
    let parameters = named_params! { ":row": row, ":batch": batch };
    Ok(tx.prepare_cached(&sql)?.query_row(parameters, |r| r.get(0))?)
}

/// Returns the first version after `version` that a batch wrote.
fn next_imported_version(tx: &Connection, row: i64, version: u32) -> VaultResult<Option<u32>> {
    let sql = format!("SELECT min(version) FROM {ALL_VERSIONS} WHERE version > :version AND batch IS NOT NULL");
    let parameters = named_params! { ":row": row, ":version": version };
    Ok(tx.prepare_cached(&sql)?.query_row(parameters, |r| r.get(0))?)
}
