//! Decodes and encodes files in UTF-16.

/// A function that encodes a unit of UTF-16: `u16::to_le_bytes` or `u16::to_be_bytes`.
pub(super) type ByteOrder = fn(u16) -> [u8; 2];

const BYTE_ORDER_MARK: u16 = 0xfeff;

/// Returns the text of a file in UTF-16, without its byte order mark. Returns None if the file has no byte order mark
/// or is not valid UTF-16.
pub(super) fn decode(bytes: &[u8]) -> Option<(String, ByteOrder)> {
    let (order, unit): (ByteOrder, fn([u8; 2]) -> u16) = match bytes {
        [0xff, 0xfe, ..] => (u16::to_le_bytes, u16::from_le_bytes),
        [0xfe, 0xff, ..] => (u16::to_be_bytes, u16::from_be_bytes),
        _ => return None,
    };
    let (pairs, odd_byte) = bytes.as_chunks::<2>();
    if !odd_byte.is_empty() {
        return None;
    }
    let text = char::decode_utf16(pairs.iter().skip(1).map(|pair| unit(*pair)));
    Some((text.collect::<Result<String, _>>().ok()?, order))
}

/// Returns the text in UTF-16, with a byte order mark.
pub(super) fn encode(text: &str, order: ByteOrder) -> Vec<u8> {
    std::iter::once(BYTE_ORDER_MARK).chain(text.encode_utf16()).flat_map(order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_reverses_encoding() {
        for order in [u16::to_le_bytes as ByteOrder, u16::to_be_bytes] {
            let bytes = encode("Müller 😀", order);
            assert_eq!(decode(&bytes).map(|(text, order)| encode(&text, order)), Some(bytes));
        }
        for other in [&b"Some text"[..], b"\xff\xfea", b"\xff\xfe\x00\xd8", b""] {
            assert!(decode(other).is_none());
        }
    }
}
