//! Iterates over the elements of a JSON stream with bounded memory.
mod damage;
mod level;
mod separators;

use super::{
    cut::close_truncated,
    decoded::DecodingReader,
    element_error::ElementError,
    object_scan::{ObjectScan, Step},
    resync::ElementSearch,
    scan::{Pause, Scanner},
    siblings::Siblings,
    tool_result::{Start, result_start},
};
use level::Level;
use mementory_model::Limits;
use separators::Separators;
use std::io::Read;

/// One element: the bytes of a JSON value, whose content is not validated.
#[derive(Debug, Clone, Copy)]
pub struct Element<'e> {
    /// The value's bytes without white space around them. Valid UTF-8 only if the source is.
    pub bytes: &'e [u8],
    /// Position in the array, or among the top-level values, counted from 0.
    pub index: u64,
    /// Byte offset of the element's start in the decoded stream.
    pub offset: u64,
    /// Key of the array that contains the element, if the array is a member of an object (`conversations`). Otherwise
    /// empty.
    pub key: &'e str,
    /// True for an element of an array, false for a value at top level.
    pub in_array: bool,
}

impl Element<'_> {
    /// The text for [`mementory_model::Origin::pointer`]: `/3` or `/conversations/3` in an array, and `@<byte offset>`
    /// for a value at top level (NDJSON). Empty for the first value at top level.
    pub fn pointer(&self) -> String {
        match (self.in_array, self.key.is_empty()) {
            (true, true) => format!("/{}", self.index),
            (true, false) => format!("/{}/{}", self.key, self.index),
            (false, _) if self.offset == 0 || self.index == 0 => String::new(),
            (false, _) => format!("@{}", self.offset),
        }
    }
}

/// Above this many bytes, the buffer of an element gets the space for the largest allowed element at once, because a
/// buffer that grows is copied and needs twice the memory while it is copied. Reserved space that is never written
/// needs no memory.
const LARGE_ELEMENT_BYTES: usize = 32 << 20;
/// At most this many bytes are reserved at once, even if a larger element is allowed.
const MAX_RESERVED_BYTES: usize = 256 << 20;
/// Smallest free space of a large buffer before a read. It is more than one read needs.
const MIN_SPARE_BYTES: usize = 1 << 20;

/// Iterates over the elements of a JSON stream. The stream is one of these:
/// - an array at top level,
/// - an object that has an array under a known key (`{"conversations":[…]}`, see [`Elements::with_keys`]),
/// - one object,
/// - NDJSON.
///
/// Each of them may also be inside a JSON string, be in UTF-16, have a BOM, and have any white space. Byte offsets are
/// positions in the decoded stream.
///
/// The iterator keeps in memory one element (at most `limits.element_bytes`), one read of 256 KiB, and up to 1 MiB of a
/// wrapping object. Values that are not objects are elements too (`null`, `"text"`, `NaN`, even an invalid word inside
/// an array), so that the caller can report them. A wrapping object's other members are available in
/// [`Elements::wrapper`].
///
/// ```
/// # use mementory_json::Elements;
/// let mut input: &[u8] = br#" [{"a":1}, {"a":2}] "#;
/// let mut elements = Elements::new(&mut input, &mementory_model::Limits::default());
/// let mut seen = 0;
/// while let Ok(Some(element)) = elements.next() {
///     seen += element.bytes.len();
/// }
/// assert_eq!(seen, 14);
/// ```
pub struct Elements<'r> {
    source: DecodingReader<'r>,
    keys: &'r [&'r str],
    limit: usize,
    /// Decoded bytes of the stream. `start` is the position of the first byte in it that is still needed, and `pos` is
    /// the position of the next byte to scan.
    buf: Vec<u8>,
    start: usize,
    pos: usize,
    /// Offset of `buf[0]` in the decoded stream.
    buf_offset: u64,
    level: Level,
    scanner: Scanner,
    key: String,
    index: u64,
    top_values: u64,
    no_array_seen: bool,
    skip_pending: bool,
    /// True if the element to skip is scanned with `object_scan`, false if with `scanner`.
    skips_object: bool,
    /// Position where the element at `start` is damaged, or where the stream ended inside the element. All bytes of the
    /// element before this position are in `buf`.
    cut_end: Option<usize>,
    /// True if reading continues after a damaged element of an array.
    resync: bool,
    object_scan: ObjectScan,
    siblings: Siblings,
    separators: Separators,
    /// The search for the next element after a damaged one.
    search: Option<ElementSearch>,
    /// An error that the reader returned after the last element.
    pending_error: Option<ElementError>,
    /// Number of bytes that were scanned twice, because elements were found inside a damaged element.
    rescanned_bytes: u64,
    /// Number of elements returned.
    elements: u64,
    /// Text of the wrapping object, without the elements of its arrays.
    wrapper_text: Vec<u8>,
    /// True if the text of the wrapping object is too long to store, or damaged. `wrapper_text` is then incomplete and
    /// not returned.
    wrapper_incomplete: bool,
}

impl<'r> Elements<'r> {
    /// Reads from the start of `reader`. In an object, the elements are those of the array with the key
    /// `conversations`.
    pub fn new(reader: &'r mut dyn Read, limits: &Limits) -> Self {
        Self {
            source: DecodingReader::new(reader),
            keys: &["conversations"],
            limit: usize::try_from(limits.element_bytes).unwrap_or(usize::MAX),
            buf: Vec::new(),
            start: 0,
            pos: 0,
            buf_offset: 0,
            level: Level::Top,
            scanner: Scanner::default(),
            key: String::new(),
            index: 0,
            top_values: 0,
            no_array_seen: true,
            skip_pending: false,
            skips_object: false,
            cut_end: None,
            resync: false,
            object_scan: ObjectScan::default(),
            siblings: Siblings::default(),
            separators: Separators::default(),
            search: None,
            pending_error: None,
            rescanned_bytes: 0,
            elements: 0,
            wrapper_text: Vec::new(),
            wrapper_incomplete: false,
        }
    }

    /// Sets the keys under which an object may have arrays with elements. Without any keys, an object is always one
    /// element.
    pub fn with_keys(mut self, keys: &'r [&'r str]) -> Self {
        self.keys = keys;
        self
    }

    /// After a damaged element of an array, returns [`ElementError::Damaged`], and continues with the next complete
    /// element. An element is damaged if its brackets, commas or quotes do not match. Its end is then unknown, so the
    /// next element is recognised by its keys: it is a complete object with the keys of the elements before it.
    pub fn resync(mut self) -> Self {
        self.resync = true;
        self
    }

    #[cfg(test)]
    pub(super) fn with_chunk_bytes(mut self, bytes: u64) -> Self {
        self.source.chunk_bytes = bytes;
        self
    }

    /// Number of bytes read from the reader so far, for the progress display.
    pub fn raw_bytes(&self) -> u64 {
        self.source.bytes_read()
    }

    /// True if the offsets of the elements are positions in the reader's bytes, because nothing had to be decoded. Known
    /// only after the last element was read.
    pub fn are_offsets_raw(&self) -> bool {
        self.source.is_plain() && self.stream_offset() == self.raw_bytes()
    }

    /// The text of the wrapping object, with `[]` in place of each array that contains elements. It is complete only
    /// after the last element was read. None if there was no such object, or if its text is longer than 1 MiB.
    pub fn wrapper(&self) -> Option<&[u8]> {
        (!self.wrapper_text.is_empty() && !self.wrapper_incomplete).then_some(self.wrapper_text.as_slice())
    }

    /// The readable part of a damaged or truncated element: its pointer, and its text, completed with closing brackets
    /// (see [`close_truncated`]). For a conversation, the text contains all messages before the damage. None unless
    /// [`Elements::next`] returned [`ElementError::Damaged`], or [`ElementError::Truncated`] for the first element.
    pub fn readable_part(&self) -> Option<(String, Vec<u8>)> {
        let in_array = !self.key.is_empty() || !self.no_array_seen;
        let (index, key) = if in_array { (self.index, self.key.as_str()) } else { (self.top_values, "") };
        let end = self.cut_end.filter(|_| self.elements == 0 || self.level != Level::Done)?;
        let bytes = self.buf.get(self.start..end)?;
        let element = Element { bytes, index, offset: self.buf_offset + self.start as u64, key, in_array };
        Some((element.pointer(), close_truncated(bytes)?))
    }

    fn add_wrapper_text(&mut self, end: usize) {
        let passed_bytes = &self.buf[self.start..end];
        self.wrapper_incomplete |= self.wrapper_text.len() + passed_bytes.len() > 1 << 20;
        if !self.wrapper_incomplete {
            self.wrapper_text.extend_from_slice(passed_bytes);
        }
    }

    /// The next element, or None at the end.
    #[expect(clippy::should_implement_trait, reason = "lends from its own buffer, which Iterator cannot")]
    pub fn next(&mut self) -> Result<Option<Element<'_>>, ElementError> {
        if let Some(error) = self.pending_error.take() {
            return Err(error);
        }
        // The element returned last was damaged, so it was not counted yet.
        if self.cut_end.take().is_some() {
            self.index += 1;
        }
        if self.skip_pending {
            self.skip_too_large()?;
        }
        loop {
            self.start = self.pos;
            match self.level {
                Level::Done => return Ok(None),
                Level::Wrapper => self.find_keyed_array()?,
                Level::Top => {
                    let Some(byte) = self.skip_space(b"")? else {
                        self.level = Level::Done;
                        if self.source.is_truncated() {
                            return Err(ElementError::Truncated { offset: self.stream_offset() });
                        }
                        return Ok(None);
                    };
                    if self.top_values == 0
                        && let Some(start) = self.inner_json_start(byte)?
                    {
                        let rest = self.buf.split_off(self.pos + start);
                        self.buf_offset += self.buf.len() as u64;
                        self.buf.clear();
                        (self.start, self.pos) = (0, 0);
                        self.source.enter_texts(&rest, byte == b'{', &mut self.buf);
                        continue;
                    }
                    match byte {
                        b'[' => {
                            self.pos += 1;
                            (self.level, self.index, self.no_array_seen) = (Level::Array { wrapped: false }, 0, false);
                            self.top_values += 1;
                        }
                        b'{' => {
                            if let Some(end) = self.scan_top_object()? {
                                return Ok(Some(self.take_element(end, false)));
                            }
                        }
                        // The opening bracket of an array is lost. The value before the comma was its first element.
                        b',' if self.resync && self.no_array_seen && self.top_values == 1 => {
                            (self.level, self.index, self.no_array_seen) = (Level::Array { wrapped: false }, 1, false);
                        }
                        // In NDJSON, an invalid line is returned as an element. In any other stream, reading stops at
                        // an invalid value, because its end cannot be found.
                        _ if self.no_array_seen && self.top_values > 0 => {
                            let end = self.find_line_end()?;
                            return Ok(Some(self.take_element(end, false)));
                        }
                        _ => {
                            self.level = Level::Done;
                            return Err(ElementError::Syntax { offset: self.stream_offset() });
                        }
                    }
                }
                Level::Array { .. } if self.search.is_some() => {
                    if let Some(end) = self.next_after_damage()? {
                        return Ok(Some(self.take_element(end, true)));
                    }
                }
                Level::Array { wrapped } => {
                    let next = self.skip_space(b",")?;
                    self.separators.check(self.index, next);
                    match next {
                        None => return self.truncated_error(),
                        Some(b'{') if self.resync => {
                            if let Some(end) = self.scan_object(false)? {
                                return Ok(Some(self.take_element(end, true)));
                            }
                        }
                        Some(b']') if self.can_check_places() && self.is_stray_bracket(wrapped)? => self.pos += 1,
                        Some(b']') => {
                            self.pos += 1;
                            if wrapped {
                                self.add_wrapper_text(self.pos);
                            }
                            self.level = if wrapped { Level::Wrapper } else { Level::Top };
                        }
                        Some(b'{' | b'[' | b'"') => {
                            self.scanner = Scanner::new(false);
                            let end = self.scan_value()?;
                            let end = self.check_place(end)?;
                            return Ok(Some(self.take_element(end, true)));
                        }
                        Some(_) => {
                            let end = self.scan_word()?;
                            let end = self.check_place(end)?;
                            return Ok(Some(self.take_element(end, true)));
                        }
                    }
                }
            }
        }
    }

    fn stream_offset(&self) -> u64 {
        self.buf_offset + self.pos as u64
    }

    fn take_element(&mut self, end: usize, in_array: bool) -> Element<'_> {
        self.pos = end;
        self.elements += 1;
        let index = if in_array { &mut self.index } else { &mut self.top_values };
        let position = *index;
        *index += 1;
        let bytes = self.buf[self.start..end].trim_ascii_end();
        let key = if in_array { self.key.as_str() } else { "" };
        Element { bytes, index: position, offset: self.buf_offset + self.start as u64, key, in_array }
    }

    fn truncated_error<T>(&mut self) -> Result<T, ElementError> {
        self.level = Level::Done;
        Err(ElementError::Truncated { offset: self.buf_offset + self.buf.len() as u64 })
    }

    /// Appends more bytes to `buf` and removes the bytes before `start`. Returns false at the end.
    fn refill(&mut self) -> Result<bool, ElementError> {
        if self.start > 0 {
            self.buf.drain(..self.start);
            self.buf_offset += self.start as u64;
            self.pos -= self.start;
            self.scanner.subtract_from_positions(self.start);
            self.object_scan.subtract_from_positions(self.start);
            self.start = 0;
            // The memory of a very large element is freed before the next element is read.
            if self.buf.capacity() > 16 << 20 && self.buf.len() < 1 << 20 {
                self.buf.shrink_to(2 << 20);
            }
        }
        let (len, capacity) = (self.buf.len(), self.buf.capacity());
        if len > LARGE_ELEMENT_BYTES && capacity - len < MIN_SPARE_BYTES {
            let missing_bytes = self.limit.saturating_sub(len).min(MAX_RESERVED_BYTES);
            self.buf.reserve_exact(missing_bytes.max(len / 4) + MIN_SPARE_BYTES);
        }
        self.source.append_decoded(&mut self.buf).map_err(|e| {
            self.level = Level::Done;
            ElementError::Io(e)
        })
    }

    /// Skips white space and the bytes in `further_bytes`. Sets `start` and `pos` to the position of the next byte, and
    /// returns this byte. None at the end of the stream.
    fn skip_space(&mut self, further_bytes: &[u8]) -> Result<Option<u8>, ElementError> {
        loop {
            let rest = &self.buf[self.pos..];
            let space = |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t') || further_bytes.contains(b);
            let found = rest.iter().position(|b| !space(b));
            self.separators.skip(&rest[..found.unwrap_or(rest.len())]);
            match found {
                Some(skip) => {
                    self.pos += skip;
                    self.start = self.pos;
                    return Ok(Some(self.buf[self.pos]));
                }
                None => {
                    self.pos = self.buf.len();
                    self.start = self.pos;
                    if !self.refill()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// The end of the value at `start`.
    fn scan_value(&mut self) -> Result<usize, ElementError> {
        loop {
            if let Pause::End(end) = self.scanner.advance(&self.buf, &mut self.pos, false) {
                return Ok(end);
            }
            self.check_element_size()?;
            if !self.refill()? {
                self.cut_end = Some(self.buf.len());
                return self.truncated_error();
            }
        }
    }

    fn check_element_size(&mut self) -> Result<(), ElementError> {
        if self.pos - self.start <= self.limit {
            return Ok(());
        }
        self.skips_object = false;
        self.too_large_error()
    }

    fn too_large_error<T>(&mut self) -> Result<T, ElementError> {
        self.skip_pending = true;
        Err(ElementError::TooLarge { offset: self.buf_offset + self.start as u64, limit: self.limit as u64 })
    }

    /// Skips the remaining bytes of an element that was too large.
    fn skip_too_large(&mut self) -> Result<(), ElementError> {
        self.skip_pending = false;
        let in_array = matches!(self.level, Level::Array { .. });
        loop {
            self.start = self.pos;
            let step = if self.skips_object {
                self.object_scan.advance(&self.buf, &mut self.pos)
            } else if let Pause::End(end) = self.scanner.advance(&self.buf, &mut self.pos, false) {
                Step::End(end)
            } else {
                Step::More
            };
            if step != Step::More {
                *if in_array { &mut self.index } else { &mut self.top_values } += 1;
            }
            match step {
                Step::End(end) => {
                    self.pos = end;
                    return Ok(());
                }
                Step::Fault => {
                    self.search_after_skip();
                    return Ok(());
                }
                Step::More => self.start = self.pos,
            }
            if !self.refill()? {
                return self.truncated_error();
            }
        }
    }

    /// Scans the object at top level and returns the position of its end, or None after entering an array with elements
    /// inside it.
    fn scan_top_object(&mut self) -> Result<Option<usize>, ElementError> {
        self.scanner = Scanner::new(self.no_array_seen && self.top_values > 0);
        let stops_at_arrays = !self.keys.is_empty();
        loop {
            match self.scanner.advance(&self.buf, &mut self.pos, stops_at_arrays) {
                Pause::End(end) => return Ok(Some(end)),
                Pause::Array { key, at } => {
                    if self.enter_array_if_wanted(key, at) {
                        return Ok(None);
                    }
                }
                Pause::More => {
                    self.check_element_size()?;
                    if !self.refill()? {
                        self.cut_end = Some(self.buf.len());
                        return self.truncated_error();
                    }
                }
            }
        }
    }

    /// If `key` is one of the keys of arrays with elements, enters the array at `at` and returns true. Otherwise, the
    /// scanner continues inside the array as in any other value.
    fn enter_array_if_wanted(&mut self, key: (usize, usize), at: usize) -> bool {
        let name = &self.buf[key.0..key.1];
        match self.keys.iter().find(|k| k.as_bytes() == name) {
            Some(known) => {
                self.add_wrapper_text(at);
                self.key = (*known).to_owned();
                // The keys of the elements in one array do not apply to the elements of another array.
                (self.siblings, self.search) = (Siblings::default(), None);
                (self.level, self.index, self.no_array_seen) = (Level::Array { wrapped: true }, 0, false);
                self.pos = at;
                true
            }
            None => {
                self.scanner.depth += 1;
                false
            }
        }
    }

    /// Moves to the next array with elements in the wrapping object. If there is none, moves to the end of the object.
    fn find_keyed_array(&mut self) -> Result<(), ElementError> {
        self.scanner = Scanner::inside_object();
        loop {
            match self.scanner.advance(&self.buf, &mut self.pos, true) {
                Pause::End(end) => {
                    self.add_wrapper_text(end);
                    self.pos = end;
                    self.level = Level::Top;
                    self.top_values += 1;
                    return Ok(());
                }
                Pause::Array { key, at } => {
                    if self.enter_array_if_wanted(key, at) {
                        return Ok(());
                    }
                }
                Pause::More => {
                    // The text so far is not needed to find the next key if it is in a nested value or longer than any
                    // key can be.
                    if self.scanner.depth > 1 || self.pos - self.start > 1 << 20 {
                        self.add_wrapper_text(self.pos);
                        self.start = self.pos;
                    }
                    if !self.refill()? {
                        return self.truncated_error();
                    }
                }
            }
        }
    }

    /// The number of bytes before the JSON inside of the string or the tool's result at `pos`. `byte` is its first
    /// byte. None if the text contains no JSON, or if the stream itself already comes from such a text.
    fn inner_json_start(&mut self, byte: u8) -> Result<Option<usize>, ElementError> {
        if self.source.is_inside() || !matches!(byte, b'"' | b'{') {
            return Ok(None);
        }
        if byte == b'"' {
            while self.buf.len() - self.pos < 64 && self.refill()? {}
            let first_inner_byte = self.buf[self.pos + 1..].iter().find(|b| !b.is_ascii_whitespace());
            return Ok(matches!(first_inner_byte, Some(b'[' | b'{')).then_some(1));
        }
        loop {
            match result_start(&self.buf[self.pos..]) {
                Start::Text(start) => return Ok(Some(start)),
                Start::Unknown if self.refill()? => {}
                Start::Unknown | Start::Other => return Ok(None),
            }
        }
    }

    /// The end of a word at `start` (`null`, a number, an invalid word): the next comma, bracket or quote.
    fn scan_word(&mut self) -> Result<usize, ElementError> {
        loop {
            let rest = &self.buf[self.pos..];
            // At least one byte is skipped, so that a stray `}` does not cause an endless loop.
            let skip = usize::from(self.pos == self.start);
            if let Some(at) = rest.iter().skip(skip).position(|b| matches!(b, b',' | b']' | b'{' | b'[' | b'"')) {
                return Ok(self.pos + skip + at);
            }
            self.pos = self.buf.len();
            self.check_word_size()?;
            if !self.refill()? {
                return self.truncated_error();
            }
        }
    }

    /// The end of the line at `start`.
    fn find_line_end(&mut self) -> Result<usize, ElementError> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buf[self.pos..]) {
                return Ok(self.pos + at);
            }
            self.pos = self.buf.len();
            self.check_word_size()?;
            if !self.refill()? {
                return Ok(self.buf.len());
            }
        }
    }

    /// Returns a syntax error for a word or line that is too long.
    fn check_word_size(&mut self) -> Result<(), ElementError> {
        if self.pos - self.start > self.limit.min(16 << 20) {
            self.level = Level::Done;
            return Err(ElementError::Syntax { offset: self.buf_offset + self.start as u64 });
        }
        Ok(())
    }
}
