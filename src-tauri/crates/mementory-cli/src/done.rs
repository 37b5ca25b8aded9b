//! The result of a command.
use mementory_api::{ApiError, ApiResult};
use serde::Serialize;
use serde_json::Value;

/// The result to print, and the exit code.
pub struct CommandResult {
    pub value: Value,
    pub exit: u8,
    /// True if the result is printed even with `--quiet`.
    pub essential: bool,
}

pub fn done<T: Serialize>(value: &T) -> ApiResult<CommandResult> {
    Ok(CommandResult { value: serde_json::to_value(value).map_err(|_| internal_error())?, exit: 0, essential: true })
}

pub fn internal_error() -> ApiError {
    ApiError::new("internal", 7, "The command succeeded, but its result could not be printed.")
}
