//! Decodes the escapes of JSON, JavaScript, Python and HTML in bytes of any kind, and maps decoded positions back to
//! the original bytes. Escapes may be nested, as in JSON inside a JSON string or in an attribute of HTML, so they are
//! decoded until none is left: `\\n` and `&amp;lt;` become a line break and `<`. A text and all its escaped forms have
//! the same decoded form. A different text may have the same decoded form too (`C:\new` gets a line break), so decoded
//! forms are only used for searching.
use crate::word_removal::entities;
use std::ops::Range;

/// Smallest length in bytes of a decoded form that is searched for if it differs from its text. A shorter form may
/// belong to another text by chance.
const MIN_CHANGED_BYTES: usize = 16;
/// Smallest length in bytes of a text that is also searched for directly after a backslash.
const MIN_AFTER_BACKSLASH_BYTES: usize = 24;
/// Largest number of bytes of an HTML entity, without the `&`.
const MAX_ENTITY_BYTES: usize = 12;
/// The letters that represent a control character after a backslash.
const CONTROL_ESCAPES: [(u8, char); 5] = [(b'n', '\n'), (b'r', '\r'), (b't', '\t'), (b'b', '\u{8}'), (b'f', '\u{c}')];

/// Bytes after decoding their escapes, with their positions in the original bytes.
pub(super) struct Unescaped {
    pub(super) bytes: Vec<u8>,
    /// Positions in `bytes` with the corresponding positions in the original bytes, in ascending order. From each pair
    /// to the next, both positions advance by the same number of bytes.
    positions: Vec<(usize, usize)>,
}

impl Unescaped {
    /// Decodes the escapes. Returns None if the bytes contain neither a backslash nor `&`.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        memchr::memchr2(b'\\', b'&', bytes)?;
        let mut out = Self { bytes: Vec::with_capacity(bytes.len()), positions: Vec::new() };
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (plain, escaped) = rest.split_at(memchr::memchr2(b'\\', b'&', rest).unwrap_or(rest.len()));
            out.bytes.extend_from_slice(plain);
            at += plain.len();
            if let Some((c, length)) = decode(escaped) {
                out.add_position(at);
                if let Some(c) = c {
                    out.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                at += length;
                out.add_position(at);
            }
        }
        Some(out)
    }

    /// Returns the range of the original bytes that was decoded to this range.
    pub(super) fn original(&self, decoded: &Range<usize>) -> Range<usize> {
        self.original_position(decoded.start)..self.original_position(decoded.end)
    }

    fn original_position(&self, decoded: usize) -> usize {
        let next = self.positions.partition_point(|(at, _)| *at <= decoded);
        let (at, original) = next.checked_sub(1).and_then(|n| self.positions.get(n)).copied().unwrap_or_default();
        original + (decoded - at)
    }

    /// Adds the end of the decoded bytes, which corresponds to this position in the original bytes.
    fn add_position(&mut self, original: usize) {
        let decoded = self.bytes.len();
        match self.positions.last_mut().filter(|(at, _)| *at == decoded) {
            Some((_, position)) => *position = original,
            None => self.positions.push((decoded, original)),
        }
    }
}

/// Returns the forms of a text that are searched for in decoded bytes. The text may have any encoding that extends
/// ASCII. Returns no forms if another text could have the same decoded forms.
pub(super) fn decoded_forms(text: &[u8]) -> Vec<Vec<u8>> {
    let form = Unescaped::new(text).map_or_else(|| text.to_vec(), |unescaped| unescaped.bytes);
    if form != text && form.len() < MIN_CHANGED_BYTES {
        return Vec::new();
    }
    // If a backslash is directly before the text (`the folder C:\` and then `new`), the first letter of the text is
    // decoded as a part of an escape.
    let after_backslash = CONTROL_ESCAPES.into_iter().find(|(letter, _)| form.first() == Some(letter));
    let after_backslash = after_backslash.filter(|_| form.len() >= MIN_AFTER_BACKSLASH_BYTES).and_then(|(_, c)| {
        let rest = form.get(1..)?;
        Some([c.to_string().as_bytes(), rest].concat())
    });
    std::iter::once(form).chain(after_backslash).collect()
}

/// Decodes the escape at the start of the bytes, which begin with a backslash or `&`. Returns the decoded character and
/// the length of the escape in bytes. The character is None if the backslashes are at the end of the bytes or precede a
/// character that is not ASCII. Returns None if there are no bytes.
fn decode(bytes: &[u8]) -> Option<(Option<char>, usize)> {
    let (mut c, mut length) = (char::from(*bytes.first()?), 1);
    loop {
        let rest = bytes.get(length..).unwrap_or_default();
        let next = match c {
            '\\' => after_backslash(rest),
            '&' => entity(rest),
            _ => return Some((Some(c), length)),
        };
        let Some((decoded, consumed)) = next else { return Some(((c == '&').then_some(c), length)) };
        (c, length) = (decoded, length + consumed);
    }
}

/// Decodes an escape after its backslash. Returns the character, which may be another backslash, and the number of
/// bytes of the escape without the backslash.
fn after_backslash(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    let digits = bytes.get(1..).unwrap_or_default();
    let char_of_code = |count: usize| Some((char::from_u32(hex(digits, count)?)?, count + 1));
    let escape = match first {
        b'u' => utf16_unit(digits).or_else(|| code_in_braces(digits)),
        b'x' => char_of_code(2),
        b'U' => char_of_code(8),
        _ => CONTROL_ESCAPES.into_iter().find(|(letter, _)| *letter == first).map(|(_, c)| (c, 1)),
    };
    escape.or_else(|| first.is_ascii().then(|| (char::from(first), 1)))
}

/// Decodes the four digits after `\u`. If they are half of a surrogate pair, decodes a second escape too. Returns the
/// character, and the number of bytes including the `u`.
fn utf16_unit(digits: &[u8]) -> Option<(char, usize)> {
    let first = hex(digits, 4)?;
    let second = || {
        let rest = digits.get(4..)?;
        let backslashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        let digits = rest.get(backslashes..)?.strip_prefix(b"u").filter(|_| backslashes > 0)?;
        let units = [first, hex(digits, 4)?].map(|unit| u16::try_from(unit).unwrap_or_default());
        Some((char::decode_utf16(units).next()?.ok()?, backslashes + 10))
    };
    match char::from_u32(first) {
        Some(c) => Some((c, 5)),
        None => Some(second().unwrap_or((char::REPLACEMENT_CHARACTER, 5))),
    }
}

/// Decodes `{1f600}` after `\u`. The returned length includes the `u`.
fn code_in_braces(bytes: &[u8]) -> Option<(char, usize)> {
    let digits = bytes.strip_prefix(b"{")?;
    let count = digits.iter().take(7).position(|byte| *byte == b'}').filter(|count| *count > 0)?;
    Some((char::from_u32(hex(digits, count)?)?, count + 3))
}

/// Returns the value of the first `count` bytes as a hexadecimal number.
fn hex(bytes: &[u8], count: usize) -> Option<u32> {
    bytes.get(..count)?.iter().try_fold(0, |number: u32, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}

/// Returns the character of the HTML entity whose `&` precedes these bytes, and the number of bytes of the entity
/// without the `&`.
fn entity(bytes: &[u8]) -> Option<(char, usize)> {
    let end = bytes.iter().take(MAX_ENTITY_BYTES).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => entities::char_named(name)?,
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn decoded(text: &str) -> String {
        Unescaped::new(text.as_bytes())
            .map_or_else(|| text.to_owned(), |unescaped| String::from_utf8(unescaped.bytes).unwrap())
    }

    #[test]
    fn a_text_and_its_escaped_forms_have_the_same_decoded_form() {
        for text in [
            "He said \"yes\".\nThe café is at C:\\temp\\new\\ & <here>.",
            "curl \\\n  -H 'x' 😀",
            "&amp; is &lt; \\\" \\u00e9",
        ] {
            let json = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
            let ascii = json(text).chars().fold(String::new(), |out, c| match c.is_ascii() {
                true => out + &c.to_string(),
                false => c.encode_utf16(&mut [0; 2]).iter().fold(out, |out, unit| out + &format!("\\u{unit:04X}")),
            });
            let html = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&#34;");
            for escaped in [
                json(text),
                json(&json(text)),
                json(&json(&json(text))),
                json(&ascii),
                json(text).replace('/', "\\/").replace('<', "\\u003c"),
                html(text),
                html(&json(text)),
                json(&html(text)),
                html(text).replace('é', "&eacute;").replace('\'', "&#x27;"),
                ascii,
            ] {
                assert_eq!(decoded(&escaped), decoded(text), "{escaped}");
            }
        }
        assert_eq!(decoded("\\x41\\u{1f600}\\U0001f600 \\d50%"), "A😀😀 d50%");
    }

    #[test]
    fn other_text_stays() {
        for text in ["R&D; Q&A", "&unknown;", "&#xffffff;", "&", "&#;"] {
            assert_eq!(decoded(text), text);
        }
        assert_eq!(decoded("\\u12 \\ud800! \\"), "u12 \u{fffd}! ");
    }

    #[test]
    fn positions_are_those_of_whole_escapes() {
        let text = "x: \\\"caf\\u00e9\\\" &amp; y";
        let unescaped = Unescaped::new(text.as_bytes()).unwrap();
        assert_eq!(unescaped.bytes, "x: \"café\" & y".as_bytes());
        for (decoded, original) in
            [(0..3, "x: "), (3..4, "\\\""), (4..9, "caf\\u00e9"), (11..12, "&amp;"), (12..14, " y")]
        {
            assert_eq!(text.get(unescaped.original(&decoded)), Some(original));
        }
    }

    #[test]
    fn short_texts_with_escapes_are_not_decoded() {
        assert_eq!(decoded_forms(b"tea"), [b"tea"]);
        assert!(decoded_forms(b"p\\n1").is_empty());
        assert_eq!(decoded_forms(b"new plan of the old garden").len(), 2);
    }
}
