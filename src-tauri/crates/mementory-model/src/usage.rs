//! Members in which a source counts how often a record was used. They change although the content of the record stays
//! the same. Therefore, two states that differ only in these members count as equal, and an incremental `.mem` does not
//! treat the difference as a change.
use crate::Fields;
use serde::{Serialize, Serializer};
use serde_json::Value;

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
    // Most names are ruled out by their first letter.
    let first = name.bytes().find(|byte| !matches!(byte, b'_' | b'-'));
    if !first.is_some_and(|byte| matches!(byte.to_ascii_lowercase(), b'a' | b'h' | b'l' | b'r' | b'u' | b'v')) {
        return false;
    }
    let folded: String =
        name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).take(16).collect();
    USAGE_MEMBERS.contains(&folded.as_str())
}

/// The fields of a record without the members that count its uses. They are serialized without a copy of the fields.
pub struct WithoutUsage<'f>(pub &'f Fields);

impl WithoutUsage<'_> {
    /// True if no field is left.
    pub fn is_empty(&self) -> bool {
        self.0.keys().all(|name| is_usage_member(name))
    }
}

impl Serialize for WithoutUsage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        collect_members(self.0, MAX_LEVELS, serializer)
    }
}

/// A value of a field, whose members that count uses are left out down to `levels` levels.
struct ValueWithoutUsage<'v> {
    value: &'v Value,
    levels: u32,
}

impl Serialize for ValueWithoutUsage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { value, levels } = *self;
        match value {
            Value::Object(members) if levels > 0 => collect_members(members, levels - 1, serializer),
            Value::Array(items) if levels > 0 => {
                serializer.collect_seq(items.iter().map(|value| ValueWithoutUsage { value, levels: levels - 1 }))
            }
            _ => value.serialize(serializer),
        }
    }
}

fn collect_members<S: Serializer>(members: &Fields, levels: u32, serializer: S) -> Result<S::Ok, S::Error> {
    let remaining = members.iter().filter(|(name, _)| !is_usage_member(name));
    serializer.collect_map(remaining.map(|(name, value)| (name, ValueWithoutUsage { value, levels })))
}

/// Removes the usage counts from the original JSON of a record.
pub fn remove_usage(value: &mut Value) {
    remove_usage_within(value, MAX_LEVELS);
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
        assert_eq!(serde_json::to_value(WithoutUsage(&fields)).unwrap(), expected);
        assert!(!WithoutUsage(&fields).is_empty());
    }

    #[test]
    fn both_ways_leave_out_the_same_members_at_every_level() {
        for depth in 0..8 {
            let mut value = serde_json::json!({"use_count": 1, "kept": [2]});
            for level in 0..depth {
                value = match level % 2 {
                    0 => serde_json::json!({"inner": value, "Hit-Count": 3}),
                    _ => serde_json::json!([value, {"viewCount": 4}]),
                };
            }
            let fields = serde_json::json!({"a": value, "accessed_at": 5}).as_object().unwrap().clone();
            let serialized = serde_json::to_string(&WithoutUsage(&fields)).unwrap();
            let mut inside = value;
            remove_usage(&mut inside);
            assert_eq!(serialized, serde_json::json!({"a": inside}).to_string(), "depth {depth}");
        }
    }

    #[test]
    fn fields_with_nothing_but_such_members_are_empty() {
        for (fields, is_empty) in [
            (serde_json::json!({}), true),
            (serde_json::json!({"_accessCount": 1}), true),
            (serde_json::json!({"accessCount": 1, "category": "bees"}), false),
        ] {
            assert_eq!(WithoutUsage(fields.as_object().unwrap()).is_empty(), is_empty, "{fields}");
        }
    }
}
