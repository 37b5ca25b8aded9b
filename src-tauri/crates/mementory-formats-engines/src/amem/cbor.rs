//! Parses, searches and writes CBOR values. Parsing limits the use of memory. Values are converted to JSON for the
//! verbatim and back, and are written in deterministic form.
use ciborium::Value;
use serde_json::json;

/// Largest number of items in a document. A document with more items is not parsed, because each item needs up to 64
/// bytes of memory, even if it takes only one byte in the file.
const MAX_ITEMS: usize = 2 << 20;

/// Parses a document. None if the bytes are not CBOR, contain more than one document, or contain more than
/// [`MAX_ITEMS`] items.
pub(super) fn parse(bytes: &[u8]) -> Option<Value> {
    if item_count(bytes)? > MAX_ITEMS {
        return None;
    }
    let mut unread = bytes;
    let value = ciborium::from_reader(&mut unread).ok()?;
    unread.is_empty().then_some(value)
}

/// Counts the items in a document by reading only the head of each item. None if a head or a string is cut off.
fn item_count(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut count) = (0_usize, 0);
    while let Some(head) = bytes.get(at) {
        at += 1;
        count += 1;
        let (major, info) = (head >> 5, head & 0x1f);
        let length_bytes = match info {
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => 0,
        };
        let argument = bytes.get(at..at.checked_add(length_bytes)?)?;
        let argument = argument.iter().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
        at += length_bytes;
        // Skips the content of a string with a stated length. Major type 2 is a byte string, and 3 is a text string.
        if matches!(major, 2 | 3) && info < 28 {
            let length = if info < 24 { u64::from(info) } else { argument };
            at = at.checked_add(usize::try_from(length).ok()?).filter(|at| *at <= bytes.len())?;
        }
    }
    Some(count)
}

/// Encodes a value. Lengths and numbers have their shortest form.
pub(super) fn to_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    // Writing into memory cannot fail.
    let written = ciborium::into_writer(value, &mut out);
    debug_assert!(written.is_ok());
    out
}

/// The major types of lists and maps.
pub(super) const ARRAY: u8 = 4;
pub(super) const MAP: u8 = 5;

/// Returns the head of an array with `count` elements, or of a map with `count` members. The caller appends the
/// elements or members.
pub(super) fn head(major: u8, count: usize) -> Vec<u8> {
    // The head of a number, whose major type is 0, has the same form.
    let mut out = to_bytes(&(count as u64).into());
    if let Some(first) = out.first_mut() {
        *first |= major << 5;
    }
    out
}

/// Returns a map with its members in deterministic order, which is the order of the bytes of their keys.
pub(super) fn map(mut members: Vec<(Value, Value)>) -> Value {
    members.sort_by_cached_key(|(key, _)| to_bytes(key));
    Value::Map(members)
}

pub(super) fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

/// Returns the value of a numeric key in a map. None if `map` is not a map or has no such key.
pub(super) fn member(map: &Value, key: i64) -> Option<&Value> {
    find(map, |name| name.as_integer().is_some_and(|number| number == key.into()))
}

/// Returns the value of a text key in a map. None if `map` is not a map or has no such key.
pub(super) fn named<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    find(map, |name| name.as_text() == Some(key))
}

fn find(map: &Value, is: impl Fn(&Value) -> bool) -> Option<&Value> {
    map.as_map()?.iter().find(|(name, _)| is(name)).map(|(_, value)| value)
}

pub(super) fn number(value: &Value) -> Option<i64> {
    value.as_integer()?.try_into().ok()
}

/// Converts a value to JSON. A byte string becomes `{"$bytes": "<hex>"}`, and a tag becomes `{"$tag": number, "value":
/// …}`.
pub(super) fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Integer(number) => {
            let number = i128::from(*number);
            i64::try_from(number)
                .map(serde_json::Value::from)
                .or_else(|_| u64::try_from(number).map(serde_json::Value::from))
                .unwrap_or_else(|_| number.to_string().into())
        }
        Value::Bytes(bytes) => json!({ "$bytes": hex::encode(bytes) }),
        Value::Float(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::Bool(is) => json!(is),
        Value::Tag(tag, inner) => json!({ "$tag": tag, "value": to_json(inner) }),
        Value::Array(elements) => elements.iter().map(to_json).collect(),
        Value::Map(members) => {
            let members = members.iter().map(|(key, value)| (key_text(key), to_json(value)));
            serde_json::Value::Object(members.collect())
        }
        _ => serde_json::Value::Null,
    }
}

/// Returns the key of a map member as text, for JSON.
pub(super) fn key_text(key: &Value) -> String {
    match key {
        Value::Text(text) => text.clone(),
        other => to_json(other).to_string(),
    }
}

/// Converts the JSON of [`to_json`] back to CBOR. A key that consists of digits becomes a number.
pub(super) fn from_json(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::Null,
        Json::Bool(is) => Value::Bool(*is),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(elements) => Value::Array(elements.iter().map(from_json).collect()),
        Json::Number(number) => {
            let whole = number.as_u64().map(Value::from).or_else(|| number.as_i64().map(Value::from));
            whole.or_else(|| number.as_f64().map(Value::Float)).unwrap_or(Value::Null)
        }
        Json::Object(members) => bytes_or_tag(members).unwrap_or_else(|| {
            let key = |name: &String| name.parse::<u64>().map_or_else(|_| Value::Text(name.clone()), Value::from);
            map(members.iter().map(|(name, value)| (key(name), from_json(value))).collect())
        }),
    }
}

/// Converts a JSON object that represents a byte string or a tag. None for any other object.
fn bytes_or_tag(members: &serde_json::Map<String, serde_json::Value>) -> Option<Value> {
    if let Some(text) = members.get("$bytes").filter(|_| members.len() == 1) {
        return Some(Value::Bytes(hex::decode(text.as_str()?).ok()?));
    }
    let tag = members.get("$tag").filter(|_| members.len() == 2)?.as_u64()?;
    Some(Value::Tag(tag, Box::new(from_json(members.get("value")?))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn heads_and_maps_are_in_the_deterministic_form() {
        assert_eq!((head(ARRAY, 0), head(ARRAY, 23), head(MAP, 24)), (vec![0x80], vec![0x97], vec![0xb8, 24]));
        assert_eq!((head(ARRAY, 256), head(MAP, 65_536)), (vec![0x99, 1, 0], vec![0xba, 0, 1, 0, 0]));
        let members =
            vec![("salt".into(), 1.into()), (20.into(), 2.into()), ("id".into(), 3.into()), (3.into(), 4.into())];
        assert_eq!(to_bytes(&map(members)), b"\xa4\x03\x04\x14\x02\x62id\x03\x64salt\x01");
        assert_eq!(to_bytes(&Value::Float(0.5)), [0xf9, 0x38, 0]);
    }

    #[test]
    fn a_value_is_restored_from_its_json() {
        let value = map(vec![
            (1.into(), 2.into()),
            (2.into(), bytes(&[0xab; 8])),
            ("name".into(), Value::Array(vec![Value::Null, true.into(), (-7).into(), 0.25.into(), u64::MAX.into()])),
            ("time".into(), Value::Tag(1, Box::new(5.into()))),
        ]);
        assert_eq!(from_json(&to_json(&value)), value);
        let odd = json!({ "$bytes": "not hex" });
        assert_eq!(to_json(&from_json(&odd)), odd);
    }

    #[test]
    fn a_document_with_a_wrong_size_or_too_many_items_is_refused() {
        assert!(parse(&[0xa1, 0x01, 0x02]).is_some());
        for bytes in [
            // A byte string, an array and a map whose heads state a length of almost 2^63, a truncated string, two
            // documents, and an empty input.
            &[0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..],
            &[0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0xbb, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x45, 1, 2],
            &[1, 1],
            &[],
        ] {
            assert!(parse(bytes).is_none(), "{bytes:?}");
        }
        let mut many = vec![0x9f];
        many.resize(MAX_ITEMS + 2, 0);
        many.push(0xff);
        assert!(parse(&many).is_none());
        assert!(parse(&[0x81; 100_000]).is_none(), "too deep");
    }
}
