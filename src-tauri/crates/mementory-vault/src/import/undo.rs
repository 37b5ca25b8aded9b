//! Undoes a batch completely. Records that only this batch contained are removed, and records that the batch changed
//! are restored. Records that a later import also contained stay, and are reassigned to that import.
mod files;
mod later_batches;
mod positions;
mod reassigned_rows;
mod versions;

use crate::{VaultError, VaultResult, applied::Applied, failed_step::FailedStep, import::Importer};
use later_batches::LaterBatches;
use mementory_model::Timestamp;
use mementory_store::{
    Store,
    trash::{reroot_orphans, untrash},
};
use rusqlite::{Connection, OptionalExtension, params};
use std::{collections::BTreeSet, sync::atomic::AtomicBool};

/// The changes of an undo, with which the index is updated: the store's change number, and the rows that were removed,
/// changed or restored from the Trash.
struct UndoneChanges {
    seq: u64,
    removed: Vec<i64>,
    changed: Vec<i64>,
    /// Conversations whose list position the batch had changed.
    moved: Vec<i64>,
    untrashed: Vec<i64>,
    /// Number of records that keep their text although the remaining imports contained only other versions of them.
    kept_texts: u32,
}

impl Importer<'_> {
    /// Removes the records that a batch added, including later edits of them, and restores the earlier versions of the
    /// records that the batch updated. Records that a later batch also contained stay; a warning gives the number of
    /// those whose text no later batch contained ([`FailedStep::OtherVersionNotStored`]). Returns how many records were
    /// removed or changed.
    ///
    /// # Errors
    /// `NotFound` for an unknown or already undone batch.
    pub fn undo(&self, uid: &str, now: Timestamp) -> VaultResult<Applied<u32>> {
        self.undo_until(uid, now, &AtomicBool::new(false))
    }

    /// Like [`undo`](Self::undo), but stops when `cancel` is set.
    ///
    /// # Errors
    /// As [`undo`](Self::undo); `Cancelled` if it was stopped, in which case nothing was changed.
    pub fn undo_until(&self, uid: &str, now: Timestamp, cancel: &AtomicBool) -> VaultResult<Applied<u32>> {
        let changes = self.context.store.write_until(cancel, |tx| self.undo_in(tx, uid, now))?;
        let records = changes.kept_texts;
        let indexed = Applied::new(changes)
            .then(FailedStep::Index, |changes| self.context.update_index(changes.seq, || self.index_undone(changes)))
            .warn_if(records > 0, FailedStep::OtherVersionNotStored { records });
        // Removes the blobs to which no record refers any more, and empties the write-ahead log. Blobs that cannot be
        // removed now are removed when the vault is next opened.
        let _ = self.context.sweep_blobs();
        let _ = self.context.store.checkpoint();
        Ok(indexed.map(|changes| u32::try_from(changes.removed.len() + changes.changed.len()).unwrap_or(u32::MAX)))
    }

    fn index_undone(&self, done: &UndoneChanges) -> VaultResult<()> {
        for row in &done.removed {
            self.context.index_delete(*row)?;
        }
        for row in done.changed.iter().chain(&done.moved).chain(&done.untrashed) {
            self.context.reindex(*row)?;
        }
        Ok(())
    }

    fn undo_in(&self, tx: &Connection, uid: &str, now: Timestamp) -> VaultResult<UndoneChanges> {
        let batch: Option<i64> = tx
            .query_row("SELECT id FROM batches WHERE uid = ?1 AND undone_at IS NULL", [uid], |r| r.get(0))
            .optional()?;
        let batch = batch.ok_or_else(|| VaultError::not_found(uid))?;
        let later_batches = LaterBatches::load(tx, batch)?;
        reassigned_rows::find_staying_rows(tx, batch, &later_batches)?;
        let kept_texts = reassigned_rows::count_kept_texts(tx, batch, &later_batches)?;
        let packs = touched_packs(tx, batch)?;
        files::restore_bytes(tx, batch, &later_batches)?;
        let moved = positions::restore_positions(tx, &self.context.store.packs, batch, &later_batches)?;
        versions::remove_or_reassign(tx, batch, &later_batches)?;
        reassigned_rows::reassign_rows(tx, batch)?;
        let removed = query_integers(tx, "SELECT row FROM records WHERE batch = ?1", batch)?;
        drop_rows(tx, batch)?;
        reroot_orphans(tx)?;
        let changed = self.revert_all(tx, batch, &later_batches)?;
        let untrashed = self.withdraw_tombstones(tx, batch)?;
        // `reroot_orphans` is called again, because a restored record may have been the root with which other records
        // were moved to the Trash.
        reroot_orphans(tx)?;
        mementory_store::export_ids::remove_unused(tx)?;
        self.context.store.packs.remove_strays_in(tx, &packs)?;
        tx.execute("UPDATE packs SET batch = NULL WHERE batch = ?1", [batch])?;
        tx.execute(
            "UPDATE batches SET undone_at = ?2, same = NULL, older = NULL WHERE id = ?1",
            params![batch, now.as_micros()],
        )?;
        tx.execute("INSERT INTO changes (op, target) VALUES (4, ?1)", [batch])?;
        let detail = format!("removed {}", removed.len() + changed.len());
        mementory_store::audit::append(tx, &self.context.keys, now, "undo_import", uid, &detail)?;
        self.context.store.packs.clear_cache();
        Ok(UndoneChanges { seq: Store::last_change(tx)?, removed, changed, moved, untrashed, kept_texts })
    }

    /// Removes the tombstones of the batch and restores the records that they moved to the Trash. If a tombstone of
    /// another import names such a record too, the record stays in the Trash and is assigned to that import.
    fn withdraw_tombstones(&self, tx: &Connection, batch: i64) -> VaultResult<Vec<i64>> {
        mementory_store::tombstones::withdraw(tx, &self.context.keys, batch)?;
        tx.execute(
            "UPDATE records SET trash_batch = (SELECT min(t.batch) FROM records root JOIN blocked b ON b.record = root.id \
             JOIN tombstone_batches t ON t.tombstone = b.tombstone WHERE root.row = records.trash_root) \
             WHERE trashed IS NOT NULL AND trash_batch = ?1 \
             AND EXISTS (SELECT 1 FROM records root JOIN blocked b ON b.record = root.id WHERE root.row = records.trash_root)",
            [batch],
        )?;
        let rows = query_integers(tx, "SELECT row FROM records WHERE trashed IS NOT NULL AND trash_batch = ?1", batch)?;
        for row in &rows {
            untrash(tx, *row)?;
        }
        Ok(rows)
    }
}

pub(crate) fn query_integers(tx: &Connection, sql: &str, batch: i64) -> VaultResult<Vec<i64>> {
    let mut statement = tx.prepare(sql)?;
    let rows = statement.query_map([batch], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns packs that may lose an entry: packs of the batch, and packs of later edits and imports of the removed rows.
fn touched_packs(tx: &Connection, batch: i64) -> VaultResult<BTreeSet<i64>> {
    let gone_rows = "SELECT row FROM records WHERE batch = ?1 AND row NOT IN (SELECT row FROM temp.staying)";
    let mut packs = BTreeSet::new();
    for sql in [
        "SELECT id FROM packs WHERE batch = ?1".to_owned(),
        format!("SELECT DISTINCT pack FROM records WHERE version_batch = ?1 OR row IN ({gone_rows})"),
        format!("SELECT DISTINCT pack FROM versions WHERE batch = ?1 OR row IN ({gone_rows})"),
    ] {
        packs.extend(query_integers(tx, &sql, batch)?);
    }
    Ok(packs)
}

/// Removes the records that are still assigned to the batch, with their rows in all tables.
fn drop_rows(tx: &Connection, batch: i64) -> VaultResult<()> {
    for table in ["versions", "tags", "links", "file_refs", "files", "file_versions", "moved"] {
        tx.execute(&format!("DELETE FROM {table} WHERE row IN (SELECT row FROM records WHERE batch = ?1)"), [batch])?;
    }
    tx.execute("DELETE FROM records WHERE batch = ?1", [batch])?;
    Ok(())
}
