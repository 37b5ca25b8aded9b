//! Problems in the input that readers report.
use crate::Kind;
use serde::{Deserialize, Serialize};

/// A problem in the input that did not cause the loss of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    /// Stable code in lower snake case.
    pub code: String,
    /// Path in the input and JSON pointer.
    pub place: String,
    /// A message for the user, without content of records.
    pub message: String,
}

impl Issue {
    /// Creates an issue.
    pub fn new(code: &str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), place: place.into(), message: message.into() }
    }
}

/// Why a part of the input was not imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DroppedAs {
    /// Left out on purpose (`duplicate`, `duplicate_rendering`, `not_a_record`).
    Skipped,
    /// Left out because it could not be read.
    Failed,
}

/// A part of the input that was not imported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// Path in the input and JSON pointer.
    pub place: String,
    /// Whether this part was skipped on purpose or could not be read.
    pub outcome: DroppedAs,
    /// Stable code, then `: ` and details, without content of records.
    pub reason: String,
    /// The kind of the record that was not imported, if known.
    pub kind: Option<Kind>,
}
