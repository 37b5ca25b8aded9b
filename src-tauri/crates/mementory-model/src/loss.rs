//! Losses: data that a target format cannot represent.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a written file contains of a field that its format cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// Stored in the extension slot of the format. Other programs ignore it; this program restores it.
    MovedToExtension,
    /// Stored with less precision or mapped to a different term.
    Narrowed,
    /// Not written to the file.
    LeftOut,
}

impl LossKind {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MovedToExtension => "moved_to_extension",
            Self::Narrowed => "narrowed",
            Self::LeftOut => "left_out",
        }
    }
}

/// A field of a record that the written format cannot express.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Id of the record in the vault, or name of a passthrough file.
    pub record: String,
    /// Name of the record's field.
    pub field: String,
    /// Kind of the loss.
    pub kind: LossKind,
    /// A note for the user, without content of records.
    pub note: String,
}

/// All losses, as counts and a list. The list has at most 1,000 losses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LossReport {
    /// The listed losses.
    pub items: Vec<Loss>,
    /// Number of losses by field and kind.
    pub counts: BTreeMap<(String, LossKind), u64>,
}

impl LossReport {
    /// Number of losses of this kind in a field.
    pub fn count(&self, field: &str, kind: LossKind) -> u64 {
        self.counts.get(&(field.to_owned(), kind)).copied().unwrap_or_default()
    }

    /// Counts a loss, and lists it if fewer than 1,000 are listed so far.
    pub fn add(&mut self, record: &str, field: &str, kind: LossKind, note: &str) {
        *self.counts.entry((field.to_owned(), kind)).or_default() += 1;
        if self.items.len() < 1000 {
            self.items.push(Loss { record: record.into(), field: field.into(), kind, note: note.into() });
        }
    }
}
