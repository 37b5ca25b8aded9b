//! Decodes the bytes of a JSON stream: removes a BOM, converts UTF-16 to UTF-8, and removes the escapes if the JSON is
//! inside a string or inside the texts of a tool's result.
use crate::tool_result::{Next, next_text, text_start};
use encoding_rs::{CoderResult, Decoder, UTF_16BE, UTF_16LE};
use memchr::memchr2;
use mementory_model::is_damage;
use std::io::Read;

/// Number of bytes per read.
const CHUNK_BYTES: u64 = 256 * 1024;
/// Largest number of bytes between two texts of a tool's result.
const MAX_BETWEEN: usize = 1 << 20;

/// A reader that decodes the bytes of another reader.
pub(super) struct DecodingReader<'r> {
    reader: &'r mut dyn Read,
    pub(super) chunk_bytes: u64,
    has_started: bool,
    utf16: Option<Decoder>,
    unescape: Option<Unescape>,
    bytes_read: u64,
    has_ended: bool,
    is_truncated: bool,
    read_error: Option<std::io::Error>,
}

impl<'r> DecodingReader<'r> {
    pub(super) fn new(reader: &'r mut dyn Read) -> Self {
        Self {
            reader,
            chunk_bytes: CHUNK_BYTES,
            has_started: false,
            utf16: None,
            unescape: None,
            bytes_read: 0,
            has_ended: false,
            is_truncated: false,
            read_error: None,
        }
    }

    /// Number of bytes read from the inner reader so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// True if the inner reader ended too early (a truncated archive entry), or if the string around the JSON was not
    /// closed.
    pub(super) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Appends the next decoded bytes to `out`. Returns false at the end.
    pub(super) fn append_decoded(&mut self, out: &mut Vec<u8>) -> std::io::Result<bool> {
        let before = out.len();
        while out.len() == before && !self.has_ended {
            if self.has_started && self.utf16.is_none() && self.unescape.is_none() {
                self.read_raw(out);
            } else {
                let mut chunk = Vec::new();
                self.read_raw(&mut chunk);
                self.decode(&chunk, out);
            }
        }
        // Bytes that were read before an error are returned first, and the error with the next call.
        match self.read_error.take_if(|_| out.len() == before) {
            Some(e) => Err(e),
            None => Ok(out.len() > before),
        }
    }

    /// Treats the remainder of the stream as the content of a JSON string. If `has_parts` is set, treats it as the
    /// texts of a tool's result and returns each text on a line of its own. `rest` begins with the content of the first
    /// text.
    pub(super) fn enter_texts(&mut self, rest: &[u8], has_parts: bool, out: &mut Vec<u8>) {
        let mut unescape = Unescape { has_parts, ..Unescape::default() };
        unescape.push(rest, out);
        self.has_ended |= unescape.is_closed;
        self.is_truncated |= self.has_ended && !unescape.is_closed;
        self.unescape = Some(unescape);
    }

    /// True while the content of a JSON string or of a tool's result is decoded.
    pub(super) fn is_inside(&self) -> bool {
        self.unescape.is_some()
    }

    /// True if the decoded bytes are those of the inner reader, except for its BOM.
    pub(super) fn is_plain(&self) -> bool {
        self.utf16.is_none() && self.unescape.is_none()
    }

    fn read_raw(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        out.reserve(usize::try_from(self.chunk_bytes).unwrap_or(1));
        let result = (&mut self.reader).take(self.chunk_bytes).read_to_end(out);
        let new_bytes = (out.len() - before) as u64;
        self.bytes_read += new_bytes;
        self.has_ended = new_bytes < self.chunk_bytes;
        if let Err(e) = result {
            self.has_ended = true;
            if e.kind() == std::io::ErrorKind::UnexpectedEof {
                self.is_truncated = true;
            } else {
                self.read_error = Some(e);
            }
        }
    }

    fn decode(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let mut chunk = chunk;
        if !self.has_started {
            self.has_started = true;
            (self.utf16, chunk) = match chunk {
                [0xEF, 0xBB, 0xBF, rest @ ..] => (None, rest),
                [0xFF, 0xFE, rest @ ..] => (Some(UTF_16LE.new_decoder_without_bom_handling()), rest),
                [0xFE, 0xFF, rest @ ..] => (Some(UTF_16BE.new_decoder_without_bom_handling()), rest),
                [b'[' | b'{' | b'"', 0, ..] => (Some(UTF_16LE.new_decoder_without_bom_handling()), chunk),
                [0, b'[' | b'{' | b'"', ..] => (Some(UTF_16BE.new_decoder_without_bom_handling()), chunk),
                _ => (None, chunk),
            };
        }
        let mut text = Vec::new();
        let chunk = match &mut self.utf16 {
            Some(decoder) => {
                transcode(decoder, chunk, self.has_ended, &mut text);
                text.as_slice()
            }
            None => chunk,
        };
        match &mut self.unescape {
            Some(unescape) => {
                unescape.push(chunk, out);
                if unescape.is_closed {
                    self.has_ended = true;
                } else if self.has_ended {
                    if !unescape.is_between {
                        out.append(&mut unescape.incomplete);
                    }
                    self.is_truncated = true;
                }
            }
            None => out.extend_from_slice(chunk),
        }
    }
}

/// See [`super::decoded_head`].
pub(super) fn read_decoded_head(reader: &mut dyn Read, n: usize) -> std::io::Result<Vec<u8>> {
    let mut source = DecodingReader::new(reader);
    source.chunk_bytes = 64 * 1024;
    let mut out = Vec::new();
    while out.len() < n {
        match source.append_decoded(&mut out) {
            Ok(true) => {}
            Ok(false) => break,
            // Damage after the start does not prevent detection of the format.
            Err(e) if !out.is_empty() || is_damage(&e) => break,
            Err(e) => return Err(e),
        }
        let space_len = out.iter().take_while(|b| b.is_ascii_whitespace()).count();
        out.drain(..space_len);
        let first_inner_byte = out.get(1..).and_then(|rest| rest.iter().find(|b| !b.is_ascii_whitespace()));
        if source.unescape.is_none() && out.first() == Some(&b'"') && matches!(first_inner_byte, Some(b'[' | b'{')) {
            let rest = out.split_off(1);
            out.clear();
            source.enter_texts(&rest, false, &mut out);
        } else if !source.is_inside()
            && let Some(start) = text_start(&out)
        {
            let rest = out.split_off(start);
            out.clear();
            source.enter_texts(&rest, true, &mut out);
        }
    }
    out.truncate(n);
    Ok(out)
}

fn transcode(decoder: &mut Decoder, mut chunk: &[u8], is_last: bool, out: &mut Vec<u8>) {
    let mut piece = vec![0; 16 * 1024];
    loop {
        let (result, read, written, _) = decoder.decode_to_utf8(chunk, &mut piece, is_last);
        out.extend_from_slice(&piece[..written]);
        chunk = &chunk[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// Removes the escapes of a JSON string that contains the whole stream, or of the texts of a tool's result.
#[derive(Default)]
struct Unescape {
    /// The bytes of an escape that is not complete yet, or of the JSON between two texts.
    incomplete: Vec<u8>,
    /// True after the quote that ends the string, or after the last text.
    is_closed: bool,
    /// True for a tool's result, which may have several texts.
    has_parts: bool,
    /// True between two texts of a tool's result.
    is_between: bool,
}

impl Unescape {
    fn push(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let joined;
        let mut data = input;
        if !self.incomplete.is_empty() {
            joined = [std::mem::take(&mut self.incomplete).as_slice(), input].concat();
            data = &joined;
        }
        if self.is_between {
            data = self.after_text(data, out);
        }
        while !self.is_closed && !self.is_between {
            let Some(at) = memchr2(b'"', b'\\', data) else {
                out.extend_from_slice(data);
                return;
            };
            out.extend_from_slice(&data[..at]);
            data = &data[at..];
            if data[0] == b'"' {
                data = self.after_text(&data[1..], out);
            } else {
                match decode_escape(data, out) {
                    Some(used) => data = &data[used..],
                    None => {
                        self.incomplete = data.to_vec();
                        return;
                    }
                }
            }
        }
    }

    /// Finds the next text after a text has ended, and returns the bytes of `data` from the content of the next text
    /// on.
    fn after_text<'d>(&mut self, data: &'d [u8], out: &mut Vec<u8>) -> &'d [u8] {
        let next = if self.has_parts { next_text(data) } else { Next::End };
        self.is_between = next == Next::Unknown;
        match next {
            Next::Text(start) => {
                out.push(b'\n');
                return &data[start..];
            }
            Next::Unknown if data.len() <= MAX_BETWEEN => self.incomplete = data.to_vec(),
            Next::Unknown | Next::End => self.is_closed = true,
        }
        &[]
    }
}

/// Decodes the escape at the start of `data` and returns the length of the escape. None if more bytes are needed. A
/// lone surrogate remains an escape, because the JSON inside the string may contain one. An unknown escape only loses
/// its backslash.
fn decode_escape(data: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let decoded_byte = match *data.get(1)? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'u' => {
            if data.len() < 6 {
                return None;
            }
            let Some(first) = parse_hex4(&data[2..6]) else {
                out.extend_from_slice(&data[..2]);
                return Some(2);
            };
            if (0xD800..0xDC00).contains(&first) {
                match data.get(6..12) {
                    Some([b'\\', b'u', low @ ..]) => {
                        if let Some(low @ 0xDC00..0xE000) = parse_hex4(low) {
                            push_char(0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00), out);
                            return Some(12);
                        }
                    }
                    None if data.get(6).is_none_or(|b| *b == b'\\') && data.get(7).is_none_or(|b| *b == b'u') => {
                        return None;
                    }
                    _ => {}
                }
            }
            if (0xD800..0xE000).contains(&first) {
                out.extend_from_slice(&data[..6]);
            } else {
                push_char(first, out);
            }
            return Some(6);
        }
        other => other,
    };
    out.push(decoded_byte);
    Some(2)
}

fn push_char(code: u32, out: &mut Vec<u8>) {
    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// The value of hex digits. None if a character is not a hex digit.
pub(super) fn parse_hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, d| Some(sum * 16 + char::from(*d).to_digit(16)?))
}
