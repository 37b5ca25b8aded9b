//! Canonical JSON: the one text of a value that is hashed and signed. Members are sorted, there is no white space, and
//! if several members have the same key, only the last is written. A [`Style`] states the rules that differ between
//! standards: how numbers are written, how keys are sorted, and which characters are escaped.
#[cfg(test)]
mod properties;

use crate::{Tree, is_shortest, write_string};
use std::{borrow::Cow, fmt::Write as _};

/// Error for a number that the style cannot write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadNumber;

/// How numbers are written in canonical JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Like ECMAScript's `Number::toString`: every number is converted to a double, and a number outside the range of a
    /// double is an error (RFC 8785 §3.2.2.3).
    EcmaScript,
    /// Like [`Numbers::EcmaScript`], but a number outside the range of a double is written as it is in the source. Used
    /// for checksums of files that may contain such numbers.
    EcmaScriptOrToken,
    /// Like Python's `json.dumps`: integers keep their digits, whole floats keep `.0`, and a float outside the range of
    /// a double becomes `Infinity`.
    Python,
    /// Like [`Numbers::Python`], but whole floats below 1e16 are written as integers, and `Infinity` is an error.
    PythonWhole,
}

/// How keys are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    /// By UTF-16 code unit (RFC 8785 §3.2.3).
    Utf16,
    /// By Unicode code point, as Python sorts.
    CodePoint,
}

/// Which characters of a text are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escapes {
    /// Only the characters that JSON requires to be escaped.
    Required,
    /// Like [`Escapes::Required`], but also all characters that are not printable ASCII (Python's `ensure_ascii`).
    NonAscii,
}

/// A way of writing canonical JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// How numbers are written.
    pub numbers: Numbers,
    /// How keys are sorted.
    pub keys: KeyOrder,
    /// Which characters are escaped.
    pub escapes: Escapes,
}

impl Style {
    /// RFC 8785, the JSON Canonicalization Scheme.
    pub const RFC_8785: Self = Self { numbers: Numbers::EcmaScript, keys: KeyOrder::Utf16, escapes: Escapes::Required };
    /// RFC 8785, except that a number outside the range of a double is allowed and stays as it is in the source.
    pub const RFC_8785_OR_TOKEN: Self = Self { numbers: Numbers::EcmaScriptOrToken, ..Self::RFC_8785 };
    /// Python's `json.dumps(…, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`.
    pub const PYTHON: Self = Self { numbers: Numbers::Python, keys: KeyOrder::CodePoint, escapes: Escapes::Required };
    /// [`Style::PYTHON`] with `ensure_ascii=True`.
    pub const PYTHON_ASCII: Self = Self { escapes: Escapes::NonAscii, ..Self::PYTHON };
    /// [`Style::PYTHON`] with whole floats as integers.
    pub const PYTHON_WHOLE: Self = Self { numbers: Numbers::PythonWhole, ..Self::PYTHON };
}

/// Python refuses to read an integer with more digits than this.
pub const MAX_INTEGER_DIGITS: usize = 4300;
/// Python writes whole floats from this number on with an exponent, and smaller ones without.
const PYTHON_EXPONENT_START: f64 = 1e16;

/// The canonical text of a value. The function is recursive, which is safe because the nesting was limited when the
/// tree was parsed.
///
/// # Errors
/// The value contains a number that cannot be written in the style.
pub fn canonical(tree: &Tree, style: Style) -> Result<String, BadNumber> {
    let mut out = String::new();
    write(tree, style, &mut out)?;
    Ok(out)
}

/// Appends the canonical text of a value.
///
/// # Errors
/// The value contains a number that cannot be written in the style. `out` then ends before that number.
pub fn write(tree: &Tree, style: Style, out: &mut String) -> Result<(), BadNumber> {
    match tree {
        Tree::Number(token) => out.push_str(&number(token, style.numbers)?),
        Tree::Text(text) => write_text(text, style.escapes, out),
        Tree::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, style, out)?;
            }
            out.push(']');
        }
        Tree::Object(members) => {
            out.push('{');
            for (i, (key, value)) in sorted_members(members, style.keys).into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_text(key, style.escapes, out);
                out.push(':');
                write(value, style, out)?;
            }
            out.push('}');
        }
        Tree::Null | Tree::Bool(_) => tree.write(out),
    }
    Ok(())
}

/// Members sorted by key. If several members have the same key, only the last is included.
pub fn sorted_members(members: &[(String, Tree)], keys: KeyOrder) -> Vec<(&str, &Tree)> {
    let mut list: Vec<(&str, &Tree)> = members.iter().rev().map(|(k, v)| (k.as_str(), v)).collect();
    // For ASCII keys both orders are the order of the bytes. The list is reversed and the sort is stable, so the last
    // of several equal keys comes first, and `dedup_by` keeps it.
    if keys == KeyOrder::CodePoint || list.iter().all(|(key, _)| key.is_ascii()) {
        list.sort_by(|a, b| a.0.cmp(b.0));
    } else {
        list.sort_by(|a, b| utf16_order(a.0, b.0));
    }
    list.dedup_by(|a, b| a.0 == b.0);
    list
}

/// Compares keys by UTF-16 code unit. The result differs from the order in UTF-8 only for characters from U+E000 on.
pub fn utf16_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

fn write_text(text: &str, escapes: Escapes, out: &mut String) {
    let start = out.len();
    write_string(text, out);
    if escapes == Escapes::Required || out[start..].bytes().all(|b| (b' '..=b'~').contains(&b)) {
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

/// The canonical form of a number, given its text in the source.
///
/// # Errors
/// The number cannot be written according to `numbers`.
pub fn number(token: &str, numbers: Numbers) -> Result<Cow<'_, str>, BadNumber> {
    if is_shortest(token) {
        return Ok(token.into());
    }
    let is_float = token.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
    if matches!(numbers, Numbers::Python | Numbers::PythonWhole) && !is_float {
        return match token {
            "-0" => Ok("0".into()),
            // Python does not count the sign as a digit.
            _ if token.trim_start_matches('-').len() > MAX_INTEGER_DIGITS => Err(BadNumber),
            _ => Ok(token.into()),
        };
    }
    let text = token.parse().map_err(|_| BadNumber).and_then(|value| float(value, numbers));
    match text {
        Err(BadNumber) if numbers == Numbers::EcmaScriptOrToken => Ok(token.into()),
        text => text.map(Cow::Owned),
    }
}

/// The canonical form of a double.
///
/// # Errors
/// The number cannot be written according to `numbers`. An infinity can be written only with [`Numbers::Python`].
pub fn float(value: f64, numbers: Numbers) -> Result<String, BadNumber> {
    let is_whole = value.fract() == 0.0 && value.abs() < PYTHON_EXPONENT_START;
    match numbers {
        Numbers::Python if value.is_infinite() => Ok(if value < 0.0 { "-Infinity".into() } else { "Infinity".into() }),
        _ if !value.is_finite() => Err(BadNumber),
        Numbers::PythonWhole if is_whole => Ok((value as i64).to_string()),
        Numbers::Python | Numbers::PythonWhole => format_python(value),
        Numbers::EcmaScript | Numbers::EcmaScriptOrToken => format_ecmascript(value),
    }
}

/// The digits and the exponent of a double. They have the form `d.dd × 10^exponent`, with the fewest digits that are
/// read back as the same double. The point is left out.
fn shortest_digits(value: f64) -> Result<(String, i32), BadNumber> {
    let text = format!("{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').ok_or(BadNumber)?;
    let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
    Ok((digits, exponent.parse().map_err(|_| BadNumber)?))
}

/// The digits as `d.ddd`, or as `d` if there is only one digit.
fn format_mantissa(digits: &str) -> String {
    let (first, further_digits) = digits.split_at(digits.len().min(1));
    if further_digits.is_empty() { first.to_owned() } else { format!("{first}.{further_digits}") }
}

/// The form of a float in Python. From 1e-4 to below 1e16, it has no exponent. Otherwise, the exponent has at least two
/// digits.
fn format_python(value: f64) -> Result<String, BadNumber> {
    let (digits, exponent) = shortest_digits(value)?;
    let sign = if value.is_sign_negative() { "-" } else { "" };
    Ok(match exponent {
        0..16 => {
            let point = exponent as usize + 1;
            let whole_digits = format!("{digits:0<point$}");
            let fraction = if whole_digits.len() > point { &whole_digits[point..] } else { "0" };
            format!("{sign}{}.{fraction}", &whole_digits[..point])
        }
        -4..0 => format!("{sign}0.{}{digits}", "0".repeat(-exponent as usize - 1)),
        _ => {
            format!("{sign}{}e{}{:02}", format_mantissa(&digits), if exponent < 0 { '-' } else { '+' }, exponent.abs())
        }
    })
}

/// The form of ECMAScript's `Number::toString`. From 1e-6 to below 1e21, it has no exponent.
fn format_ecmascript(value: f64) -> Result<String, BadNumber> {
    if value == 0.0 {
        return Ok("0".into());
    }
    let (digits, exponent) = shortest_digits(value)?;
    let count = i32::try_from(digits.len()).map_err(|_| BadNumber)?;
    let sign = if value < 0.0 { "-" } else { "" };
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or_default());
    Ok(match exponent + 1 {
        point if count <= point && point <= 21 => format!("{sign}{digits}{}", zeros(point - count)),
        point if (1..=21).contains(&point) => {
            let (whole_digits, fraction) = digits.split_at(usize::try_from(point).unwrap_or_default());
            format!("{sign}{whole_digits}.{fraction}")
        }
        point if (-5..=0).contains(&point) => format!("{sign}0.{}{digits}", zeros(-point)),
        _ => format!("{sign}{}e{}{}", format_mantissa(&digits), if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn assert_canonical(numbers: Numbers, cases: &[(&str, &str)]) {
        for (token, expected) in cases {
            assert_eq!(number(token, numbers).unwrap(), *expected, "{token}");
        }
    }

    #[test]
    fn python_style_writes_numbers_like_python() {
        assert_canonical(
            Numbers::Python,
            &[
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
            ],
        );
    }

    #[test]
    fn python_whole_style_writes_whole_floats_as_integers() {
        assert_canonical(
            Numbers::PythonWhole,
            &[
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
            ],
        );
        assert_eq!(number("1e999", Numbers::PythonWhole), Err(BadNumber));
    }

    #[test]
    fn rfc_8785_writes_numbers_like_ecmascript() {
        assert_canonical(
            Numbers::EcmaScript,
            &[
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
            ],
        );
        assert_eq!(number("1e999", Numbers::EcmaScript), Err(BadNumber));
        assert_eq!(number("1e999", Numbers::EcmaScriptOrToken).unwrap(), "1e999");
    }

    #[test]
    fn integers_with_more_digits_than_python_reads_are_an_error() {
        for numbers in [Numbers::Python, Numbers::PythonWhole] {
            let (longest, longer) = ("9".repeat(4300), "9".repeat(4301));
            for token in [longest.clone(), format!("-{longest}")] {
                assert_eq!(number(&token, numbers).unwrap(), token);
            }
            for token in [longer.clone(), format!("-{longer}")] {
                assert_eq!(number(&token, numbers), Err(BadNumber));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn shortest_tokens_are_written_unchanged(token in "-?(0|[1-9][0-9]{0,10})(\\.[0-9]{1,6})?") {
            if is_shortest(&token) {
                let is_float = token.contains('.');
                let value: f64 = token.parse().unwrap();
                for numbers in [Numbers::EcmaScript, Numbers::Python, Numbers::PythonWhole] {
                    if is_float || numbers == Numbers::EcmaScript {
                        proptest::prop_assert_eq!(float(value, numbers).unwrap(), token.clone());
                    }
                    proptest::prop_assert_eq!(number(&token, numbers).unwrap(), token.clone());
                }
            }
        }
    }

    const UNSORTED_JSON: &str =
        "{\"\u{1F600}\":1,\"\u{FF5E}\":2,\"a\":3,\"a\":\"\\u007f\\/\\u2028\\n\\u001f\u{e9}\",\"B\":[2,1]}";

    #[test]
    fn python_styles_sort_keys_by_code_point() {
        let tree = Tree::parse(UNSORTED_JSON, 8).unwrap();
        let raw = "{\"B\":[2,1],\"a\":\"\u{7f}/\u{2028}\\n\\u001f\u{e9}\",\"\u{FF5E}\":2,\"\u{1F600}\":1}";
        assert_eq!(canonical(&tree, Style::PYTHON).unwrap(), raw);
        assert_eq!(canonical(&tree, Style::PYTHON_WHOLE).unwrap(), raw);
        let escaped = r#"{"B":[2,1],"a":"\u007f/\u2028\n\u001f\u00e9","\uff5e":2,"\ud83d\ude00":1}"#;
        assert_eq!(canonical(&tree, Style::PYTHON_ASCII).unwrap(), escaped);
    }

    #[test]
    fn rfc_8785_sorts_keys_by_utf16_and_uses_the_last_duplicate() {
        // U+1F600 is sorted before U+FF5E by code unit, but after it by code point.
        let tree = Tree::parse(UNSORTED_JSON, 8).unwrap();
        let expected = "{\"B\":[2,1],\"a\":\"\u{7f}/\u{2028}\\n\\u001f\u{e9}\",\"\u{1F600}\":1,\"\u{FF5E}\":2}";
        assert_eq!(canonical(&tree, Style::RFC_8785).unwrap(), expected);
    }
}
