//! Removes or reassigns the versions that the undone batch wrote.
use crate::{
    VaultResult,
    import::{Importer, undo::later_batches::LaterBatches},
};
use mementory_model::Record;
use mementory_store::RecordColumns;
use rusqlite::{Connection, OptionalExtension, params};

/// Removes the undone batch's versions from the history. If a later batch contained the same version, or the row is
/// kept for a later batch and has no newer version, assigns the version to that batch instead. This exception applies
/// to the last version of each row that the undone batch wrote, since later batches contained only the last version.
pub(super) fn remove_or_reassign(tx: &Connection, batch: i64, later_batches: &LaterBatches) -> VaultResult<()> {
    tx.execute(
        "DELETE FROM versions WHERE batch = ?1 AND EXISTS (\
         SELECT 1 FROM versions n WHERE n.row = versions.row AND n.version > versions.version AND n.batch = ?1 \
         UNION ALL SELECT 1 FROM records r WHERE r.row = versions.row AND r.version_batch = ?1)",
        [batch],
    )?;
    let versions: Vec<(i64, u32, Option<i64>, Option<i64>)> = {
        // A batch that ran after the next version of the row was written cannot have contained this version, so the
        // batch that wrote the next version is looked up too.
        let mut statement = tx.prepare(
            "SELECT v.row, v.version, \
             (SELECT min(b) FROM (SELECT batch AS b FROM versions WHERE row = v.row AND batch > ?1 \
              UNION ALL SELECT version_batch FROM records WHERE row = v.row AND version_batch > ?1)), \
             (SELECT home FROM temp.staying s WHERE s.row = v.row) FROM versions v WHERE v.batch = ?1",
        )?;
        let rows = statement.query_map([batch], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    for (row, version, next, home) in versions {
        let keeping_batch =
            later_batches.first_batch_with_version(row, next).or(if next.is_none() { home } else { None });
        let sql = match keeping_batch {
            Some(_) => "UPDATE versions SET batch = ?3 WHERE row = ?1 AND version = ?2",
            None => "DELETE FROM versions WHERE row = ?1 AND version = ?2 AND ?3 IS NULL",
        };
        tx.prepare_cached(sql)?.execute(params![row, version, keeping_batch])?;
    }
    Ok(())
}

/// Version, pack, slot, since, sort and position of a superseded version.
type FormerVersion = (u32, i64, u32, i64, Option<i64>, Option<i64>);

impl Importer<'_> {
    /// Makes the previous version current again in rows of other batches whose current version this batch wrote. If a
    /// later batch contained the current version too, the version is assigned to that batch instead. Returns the rows
    /// whose previous version is current again.
    pub(super) fn revert_all(
        &self,
        tx: &Connection,
        batch: i64,
        later_batches: &LaterBatches,
    ) -> VaultResult<Vec<i64>> {
        let sql = "SELECT row FROM records WHERE version_batch = ?1 AND (batch IS NULL OR batch <> ?1)";
        let mut changed = Vec::new();
        for row in crate::import::undo::query_integers(tx, sql, batch)? {
            if let Some(keeping_batch) = later_batches.first_batch_with(row, None) {
                tx.prepare_cached("UPDATE records SET version_batch = ?2 WHERE row = ?1")?
                    .execute([row, keeping_batch])?;
            } else if self.revert(tx, row)? {
                changed.push(row);
            }
        }
        Ok(changed)
    }

    /// Removes the current version and makes the last superseded version current again.
    fn revert(&self, tx: &Connection, row: i64) -> VaultResult<bool> {
        let former: Option<FormerVersion> = tx
            .prepare_cached(
                "SELECT version, pack, slot, since, sort, position FROM versions WHERE row = ?1 \
                 ORDER BY version DESC LIMIT 1",
            )?
            .query_row([row], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?)))
            .optional()?;
        let Some((version, pack, slot, since, sort, position)) = former else { return Ok(false) };
        tx.prepare_cached(
            "UPDATE records SET (version, pack, slot, since, cause, version_batch, flags, digest, details, updated) = \
             (SELECT version, pack, slot, since, cause, batch, flags, digest, details, updated FROM versions \
             WHERE row = ?1 AND version = ?2) WHERE row = ?1",
        )?
        .execute(params![row, version])?;
        tx.prepare_cached("DELETE FROM versions WHERE row = ?1 AND version = ?2")?.execute(params![row, version])?;
        let record = self.context.store.packs.record(tx, pack, slot)?;
        mementory_store::write_columns(tx, row, &record)?;
        let columns = RecordColumns::from_record(&record, 0, since);
        tx.prepare_cached("UPDATE records SET sort = ?2, position = ?3 WHERE row = ?1")?.execute(params![
            row,
            sort.unwrap_or(columns.sort),
            position.unwrap_or(columns.position)
        ])?;
        self.relink(tx, row, &record)?;
        Ok(true)
    }

    /// Restores the links and files of a record, except links to blocked records.
    fn relink(&self, tx: &Connection, row: i64, record: &Record) -> VaultResult<()> {
        // A repeated record keeps its links, since they come from all its occurrences, while the body contains only the
        // links of one occurrence.
        if !record.repeats {
            tx.prepare_cached("DELETE FROM links WHERE row = ?1")?.execute([row])?;
        }
        for link in &record.links {
            let target = mementory_store::ids::record_id(&self.context.keys, &link.target);
            tx.prepare_cached(
                "INSERT OR IGNORE INTO links (row, relation, target) SELECT ?1, ?2, ?3 \
                 WHERE NOT EXISTS (SELECT 1 FROM blocked WHERE record = ?3)",
            )?
            .execute(params![row, link.relation, target])?;
        }
        tx.prepare_cached("DELETE FROM file_refs WHERE row = ?1")?.execute([row])?;
        for named in &record.attachments {
            let file = mementory_store::ids::record_id(&self.context.keys, &named.key);
            tx.prepare_cached(
                "INSERT OR IGNORE INTO file_refs (row, file) SELECT ?1, row FROM records WHERE id = ?2 AND row <> ?1",
            )?
            .execute(params![row, file])?;
        }
        Ok(())
    }
}
