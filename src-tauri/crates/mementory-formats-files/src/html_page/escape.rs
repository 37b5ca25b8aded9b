//! Escapes text in HTML. No text becomes a tag, and reading returns exactly the text that was written.
use std::fmt::Write as _;

/// Appends a text for use in an element or in an attribute with double quotes. Characters that browsers drop or change
/// become numeric character references.
pub(super) fn push(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // These characters are not escaped. Browsers read a numeric reference to one of U+0080 to U+009F as a
            // character of Windows-1252: 133 would be an ellipsis.
            '\n' | '\t' | '\u{80}'..='\u{9f}' => out.push(c),
            c if c.is_control() || is_direction(c) => drop(write!(out, "&#{};", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// Appends the value of an attribute, on one line.
pub(super) fn push_value(out: &mut String, text: &str) {
    let from = out.len();
    push(out, text);
    if out[from..].contains('\n') {
        let value = out.split_off(from).replace('\n', "&#10;");
        out.push_str(&value);
    }
}

/// True for the byte order mark, and for characters that change the text direction. In some programs, such a character
/// also affects the text after its element.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text before escaping. Character references that [`push`] does not write stay unchanged.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.as_bytes().iter().take(12).position(|b| *b == b';');
        let found = end.and_then(|end| Some((reference(rest.get(1..end)?)?, end)));
        match found {
            Some((c, end)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_read_back_and_has_no_tags() {
        for text in mementory_formats_shared::testkit::HOSTILE_TEXTS.into_iter().chain([
            "&#60;",
            "&lt",
            "&;",
            "&#xffffffff;",
            "ü\u{0}\r\n\u{85}",
        ]) {
            let (mut element, mut value) = (String::new(), String::new());
            push(&mut element, text);
            push_value(&mut value, text);
            assert!(!element.contains(['<', '>', '"', '\r', '\0']) && !value.contains('\n'), "{element}");
            assert_eq!(unescape(&element), text);
            assert_eq!(unescape(&value), text);
        }
    }

    #[test]
    fn no_reference_is_one_that_browsers_read_as_another_character() {
        let mut out = String::new();
        push(&mut out, "a\u{1}\u{7f}\u{80}\u{85}\u{9f}b");
        assert_eq!(out, "a&#1;&#127;\u{80}\u{85}\u{9f}b");
    }
}
