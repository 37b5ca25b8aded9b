//! What readers say besides records.
use crate::Kind;
use serde::{Deserialize, Serialize};

/// Something worth knowing that cost no record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    /// Stable, lower snake case.
    pub code: String,
    /// Container path and pointer.
    pub place: String,
    /// For people; no record content.
    pub message: String,
}

impl Issue {
    /// An issue.
    pub fn new(code: &str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), place: place.into(), message: message.into() }
    }
}

/// Why something was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DroppedAs {
    /// On purpose (`duplicate`, `duplicate_rendering`, `not_a_record`).
    Skipped,
    /// Unreadable.
    Failed,
}

/// One thing found and not taken in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// Container path and pointer.
    pub place: String,
    /// Skipped or failed.
    pub outcome: DroppedAs,
    /// Stable code, then `: ` and details. No record content.
    pub reason: String,
    /// What it would have been, if known.
    pub kind: Option<Kind>,
}
