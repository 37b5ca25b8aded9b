//! Whether a record is new, changed or gone in the newest export of its assistant.
use mementory_store::RowView;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Status of a record in the newest export of its assistant, compared with earlier exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportDiffStatus {
    /// The record is in no earlier export.
    New,
    /// The newest export contains another version of the record, or new messages of the conversation.
    Changed,
    /// The record was in an earlier export and is not in the newest.
    Gone,
}

impl ExportDiffStatus {
    /// Returns the stable name of the status.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }

    /// Returns the status with this stable name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::New, Self::Changed, Self::Gone].into_iter().find(|status| status.as_str() == name)
    }
}

/// The result of comparing exports: the status of each new, changed or gone record.
#[derive(Debug, Default)]
pub struct ExportDiff {
    pub(crate) ids: HashMap<[u8; 16], ExportDiffStatus>,
    /// Number of records by platform, kind and status.
    pub counts: BTreeMap<(String, &'static str, ExportDiffStatus), u32>,
}

impl ExportDiff {
    /// Returns the status of one record, or None if the record has no status.
    pub fn status_of(&self, view: &RowView) -> Option<ExportDiffStatus> {
        self.ids.get(&view.id).copied()
    }

    /// Returns the ids of all records with this status.
    pub fn ids(&self, status: ExportDiffStatus) -> Vec<String> {
        let mut ids: Vec<_> =
            self.ids.iter().filter(|(_, found)| **found == status).map(|(id, _)| hex::encode(id)).collect();
        ids.sort_unstable();
        ids
    }
}

/// The last comparison, and the state of the vault for which it was computed. The state consists of the number of the
/// last audit entry, the id of the last batch and the number of undone batches.
pub(crate) type CachedDiff = Option<((i64, i64, i64), Arc<ExportDiff>)>;
