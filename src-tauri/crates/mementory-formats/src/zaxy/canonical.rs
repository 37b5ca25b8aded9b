//! The bytes that Zaxy hashes: Python's `json.dumps` with sorted keys and no white space. This is not RFC 8785: whole
//! floats keep their `.0`, integers have no bound, keys sort by code point.
use mementory_model::json::{Tree, write_string};
use std::fmt::Write as _;

/// A number that the reference cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadNumber;

/// Python refuses to read longer integers.
const INTEGER_DIGITS: usize = 4300;

/// How strings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// As they are, in UTF-8: the bundle layer.
    Raw,
    /// All but printable ASCII escaped (`ensure_ascii`): the log layer.
    Ascii,
}

/// The canonical text of a value, for bundles. Nesting is bounded by whoever parsed the tree.
pub(crate) fn canonical(tree: &Tree) -> Result<String, BadNumber> {
    let mut out = String::new();
    write(tree, Strings::Raw, &mut out)?;
    Ok(out)
}

/// Appends the canonical text of a value.
pub(crate) fn write(tree: &Tree, strings: Strings, out: &mut String) -> Result<(), BadNumber> {
    match tree {
        Tree::Number(token) => out.push_str(&number(token)?),
        Tree::Text(text) => string(text, strings, out),
        Tree::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, strings, out)?;
            }
            out.push(']');
        }
        Tree::Object(members) => {
            out.push('{');
            for (i, (key, value)) in sorted(members).into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                string(key, strings, out);
                out.push(':');
                write(value, strings, out)?;
            }
            out.push('}');
        }
        Tree::Null | Tree::Bool(_) => tree.write(out),
    }
    Ok(())
}

/// Members by key; of duplicate keys the last one, as Python's reader has it.
fn sorted(members: &[(String, Tree)]) -> Vec<(&str, &Tree)> {
    let mut list: Vec<(&str, &Tree)> = members.iter().rev().map(|(k, v)| (k.as_str(), v)).collect();
    list.sort_by(|a, b| a.0.cmp(b.0)); // stable, so the last duplicate stays in front
    list.dedup_by(|a, b| a.0 == b.0);
    list
}

fn string(text: &str, strings: Strings, out: &mut String) {
    if strings == Strings::Raw {
        return write_string(text, out);
    }
    let start = out.len();
    write_string(text, out);
    if out[start..].bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return;
    }
    let raw = out.split_off(start);
    let mut units = [0; 2];
    for c in raw.chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}"); // writing into a String cannot fail
            }
        }
    }
}

/// Canonical form of a number token: integer tokens keep their digits, all others go through a double.
pub(crate) fn number(token: &str) -> Result<String, BadNumber> {
    if token.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        return token.parse().map_err(|_| BadNumber).map(float);
    }
    match token {
        "-0" => Ok("0".into()),
        _ if token.trim_start_matches('-').len() > INTEGER_DIGITS => Err(BadNumber),
        _ => Ok(token.to_owned()),
    }
}

/// A double as Python shows it: shortest digits, fixed from 1e-4 to below 1e16, else at least two exponent digits.
fn float(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    // `{:e}` gives the shortest digits that read back as the same double: `d[.ddd]e<exponent>`.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    match exponent {
        0..16 => {
            let point = exponent as usize + 1;
            let whole = format!("{digits:0<point$}");
            let fraction = if whole.len() > point { &whole[point..] } else { "0" };
            format!("{sign}{}.{fraction}", &whole[..point])
        }
        -4..0 => format!("{sign}0.{}{digits}", "0".repeat(-exponent as usize - 1)),
        _ => format!("{sign}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn numbers_as_python_prints_them() {
        for (token, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("0.0", "0.0"),
            ("-0.0", "-0.0"),
            ("1.0", "1.0"),
            ("10.50", "10.5"),
            ("1e2", "100.0"),
            ("0.0001", "0.0001"),
            ("0.00009999", "9.999e-05"),
            ("-0.00012", "-0.00012"),
            ("1e15", "1000000000000000.0"),
            ("9999999999999998.0", "9999999999999998.0"),
            ("1E16", "1e+16"),
            ("12345678901234567890.0", "1.2345678901234567e+19"),
            ("1.5e300", "1.5e+300"),
            ("5e-324", "5e-324"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
            ("1e-400", "0.0"),
            ("-9007199254740993", "-9007199254740993"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(number(token).unwrap(), expected, "{token}");
        }
        assert_eq!(number(&"9".repeat(4300)).unwrap().len(), 4300);
        assert_eq!(number(&"9".repeat(4301)), Err(BadNumber));
    }

    #[test]
    fn keys_by_code_point_and_two_ways_with_strings() {
        let text = "{\"\u{1F600}\":1,\"\u{FF5E}\":2,\"a\":3,\"a\":\"\\u007f\\/\\u2028\\n\\u001f\u{e9}\",\"B\":[]}";
        let tree = Tree::parse(text, 8).unwrap();
        let raw = "{\"B\":[],\"a\":\"\u{7f}/\u{2028}\\n\\u001f\u{e9}\",\"\u{FF5E}\":2,\"\u{1F600}\":1}";
        assert_eq!(canonical(&tree).unwrap(), raw);
        let mut ascii = String::new();
        write(&tree, Strings::Ascii, &mut ascii).unwrap();
        let escaped = r#"{"B":[],"a":"\u007f/\u2028\n\u001f\u00e9","\uff5e":2,"\ud83d\ude00":1}"#;
        assert_eq!(ascii, escaped);
    }
}
