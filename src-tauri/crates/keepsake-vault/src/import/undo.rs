//! Taking a batch back whole.
use crate::{Vault, VaultError, VaultResult, store::Store};
use keepsake_model::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

impl Vault {
    /// Removes what a batch added and gives what it updated its former version back. Edits made since to the records it
    /// added go with them. Returns how many records changed.
    ///
    /// # Errors
    /// `NotFound` for an unknown or already undone batch.
    pub fn undo_import(&self, uid: &str, now: Timestamp) -> VaultResult<u32> {
        let (seq, removed, rows, reverted) = self.store.write(|tx| {
            let batch: Option<i64> = tx
                .query_row("SELECT id FROM batches WHERE uid = ?1 AND undone_at IS NULL", [uid], |r| r.get(0))
                .optional()?;
            let batch = batch.ok_or_else(|| VaultError::not_found(uid))?;
            let rows = column(tx, "SELECT row FROM records WHERE batch = ?1", batch)?;
            let reverted = column(
                tx,
                "SELECT row FROM records WHERE version_batch = ?1 AND (batch IS NULL OR batch <> ?1)",
                batch,
            )?;
            for row in &reverted {
                self.revert(tx, *row)?;
            }
            drop_rows(tx, batch)?;
            tx.execute("UPDATE batches SET undone_at = ?2 WHERE id = ?1", params![batch, now.as_micros()])?;
            tx.execute("INSERT INTO changes (op, target) VALUES (4, ?1)", [batch])?;
            let removed = u32::try_from(rows.len() + reverted.len()).unwrap_or(u32::MAX);
            crate::audit::append(tx, &self.keys, now, "undo_import", uid, &format!("removed {removed}"))?;
            self.store.packs.forget();
            Ok((Store::last_change(tx)?, removed, rows, reverted))
        })?;
        for row in rows {
            self.index_delete(row)?;
        }
        for row in reverted {
            self.reindex(row)?;
        }
        self.index_commit(seq)?;
        self.sweep_blobs()?;
        self.store.checkpoint()?;
        Ok(removed)
    }

    /// Makes the last superseded version current again and forgets the present one.
    fn revert(&self, tx: &Connection, row: i64) -> VaultResult<()> {
        let former: Option<(i64, i64, u32)> = tx
            .query_row(
                "SELECT version, pack, slot FROM versions WHERE row = ?1 ORDER BY version DESC LIMIT 1",
                [row],
                |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
            )
            .optional()?;
        let Some((version, pack, slot)) = former else { return Ok(()) };
        tx.execute(
            "UPDATE records SET (version, pack, slot, since, cause, version_batch, flags, digest) = \
             (SELECT version, pack, slot, since, cause, batch, flags, digest FROM versions WHERE row = ?1 AND version = ?2) WHERE row = ?1",
            params![row, version],
        )?;
        tx.execute("DELETE FROM versions WHERE row = ?1 AND version = ?2", params![row, version])?;
        let record = self.store.packs.record(tx, pack, slot)?;
        self.write_current(tx, row, &record)
    }
}

fn column(tx: &Connection, sql: &str, batch: i64) -> VaultResult<Vec<i64>> {
    let mut statement = tx.prepare(sql)?;
    let rows = statement.query_map([batch], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Removes everything that hangs on the rows a batch added. Packs hold entries of one batch only, so they go whole;
/// packs of later edits to these rows are found through the rows.
fn drop_rows(tx: &Connection, batch: i64) -> VaultResult<()> {
    let added = "(SELECT row FROM records WHERE batch = ?1)";
    for sql in [
        format!(
            "DELETE FROM packs WHERE batch IS NULL AND id IN (SELECT pack FROM records WHERE batch = ?1 UNION SELECT pack FROM versions WHERE row IN {added})"
        ),
        format!("DELETE FROM versions WHERE row IN {added}"),
        format!("DELETE FROM tags WHERE row IN {added}"),
        format!("DELETE FROM links WHERE row IN {added}"),
        format!("DELETE FROM file_refs WHERE row IN {added}"),
        format!("DELETE FROM files WHERE row IN {added}"),
        "DELETE FROM records WHERE batch = ?1".to_owned(),
        "DELETE FROM versions WHERE batch = ?1".to_owned(),
        // Entries of updated records are in packs of this batch as well; their rows were reverted before.
        "DELETE FROM packs WHERE batch = ?1".to_owned(),
    ] {
        tx.execute(&sql, [batch])?;
    }
    Ok(())
}
