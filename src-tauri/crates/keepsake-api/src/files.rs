//! What needs no vault: detection and validation.
use crate::{ApiError, ApiResult, Job, types::*};
use std::path::PathBuf;

/// What are these files? One result for each path; content decides, not names.
pub fn detect(_paths: &[PathBuf]) -> ApiResult<Detections> {
    Err(ApiError::new("not_ready", 1, "not built yet"))
}

/// Is this a valid file of its format? Changes nothing. `trust`: public keys in hex.
pub fn validate(
    _path: &std::path::Path,
    _format: Option<&str>,
    _trust: &[String],
    _job: &Job,
) -> ApiResult<Validation> {
    Err(ApiError::new("not_ready", 1, "not built yet"))
}

/// How strong is this passphrase? Nothing is kept.
pub fn passphrase_strength(_passphrase: &str) -> PassphraseStrength {
    PassphraseStrength { score: 0, label: String::new(), reason: None }
}

/// Four random words, as a suggestion.
pub fn suggest_passphrase() -> ApiResult<String> {
    Err(ApiError::new("not_ready", 1, "not built yet"))
}
