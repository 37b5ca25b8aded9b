//! Repairs near-JSON: NaN and infinities become null, control characters in strings are escaped, NUL characters outside
//! of strings are removed, lone surrogates and invalid UTF-8 become U+FFFD, and the backslash of an unknown escape is
//! escaped.
use super::decoded::parse_hex4;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Converts near-JSON bytes to valid JSON text. Returns the text and the codes of the repairs without repetitions
/// (`nan`, `control_character`, `lone_surrogate`, `invalid_escape`, `invalid_utf8`), or None if the text cannot be
/// repaired. All other text stays unchanged: numbers, key order, duplicate keys and white space.
pub fn repair(bytes: &[u8]) -> Option<(String, Vec<&'static str>)> {
    let mut codes = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        add_code(&mut codes, "invalid_utf8");
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text.as_ref();
    while !rest.is_empty() {
        rest = match rest.find('"') {
            Some(at) => {
                repair_words(&rest[..at], &mut out, &mut codes);
                out.push('"');
                repair_string(&rest[at + 1..], &mut out, &mut codes)
            }
            None => {
                repair_words(rest, &mut out, &mut codes);
                ""
            }
        };
    }
    serde_json::from_str::<&RawValue>(&out).ok()?;
    Some((out, codes))
}

fn add_code(codes: &mut Vec<&'static str>, code: &'static str) {
    if !codes.contains(&code) {
        codes.push(code);
    }
}

/// Repairs text between strings: removes NUL characters, and replaces NaN and infinities in the spelling of Python and
/// JavaScript with null.
fn repair_words(mut text: &str, out: &mut String, codes: &mut Vec<&'static str>) {
    while let Some(at) = text.find(['N', 'I', '-', '\0']) {
        out.push_str(&text[..at]);
        text = &text[at..];
        match ["NaN", "-NaN", "Infinity", "-Infinity", "\0"].into_iter().find(|w| text.starts_with(w)) {
            Some("\0") => {
                text = &text[1..];
                add_code(codes, "control_character");
            }
            Some(word) => {
                out.push_str("null");
                text = &text[word.len()..];
                add_code(codes, "nan");
            }
            None => {
                // The character that was found is `N`, `I`, `-` or NUL, so it is one byte long.
                out.push_str(&text[..1]);
                text = &text[1..];
            }
        }
    }
    out.push_str(text);
}

/// Repairs a string up to and including its closing quote. Returns the text after it.
fn repair_string<'t>(mut text: &'t str, out: &mut String, codes: &mut Vec<&'static str>) -> &'t str {
    loop {
        let Some(at) = text.find(|c: char| c == '"' || c == '\\' || c < ' ') else {
            out.push_str(text);
            return "";
        };
        out.push_str(&text[..at]);
        let bytes = &text.as_bytes()[at..];
        let used_bytes = match bytes[0] {
            b'"' => {
                out.push('"');
                return &text[at + 1..];
            }
            b'\\' => match (bytes.get(1), bytes.get(2..6).and_then(parse_hex4)) {
                (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), _) => 2,
                (Some(b'u'), Some(0xD800..0xDC00)) if low_surrogate_follows(bytes) => 12,
                (Some(b'u'), Some(0xD800..0xE000)) => {
                    add_code(codes, "lone_surrogate");
                    out.push_str("\\ufffd");
                    text = &text[at + 6..];
                    continue;
                }
                (Some(b'u'), Some(_)) => 6,
                _ => {
                    add_code(codes, "invalid_escape");
                    out.push_str("\\\\");
                    text = &text[at + 1..];
                    continue;
                }
            },
            control => {
                use std::fmt::Write;
                add_code(codes, "control_character");
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{control:04x}");
                text = &text[at + 1..];
                continue;
            }
        };
        out.push_str(&text[at..at + used_bytes]);
        text = &text[at + used_bytes..];
    }
}

fn low_surrogate_follows(bytes: &[u8]) -> bool {
    matches!(bytes.get(6..12), Some([b'\\', b'u', low @ ..]) if matches!(parse_hex4(low), Some(0xDC00..0xE000)))
}
