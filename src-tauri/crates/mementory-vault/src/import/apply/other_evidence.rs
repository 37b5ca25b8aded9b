//! Restores records that an imported deletion moved to the Trash without listing them, if this input has other evidence
//! for them. Evidence for a statement is a source that is not deleted. Evidence for an entity is an edge whose source
//! is not deleted.
use crate::{
    VaultResult,
    import::apply::{ImportRun, KnownRecord},
};
use mementory_model::{Kind, Record};
use mementory_store::trash::{reroot_orphans, untrash};
use std::collections::HashSet;

/// Entities that are in the Trash because the records that mention them were deleted ("cascaded"). This input may
/// restore them.
#[derive(Default)]
pub(super) struct CascadedEntities {
    /// Ids of the cascaded entities that the input contains.
    found: HashSet<[u8; 16]>,
    /// Ids of the cascaded entities at an end of an edge with evidence.
    supported_ends: HashSet<[u8; 16]>,
}

/// Restores from the Trash the records for which this input has other evidence.
pub(super) struct OtherEvidence<'a, 'i> {
    run: &'a mut ImportRun<'i>,
}

impl<'a, 'i> OtherEvidence<'a, 'i> {
    pub(super) fn new(run: &'a mut ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl OtherEvidence<'_, '_> {
    /// Looks up the record with this id in the vault. A cascaded record is restored first, because this input gives
    /// other evidence for it. A cascaded entity is only noted, because the edges that decide whether it is restored
    /// come later in the input.
    pub(super) fn find_known(&mut self, id: &[u8; 16], record: &Record) -> VaultResult<Option<KnownRecord>> {
        if self.run.vault_was_empty {
            return Ok(None);
        }
        let ends = self.run.blocklist.cascaded_ends(&self.run.context.keys, record);
        self.run.cascaded.supported_ends.extend(ends);
        match (self.run.blocklist.is_cascaded(id), record.kind) {
            (true, Kind::Entity) => drop(self.run.cascaded.found.insert(*id)),
            (true, _) => self.restore_cascaded(id)?,
            (false, _) => {}
        }
        self.run.known_record(id)
    }

    /// Leaves the entities at the ends of blocked edges in the Trash. Must run before `remove_dependants`, which
    /// empties `orphaned_edge_ends`.
    pub(super) fn drop_orphaned_entities(&mut self) {
        for id in &self.run.orphaned_edge_ends {
            self.run.cascaded.found.remove(id);
        }
    }

    /// Restores the remaining entities that this input contains, and those at the ends of an edge that has evidence.
    pub(super) fn restore_entities(&mut self) -> VaultResult<()> {
        let CascadedEntities { found, supported_ends } = std::mem::take(&mut self.run.cascaded);
        let ids: HashSet<[u8; 16]> = found.into_iter().chain(supported_ends).collect();
        for id in ids {
            if self.run.blocklist.is_cascaded(&id) {
                self.restore_cascaded(&id)?;
            }
        }
        Ok(())
    }

    /// Restores a cascaded record from the Trash, and reports a warning.
    fn restore_cascaded(&mut self, id: &[u8; 16]) -> VaultResult<()> {
        self.run.blocklist.end_cascade(id);
        let Some(known) = self.run.known_record(id)?.filter(|known| known.trashed) else { return Ok(()) };
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
        let record = self.run.stored_record(known.row)?;
        self.run.reindex(known.row, false, &record)
    }
}
