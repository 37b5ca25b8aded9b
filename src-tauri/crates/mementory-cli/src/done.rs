//! The result of a command.
use mementory_api::{ApiError, ApiResult};
use serde::Serialize;
use serde_json::Value;

/// What to print, and the exit code.
pub struct Done {
    pub value: Value,
    pub exit: u8,
    /// Printed even with `--quiet`.
    pub essential: bool,
}

pub fn done<T: Serialize>(value: &T) -> ApiResult<Done> {
    Ok(Done { value: serde_json::to_value(value).map_err(|_| internal())?, exit: 0, essential: true })
}

pub fn internal() -> ApiError {
    ApiError::new("internal", 7, "The command succeeded, but its result could not be printed.")
}
