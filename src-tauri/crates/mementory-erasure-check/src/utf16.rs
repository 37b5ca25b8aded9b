//! Reads files in UTF-16 as UTF-8.
use std::io::{ErrorKind, Read, Result};

/// A function that decodes a unit of UTF-16.
pub(crate) type DecodeUnit = fn([u8; 2]) -> u16;

/// Number of bytes read at a time.
const CHUNK_BYTES: u64 = 1 << 16;

/// The function that decodes the units of a file, if the file begins with the byte order mark of UTF-16. None for other
/// files.
pub(crate) fn unit_decoder(start: &[u8]) -> Option<DecodeUnit> {
    match start {
        [0xff, 0xfe] => Some(u16::from_le_bytes),
        [0xfe, 0xff] => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// The text of a source in UTF-16, without its byte order mark. Invalid units become U+FFFD.
pub(crate) struct Utf16Reader<R> {
    source: R,
    unit: DecodeUnit,
    text: Vec<u8>,
    /// Number of bytes of `text` that the caller has received.
    position: usize,
    /// The first unit of a surrogate pair whose second one was not read yet.
    first_of_pair: Option<u16>,
}

impl<R: Read> Utf16Reader<R> {
    /// Returns a reader of `source`, which must begin after the byte order mark.
    pub(crate) fn new(source: R, unit: DecodeUnit) -> Self {
        Self { source, unit, text: Vec::new(), position: 0, first_of_pair: None }
    }

    /// Reads and decodes the next units. Leaves `text` empty only at the end of the source.
    fn fill(&mut self) -> Result<()> {
        self.text.clear();
        self.position = 0;
        let mut bytes = Vec::new();
        self.source.by_ref().take(CHUNK_BYTES).read_to_end(&mut bytes)?;
        let is_end = (bytes.len() as u64) < CHUNK_BYTES;
        let (pairs, _) = bytes.as_chunks::<2>();
        let mut units: Vec<u16> = self.first_of_pair.take().into_iter().collect();
        units.extend(pairs.iter().map(|pair| (self.unit)(*pair)));
        if !is_end {
            self.first_of_pair = units.pop_if(|unit| (0xd800..0xdc00).contains(&*unit));
        }
        for c in char::decode_utf16(units) {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.position == self.text.len() {
            self.fill()?;
        }
        let rest = self.text.get(self.position..).ok_or(ErrorKind::InvalidData)?;
        let length = rest.len().min(into.len());
        if let (Some(into), Some(rest)) = (into.get_mut(..length), rest.get(..length)) {
            into.copy_from_slice(rest);
        }
        self.position += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn pairs_are_decoded_across_chunks() {
        let text = "x".repeat(CHUNK_BYTES as usize / 2 - 1) + "😀 Müller";
        for unit in [u16::from_le_bytes as DecodeUnit, u16::from_be_bytes] {
            // Encoding a unit swaps the same bytes as decoding it, so the decoder is also used to encode.
            let bytes: Vec<u8> = text.encode_utf16().flat_map(|c| unit(c.to_ne_bytes()).to_ne_bytes()).collect();
            let mut decoded = String::new();
            Utf16Reader::new(bytes.as_slice(), unit).read_to_string(&mut decoded).unwrap();
            assert_eq!(decoded, text);
        }
    }
}
