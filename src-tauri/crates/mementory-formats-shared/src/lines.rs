//! Reads text one line at a time, so that a damaged line does not affect others. [`FileReader::objects`] also reads JSON
//! Lines, but loses the line after a truncated line.
use super::reader::{FileReader, ObjectElement};
use encoding_rs::{CoderResult, Decoder, Encoding};
use mementory_format::{FormatError, Member};
use mementory_model::{DroppedAs, Kind};
use std::io::Read;

/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 128 << 10;

/// Reads the lines of a text one at a time. The text is in UTF-8, or in UTF-16 with a byte order mark.
pub struct Lines<'r> {
    bytes: &'r mut dyn Read,
    decoder: Option<Decoder>,
    buffer: Vec<u8>,
    /// Position in `buffer` of the first byte that has not been returned yet.
    start: usize,
    has_started: bool,
    has_ended: bool,
    /// Largest size of a line in bytes, including its line break.
    limit: usize,
    bytes_read: u64,
}

/// A line of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'l> {
    /// The line in UTF-8 (unless the text is invalid), including its line break.
    Text(&'l [u8]),
    /// The line is longer than the limit and was skipped.
    TooLong,
}

impl<'r> Lines<'r> {
    /// The lines of the text in `bytes`. `limit` is the largest size of a line in bytes, including its line break.
    pub fn new(bytes: &'r mut dyn Read, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            bytes,
            decoder: None,
            buffer: Vec::new(),
            start: 0,
            has_started: false,
            has_ended: false,
            limit,
            bytes_read: 0,
        }
    }

    /// The next line. None at the end of the text.
    ///
    /// # Errors
    /// An error if the text cannot be read.
    pub fn next_line(&mut self) -> std::io::Result<Option<Line<'_>>> {
        let (mut searched, mut is_too_long) = (self.start, false);
        loop {
            let line_break = memchr::memchr(b'\n', &self.buffer[searched..]).map(|offset| searched + offset + 1);
            if let Some(end) = line_break.or_else(|| self.has_ended.then_some(self.buffer.len())) {
                let from = std::mem::replace(&mut self.start, end);
                return Ok(match end - from {
                    size if is_too_long || size > self.limit => Some(Line::TooLong),
                    0 => None,
                    _ => Some(Line::Text(&self.buffer[from..end])),
                });
            }
            if self.buffer.len() - self.start > self.limit {
                is_too_long = true;
                self.start = self.buffer.len();
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            searched = self.buffer.len();
            self.fill()?;
        }
    }

    fn fill(&mut self) -> std::io::Result<()> {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        (&mut *self.bytes).take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        self.bytes_read += chunk.len() as u64;
        self.has_ended = chunk.len() < CHUNK_BYTES;
        let mut rest = chunk.as_slice();
        if !std::mem::replace(&mut self.has_started, true)
            && let Some((encoding, mark)) = Encoding::for_bom(rest)
        {
            rest = rest.get(mark..).unwrap_or_default();
            self.decoder = (encoding != encoding_rs::UTF_8).then(|| encoding.new_decoder_without_bom_handling());
        }
        let Some(decoder) = &mut self.decoder else {
            self.buffer.extend_from_slice(rest);
            return Ok(());
        };
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(rest.len()).unwrap_or(rest.len() * 3));
        loop {
            let (result, used, _) = decoder.decode_to_string(rest, &mut text, self.has_ended);
            rest = rest.get(used..).unwrap_or_default();
            if result == CoderResult::InputEmpty {
                break;
            }
            text.reserve(CHUNK_BYTES);
        }
        self.buffer.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl FileReader<'_> {
    /// Calls `read` for the object in each line, and returns the number of lines. A line that is not an object is
    /// reported as a dropped record of `kind`. Blank lines are skipped. The pointer of an object is `line N`, counted
    /// from 1.
    pub fn lines(
        &mut self,
        member: &Member,
        kind: Kind,
        mut read: impl FnMut(&mut Self, &ObjectElement<'_>) -> Result<(), FormatError>,
    ) -> Result<u64, FormatError> {
        let (catalog, limit, bytes_done) = (self.catalog, self.context.limits.line_bytes, self.bytes_done);
        let mut number = 0;
        catalog.read(member, |bytes| {
            let mut lines = Lines::new(bytes, limit);
            loop {
                let line = lines.next_line().map_err(|e| FormatError::io(&member.place, e))?;
                let Some(line) = line else { return Ok(()) };
                number += 1;
                let pointer = format!("line {number}");
                match line {
                    Line::TooLong => {
                        let place = format!("{}#{pointer}", member.place);
                        let reason = format!("too_large: a line is longer than {limit} bytes");
                        self.report_dropped(place, DroppedAs::Failed, &reason, Some(kind));
                    }
                    Line::Text(bytes) if bytes.trim_ascii().is_empty() => {}
                    Line::Text(bytes) => self.object(member, pointer, bytes.trim_ascii(), kind, &mut read)?,
                }
                self.sink.progress(bytes_done + lines.bytes_read.min(member.size))?;
            }
        })?;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_line_above_the_limit_is_skipped_in_bounded_memory() {
        // The second line is within the first chunk, and the fourth line is longer than several chunks.
        let text = format!("short\n{}\n{}\n{}\n\nlast", "x".repeat(101), "x".repeat(99), "x".repeat(1 << 20));
        let mut bytes = text.as_bytes();
        let mut lines = Lines::new(&mut bytes, 100);
        assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"short\n")));
        assert_eq!(lines.next_line().unwrap(), Some(Line::TooLong));
        assert_eq!(lines.next_line().unwrap(), Some(Line::Text(format!("{}\n", "x".repeat(99)).as_bytes())));
        assert_eq!(lines.next_line().unwrap(), Some(Line::TooLong));
        assert!(lines.buffer.capacity() < 3 * CHUNK_BYTES, "{}", lines.buffer.capacity());
        assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"\n")));
        assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"last")));
        assert_eq!(lines.next_line().unwrap(), None);
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        let utf16: Vec<u8> = "\u{feff}a\r\nb".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in ["\u{feff}a\r\nb".as_bytes(), utf16.as_slice()] {
            let mut bytes = bytes;
            let mut lines = Lines::new(&mut bytes, 100);
            assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"a\r\n")));
            assert_eq!(lines.next_line().unwrap(), Some(Line::Text(b"b")));
        }
    }
}
