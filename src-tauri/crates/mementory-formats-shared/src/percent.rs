//! Decodes percent-encoded addresses (RFC 3986, section 2.1).

/// The text with its escapes, such as `%20`, decoded. A `%` without two hexadecimal digits stays as it is. A text whose
/// decoded bytes are not UTF-8 is returned unchanged.
pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after_first @ ..] = rest {
        let escape = match rest {
            [b'%', high, low, after @ ..] => hex_digit(*high).zip(hex_digit(*low)).map(|(h, l)| (h << 4 | l, after)),
            _ => None,
        };
        let (byte, after) = escape.unwrap_or((*first, after_first));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn only_complete_escapes_of_utf_8_are_decoded() {
        for (text, expected) in [
            ("a%20b.md", "a b.md"),
            ("caf%C3%a9", "café"),
            ("100% %2", "100% %2"),
            ("%+1 %zz %%41", "%+1 %zz %A"),
            ("%FF %20", "%FF %20"),
        ] {
            assert_eq!(percent_decoded(text), expected);
        }
    }
}
