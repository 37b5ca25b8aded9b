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

impl LossKind {
    /// Stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MovedToExtension => "moved_to_extension",
            Self::Narrowed => "narrowed",
            Self::LeftOut => "left_out",
        }
    }
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LossReport {
    /// Listed losses.
    pub items: Vec<Loss>,
    /// All of them, by field and kind.
    pub counts: BTreeMap<(String, LossKind), u64>,
}

impl LossReport {
    /// How often a field was lost in one way.
    pub fn count(&self, field: &str, kind: LossKind) -> u64 {
        self.counts.get(&(field.to_owned(), kind)).copied().unwrap_or_default()
    }

    /// Add a loss.
    pub fn add(&mut self, record: &str, field: &str, kind: LossKind, note: &str) {
        *self.counts.entry((field.to_owned(), kind)).or_default() += 1;
        if self.items.len() < 1000 {
            self.items.push(Loss { record: record.into(), field: field.into(), kind, note: note.into() });
        }
    }
}
