//! The result of a command.
use mementory_api::{ApiError, ApiResult, Applied, warnings_of};
use serde::Serialize;
use serde_json::Value;

/// The result to print, and the exit code.
pub struct CommandResult {
    pub value: Value,
    pub exit: u8,
    /// True if the result is printed even with `--quiet`.
    pub essential: bool,
}

pub fn success<T: Serialize>(value: &T) -> ApiResult<CommandResult> {
    Ok(CommandResult { value: serde_json::to_value(value).map_err(|_| internal_error())?, exit: 0, essential: true })
}

/// The result of a change, with its warnings in the member `warnings`. Warnings do not change the exit code.
pub fn applied<T: Serialize>(change: &Applied<T>) -> ApiResult<CommandResult> {
    let mut result = success(&change.value)?;
    let warnings = warnings_of(change);
    if let (false, Some(object)) = (warnings.is_empty(), result.value.as_object_mut())
        && let Ok(serde_json::Value::Array(new)) = serde_json::to_value(&warnings)
    {
        match object.entry("warnings").or_insert_with(|| serde_json::json!([])) {
            serde_json::Value::Array(all) => all.extend(new),
            other => *other = new.into(),
        }
    }
    Ok(result)
}

pub fn internal_error() -> ApiError {
    ApiError::internal("The command succeeded, but its result could not be printed.")
}
