//! The records that other lines of an archive replace (`supersedes`).
use super::super::wire;
use mementory_model::Record;
use std::collections::HashMap;

/// Position of a line: index of the partition, and line number.
pub(super) type Position = (usize, u64);

/// The records that are replaced by other lines (`supersedes`).
#[derive(Default)]
pub(super) struct Superseded {
    /// Records replaced by a line with a different id. The value is true if that line is a deletion.
    by_id: HashMap<String, bool>,
    /// Records replaced by a later line with the same id: the position of the last such line, and true if it is a
    /// deletion.
    by_same_id: HashMap<String, (Position, bool)>,
}

impl Superseded {
    pub(super) fn add(&mut self, supersedes: wire::Supersedes, at: Position) {
        if supersedes.has_same_id {
            self.by_same_id.insert(supersedes.old, (at, supersedes.is_deletion));
        } else {
            *self.by_id.entry(supersedes.old).or_default() |= supersedes.is_deletion;
        }
    }

    /// Estimated size of the ids in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let ids = self.by_id.keys().chain(self.by_same_id.keys());
        ids.map(|id| id.len() + 64).sum()
    }

    /// Some(true) if a deletion replaces the line at this position, Some(false) if any other line replaces it, None if
    /// no line does.
    pub(super) fn replaced_by_deletion(&self, id: &str, at: Position) -> Option<bool> {
        let earlier_deletion = self.by_same_id.get(id).filter(|(last, _)| at < *last).map(|(_, deleted)| *deleted);
        self.by_id.get(id).copied().or(earlier_deletion)
    }
}

/// Sets the status that results from a newer line, because lines in sealed partitions never change (spec §4.1.1).
pub(super) fn set_effective_status(record: &mut Record, superseded: Option<bool>) {
    let Some(deleted) = superseded else { return };
    if matches!(record.status.as_deref(), Some("superseded" | "archived" | "deleted")) {
        return;
    }
    let stated_status = record.status.take().unwrap_or_default();
    record.fields.insert("alf_status".into(), stated_status.into());
    record.status = Some(if deleted { "deleted" } else { "superseded" }.into());
}
