//! Converts a line to a checked tree and back, by the rules of the reference SDK's decoder. Required fields must be
//! present and not null. Types are not converted (`true` is not a number), but `2.0` is an integer. Unknown fields are
//! preserved.
use super::{
    canonical::{BadNumber, float, number, sorted_members, write},
    kinds::{Field, KindSpec, Type},
};
use mementory_json::{Tree, is_shortest, write_string};
use mementory_model::{Bounds, Timestamp};

/// The lists of ids in a tombstone's `derived`.
pub(super) const DERIVED_LIST_FIELDS: [&str; 6] =
    ["sentenceIDs", "factIDs", "edgeIDs", "entityIDs", "chunkIDs", "embeddingCacheKeys"];
/// The seventh member of `derived`: the number of deleted episode links.
pub(super) const DERIVED_COUNT_FIELD: &str = "episodeLinkCount";

/// Removes the white space around a line. Like Python's `strip`, also removes four control characters.
pub(super) fn trim(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// True if the error message says that a value exceeds `Limits::tree_bytes`.
pub(super) fn is_too_large(message: &str) -> bool {
    message.ends_with("(tree_bytes)")
}

/// Decodes one line. The error message names the field but does not contain its value.
pub(super) fn decode(spec: &KindSpec, line: &str, bounds: impl Into<Bounds>) -> Result<Tree, String> {
    let tree = Tree::parse(trim(line), bounds).map_err(|e| e.to_string())?;
    let Tree::Object(members) = &tree else { return Err("not an object".into()) };
    if !members.iter().all(|(_, v)| has_valid_numbers(v)) {
        return Err("a number is out of range".into());
    }
    check_fields(spec.fields, &tree)?;
    Ok(tree)
}

/// Checks that all required fields are present and all declared fields have their type.
pub(super) fn check_fields(fields: &[Field], tree: &Tree) -> Result<(), String> {
    for field in fields {
        match tree.get(field.name) {
            None | Some(Tree::Null) if field.required => return Err(format!("{} is missing", field.name)),
            None | Some(Tree::Null) => {}
            Some(value) if !has_type(field.ty, value) => return Err(format!("{} has the wrong type", field.name)),
            Some(_) => {}
        }
    }
    Ok(())
}

fn has_type(ty: Type, value: &Tree) -> bool {
    match (ty, value) {
        (Type::Text, Tree::Text(_)) | (Type::Bool, Tree::Bool(_)) => true,
        (Type::Time, Tree::Text(text)) => time(text).is_some(),
        (Type::Float, Tree::Number(token)) => token.parse::<f64>().is_ok_and(f64::is_finite),
        (Type::Int, Tree::Number(token)) => integer(token).is_some(),
        (Type::List, Tree::Array(items)) => items.iter().all(|i| matches!(i, Tree::Text(_))),
        (Type::Map, Tree::Object(members)) => members.iter().all(|(_, v)| matches!(v, Tree::Text(_))),
        (Type::Op, Tree::Text(text)) => matches!(text.as_str(), "delete" | "redact"),
        (Type::Derived, Tree::Object(_)) => {
            let is_absent = |v: Option<&Tree>| matches!(v, None | Some(Tree::Null));
            DERIVED_LIST_FIELDS
                .iter()
                .all(|n| is_absent(value.get(n)) || value.get(n).is_some_and(|v| has_type(Type::List, v)))
                && (is_absent(value.get(DERIVED_COUNT_FIELD))
                    || value.get(DERIVED_COUNT_FIELD).is_some_and(|v| has_type(Type::Int, v)))
        }
        _ => false,
    }
}

/// The digits of an integer, or of a float without a fraction.
pub(super) fn integer(token: &str) -> Option<String> {
    if !token.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        return number(token).ok();
    }
    let value: f64 = token.parse().ok()?;
    // Adding 0.0 turns minus zero into zero.
    (value.is_finite() && value.fract() == 0.0).then(|| format!("{:.0}", value + 0.0))
}

fn has_valid_numbers(tree: &Tree) -> bool {
    match tree {
        Tree::Number(token) => is_shortest(token) || number(token).is_ok(),
        Tree::Array(items) => items.iter().all(has_valid_numbers),
        Tree::Object(members) => members.iter().all(|(_, v)| has_valid_numbers(v)),
        Tree::Null | Tree::Bool(_) | Tree::Text(_) => true,
    }
}

/// Parses RFC 3339 and the variants that the SDK accepts: date only, a space instead of `T`, the basic format of ISO
/// 8601, no zone (UTC), fractions of any length (truncated). Leap seconds, `24:00` and surrounding text are rejected.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    if let Some(time) = Timestamp::parse_plain(text) {
        return Some(time);
    }
    let is_plain =
        |b: u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b':' | b'.' | b',' | b' ' | b'T' | b't' | b'Z' | b'z');
    let first_byte = *text.as_bytes().first()?;
    if text.len() > 80 || !first_byte.is_ascii_digit() || text.ends_with(' ') || !text.bytes().all(is_plain) {
        return None;
    }
    if let Some((_, clock)) = text.split_once(['T', 't', ' ']) {
        let seconds = if clock.contains(':') { clock.get(6..8) } else { clock.get(4..6) };
        let offset = clock.rsplit_once(['+', '-']).and_then(|(_, offset)| offset.get(..2)?.parse::<u8>().ok());
        if seconds == Some("60") || offset.is_some_and(|hours| hours > 23) {
            return None;
        }
    }
    let Some(point) = text.find(['.', ',']) else { return Timestamp::parse(text) };
    let (whole, rest) = text.split_at(point);
    let digit_count = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, zone) = rest[1..].split_at(digit_count);
    // Longer fractions are truncated, because rounding could give the next second.
    match &fraction[..digit_count.min(6)] {
        "" => Timestamp::parse(&format!("{whole}{zone}")),
        micros => Timestamp::parse(&format!("{whole}.{micros}{zone}")),
    }
}

/// Initial capacity of the buffer for a line, in bytes. Enough for most lines.
const INITIAL_LINE_BYTES: usize = 1024;

/// The canonical line of a checked tree: declared fields are normalized, optional fields that are null are removed, a
/// missing `derived` is added as an empty object, and all other fields are preserved.
pub(super) fn line(spec: &KindSpec, tree: &Tree) -> Result<String, BadNumber> {
    let Tree::Object(members) = tree else { return Err(BadNumber) };
    let mut list = sorted_members(members);
    list.retain(|(key, value)| **value != Tree::Null || spec.field(key).is_none());
    let empty_derived = Tree::Object(vec![]);
    if let Some(field) = spec.fields.iter().find(|f| f.ty == Type::Derived)
        && let Err(at) = list.binary_search_by(|(key, _)| (*key).cmp(field.name))
    {
        list.insert(at, (field.name, &empty_derived));
    }
    let mut out = String::with_capacity(INITIAL_LINE_BYTES);
    out.push('{');
    for (key, value) in list {
        if out.len() > 1 {
            out.push(',');
        }
        write_string(key, &mut out);
        out.push(':');
        match spec.field(key).map(|f| f.ty) {
            Some(ty @ (Type::Time | Type::Float | Type::Int | Type::Derived)) if !is_normalized(ty, value) => {
                write(&normalized(ty, value)?, &mut out)?;
            }
            _ => write(value, &mut out)?,
        }
    }
    out.push('}');
    Ok(out)
}

/// True if [`normalized`] would not change a checked value. Nearly all values are normalized, so this check avoids most
/// conversions.
fn is_normalized(ty: Type, value: &Tree) -> bool {
    match (ty, value) {
        (Type::Time, Tree::Text(text)) => {
            let form = b"0000-00-00T00:00:00Z";
            let matches_form = |(b, form): (u8, &u8)| if *form == b'0' { b.is_ascii_digit() } else { b == *form };
            text.len() == form.len() && text.bytes().zip(form).all(matches_form)
        }
        (Type::Float, Tree::Number(token)) => is_shortest(token),
        (Type::Int, Tree::Number(token)) => is_shortest(token) && !token.contains('.'),
        _ => false,
    }
}

fn normalized(ty: Type, value: &Tree) -> Result<Tree, BadNumber> {
    Ok(match (ty, value) {
        (Type::Time, Tree::Text(text)) => Tree::Text(time(text).ok_or(BadNumber)?.to_rfc3339_seconds()),
        (Type::Float, Tree::Number(token)) => Tree::Number(float(token.parse().map_err(|_| BadNumber)?)?),
        (Type::Int, Tree::Number(token)) => Tree::Number(integer(token).ok_or(BadNumber)?),
        (Type::Derived, Tree::Object(_)) => {
            let mut derived = value.clone();
            let is_absent = |t: &Tree, n: &str| matches!(t.get(n), None | Some(Tree::Null));
            for name in DERIVED_LIST_FIELDS {
                if is_absent(&derived, name) {
                    derived.set(name, Tree::Array(vec![]));
                }
            }
            let count = match derived.get(DERIVED_COUNT_FIELD) {
                Some(Tree::Number(token)) => integer(token).ok_or(BadNumber)?,
                _ => "0".into(),
            };
            derived.set(DERIVED_COUNT_FIELD, Tree::Number(count));
            derived
        }
        _ => value.clone(),
    })
}

/// Text of a field.
pub(super) fn text<'a>(tree: &'a Tree, name: &str) -> Option<&'a str> {
    tree.get(name).and_then(Tree::as_str)
}

/// Time of a field.
pub(super) fn time_of(tree: &Tree, name: &str) -> Option<Timestamp> {
    text(tree, name).and_then(time)
}

/// Strings of a list field; a single string is treated as a list.
pub(super) fn list(tree: &Tree, name: &str) -> Vec<String> {
    match tree.get(name) {
        Some(Tree::Array(items)) => items.iter().filter_map(Tree::as_str).map(str::to_owned).collect(),
        Some(Tree::Text(one)) => vec![one.clone()],
        _ => vec![],
    }
}

/// A list of strings as a tree.
pub(super) fn texts<S: AsRef<str>>(items: &[S]) -> Tree {
    Tree::Array(items.iter().map(|s| Tree::Text(s.as_ref().to_owned())).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn normalized_values_do_not_change(
            seconds in -62_000_000_000i64..250_000_000_000,
            token in "-?(0|[1-9][0-9]{0,16})(\\.[0-9]{1,6})?([eE][+-]?[0-9])?",
            clock in "20[0-9]{2}-[0-1][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,3})?(Z|\\+01:00)",
        ) {
            let printed_time = Timestamp::from_micros(seconds * 1_000_000).unwrap().to_rfc3339_seconds();
            prop_assert!(is_normalized(Type::Time, &Tree::Text(printed_time.clone())) || printed_time.len() != 20);
            let number = Tree::Number(token);
            let values = [(Type::Time, Tree::Text(printed_time)), (Type::Time, Tree::Text(clock)), (Type::Float, number.clone()), (Type::Int, number)];
            // A checked tree contains only values of the declared type.
            for (ty, value) in values.into_iter().filter(|(ty, value)| has_type(*ty, value) && is_normalized(*ty, value)) {
                prop_assert_eq!(normalized(ty, &value).unwrap(), value);
            }
        }
    }
}
