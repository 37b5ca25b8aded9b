//! Reports of validators.

/// One finding of a validator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable code.
    pub code: String,
    /// Path in the file or folder.
    pub place: String,
    /// Message for the user, without content of records.
    pub message: String,
}

/// Result of validation.
#[derive(Debug, Clone, Default)]
pub struct Validation {
    /// Version that the file states.
    pub version: Option<String>,
    /// Conformance level that the file states (`.mem`).
    pub level: Option<String>,
    /// Number of records that were checked.
    pub records: u64,
    /// The kind of export that the file states: `full`, `incremental` …
    pub kind: Option<String>,
    /// The signature as (present, algorithm, valid, trusted, key in hex). `valid` and `trusted` are set by the caller
    /// that verifies the signature.
    pub signature: (bool, Option<String>, Option<bool>, Option<bool>, Option<String>),
    /// True if the whole file was read and contains no signature, so that a caller need not search it for signatures.
    pub unsigned: bool,
    /// The file is invalid if this list is not empty.
    pub errors: Vec<Finding>,
    /// Findings that do not make the file invalid.
    pub warnings: Vec<Finding>,
}
