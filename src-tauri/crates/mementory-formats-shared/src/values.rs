//! Reads values as vendors write them: ids with or without quotes, times in several notations, and members for which
//! the record model has no field.
use super::object::{Object, decode_string};
use mementory_json::Tree;
use mementory_model::{Fields, Timestamp};
use serde_json::{Value, value::RawValue};

/// Largest number of objects that may wrap a time or an id (`{"$date":{"$numberLong":"0"}}`).
const MAX_WRAPPERS: usize = 3;
/// Largest nesting depth of JSON whose escapes are decoded for display.
const MAX_TEXT_DEPTH: u32 = 64;

/// An id: a string that is not blank, or a number. MongoDB's `{"$oid":"…"}` is unwrapped.
pub fn id(object: &Object<'_>, key: &str) -> Option<String> {
    id_of(object.raw_value(key)?)
}

/// The first id under these keys.
pub fn first_id(object: &Object<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| id(object, key))
}

/// An id: a string that is not blank, or a number, possibly inside an object such as `{"$oid":"…"}`. None for any other
/// value.
pub fn id_of(raw: &RawValue) -> Option<String> {
    let text = scalar(raw)?;
    let text = text.trim();
    (!text.is_empty() && !matches!(text, "true" | "false" | "null")).then(|| text.to_owned())
}

/// The first non-blank text under these keys.
pub fn first_text(object: &Object<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| object.non_blank_text(key)).map(|text| text.into_owned())
}

/// The first valid time under these keys.
pub fn first_time(object: &Object<'_>, keys: &[&str]) -> Option<Timestamp> {
    keys.iter().find_map(|key| time_of(object.raw_value(key)?))
}

/// Parses a time: RFC 3339, a number of seconds, milliseconds or microseconds since 1970 with or without quotes, or
/// MongoDB's notation. None for zero, which means an unknown time.
pub fn time_of(raw: &RawValue) -> Option<Timestamp> {
    time(&scalar(raw)?)
}

/// Like [`time_of`], for a text.
pub fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        let seconds = match number.abs() {
            size if size >= 1e14 => number / 1e6,
            size if size >= 1e11 => number / 1e3,
            _ => number,
        };
        return (seconds != 0.0).then(|| Timestamp::from_seconds(seconds)).flatten();
    }
    let text = text.strip_suffix("UTC").or_else(|| text.strip_suffix("GMT")).map_or(text, str::trim_end);
    Timestamp::parse(text)
}

/// The text of a string or number. Objects such as `{"$date":…}`, `{"$numberLong":…}` and `{"$oid":…}` are unwrapped.
fn scalar(raw: &RawValue) -> Option<String> {
    let mut raw = raw;
    for _ in 0..MAX_WRAPPERS {
        match raw.get().as_bytes().first()? {
            b'"' => return decode_string(raw).map(|text| text.into_owned()),
            b'{' => {
                let object = Object::parse(raw.get())?;
                let wrapped_value = |(key, value): (&str, _)| key.starts_with('$').then_some(value);
                raw = object.members().find_map(wrapped_value)?;
            }
            b'[' => return None,
            _ => return Some(raw.get().to_owned()),
        }
    }
    None
}

/// A block that is shown collapsed below a message: `{type, name?, text}`.
pub fn block(kind: &str, name: Option<&str>, text: String) -> Value {
    let mut map = Fields::new();
    map.insert("type".into(), kind.into());
    if let Some(name) = name {
        map.insert("name".into(), name.into());
    }
    map.insert("text".into(), text.into());
    Value::Object(map)
}

/// The members of an object for which the record model has no field. Members without content, and values that are
/// nested too deeply, remain only in the verbatim.
pub fn other_fields(object: &Object<'_>, used: &[&str]) -> Fields {
    let is_empty = |raw: &RawValue| matches!(raw.get(), "null" | "\"\"" | "[]" | "{}");
    object
        .members()
        .filter(|(key, raw)| !used.contains(key) && !is_empty(raw))
        .filter_map(|(key, raw)| Some((key.to_owned(), serde_json::from_str(raw.get()).ok()?)))
        .collect()
}

/// A value as searchable text: a string as it is, any other value as JSON without `\u` escapes.
pub fn readable(raw: &RawValue) -> String {
    if let Some(text) = decode_string(raw) {
        return text.into_owned();
    }
    if !raw.get().contains("\\u") {
        return raw.get().to_owned();
    }
    Tree::from_raw(raw, MAX_TEXT_DEPTH).map_or_else(
        |_| raw.get().to_owned(),
        |tree| {
            let mut out = String::new();
            tree.write(&mut out);
            out
        },
    )
}

/// Appends a paragraph to a text, unless the paragraph is blank.
pub fn push_paragraph(out: &mut String, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_are_read_in_every_notation() {
        let text = r#"{"a":{"$date":{"$numberLong":"1768917600000"}},"b":"2026-01-20T14:00:00Z","c":1768917600,"d":"1768917600.0",
            "e":{"$date":"2026-01-20T14:00:00.000Z"},"f":1768917600000000,"g":"2026-01-20 14:00:00 UTC"}"#;
        let object = Object::parse(text).unwrap();
        for (key, raw) in object.members() {
            assert_eq!(time_of(raw).map(Timestamp::to_rfc3339), Some("2026-01-20T14:00:00Z".into()), "{key}");
        }
        let text = r#"{"a":0,"b":"soon","c":null,"d":[1],"e":true,"f":{"$date":{"$a":{"$b":1}}},"g":1e300}"#;
        for (key, raw) in Object::parse(text).unwrap().members() {
            assert_eq!(time_of(raw), None, "{key}");
        }
    }

    #[test]
    fn ids_are_strings_or_numbers() {
        let object = Object::parse(r#"{"a":" x ","b":7,"c":{"$oid":"y"},"d":null,"e":"","f":true,"g":[1]}"#).unwrap();
        let ids: Vec<_> = ["a", "b", "c", "d", "e", "f", "g"].iter().map(|key| id(&object, key)).collect();
        assert_eq!(ids, [Some("x".into()), Some("7".into()), Some("y".into()), None, None, None, None]);
    }
}
