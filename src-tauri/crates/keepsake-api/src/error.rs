//! Error kinds with a stable code, a message for people, and the command line's exit code.
use crate::types::ErrorBody;
use std::collections::BTreeMap;

/// Result of every use case.
pub type ApiResult<T> = Result<T, ApiError>;

/// What went wrong, in a form that callers can match on by `code`.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Stable, lower snake case: `wrong_passphrase`, `vault_in_use`, `vault_damaged`, `vault_missing`,
    /// `newer_schema`, `not_found`, `refused_input`, `limit`, `io`, `disk_full`, `cancelled`, `usage`, `locked` …
    pub code: &'static str,
    /// What happened, what was kept, what to do.
    pub message: String,
    /// Facts for programs.
    pub details: BTreeMap<String, String>,
    /// Exit code of the command line (cli.md, "Conventions").
    pub exit: u8,
}

impl ApiError {
    /// A new error.
    pub fn new(code: &'static str, exit: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: BTreeMap::new(), exit }
    }

    /// Add a fact.
    pub fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.details.insert(key.into(), value.to_string());
        self
    }

    /// As it goes over the boundary.
    pub fn body(&self) -> ErrorBody {
        ErrorBody { code: self.code.into(), message: self.message.clone(), details: self.details.clone() }
    }
}
