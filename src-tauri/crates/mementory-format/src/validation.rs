//! What a validator reports.

/// One finding of a validator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable code.
    pub code: String,
    /// Where.
    pub place: String,
    /// For people; no record content.
    pub message: String,
}

/// Result of validation.
#[derive(Debug, Clone, Default)]
pub struct Validation {
    /// Version found.
    pub version: Option<String>,
    /// Conformance level claimed (`.mem`).
    pub level: Option<String>,
    /// Records seen.
    pub records: u64,
    /// `full`, `incremental` …
    pub kind: Option<String>,
    /// Signature: present, algorithm, valid, trusted, key (hex). Valid and trusted are for who verifies to say.
    pub signature: (bool, Option<String>, Option<bool>, Option<bool>, Option<String>),
    /// All of it was read and nothing in it is signed: nobody has to read it again for its signatures.
    pub unsigned: bool,
    /// Not valid if any.
    pub errors: Vec<Finding>,
    /// Worth knowing.
    pub warnings: Vec<Finding>,
}
