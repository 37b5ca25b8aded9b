//! Finds the rows of the undone batch that a later import needs, and assigns them to that import. In the table
//! `temp.staying (row, home)`, `home` is the later batch to which the row is assigned.
use crate::{VaultResult, import::undo::later_batches::LaterBatches};
use mementory_model::Kind;
use mementory_store::kind_code;
use rusqlite::{Connection, params};

/// Assigns a row to the first batch that needs it. If that batch is undone later, the row goes to the next batch that
/// needs it.
const USE_EARLIEST_BATCH: &str = "ON CONFLICT (row) DO UPDATE SET home = excluded.home WHERE excluded.home < home";

/// Finds the rows that a later batch also contained, and the rows that such a row depends on: its conversation, its
/// files, the records from which it was derived.
pub(super) fn find_staying_rows(tx: &Connection, batch: i64, later_batches: &LaterBatches) -> VaultResult<()> {
    tx.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS staying (row INTEGER PRIMARY KEY, home INTEGER NOT NULL); DELETE FROM temp.staying;",
    )?;
    let mut insert = tx.prepare(&format!(
        "INSERT INTO temp.staying SELECT row, ?2 FROM records WHERE row BETWEEN ?3 AND ?4 AND batch = ?1 {USE_EARLIEST_BATCH}"
    ))?;
    for (home, (first, last)) in later_batches.ranges() {
        insert.execute(params![batch, home, first, last])?;
    }
    for versions in [
        "SELECT row, version_batch AS home FROM records WHERE batch = ?1 AND version_batch > ?1",
        "SELECT r.row, min(v.batch) AS home FROM versions v JOIN records r ON r.row = v.row \
         WHERE r.batch = ?1 AND v.batch > ?1 GROUP BY r.row",
    ] {
        tx.execute(
            &format!("INSERT INTO temp.staying SELECT row, home FROM ({versions}) WHERE true {USE_EARLIEST_BATCH}"),
            [batch],
        )?;
    }
    // First adds the rows of this batch that rows of later batches need. Then repeatedly adds the rows that the added
    // rows need.
    for homes in ["SELECT row, batch AS home FROM records WHERE batch > ?1", "SELECT row, home FROM temp.staying"] {
        while add_needed_rows(tx, batch, homes)? > 0 {}
    }
    Ok(())
}

fn add_needed_rows(tx: &Connection, batch: i64, homes: &str) -> VaultResult<usize> {
    let mut added = 0;
    for rows_needed in [
        "records c ON c.row = h.row JOIN records t ON t.row = c.owner",
        "file_refs f ON f.row = h.row JOIN records t ON t.row = f.file",
        "links l ON l.row = h.row AND l.relation = 'derived_from' JOIN records t ON t.id = l.target",
    ] {
        let sql = format!(
            "INSERT INTO temp.staying SELECT t.row, min(h.home) FROM ({homes}) h JOIN {rows_needed} \
             WHERE t.batch = ?1 GROUP BY t.row {USE_EARLIEST_BATCH}"
        );
        added += tx.execute(&sql, [batch])?;
    }
    Ok(added)
}

/// Counts the records that stay as the undone batch wrote them, or as a person edited them since, although the later
/// batches contained only older or blocked versions of them, which are not stored. Passthrough files are not counted,
/// because they contain no text of a record.
pub(super) fn count_kept_texts(tx: &Connection, batch: i64, later_batches: &LaterBatches) -> VaultResult<u32> {
    let sql = format!(
        "SELECT s.row FROM temp.staying s JOIN records r ON r.row = s.row \
         WHERE r.kind <> {} AND coalesce(r.version_batch, 0) <= ?1 \
         AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.row = s.row AND v.batch > ?1)",
        kind_code(Kind::Foreign)
    );
    let staying_rows = crate::import::undo::query_integers(tx, &sql, batch)?;
    let count = staying_rows.into_iter().filter(|row| later_batches.have_only_other_version(*row)).count();
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Assigns the rows that stay to their new batch.
pub(super) fn reassign_rows(tx: &Connection, batch: i64) -> VaultResult<()> {
    tx.execute(
        "UPDATE records SET batch = (SELECT home FROM temp.staying s WHERE s.row = records.row), \
         version_batch = CASE version_batch WHEN ?1 THEN (SELECT home FROM temp.staying s WHERE s.row = records.row) \
         ELSE version_batch END WHERE batch = ?1 AND row IN (SELECT row FROM temp.staying)",
        [batch],
    )?;
    Ok(())
}
