//! What a target format cannot hold, as data.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happened to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// Travels in the format's extension slot; other programs do not see it, we restore it.
    MovedToExtension,
    /// Kept with less precision or another word.
    Narrowed,
    /// Not in the file at all.
    LeftOut,
}

/// One loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Vault id of the record, or the name of a part.
    pub record: String,
    /// Model field.
    pub field: String,
    /// What happened.
    pub kind: LossKind,
    /// For people; no content.
    pub note: String,
}

/// Losses: the first thousand listed, all counted by field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LossReport {
    /// Listed losses.
    pub items: Vec<Loss>,
    /// Count by `field (kind)`.
    pub counts: BTreeMap<String, u64>,
}

impl LossReport {
    /// Add a loss.
    pub fn add(&mut self, record: &str, field: &str, kind: LossKind, note: &str) {
        let name = match kind {
            LossKind::MovedToExtension => "moved_to_extension",
            LossKind::Narrowed => "narrowed",
            LossKind::LeftOut => "left_out",
        };
        *self.counts.entry(format!("{field} ({name})")).or_default() += 1;
        if self.items.len() < 1000 {
            self.items.push(Loss { record: record.into(), field: field.into(), kind, note: note.into() });
        }
    }
}
