//! Canonical JSON (spec v1.1 §1.1), byte for byte as the reference SDK writes it: keys by code point, integers exact,
//! floats in shortest form with the SDK's exponent style (`1e-05`, `1e+16`), strings raw except what JSON must escape.
use mementory_model::json::{Tree, is_shortest, write_string};

/// A number that canonical JSON cannot hold (overflows a double, or longer than the SDK's integer parser takes).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadNumber;

/// The reference SDK runs on Python, which refuses to read longer integers.
const INTEGER_DIGITS: usize = 4300;
/// Whole floats below this print as integers, at and above it with an exponent.
const WHOLE_BOUND: f64 = 1e16;

/// The canonical text of a value. Nesting is bounded by whoever parsed the tree.
pub(super) fn canonical(tree: &Tree) -> Result<String, BadNumber> {
    let mut out = String::new();
    write(tree, &mut out)?;
    Ok(out)
}

/// Appends the canonical text of a value.
pub(super) fn write(tree: &Tree, out: &mut String) -> Result<(), BadNumber> {
    match tree {
        Tree::Number(token) if is_shortest(token) => out.push_str(token),
        Tree::Number(token) => out.push_str(&number(token)?),
        Tree::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out)?;
            }
            out.push(']');
        }
        Tree::Object(members) => {
            out.push('{');
            for (i, (key, value)) in sorted(members).into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(value, out)?;
            }
            out.push('}');
        }
        Tree::Null | Tree::Bool(_) | Tree::Text(_) => tree.write(out),
    }
    Ok(())
}

/// Members by key; of duplicate keys the last one.
pub(super) fn sorted(members: &[(String, Tree)]) -> Vec<(&str, &Tree)> {
    let mut list: Vec<(&str, &Tree)> = members.iter().rev().map(|(k, v)| (k.as_str(), v)).collect();
    list.sort_by(|a, b| a.0.cmp(b.0)); // stable, so the last duplicate stays in front
    list.dedup_by(|a, b| a.0 == b.0);
    list
}

/// Canonical form of a number token: integer tokens keep their digits, all others go through a double.
pub(super) fn number(token: &str) -> Result<String, BadNumber> {
    if token.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        return float(token.parse().map_err(|_| BadNumber)?);
    }
    match token {
        "-0" => Ok("0".into()),
        _ if token.len() > INTEGER_DIGITS => Err(BadNumber),
        _ => Ok(token.to_owned()),
    }
}

/// Canonical form of a double.
pub(super) fn float(value: f64) -> Result<String, BadNumber> {
    if !value.is_finite() {
        return Err(BadNumber);
    }
    if value.fract() == 0.0 && value.abs() < WHOLE_BOUND {
        return Ok((value as i64).to_string());
    }
    // `{:e}` gives the shortest digits that read back as the same double: `d[.ddd]e<exponent>`.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').ok_or(BadNumber)?;
    let exponent: i32 = exponent.parse().map_err(|_| BadNumber)?;
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let sign = if value < 0.0 { "-" } else { "" };
    Ok(match exponent {
        0..16 => {
            let point = exponent as usize + 1;
            format!("{sign}{}.{}", &digits[..point], &digits[point..])
        }
        -4..0 => format!("{sign}0.{}{digits}", "0".repeat(-exponent as usize - 1)),
        _ => format!("{sign}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_shortest_is_written_as_it_is(token in "-?(0|[1-9][0-9]{0,10})(\\.[0-9]{1,6})?") {
            if is_shortest(&token) {
                proptest::prop_assert_eq!(number(&token).unwrap(), token);
            }
        }
    }

    #[test]
    fn numbers_as_the_reference_sdk_prints_them() {
        let cases = [
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("0.000001", "1e-06"),
            ("1.5e-7", "1.5e-07"),
            ("-1.5e-7", "-1.5e-07"),
            ("1e16", "1e+16"),
            ("1e22", "1e+22"),
            ("1e100", "1e+100"),
            ("5e-324", "5e-324"),
            ("1.0", "1"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("1e15", "1000000000000000"),
            ("1234567890123456.5", "1234567890123456.5"),
            ("18446744073709551616", "18446744073709551616"),
            ("-9007199254740993", "-9007199254740993"),
        ];
        for (input, expected) in cases {
            assert_eq!(number(input).unwrap(), expected, "{input}");
        }
        assert_eq!(number("1e999"), Err(BadNumber));
        assert_eq!(number(&"9".repeat(5000)), Err(BadNumber));
    }

    #[test]
    fn keys_sort_by_code_point_and_the_last_duplicate_wins() {
        // U+FF5E sorts before U+1F600 by code point, after it in UTF-16
        let tree = Tree::parse("{\"\u{1F600}\":1,\"\u{FF5E}\":2,\"a\":3,\"a\":4,\"B\":[2,1]}", 8).unwrap();
        assert_eq!(canonical(&tree).unwrap(), "{\"B\":[2,1],\"a\":4,\"\u{FF5E}\":2,\"\u{1F600}\":1}");
    }
}
