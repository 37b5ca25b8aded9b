//! Members in which a source counts how often a record was used. They change although the content of the record stays
//! the same. Therefore, two states that differ only in these members count as equal, and an incremental `.mem` does not
//! treat the difference as a change.
use crate::Fields;
use serde_json::Value;
use std::borrow::Cow;

/// Names of the members with usage counts and times of use, in lower case and without separators.
const USAGE_MEMBERS: [&str; 20] = [
    "accesscount",
    "accessedat",
    "hitcount",
    "lastaccess",
    "lastaccessed",
    "lastaccessedat",
    "lastrecalled",
    "lastrecalledat",
    "lastretrieved",
    "lastretrievedat",
    "lastused",
    "lastusedat",
    "lastusetime",
    "lastviewed",
    "lastviewedat",
    "recallcount",
    "retrievalcount",
    "usagecount",
    "usecount",
    "viewcount",
];

/// Usage counts are removed down to this level of nested objects and lists. Sources have them at the top or in a group of
/// times or metadata.
const MAX_LEVELS: u32 = 4;

/// True if a member with this name counts uses, or has the time of the last use: `access_count`, `lastUsed` …
fn is_usage_member(name: &str) -> bool {
    let folded: String =
        name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).take(16).collect();
    USAGE_MEMBERS.contains(&folded.as_str())
}

/// The fields of a record without the members that count its uses.
pub fn without_usage(fields: &Fields) -> Cow<'_, Fields> {
    if !fields.iter().any(|(name, value)| is_usage_member(name) || has_usage(value, MAX_LEVELS)) {
        return Cow::Borrowed(fields);
    }
    let mut fields = fields.clone();
    fields.retain(|name, _| !is_usage_member(name));
    fields.values_mut().for_each(|value| remove_usage_within(value, MAX_LEVELS));
    Cow::Owned(fields)
}

/// Removes the usage counts from the original JSON of a record.
pub fn remove_usage(value: &mut Value) {
    remove_usage_within(value, MAX_LEVELS);
}

fn has_usage(value: &Value, levels: u32) -> bool {
    match value {
        _ if levels == 0 => false,
        Value::Object(members) => {
            members.iter().any(|(name, value)| is_usage_member(name) || has_usage(value, levels - 1))
        }
        Value::Array(items) => items.iter().any(|item| has_usage(item, levels - 1)),
        _ => false,
    }
}

fn remove_usage_within(value: &mut Value, levels: u32) {
    match value {
        _ if levels == 0 => {}
        Value::Object(members) => {
            members.retain(|name, _| !is_usage_member(name));
            members.values_mut().for_each(|value| remove_usage_within(value, levels - 1));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove_usage_within(item, levels - 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn members_that_count_uses_are_left_out_at_any_usual_level() {
        let mut value = serde_json::json!({
            "text": "a", "accessCount": 3, "temporal": {"created_at": 1, "last_accessed_at": 2},
            "list": [{"last-used": 4, "kept": 5}], "lastUsedModel": "m", "account": 6,
        });
        let fields = value.as_object().unwrap().clone();
        let expected = serde_json::json!({
            "text": "a", "temporal": {"created_at": 1}, "list": [{"kept": 5}], "lastUsedModel": "m", "account": 6,
        });
        remove_usage(&mut value);
        assert_eq!(value, expected);
        assert_eq!(&*without_usage(&fields), expected.as_object().unwrap());
    }

    #[test]
    fn fields_without_such_members_stay_as_they_are() {
        let fields = serde_json::json!({"category": "bees", "a": [{"b": 1}]}).as_object().unwrap().clone();
        assert!(matches!(without_usage(&fields), Cow::Borrowed(_)));
    }
}
