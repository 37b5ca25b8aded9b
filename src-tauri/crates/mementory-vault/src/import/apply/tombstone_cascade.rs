//! The records that an imported deletion removes besides its target (spec of `.mem` v1.1 §5): records derived only from
//! that target (whether or not the tombstone's proof of cascade lists them), relations that would lose an end, and
//! entities that lose their last edge. A record with other evidence stays.
use crate::{VaultError, VaultResult, import::apply::ImportRun};
use mementory_model::{Kind, Record};
use mementory_store::{kind_code, trash::trash_row};
use rusqlite::{Connection, params};
use std::{
    collections::{HashMap, HashSet},
    sync::atomic::Ordering,
};

type Id = [u8; 16];

/// The records that a deletion removes, and those whose dependants still have to be found.
#[derive(Default)]
pub(super) struct TombstoneCascade {
    removed: HashSet<Id>,
    /// Records whose dependants are still to be looked up. The second value is the row to restore from the Trash in
    /// order to restore the record. The flag is true if the record itself stays, without its words.
    pending: Vec<(Id, Option<i64>, bool)>,
    /// Ends of edges that lost their evidence. The first value is the row to restore from the Trash in order to restore
    /// the entity at that end. The flag is true if this input contains the edge.
    edge_ends: HashMap<Id, (Option<i64>, bool)>,
    /// True if a live record was removed.
    removed_live: bool,
}

impl TombstoneCascade {
    /// Adds the end of an edge. If several edges end at one entity, an edge that this input contains takes precedence.
    fn add_edge_end(&mut self, id: Id, root: Option<i64>, in_input: bool) {
        let end = self.edge_ends.entry(id).or_insert((root, in_input));
        if in_input && !end.1 {
            *end = (root, true);
        }
    }
}

/// A record that is not in the Trash.
struct LiveRecord {
    row: i64,
    id: Id,
    kind: i64,
}

/// Applies the tombstones of an import and moves records to the Trash.
pub(super) struct TombstoneImport<'a, 'i> {
    pub(super) run: &'a mut ImportRun<'i>,
}

impl<'a, 'i> TombstoneImport<'a, 'i> {
    pub(super) fn new(run: &'a mut ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl TombstoneImport<'_, '_> {
    /// Adds `id` to the removed records, and moves it to the Trash if it is live.
    pub(super) fn delete(&mut self, cascade: &mut TombstoneCascade, id: Id) -> VaultResult<()> {
        let row = self.run.known_record(&id)?.map(|known| known.row);
        let root = row.map(|row| self.row_to_restore(row)).transpose()?;
        if cascade.removed.insert(id) {
            cascade.pending.push((id, root, false));
        }
        match (row, root) {
            (Some(row), Some(root)) => self.move_to_trash(cascade, row, root),
            _ => Ok(()),
        }
    }

    /// Adds a record that stays without its words. Since it is not moved to the Trash, each record derived from it has
    /// to be restored separately.
    pub(super) fn redact(cascade: &mut TombstoneCascade, id: Id) {
        if cascade.removed.insert(id) {
            cascade.pending.push((id, None, true));
        }
    }

    /// Returns the row to restore from the Trash in order to restore `row`: `row` itself, or the row with which it was
    /// moved to the Trash.
    fn row_to_restore(&self, row: i64) -> VaultResult<i64> {
        let sql = "SELECT coalesce(trash_root, row) FROM records WHERE row = ?1";
        Ok(self.run.connection.prepare_cached(sql)?.query_row([row], |r| r.get(0))?)
    }

    fn check_cancelled(&self) -> VaultResult<()> {
        if self.run.options.cancel.load(Ordering::Relaxed) { Err(VaultError::Cancelled) } else { Ok(()) }
    }

    /// Removes everything that depends on the removed records. Returns true if a live record was removed.
    pub(super) fn remove_dependants(&mut self, mut cascade: TombstoneCascade) -> VaultResult<bool> {
        // Adds entities at the ends of edges of this input that were blocked because their evidence was deleted.
        for id in std::mem::take(&mut self.run.orphaned_edge_ends) {
            cascade.add_edge_end(id, None, true);
        }
        while let Some((id, root, stays)) = cascade.pending.pop() {
            self.check_cancelled()?;
            for derived in self.query_live(
                "SELECT r.row, r.id, r.kind FROM links l JOIN records r ON r.row = l.row \
                 WHERE l.target = ?1 AND l.relation = 'derived_from' AND r.trashed IS NULL",
                id,
            )? {
                // A redaction removes the records that were derived from the words, except those that this input
                // contains again.
                let in_input = self.run.seen.get(&derived.id).is_some_and(|seen| seen.row > 0);
                let is_still_listed = stays && in_input && !self.run.superseded.contains(&derived.id);
                if is_still_listed
                    || cascade.removed.contains(&derived.id)
                    || self.has_other_source(derived.row, &cascade)?
                {
                    continue;
                }
                if derived.kind == kind_code(Kind::Relation) {
                    let (root, in_input) = (root.unwrap_or(derived.row), self.run.seen.contains_key(&derived.id));
                    for end in entities_of(self.run.connection, derived.row)? {
                        cascade.add_edge_end(end, Some(root), in_input);
                    }
                }
                self.move_to_trash(&mut cascade, derived.row, root.unwrap_or(derived.row))?;
            }
            if stays {
                continue;
            }
            for link in self.query_live(
                "SELECT r.row, r.id, r.kind FROM links l JOIN records r ON r.row = l.row \
                 WHERE l.target = ?1 AND l.relation IN ('source', 'target') AND r.trashed IS NULL",
                id,
            )? {
                if link.kind == kind_code(Kind::Relation) {
                    self.move_to_trash(&mut cascade, link.row, root.unwrap_or(link.row))?;
                }
            }
        }
        for (id, (root, in_input)) in std::mem::take(&mut cascade.edge_ends) {
            self.check_cancelled()?;
            let Some(entity) = self.run.known_record(&id)?.filter(|known| !known.trashed) else { continue };
            // If this input contains the entity but none of the edges that lost their evidence, the entity still exists
            // in the source from which the deletion comes.
            let is_kept = !in_input && self.run.seen.get(&id).is_some_and(|seen| seen.row > 0);
            if !is_kept && !self.is_linked(&id, entity.row, &cascade)? {
                self.move_to_trash(&mut cascade, entity.row, root.unwrap_or(entity.row))?;
            }
        }
        Ok(cascade.removed_live)
    }

    /// Moves a live row to the Trash, with the rows that it owns. Restoring `root` restores all of them.
    fn move_to_trash(&mut self, cascade: &mut TombstoneCascade, row: i64, root: i64) -> VaultResult<()> {
        let sql = "SELECT row, id, kind FROM records WHERE (row = ?1 OR owner = ?1) AND trashed IS NULL";
        for live in self.query_live(sql, row)? {
            cascade.removed_live = true;
            if cascade.removed.insert(live.id) {
                cascade.pending.push((live.id, Some(root), false));
            }
        }
        let Some(staging) = &self.run.staging else { return Ok(()) };
        for moved in trash_row(self.run.connection, row, root, self.run.options.now, Some(staging.batch))? {
            self.run.context.index_delete(moved)?;
        }
        Ok(())
    }

    /// True if a row was also derived from a record that is not removed.
    fn has_other_source(&self, row: i64, cascade: &TombstoneCascade) -> VaultResult<bool> {
        let mut statement = self
            .run
            .connection
            .prepare_cached("SELECT target FROM links WHERE row = ?1 AND relation = 'derived_from'")?;
        for source in statement.query_map([row], |r| r.get::<_, Id>(0))? {
            let source = source?;
            if !cascade.removed.contains(&source) && !self.run.blocklist.is_removed_or_redacted(&source) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if another live record links to the record in `row`.
    fn is_linked(&self, id: &Id, row: i64, cascade: &TombstoneCascade) -> VaultResult<bool> {
        let mut statement = self.run.connection.prepare_cached(
            "SELECT r.id FROM links l JOIN records r ON r.row = l.row \
             WHERE l.target = ?1 AND l.row <> ?2 AND r.trashed IS NULL",
        )?;
        // The search stops at the first linking record, because half of the records may link to the entity that
        // represents the owner.
        for other in statement.query_map(params![id, row], |r| r.get::<_, Id>(0))? {
            if !cascade.removed.contains(&other?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn query_live(&self, sql: &str, key: impl rusqlite::ToSql) -> VaultResult<Vec<LiveRecord>> {
        let mut statement = self.run.connection.prepare_cached(sql)?;
        let rows =
            statement.query_map(params![key], |r| Ok(LiveRecord { row: r.get(0)?, id: r.get(1)?, kind: r.get(2)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Stores the entities at the ends of an edge that was blocked because its evidence was deleted.
    /// `remove_dependants` moves those without another link to the Trash.
    pub(super) fn note_orphaned_edge(&mut self, record: &Record) {
        let ends = record.links.iter().filter(|l| matches!(l.relation.as_str(), "source" | "target"));
        let entities = ends.filter(|l| record.kind == Kind::Relation && l.kind == Kind::Entity);
        let keys = &self.run.context.keys;
        self.run.orphaned_edge_ends.extend(entities.map(|l| mementory_store::ids::record_id(keys, &l.target)));
    }
}

/// Returns the entities at the ends of a relation.
fn entities_of(c: &Connection, row: i64) -> VaultResult<Vec<Id>> {
    let mut statement = c.prepare_cached(
        "SELECT r.id FROM links l JOIN records r ON r.id = l.target \
         WHERE l.row = ?1 AND l.relation IN ('source', 'target') AND r.kind = ?2",
    )?;
    let rows = statement.query_map(params![row, kind_code(Kind::Entity)], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
