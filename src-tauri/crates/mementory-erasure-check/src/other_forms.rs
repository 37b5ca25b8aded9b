//! Finds texts that a file contains in escaped form or in an encoding other than UTF-8. The code is independent of the
//! vault's code that removes them.
//!
//! Escapes of JSON, JavaScript, Python and HTML are decoded until none is left, and backslashes without a meaning are
//! dropped. After that, a text has the same form however it was escaped, even in JSON inside a JSON string.
use crate::{entity_names::character, internal::search_for};
use mementory_search::Needles;
use mementory_store::StoreResult;
use std::{borrow::Cow, collections::BTreeSet};

/// Length in bytes of the beginning of a form that is searched for. Where it is found, the whole form is compared.
const HEAD_BYTES: usize = 48;
/// Smallest length in bytes of a decoded form that differs from its text. A shorter one may match other texts by
/// chance: the form of `C:\new` is `C:`, a line break and `ew`.
const MIN_DECODED_BYTES: usize = 16;
/// Smallest length in bytes of a text that is also searched for without its first letter, because that letter may have
/// been decoded together with a preceding backslash.
const MIN_BYTES_WITHOUT_FIRST_LETTER: usize = 24;
/// Largest number of times that nested escapes are decoded.
const MAX_ESCAPE_LEVELS: usize = 8;
/// An escaped text that extends over two windows is found if it is at most this many times as long as the original.
const MAX_GROWTH_FACTOR: usize = 8;
/// Largest number of bytes of an HTML entity after the `&`.
const MAX_ENTITY_BYTES: usize = 12;
/// The characters of Windows-1252 from 0x80 to 0x9f. The unused ones are spaces.
const WINDOWS_1252: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/// Byte strings whose beginnings are searched for first.
struct Forms {
    heads: Needles,
    forms: Vec<Vec<u8>>,
}

impl Forms {
    fn new(forms: BTreeSet<Vec<u8>>) -> StoreResult<Self> {
        let forms: Vec<Vec<u8>> = forms.into_iter().collect();
        let heads: Vec<&[u8]> = forms.iter().map(|form| form.get(..HEAD_BYTES).unwrap_or(form)).collect();
        let heads = search_for(&heads)?;
        Ok(Self { heads, forms })
    }

    fn occur_in(&self, bytes: &[u8]) -> bool {
        let is_whole = |(number, start): (usize, usize)| {
            let rest = bytes.get(start..).unwrap_or_default();
            self.forms.get(number).is_some_and(|form| rest.starts_with(form))
        };
        self.heads.occurrences(bytes).any(is_whole)
    }

    fn longest(&self) -> usize {
        self.forms.iter().map(Vec::len).max().unwrap_or_default()
    }
}

/// The forms of texts in UTF-16 and Windows-1252, and their forms after decoding.
pub(crate) struct OtherForms {
    encoded: Forms,
    decoded: Forms,
}

impl OtherForms {
    pub(crate) fn new<'t>(texts: impl Iterator<Item = &'t String>) -> StoreResult<Self> {
        let (mut encoded, mut decoded) = (BTreeSet::new(), BTreeSet::new());
        for text in texts {
            let windows = in_windows_1252(text);
            let utf8_and_windows = std::iter::once(text.as_bytes()).chain(windows.as_deref());
            decoded.extend(utf8_and_windows.flat_map(forms_after_decoding));
            encoded.extend(windows);
            encoded.insert(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
            encoded.insert(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        }
        Ok(Self { encoded: Forms::new(encoded)?, decoded: Forms::new(decoded)? })
    }

    /// Number of bytes at the end of a window that have to be searched together with the next one.
    pub(crate) fn max_bytes(&self) -> usize {
        self.encoded.longest().max(self.decoded.longest().saturating_mul(MAX_GROWTH_FACTOR))
    }

    pub(crate) fn occur_in(&self, bytes: &[u8]) -> bool {
        self.encoded.occur_in(bytes)
            || match decoded(bytes) {
                Cow::Owned(decoded) => self.decoded.occur_in(&decoded),
                // The plain texts are searched for elsewhere.
                Cow::Borrowed(_) => false,
            }
    }
}

/// The text in Windows-1252. None if it has other characters, or only those of ASCII.
fn in_windows_1252(text: &str) -> Option<Vec<u8>> {
    let byte = |c: char| match u32::from(c) {
        code @ 0..=0xff => u8::try_from(code).ok(),
        _ => WINDOWS_1252.chars().zip(0x80..=0x9f).find(|(other, _)| *other == c).map(|(_, byte)| byte),
    };
    if text.is_ascii() { None } else { text.chars().map(byte).collect() }
}

/// The forms that a text has after its escapes are decoded. There are none if the form is short and differs from the
/// text.
fn forms_after_decoding(text: &[u8]) -> Vec<Vec<u8>> {
    let form = decoded(text).into_owned();
    if form != text && form.len() < MIN_DECODED_BYTES {
        return Vec::new();
    }
    let mut out = Vec::new();
    // If the text follows a backslash, its first letter is decoded as a part of an escape.
    if let Some((first, rest)) = form.split_first().filter(|_| form.len() >= MIN_BYTES_WITHOUT_FIRST_LETTER)
        && let Some(control) = control_character(*first)
    {
        out.push([&[control][..], rest].concat());
    }
    out.push(form);
    out
}

/// Decodes all escapes in the bytes, including nested ones.
fn decoded(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Cow::Borrowed(bytes);
    for _ in 0..MAX_ESCAPE_LEVELS {
        if memchr::memchr2(b'\\', b'&', &out).is_none() {
            break;
        }
        let new = without_entities(&without_backslashes(&out));
        let is_unchanged = *out == *new;
        out = Cow::Owned(new);
        if is_unchanged {
            break;
        }
    }
    out
}

/// Decodes every escape that begins with one or more backslashes.
fn without_backslashes(bytes: &[u8]) -> Vec<u8> {
    replaced(bytes, b'\\', |rest| {
        let backslashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        let escape = rest.get(backslashes..).unwrap_or_default();
        match escaped_character(escape) {
            Some((c, length)) => (Some(c), backslashes + length),
            None => (None, backslashes),
        }
    })
}

/// Decodes every HTML entity once.
fn without_entities(bytes: &[u8]) -> Vec<u8> {
    replaced(bytes, b'&', |rest| {
        let entity = rest.get(1..).and_then(|rest| {
            let length = rest.iter().take(MAX_ENTITY_BYTES).position(|byte| *byte == b';')?;
            let c = character(std::str::from_utf8(rest.get(..length)?).ok()?)?;
            Some((Some(c), length + 2))
        });
        entity.unwrap_or((Some('&'), 1))
    })
}

/// Copies the bytes. Wherever `start` occurs, calls `decode` with the bytes from there. `decode` returns the character
/// to write instead, if any, and the number of bytes to skip, at least one.
fn replaced(bytes: &[u8], start: u8, decode: impl Fn(&[u8]) -> (Option<char>, usize)) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(position) = memchr::memchr(start, rest) {
        out.extend_from_slice(rest.get(..position).unwrap_or_default());
        rest = rest.get(position..).unwrap_or_default();
        let (c, length) = decode(rest);
        if let Some(c) = c {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

fn control_character(letter: u8) -> Option<u8> {
    match letter {
        b'b' => Some(8),
        b't' => Some(b'\t'),
        b'n' => Some(b'\n'),
        b'f' => Some(12),
        b'r' => Some(b'\r'),
        _ => None,
    }
}

/// Decodes an escape whose backslashes precede `bytes`. Returns the character that the escape represents, and the
/// number of its bytes after the backslashes. None if the bytes are not an escape.
fn escaped_character(bytes: &[u8]) -> Option<(char, usize)> {
    let letter = *bytes.first()?;
    if let Some(control) = control_character(letter) {
        return Some((char::from(control), 1));
    }
    let code = |digits: usize| parse_hexadecimal(bytes.get(1..=digits)?);
    match letter {
        b'x' => Some((char::from_u32(code(2)?)?, 3)),
        b'U' => Some((char::from_u32(code(8)?)?, 9)),
        b'u' if bytes.get(1) == Some(&b'{') => {
            let length = bytes.iter().take(9).position(|byte| *byte == b'}')?;
            Some((char::from_u32(parse_hexadecimal(bytes.get(2..length)?)?)?, length + 1))
        }
        b'u' => {
            let first_unit = code(4)?;
            match char::from_u32(first_unit) {
                Some(c) => Some((c, 5)),
                None => Some(surrogate_pair(first_unit, bytes).unwrap_or((char::REPLACEMENT_CHARACTER, 5))),
            }
        }
        _ => None,
    }
}

/// The character of a surrogate pair that is written as two escapes. `bytes` begins with the `u` of the first escape.
fn surrogate_pair(first_unit: u32, bytes: &[u8]) -> Option<(char, usize)> {
    let rest = bytes.get(5..)?;
    let backslashes = rest.iter().position(|byte| *byte != b'\\').filter(|count| *count > 0)?;
    let escape = rest.get(backslashes..backslashes + 5)?.strip_prefix(b"u")?;
    let second_unit = parse_hexadecimal(escape)?;
    let is_pair = (0xd800..0xdc00).contains(&first_unit) && (0xdc00..0xe000).contains(&second_unit);
    let code = || 0x10000 + ((first_unit - 0xd800) << 10) + (second_unit - 0xdc00);
    let c = is_pair.then(code).and_then(char::from_u32)?;
    Some((c, 10 + backslashes))
}

/// Parses hexadecimal digits.
fn parse_hexadecimal(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "He said: \"The café is closed.\"\nAsk R&D, it's <new> 😀.";

    fn occur_in(text: &str, bytes: &[u8]) -> bool {
        OtherForms::new(std::iter::once(&text.to_owned())).unwrap().occur_in(bytes)
    }

    #[test]
    fn texts_are_found_however_they_are_escaped() {
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let html = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let ascii = json(TEXT).replace('é', "\\u00E9").replace('😀', "\\ud83d\\uDE00").replace('<', "\\u003c");
        for escaped in [
            format!("window.data.part0 = [{{\"t\":{}}}]", json(TEXT)),
            ascii.clone(),
            json(&ascii),
            json(&json(&json(TEXT))),
            html(TEXT),
            html(TEXT).replace('é', "&eacute;").replace('\'', "&#39;").replace('😀', "&#x1F600;"),
            html(&json(TEXT)),
            json(&html(TEXT)).replace('&', "\\u0026"),
            ascii.replace("\\ud83d\\uDE00", "\\u{1f600}").replace("\\u00E9", "\\xe9"),
        ] {
            assert!(occur_in(TEXT, escaped.as_bytes()), "{escaped}");
        }
        assert!(!occur_in(TEXT, json(&TEXT.replace("closed", "open")).as_bytes()));
    }

    #[test]
    fn texts_with_backslashes_are_found() {
        let text = "cd C:\\temp\\new\\ && dir \\\n  &amp; \\u00e9 \\";
        let json = serde_json::to_string(text).unwrap();
        assert!(occur_in(text, json.as_bytes()), "escaped");
        let after_backslash = "new plan of the \"old\" garden";
        assert!(occur_in(after_backslash, br#""C:\\new plan of the \"old\" garden""#), "after a backslash");
        assert!(!occur_in("p\\n1", b"stop\\\n1"), "a short text that may be another one");
    }

    #[test]
    fn texts_in_other_encodings_are_found() {
        let utf16 = |to_bytes: fn(u16) -> [u8; 2]| TEXT.encode_utf16().flat_map(to_bytes).collect::<Vec<u8>>();
        assert!(occur_in(TEXT, &utf16(u16::to_le_bytes)) && occur_in(TEXT, &utf16(u16::to_be_bytes)));
        assert!(occur_in("“Müller” – oft", b"x \x93M\xfcller\x94 \x96 oft"));
        assert!(occur_in("“Müller” – \"oft\"", b"x \x93M\xfcller\x94 \x96 \\\"oft\\\""), "escaped");
    }
}
