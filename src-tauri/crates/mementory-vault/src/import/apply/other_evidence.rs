//! What a deletion of an import took along without naming it comes back with other evidence: a statement with a source that
//! is not deleted, an entity with an edge of such a source.
use crate::{
    VaultResult,
    import::apply::{ImportRun, Known},
};
use mementory_model::{Kind, Record};
use mementory_store::trash::{reroot_orphans, untrash};
use std::collections::HashSet;

/// Entities of this input that a deletion took along.
#[derive(Default)]
pub(super) struct CascadedEntities {
    /// The input contains them.
    found: HashSet<[u8; 16]>,
    /// An edge with evidence names them.
    living_ends: HashSet<[u8; 16]>,
}

/// Brings records back from the Trash.
pub(super) struct OtherEvidence<'a, 'i> {
    run: &'a mut ImportRun<'i>,
}

impl<'a, 'i> OtherEvidence<'a, 'i> {
    pub(super) fn new(run: &'a mut ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl OtherEvidence<'_, '_> {
    /// The record in the vault; one that a deletion took along is back if it has other evidence now.
    pub(super) fn known(&mut self, id: &[u8; 16], record: &Record) -> VaultResult<Option<Known>> {
        if self.run.empty {
            return Ok(None);
        }
        let ends = self.run.blocklist.cascaded_ends(&self.run.context.keys, record);
        self.run.cascaded.living_ends.extend(ends);
        match (self.run.blocklist.is_cascaded(id), record.kind) {
            // What brings an entity back comes after it: its edges.
            (true, Kind::Entity) => drop(self.run.cascaded.found.insert(*id)),
            (true, _) => self.revive(id)?,
            (false, _) => {}
        }
        self.run.known(id)
    }

    /// An entity whose only edges in this input lost their evidence stays where it is. Before those edges are followed.
    pub(super) fn drop_stale(&mut self) {
        for id in &self.run.orphaned_edges {
            self.run.cascaded.found.remove(id);
        }
    }

    /// Brings back the other entities that this input contains, and those that an edge with evidence names.
    pub(super) fn revive_entities(&mut self) -> VaultResult<()> {
        let CascadedEntities { found, living_ends } = std::mem::take(&mut self.run.cascaded);
        let ids: HashSet<[u8; 16]> = found.into_iter().chain(living_ends).collect();
        for id in ids {
            if self.run.blocklist.is_cascaded(&id) {
                self.revive(&id)?;
            }
        }
        Ok(())
    }

    /// Takes a record out of the Trash to which a deletion took it along.
    fn revive(&mut self, id: &[u8; 16]) -> VaultResult<()> {
        self.run.blocklist.revive(id);
        let Some(known) = self.run.known(id)?.filter(|known| known.trashed) else { return Ok(()) };
        let message = "records that a deletion had taken along have other evidence now, and are back from the Trash";
        self.run.report.warn("evidence_lives", "audit/tombstones.jsonl", message);
        if let Some(seen) = self.run.seen.get_mut(id) {
            seen.trashed = false;
        }
        if self.run.staging.is_none() {
            return Ok(());
        }
        untrash(self.run.connection, known.row)?;
        reroot_orphans(self.run.connection)?;
        let record = self.run.stored(known.row)?;
        self.run.reindex(known.row, false, &record)
    }
}
