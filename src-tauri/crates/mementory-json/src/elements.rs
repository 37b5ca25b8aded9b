//! The elements of a JSON stream, one at a time, bounded.
use super::{
    decoded::Decoded,
    scan::{Scanner, Stop},
};
use mementory_model::Limits;
use std::io::Read;

/// What can go wrong between elements. After [`ElementError::TooLarge`] reading may go on (`next` skips the giant);
/// after the others the stream is over and `next` gives `None`.
#[derive(Debug, thiserror::Error)]
pub enum ElementError {
    /// Reading failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The stream ended inside an element or before the closing bracket. Elements before it were complete.
    #[error("the file ends early, at byte {offset}")]
    Truncated {
        /// Byte offset of the end.
        offset: u64,
    },
    /// Not JSON at this level (also: something else follows the closing bracket).
    #[error("not JSON at byte {offset}")]
    Syntax {
        /// Byte offset.
        offset: u64,
    },
    /// One element is larger than allowed.
    #[error("an element is larger than {limit} bytes, at byte {offset}")]
    TooLarge {
        /// Byte offset of its start.
        offset: u64,
        /// The bound.
        limit: u64,
    },
}

/// One element: bytes of one JSON value, framed but not validated. Borrowed until the next call.
#[derive(Debug, Clone, Copy)]
pub struct Element<'e> {
    /// The value's bytes, without white space around it. UTF-8 unless the source lies.
    pub bytes: &'e [u8],
    /// Position in its array, or among the top-level values (bare object: 0; NDJSON: line of values from 0).
    pub index: u64,
    /// Byte offset of its first byte in the decoded stream.
    pub offset: u64,
    /// Key of the wrapping object's array (`conversations`), empty otherwise.
    pub key: &'e str,
    /// True for an element of an array, false for a value at top level.
    pub in_array: bool,
}

impl Element<'_> {
    /// Where it is, for [`mementory_model::Origin::pointer`]: `/3`, `/conversations/3`, or `@<byte offset>` for a value
    /// at top level that is not the first (NDJSON); empty for a bare object.
    pub fn pointer(&self) -> String {
        match (self.in_array, self.key.is_empty()) {
            (true, true) => format!("/{}", self.index),
            (true, false) => format!("/{}/{}", self.key, self.index),
            (false, _) if self.offset == 0 || self.index == 0 => String::new(),
            (false, _) => format!("@{}", self.offset),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Between top-level values.
    Top,
    /// Inside a top-level array, or one that is the value of a key (`wrapped`).
    Array {
        wrapped: bool,
    },
    /// Inside a wrapping object, outside its keyed arrays.
    Wrapper,
    Done,
}

/// Iterates over the elements of: a top-level array; an object with a keyed array (`{"conversations":[…]}`, keys by
/// [`Elements::with_keys`]); one bare object; NDJSON; any of these inside a JSON string; with BOM, UTF-16, or any
/// amount of white space. Byte offsets are of the decoded stream.
///
/// Memory: one element (bounded by `limits.element_bytes`) and one read of 256 KiB. What is not an object is an
/// element too (`null`, `"text"`, `NaN`, even a stray word inside an array): the caller judges it, so that nothing is
/// silently skipped. Members of a wrapping object outside the keyed arrays are kept in
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
    source: Decoded<'r>,
    keys: &'r [&'r str],
    limit: usize,
    /// Buffered bytes; `start` is the first that is still needed, `pos` the next to look at.
    buf: Vec<u8>,
    start: usize,
    pos: usize,
    /// Stream offset of `buf[0]`.
    base: u64,
    level: Level,
    /// Inside a wrapping object (also while in one of its arrays).
    scanner: Scanner,
    key: String,
    index: u64,
    values: u64,
    objects: bool,
    giant: bool,
    /// The wrapping object without the elements, and whether it got too long to keep.
    outside: Vec<u8>,
    outside_cut: bool,
}

impl<'r> Elements<'r> {
    /// Over a reader from its start; wrapping key `conversations`.
    pub fn new(reader: &'r mut dyn Read, limits: &Limits) -> Self {
        Self {
            source: Decoded::new(reader),
            keys: &["conversations"],
            limit: usize::try_from(limits.element_bytes).unwrap_or(usize::MAX),
            buf: Vec::new(),
            start: 0,
            pos: 0,
            base: 0,
            level: Level::Top,
            scanner: Scanner::default(),
            key: String::new(),
            index: 0,
            values: 0,
            objects: true,
            giant: false,
            outside: Vec::new(),
            outside_cut: false,
        }
    }

    /// Other wrapping keys; none = an object is always one element.
    pub fn with_keys(mut self, keys: &'r [&'r str]) -> Self {
        self.keys = keys;
        self
    }

    #[cfg(test)]
    pub(super) fn chunked(mut self, bytes: u64) -> Self {
        self.source.chunk = bytes;
        self
    }

    /// Bytes taken from the reader so far, for progress.
    pub fn raw_bytes(&self) -> u64 {
        self.source.raw()
    }

    /// After the end: the wrapping object's own text with `[]` for its keyed arrays, if there was one (up to 1 MiB; None
    /// if it is longer).
    pub fn wrapper(&self) -> Option<&[u8]> {
        (!self.outside.is_empty() && !self.outside_cut).then_some(self.outside.as_slice())
    }

    fn keep_outside(&mut self, end: usize) {
        let passed = &self.buf[self.start..end];
        self.outside_cut |= self.outside.len() + passed.len() > 1 << 20;
        if !self.outside_cut {
            self.outside.extend_from_slice(passed);
        }
    }

    /// The next element, or None at the end.
    #[expect(clippy::should_implement_trait, reason = "lends from its own buffer, which Iterator cannot")]
    pub fn next(&mut self) -> Result<Option<Element<'_>>, ElementError> {
        if self.giant {
            self.skip_giant()?;
        }
        loop {
            self.start = self.pos;
            match self.level {
                Level::Done => return Ok(None),
                Level::Wrapper => self.find_keyed_array()?,
                Level::Top => {
                    let Some(byte) = self.skip_space(b"")? else {
                        self.level = Level::Done;
                        if self.source.cut() {
                            return Err(ElementError::Truncated { offset: self.here() });
                        }
                        return Ok(None);
                    };
                    match byte {
                        b'[' => {
                            self.pos += 1;
                            (self.level, self.index, self.objects) = (Level::Array { wrapped: false }, 0, false);
                            self.values += 1;
                        }
                        b'{' => {
                            if let Some(end) = self.top_object()? {
                                return Ok(Some(self.element(end, false)));
                            }
                        }
                        b'"' if self.values == 0 && self.string_holds_json()? => {
                            let rest = self.buf.split_off(self.pos + 1);
                            self.base += self.buf.len() as u64;
                            self.buf.clear();
                            (self.start, self.pos) = (0, 0);
                            self.source.enter_string(&rest, &mut self.buf);
                        }
                        // In NDJSON a spoilt line costs one line; anywhere else there is nothing to hold on to.
                        _ if self.objects && self.values > 0 => {
                            let end = self.line_end()?;
                            return Ok(Some(self.element(end, false)));
                        }
                        _ => {
                            self.level = Level::Done;
                            return Err(ElementError::Syntax { offset: self.here() });
                        }
                    }
                }
                Level::Array { wrapped } => match self.skip_space(b",")? {
                    None => return self.truncated(),
                    Some(b']') => {
                        self.pos += 1;
                        if wrapped {
                            self.keep_outside(self.pos);
                        }
                        self.level = if wrapped { Level::Wrapper } else { Level::Top };
                    }
                    Some(b'{' | b'[' | b'"') => {
                        self.scanner = Scanner::new(false);
                        let end = self.value()?;
                        return Ok(Some(self.element(end, true)));
                    }
                    Some(_) => {
                        let end = self.word()?;
                        return Ok(Some(self.element(end, true)));
                    }
                },
            }
        }
    }

    fn here(&self) -> u64 {
        self.base + self.pos as u64
    }

    fn element(&mut self, end: usize, in_array: bool) -> Element<'_> {
        self.pos = end;
        let index = if in_array { &mut self.index } else { &mut self.values };
        let position = *index;
        *index += 1;
        let bytes = self.buf[self.start..end].trim_ascii_end();
        let key = if in_array { self.key.as_str() } else { "" };
        Element { bytes, index: position, offset: self.base + self.start as u64, key, in_array }
    }

    fn truncated<T>(&mut self) -> Result<T, ElementError> {
        self.level = Level::Done;
        Err(ElementError::Truncated { offset: self.base + self.buf.len() as u64 })
    }

    /// More bytes behind `buf`; those before `start` go. False at the end.
    fn refill(&mut self) -> Result<bool, ElementError> {
        if self.start > 0 {
            self.buf.drain(..self.start);
            self.base += self.start as u64;
            self.pos -= self.start;
            self.scanner.shift(self.start);
            self.start = 0;
            // One giant must not hold its memory for the rest of the file.
            if self.buf.capacity() > 16 << 20 && self.buf.len() < 1 << 20 {
                self.buf.shrink_to(2 << 20);
            }
        }
        self.source.fill(&mut self.buf).map_err(|e| {
            self.level = Level::Done;
            ElementError::Io(e)
        })
    }

    /// Skips white space and `also`; the byte then at `pos`, which becomes `start`.
    fn skip_space(&mut self, also: &[u8]) -> Result<Option<u8>, ElementError> {
        loop {
            let rest = &self.buf[self.pos..];
            let space = |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t') || also.contains(b);
            match rest.iter().position(|b| !space(b)) {
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

    /// Scans the value at `start` to its end.
    fn value(&mut self) -> Result<usize, ElementError> {
        loop {
            if let Stop::End(end) = self.scanner.advance(&self.buf, &mut self.pos, false) {
                return Ok(end);
            }
            self.bound()?;
            if !self.refill()? {
                return self.truncated();
            }
        }
    }

    fn bound(&mut self) -> Result<(), ElementError> {
        if self.pos - self.start <= self.limit {
            return Ok(());
        }
        self.giant = true;
        Err(ElementError::TooLarge { offset: self.base + self.start as u64, limit: self.limit as u64 })
    }

    /// The rest of an element that was too large.
    fn skip_giant(&mut self) -> Result<(), ElementError> {
        self.giant = false;
        let in_array = matches!(self.level, Level::Array { .. });
        loop {
            self.start = self.pos;
            if let Stop::End(end) = self.scanner.advance(&self.buf, &mut self.pos, false) {
                self.pos = end;
                *if in_array { &mut self.index } else { &mut self.values } += 1;
                return Ok(());
            }
            self.start = self.pos;
            if !self.refill()? {
                return self.truncated();
            }
        }
    }

    /// A top-level object: its end, or None when one of its arrays is what to read.
    fn top_object(&mut self) -> Result<Option<usize>, ElementError> {
        self.scanner = Scanner::new(self.objects && self.values > 0);
        let keys = !self.keys.is_empty();
        loop {
            match self.scanner.advance(&self.buf, &mut self.pos, keys) {
                Stop::End(end) => return Ok(Some(end)),
                Stop::Array { key, at } => {
                    if self.enter_keyed(key, at) {
                        return Ok(None);
                    }
                }
                Stop::More => {
                    self.bound()?;
                    if !self.refill()? {
                        return self.truncated();
                    }
                }
            }
        }
    }

    /// Into the array at `at` if its key is wanted; else the scanner goes on inside it.
    fn enter_keyed(&mut self, key: (usize, usize), at: usize) -> bool {
        let name = &self.buf[key.0..key.1];
        match self.keys.iter().find(|k| k.as_bytes() == name) {
            Some(known) => {
                self.keep_outside(at);
                self.key = (*known).to_owned();
                (self.level, self.index, self.objects) = (Level::Array { wrapped: true }, 0, false);
                self.pos = at;
                true
            }
            None => {
                self.scanner.depth += 1;
                false
            }
        }
    }

    /// Inside a wrapping object: on to its next keyed array, or past its end.
    fn find_keyed_array(&mut self) -> Result<(), ElementError> {
        self.scanner = Scanner::inside_object();
        loop {
            match self.scanner.advance(&self.buf, &mut self.pos, true) {
                Stop::End(end) => {
                    self.keep_outside(end);
                    self.pos = end;
                    self.level = Level::Top;
                    self.values += 1;
                    return Ok(());
                }
                Stop::Array { key, at } => {
                    if self.enter_keyed(key, at) {
                        return Ok(());
                    }
                }
                Stop::More => {
                    // A key is short; what is longer need not be kept.
                    if self.scanner.depth > 1 || self.pos - self.start > 1 << 20 {
                        self.keep_outside(self.pos);
                        self.start = self.pos;
                    }
                    if !self.refill()? {
                        return self.truncated();
                    }
                }
            }
        }
    }

    /// Is the top-level string at `pos` JSON in a string?
    fn string_holds_json(&mut self) -> Result<bool, ElementError> {
        while self.buf.len() - self.pos < 64 && self.refill()? {}
        let inside = self.buf[self.pos + 1..].iter().find(|b| !b.is_ascii_whitespace());
        Ok(matches!(inside, Some(b'[' | b'{')))
    }

    /// A word that is no JSON value start: up to the next separator.
    fn word(&mut self) -> Result<usize, ElementError> {
        loop {
            let rest = &self.buf[self.pos..];
            // At least one byte is taken, so that a stray `}` cannot hold the stream up.
            let skip = usize::from(self.pos == self.start);
            if let Some(at) = rest.iter().skip(skip).position(|b| matches!(b, b',' | b']' | b'{' | b'[' | b'"')) {
                return Ok(self.pos + skip + at);
            }
            self.pos = self.buf.len();
            self.bound_word()?;
            if !self.refill()? {
                return self.truncated();
            }
        }
    }

    /// End of the line at `start`.
    fn line_end(&mut self) -> Result<usize, ElementError> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buf[self.pos..]) {
                return Ok(self.pos + at);
            }
            self.pos = self.buf.len();
            self.bound_word()?;
            if !self.refill()? {
                return Ok(self.buf.len());
            }
        }
    }

    /// A word without end is not JSON.
    fn bound_word(&mut self) -> Result<(), ElementError> {
        if self.pos - self.start > self.limit.min(16 << 20) {
            self.level = Level::Done;
            return Err(ElementError::Syntax { offset: self.base + self.start as u64 });
        }
        Ok(())
    }
}
