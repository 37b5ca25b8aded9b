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

/// Keys that the command line prints under older names than those of the window's interface. Scripts rely on these
/// names.
const CONTRACT_NAMES: [(&str, &str); 2] = [("export_diff_status", "standing"), ("export_diff_counts", "standings")];

pub fn success<T: Serialize>(value: &T) -> ApiResult<CommandResult> {
    let mut value = serde_json::to_value(value).map_err(|_| internal_error())?;
    use_contract_names(&mut value);
    Ok(CommandResult { value, exit: 0, essential: true })
}

/// Renames the keys of [`CONTRACT_NAMES`]. Nothing in `fields` is renamed, because its keys are those of the source.
fn use_contract_names(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(use_contract_names),
        Value::Object(members) => {
            for (name, contract_name) in CONTRACT_NAMES {
                if let Some(member) = members.remove(name) {
                    members.insert(contract_name.into(), member);
                }
            }
            members.iter_mut().filter(|(name, _)| *name != "fields").for_each(|(_, member)| use_contract_names(member));
        }
        _ => {}
    }
}

/// The result of a change, with its warnings in the member `warnings`. Warnings do not change the exit code.
pub fn change_result<T: Serialize>(change: &Applied<T>) -> ApiResult<CommandResult> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn printed_names_are_those_of_the_contract() {
        let counts = json!([{ "export_diff_status": "gone", "count": 1 }]);
        let fields = json!({ "export_diff_status": "of the source" });
        let printed = success(&json!({ "export_diff_counts": counts, "record": { "fields": fields } })).unwrap().value;
        let expected = json!({ "standings": [{ "standing": "gone", "count": 1 }], "record": { "fields": fields } });
        assert_eq!(printed, expected);
    }
}
