//! RFC 8785 canonical JSON: keys by UTF-16 code unit, numbers as ECMAScript prints them, strings escaped only where JSON
//! must. Number text of the source goes through a double, as the standard says.
use mementory_model::json::{Tree, is_shortest, write_string};

/// The canonical text of a value; None when a number is beyond a double. Nesting is bounded by whoever parsed the tree.
pub(super) fn canonical(tree: &Tree) -> Option<String> {
    let mut out = String::new();
    write(tree, &mut out)?;
    Some(out)
}

/// Appends the canonical text of a value.
pub(super) fn write(tree: &Tree, out: &mut String) -> Option<()> {
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
    Some(())
}

/// Members by key; of duplicate keys the last one.
fn sorted(members: &[(String, Tree)]) -> Vec<(&str, &Tree)> {
    let mut list: Vec<(&str, &Tree)> = members.iter().rev().map(|(k, v)| (k.as_str(), v)).collect();
    // By UTF-16 code unit, which is another order than UTF-8's only from U+E000 on. Stable: the last duplicate stays in
    // front.
    if list.iter().all(|(key, _)| key.is_ascii()) {
        list.sort_by(|a, b| a.0.cmp(b.0));
    } else {
        list.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    }
    list.dedup_by(|a, b| a.0 == b.0);
    list
}

/// A number token as ECMAScript's `Number::toString` has it.
fn number(token: &str) -> Option<String> {
    let value: f64 = token.parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    if value == 0.0 {
        return Some("0".into());
    }
    // `{:e}` gives the shortest digits that read back as the same double: `d[.ddd]e<exponent>`.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).ok()?;
    let sign = if value < 0.0 { "-" } else { "" };
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or_default());
    Some(match exponent + 1 {
        point if count <= point && point <= 21 => format!("{sign}{digits}{}", zeros(point - count)),
        point if (1..=21).contains(&point) => {
            let (whole, rest) = digits.split_at(usize::try_from(point).ok()?);
            format!("{sign}{whole}.{rest}")
        }
        point if (-5..=0).contains(&point) => format!("{sign}0.{}{digits}", zeros(-point)),
        _ => format!("{sign}{mantissa}e{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn numbers_as_ecmascript_prints_them() {
        let cases = [
            ("1.0", "1"),
            ("-0.0", "0"),
            ("0.0000001", "1e-7"),
            ("0.000001", "0.000001"),
            ("1.5e-7", "1.5e-7"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("123456789012345680000", "123456789012345680000"),
            ("-1234.50", "-1234.5"),
            ("333333333.33333329", "333333333.3333333"),
            ("5e-324", "5e-324"),
            ("9007199254740993", "9007199254740992"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
        ];
        for (input, expected) in cases {
            assert_eq!(number(input).unwrap(), expected, "{input}");
        }
        assert_eq!(number("1e999"), None);
    }

    proptest::proptest! {
        #[test]
        fn what_is_shortest_is_written_as_it_is(token in "-?(0|[1-9][0-9]{0,10})(\\.[0-9]{1,6})?") {
            if is_shortest(&token) {
                proptest::prop_assert_eq!(number(&token).unwrap(), token);
            }
        }
    }

    #[test]
    fn keys_by_utf16_and_the_last_duplicate_wins() {
        // U+1F600 sorts before U+FF5E by code unit, after it by code point
        let tree =
            Tree::parse("{\"\u{FF5E}\":2,\"\u{1F600}\":1,\"a\":3,\"a\":4,\"B\":[2,1,\"\\u007f\\u000f\"]}", 8).unwrap();
        assert_eq!(canonical(&tree).unwrap(), "{\"B\":[2,1,\"\u{7f}\\u000f\"],\"a\":4,\"\u{1F600}\":1,\"\u{FF5E}\":2}");
    }
}
