//! Near-JSON made strict: NaN and infinities become null, raw control characters are escaped, lone surrogates
//! become U+FFFD.
use super::decoded::hex4;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Strict JSON text for near-JSON bytes, and what was mended (codes: `nan`, `control_character`, `lone_surrogate`,
/// `invalid_escape`, `invalid_utf8`, each once). None when it is beyond mending. What needs no mending comes back
/// unchanged: numbers, key order, duplicate keys and white space stay.
pub fn repair(bytes: &[u8]) -> Option<(String, Vec<&'static str>)> {
    let mut codes = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        add(&mut codes, "invalid_utf8");
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text.as_ref();
    while !rest.is_empty() {
        rest = match rest.find('"') {
            Some(at) => {
                words(&rest[..at], &mut out, &mut codes);
                out.push('"');
                string(&rest[at + 1..], &mut out, &mut codes)
            }
            None => {
                words(rest, &mut out, &mut codes);
                ""
            }
        };
    }
    serde_json::from_str::<&RawValue>(&out).ok()?;
    Some((out, codes))
}

fn add(codes: &mut Vec<&'static str>, code: &'static str) {
    if !codes.contains(&code) {
        codes.push(code);
    }
}

/// Between strings: words that Python and JavaScript write for numbers JSON does not have.
fn words(mut text: &str, out: &mut String, codes: &mut Vec<&'static str>) {
    while let Some(at) = text.find(['N', 'I', '-', '\0']) {
        out.push_str(&text[..at]);
        text = &text[at..];
        match ["NaN", "-NaN", "Infinity", "-Infinity", "\0"].into_iter().find(|w| text.starts_with(w)) {
            Some("\0") => {
                text = &text[1..];
                add(codes, "control_character");
            }
            Some(word) => {
                out.push_str("null");
                text = &text[word.len()..];
                add(codes, "nan");
            }
            None => {
                // all four are one byte
                out.push_str(&text[..1]);
                text = &text[1..];
            }
        }
    }
    out.push_str(text);
}

/// Inside a string, up to and with its closing quote; the text after it.
fn string<'t>(mut text: &'t str, out: &mut String, codes: &mut Vec<&'static str>) -> &'t str {
    loop {
        let Some(at) = text.find(|c: char| c == '"' || c == '\\' || c < ' ') else {
            out.push_str(text);
            return "";
        };
        out.push_str(&text[..at]);
        let bytes = &text.as_bytes()[at..];
        let used = match bytes[0] {
            b'"' => {
                out.push('"');
                return &text[at + 1..];
            }
            b'\\' => match (bytes.get(1), bytes.get(2..6).and_then(hex4)) {
                (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), _) => 2,
                (Some(b'u'), Some(0xD800..0xDC00)) if low_follows(bytes) => 12,
                (Some(b'u'), Some(0xD800..0xE000)) => {
                    add(codes, "lone_surrogate");
                    out.push_str("\\ufffd");
                    text = &text[at + 6..];
                    continue;
                }
                (Some(b'u'), Some(_)) => 6,
                _ => {
                    add(codes, "invalid_escape");
                    out.push_str("\\\\");
                    text = &text[at + 1..];
                    continue;
                }
            },
            control => {
                use std::fmt::Write;
                add(codes, "control_character");
                // writing into a String cannot fail
                let _ = write!(out, "\\u{control:04x}");
                text = &text[at + 1..];
                continue;
            }
        };
        out.push_str(&text[at..at + used]);
        text = &text[at + used..];
    }
}

fn low_follows(bytes: &[u8]) -> bool {
    matches!(bytes.get(6..12), Some([b'\\', b'u', low @ ..]) if matches!(hex4(low), Some(0xDC00..0xE000)))
}
