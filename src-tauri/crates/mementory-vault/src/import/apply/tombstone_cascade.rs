//! How far a deletion that comes in reaches (spec of `.mem` v1.1 §5): to what was derived from its target and from
//! nothing else, whatever its proof of cascade lists, to links that would hang in the air, and to entities that lose their
//! last edge by it. What has other support stays.
use crate::{VaultError, VaultResult, import::apply::ImportRun};
use mementory_model::{Kind, Record};
use mementory_store::{kind_code, trash::trash_row};
use rusqlite::{Connection, params};
use std::{
    collections::{HashMap, HashSet},
    sync::atomic::Ordering,
};

type Id = [u8; 16];

/// What goes, in the order in which it is followed.
#[derive(Default)]
pub(super) struct TombstoneCascade {
    gone: HashSet<Id>,
    /// With the row that it goes to the Trash with, and whether the record itself stays (its words are gone).
    pending: Vec<(Id, Option<i64>, bool)>,
    /// Ends of edges that lost their evidence, with the row that they would go with, and whether this input told the edge.
    loose: HashMap<Id, (Option<i64>, bool)>,
    /// Something was in view until now.
    any: bool,
}

impl TombstoneCascade {
    /// Several edges may end at one entity: one that this input told decides.
    fn loosen(&mut self, id: Id, root: Option<i64>, told: bool) {
        let end = self.loose.entry(id).or_insert((root, told));
        if told && !end.1 {
            *end = (root, true);
        }
    }
}

/// A record in view.
struct Live {
    row: i64,
    id: Id,
    kind: i64,
}

/// Tombstones of an import, and what they move to the Trash.
pub(super) struct TombstoneImport<'a, 'i> {
    pub(super) run: &'a mut ImportRun<'i>,
}

impl<'a, 'i> TombstoneImport<'a, 'i> {
    pub(super) fn new(run: &'a mut ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl TombstoneImport<'_, '_> {
    /// `id` goes; a record of it in view moves to the Trash.
    pub(super) fn goes(&mut self, cascade: &mut TombstoneCascade, id: Id) -> VaultResult<()> {
        let row = self.run.known(&id)?.map(|known| known.row);
        let root = row.map(|row| self.root_of(row)).transpose()?;
        if cascade.gone.insert(id) {
            cascade.pending.push((id, root, false));
        }
        match (row, root) {
            (Some(row), Some(root)) => self.put_away(cascade, row, root),
            _ => Ok(()),
        }
    }

    /// The words of `id` went, and it stays as what is left of it. It is not in the Trash, so what was taken from it
    /// stands there by itself.
    pub(super) fn loses_words(cascade: &mut TombstoneCascade, id: Id) {
        if cascade.gone.insert(id) {
            cascade.pending.push((id, None, true));
        }
    }

    /// The row that brings this one back: itself, or what it is in the Trash with already.
    fn root_of(&self, row: i64) -> VaultResult<i64> {
        let sql = "SELECT coalesce(trash_root, row) FROM records WHERE row = ?1";
        Ok(self.run.connection.prepare_cached(sql)?.query_row([row], |r| r.get(0))?)
    }

    fn go_on(&self) -> VaultResult<()> {
        if self.run.options.cancel.load(Ordering::Relaxed) { Err(VaultError::Cancelled) } else { Ok(()) }
    }

    /// Follows everything that goes to its end. True when something was in view until now.
    pub(super) fn follow(&mut self, mut cascade: TombstoneCascade) -> VaultResult<bool> {
        // Ends of edges that this input told and that were held back for want of evidence.
        for id in std::mem::take(&mut self.run.orphaned_edges) {
            cascade.loosen(id, None, true);
        }
        while let Some((id, root, stays)) = cascade.pending.pop() {
            self.go_on()?;
            for derived in self.live(
                "SELECT r.row, r.id, r.kind FROM links l JOIN records r ON r.row = l.row \
                 WHERE l.target = ?1 AND l.relation = 'derived_from' AND r.trashed IS NULL",
                id,
            )? {
                // Whoever took the words out tells anew what may still be said of them.
                let told = self.run.seen.get(&derived.id).is_some_and(|seen| seen.row > 0);
                let anew = stays && told && !self.run.superseded.contains(&derived.id);
                if anew || cascade.gone.contains(&derived.id) || self.has_support(derived.row, &cascade)? {
                    continue;
                }
                if derived.kind == kind_code(Kind::Relation) {
                    let (root, told) = (root.unwrap_or(derived.row), self.run.seen.contains_key(&derived.id));
                    for end in entities_of(self.run.connection, derived.row)? {
                        cascade.loosen(end, Some(root), told);
                    }
                }
                self.put_away(&mut cascade, derived.row, root.unwrap_or(derived.row))?;
            }
            if stays {
                continue;
            }
            for link in self.live(
                "SELECT r.row, r.id, r.kind FROM links l JOIN records r ON r.row = l.row \
                 WHERE l.target = ?1 AND l.relation IN ('source', 'target') AND r.trashed IS NULL",
                id,
            )? {
                if link.kind == kind_code(Kind::Relation) {
                    self.put_away(&mut cascade, link.row, root.unwrap_or(link.row))?;
                }
            }
        }
        for (id, (root, told)) in std::mem::take(&mut cascade.loose) {
            self.go_on()?;
            let Some(entity) = self.run.known(&id)?.filter(|known| !known.trashed) else { continue };
            // One that this input tells without such an edge is still known where the deletion comes from.
            let kept = !told && self.run.seen.get(&id).is_some_and(|seen| seen.row > 0);
            if !kept && !self.is_named(&id, entity.row, &cascade)? {
                self.put_away(&mut cascade, entity.row, root.unwrap_or(entity.row))?;
            }
        }
        Ok(cascade.any)
    }

    /// Moves a row in view, with what it owns, to the Trash, where `root` brings it back.
    fn put_away(&mut self, cascade: &mut TombstoneCascade, row: i64, root: i64) -> VaultResult<()> {
        let sql = "SELECT row, id, kind FROM records WHERE (row = ?1 OR owner = ?1) AND trashed IS NULL";
        for live in self.live(sql, row)? {
            cascade.any = true;
            if cascade.gone.insert(live.id) {
                cascade.pending.push((live.id, Some(root), false));
            }
        }
        let Some(staging) = &self.run.staging else { return Ok(()) };
        for moved in trash_row(self.run.connection, row, root, self.run.options.now, Some(staging.batch))? {
            self.run.context.index_delete(moved)?;
        }
        Ok(())
    }

    /// True when a row was derived from something too that is not gone.
    fn has_support(&self, row: i64, cascade: &TombstoneCascade) -> VaultResult<bool> {
        let mut statement = self
            .run
            .connection
            .prepare_cached("SELECT target FROM links WHERE row = ?1 AND relation = 'derived_from'")?;
        for source in statement.query_map([row], |r| r.get::<_, Id>(0))? {
            let source = source?;
            if !cascade.gone.contains(&source) && !self.run.blocklist.is_gone(&source) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True when another record in view names this one.
    fn is_named(&self, id: &Id, row: i64, cascade: &TombstoneCascade) -> VaultResult<bool> {
        let mut statement = self.run.connection.prepare_cached(
            "SELECT r.id FROM links l JOIN records r ON r.row = l.row \
             WHERE l.target = ?1 AND l.row <> ?2 AND r.trashed IS NULL",
        )?;
        // Up to the first one: half of a vault may name the person it is about.
        for other in statement.query_map(params![id, row], |r| r.get::<_, Id>(0))? {
            if !cascade.gone.contains(&other?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn live(&self, sql: &str, key: impl rusqlite::ToSql) -> VaultResult<Vec<Live>> {
        let mut statement = self.run.connection.prepare_cached(sql)?;
        let rows =
            statement.query_map(params![key], |r| Ok(Live { row: r.get(0)?, id: r.get(1)?, kind: r.get(2)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// An edge was held back since nothing is left that it was taken from: its entities may be without any now.
    pub(super) fn note_orphaned_edge(&mut self, record: &Record) {
        let ends = record.links.iter().filter(|l| matches!(l.relation.as_str(), "source" | "target"));
        let entities = ends.filter(|l| record.kind == Kind::Relation && l.kind == Kind::Entity);
        let keys = &self.run.context.keys;
        self.run.orphaned_edges.extend(entities.map(|l| mementory_store::ids::record_id(keys, &l.target)));
    }
}

/// Entities at the ends of a relation.
fn entities_of(c: &Connection, row: i64) -> VaultResult<Vec<Id>> {
    let mut statement = c.prepare_cached(
        "SELECT r.id FROM links l JOIN records r ON r.id = l.target \
         WHERE l.row = ?1 AND l.relation IN ('source', 'target') AND r.kind = ?2",
    )?;
    let rows = statement.query_map(params![row, kind_code(Kind::Entity)], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
