//! The text in a value whose structure is not known.
use super::object::{Object, decode_string, list};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Largest depth at which strings are collected.
const MAX_DEPTH: u32 = 32;
/// Largest number of values that wait to be read. If more are waiting, values are skipped.
const MAX_PENDING_VALUES: usize = 100_000;

/// Strings under these names at any depth, one per line. If `wanted` is empty, all strings except ids, times, types,
/// states and encoded data. The depth and the number of values are limited, and the function does not recurse.
pub fn nested_strings(raw: &RawValue, wanted: &[&str]) -> String {
    let mut out = String::new();
    let mut pending_values: Vec<(Cow<'_, str>, &RawValue, u32)> = vec![(Cow::Borrowed(""), raw, 0)];
    while let Some((name, value, depth)) = pending_values.pop() {
        if depth > MAX_DEPTH || pending_values.len() > MAX_PENDING_VALUES {
            continue;
        }
        match value.get().as_bytes().first() {
            Some(b'"') => {
                let is_text =
                    if wanted.is_empty() { !is_metadata_field(&name) } else { wanted.contains(&name.as_ref()) };
                if is_text && let Some(text) = decode_string(value).filter(|t| !t.trim().is_empty()) {
                    if !out.is_empty() {
                        out.push('\n');
                    }
                    out.push_str(&text);
                }
            }
            Some(b'{') => {
                let object = Object::parse(value.get()).unwrap_or_default();
                let members: Vec<_> = object.members().map(|(k, v)| (k.to_owned(), v)).collect();
                pending_values.extend(members.into_iter().rev().map(|(k, v)| (Cow::Owned(k), v, depth + 1)));
            }
            Some(b'[') => {
                let items = list(value).unwrap_or_default();
                pending_values.extend(items.into_iter().rev().map(|v| (name.clone(), v, depth + 1)));
            }
            _ => {}
        }
    }
    out
}

/// True for the names of ids, times, types, states and encoded data.
fn is_metadata_field(name: &str) -> bool {
    matches!(name, "type" | "id" | "uuid" | "kind" | "status" | "data" | "signature")
        || ["_id", "Id", "_uuid", "_timestamp", "_at"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ids_times_and_encoded_data_are_no_text_of_an_unknown_value() {
        let raw: &RawValue = serde_json::from_str(
            r#"{"type":"new","sessionId":"s1","message_uuid":"u1","start_timestamp":"2026-01-02","created_at":"2026-01-02",
                "signature":"aGk=","data":"aGk=","lines":["What was said","and more"],"note":{"author_id":"a1","by":"Mia"}}"#,
        )
        .unwrap();
        assert_eq!(nested_strings(raw, &[]), "What was said\nand more\nMia");
        assert_eq!(nested_strings(raw, &["by"]), "Mia");
    }
}
