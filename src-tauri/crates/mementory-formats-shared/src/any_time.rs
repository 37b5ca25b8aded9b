//! Parses a time in any notation that chat programs use.
use super::object::{Object, decode_string};
use mementory_model::Timestamp;
use serde_json::value::RawValue;

/// Names of the months in the times that JavaScript writes.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The first valid time under these keys.
pub fn first_time(object: &Object<'_>, keys: &[&str]) -> Option<Timestamp> {
    keys.iter().find_map(|key| any_time(object.raw_value(key)?))
}

/// Parses a time: ISO 8601; a number of seconds, milliseconds, microseconds or nanoseconds since 1970, with or without
/// quotes; or an object with such a value, as in a MongoDB export. None for zero, which means an unknown time.
pub fn any_time(raw: &RawValue) -> Option<Timestamp> {
    let text = raw.get();
    if text.starts_with('{') {
        let object = Object::parse(text)?;
        let wrapped_time =
            ["$date", "$numberLong", "seconds", "_seconds"].iter().find_map(|key| object.raw_value(key))?;
        return any_time(wrapped_time);
    }
    match decode_string(raw) {
        Some(decoded) => text_time(&decoded),
        None => parse_epoch_number(text),
    }
}

/// Parses a time from a text or from a table cell.
pub fn text_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let number = || (text.len() >= 9).then(|| parse_epoch_number(text)).flatten();
    Timestamp::parse(text).or_else(number).or_else(|| script_time(text))
}

/// Parses a time as JavaScript writes it without a format: `Tue Feb 03 2026 10:00:00 GMT+0000 (…)`.
fn script_time(text: &str) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    let [_, month, day, year, clock, zone] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let (hours, minutes) = zone.strip_prefix("GMT")?.split_at_checked(3)?;
    Timestamp::parse(&format!("{year}-{month:02}-{day}T{clock}{hours}:{minutes}"))
}

/// Parses a number of seconds, milliseconds, microseconds or nanoseconds since 1970. The unit follows from the
/// magnitude: in all years with chats, the number of seconds has 9 to 11 digits.
pub fn parse_epoch_number(text: &str) -> Option<Timestamp> {
    let number: f64 = text.trim().parse().ok()?;
    let seconds = match number.abs() {
        n if n < 1.0 || !n.is_finite() => return None,
        n if n < 1e11 => number,
        n if n < 1e14 => number / 1e3,
        n if n < 1e17 => number / 1e6,
        _ => number / 1e9,
    };
    Timestamp::from_seconds(seconds)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_are_read_in_every_form() {
        for text in [
            "1784455200",
            "1784455200.0",
            "1784455200000",
            "\"1784455200\"",
            "\"2026-07-19T10:00:00Z\"",
            "\"2026-07-19T12:00:00+02:00\"",
            "\"2026-07-19 10:00\"",
            "\"Sun Jul 19 2026 12:00:00 GMT+0200 (Central European Summer Time)\"",
            "{\"$date\":{\"$numberLong\":\"1784455200000\"}}",
        ] {
            let raw: Box<RawValue> = RawValue::from_string(text.into()).unwrap();
            assert_eq!(any_time(&raw).unwrap().to_rfc3339(), "2026-07-19T10:00:00Z", "{text}");
        }
        for text in ["0", "null", "true", "\"\"", "\"yesterday\"", "[]", "{}", "1e400", "\"12\""] {
            let raw: Box<RawValue> = RawValue::from_string(text.into()).unwrap();
            assert_eq!(any_time(&raw), None, "{text}");
        }
    }
}
