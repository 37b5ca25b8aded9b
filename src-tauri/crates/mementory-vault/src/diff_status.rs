//! What became of each record in the newest export of its assistant.
use mementory_store::RowView;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// What became of a record in the newest export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportDiffStatus {
    /// Not in any earlier one.
    New,
    /// Says something else than before.
    Changed,
    /// Was in an earlier one and is not in it.
    Gone,
}

impl ExportDiffStatus {
    /// Stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }

    /// By its stable name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::New, Self::Changed, Self::Gone].into_iter().find(|status| status.as_str() == name)
    }
}

/// ExportDiffStatus of every record that has one.
#[derive(Debug, Default)]
pub struct ExportDiff {
    pub(crate) ids: HashMap<[u8; 16], ExportDiffStatus>,
    /// How many, by platform, kind and status.
    pub counts: BTreeMap<(String, &'static str, ExportDiffStatus), u32>,
}

impl ExportDiff {
    /// Of one record.
    pub fn of(&self, view: &RowView) -> Option<ExportDiffStatus> {
        self.ids.get(&view.id).copied()
    }

    /// Ids of all records with this status.
    pub fn ids(&self, status: ExportDiffStatus) -> Vec<String> {
        let mut ids: Vec<_> = self.ids.iter().filter(|(_, of)| **of == status).map(|(id, _)| hex::encode(id)).collect();
        ids.sort_unstable();
        ids
    }
}

/// What was compared last, and at which point of the vault's log.
pub(crate) type CachedDiff = Option<((i64, i64, i64), Arc<ExportDiff>)>;
