//! Finds the end of an object, or the position at which the object stops being JSON.
use super::siblings::ElementKeys;
use memchr::memchr2;

/// Nesting above which only brackets are counted, because no parser of this crate accepts such a value.
const MAX_DEPTH: usize = 1000;

/// The bytes that are allowed next, outside of strings.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Expected {
    #[default]
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    /// More characters of a word, or the byte that may follow a word.
    Word,
    CommaOrEnd,
}

/// State of the scan of one object. Everything that [`super::repair`] can repair is accepted: NaN and infinities,
/// control characters in strings, invalid UTF-8, and NUL characters.
#[derive(Debug, Default)]
pub(super) struct ObjectScan {
    /// The open brackets, true for an object.
    open: Vec<bool>,
    /// Number of open brackets that are nested more deeply than `MAX_DEPTH`, and therefore not in `open`.
    uncounted: usize,
    expected: Expected,
    in_string: bool,
    escaped: bool,
    /// Buffer position after the opening quote of the current string, if it is a key of the outermost object.
    key_start: Option<usize>,
    /// Buffer position of the last closing quote.
    pub(super) last_quote: usize,
    /// True if the object has an object or an array inside.
    pub(super) has_nested: bool,
    /// Keys of the outermost object so far.
    pub(super) keys: ElementKeys,
}

/// Reason why a scan paused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The object ends before this position.
    End(usize),
    /// The byte at the position is not allowed there.
    Fault,
    /// The buffer was scanned to its end.
    More,
}

impl ObjectScan {
    /// Number of open brackets.
    pub(super) fn depth(&self) -> usize {
        self.open.len() + self.uncounted
    }

    /// Subtracts `distance` from the buffer positions.
    pub(super) fn subtract_from_positions(&mut self, distance: usize) {
        self.key_start = self.key_start.map(|start| start.saturating_sub(distance));
        self.last_quote = self.last_quote.saturating_sub(distance);
    }

    /// Continues the scan at `*pos`. The first byte of the scan is the opening bracket of the object.
    pub(super) fn advance(&mut self, buf: &[u8], pos: &mut usize) -> Step {
        while *pos < buf.len() {
            if self.in_string {
                self.scan_string(buf, pos);
                continue;
            }
            if !self.accept(buf[*pos], *pos) {
                // The text that was read as a key may be a part of a damaged string, so it is removed from the keys.
                if self.expected == Expected::Colon && self.open.len() == 1 {
                    self.keys.remove_last();
                }
                return Step::Fault;
            }
            *pos += 1;
            if self.open.is_empty() {
                return Step::End(*pos);
            }
        }
        Step::More
    }

    /// Scans inside a string, up to its end or an escape.
    fn scan_string(&mut self, buf: &[u8], pos: &mut usize) {
        if self.escaped {
            self.escaped = false;
            *pos += 1;
            return;
        }
        let Some(at) = memchr2(b'"', b'\\', &buf[*pos..]) else {
            *pos = buf.len();
            return;
        };
        let end = *pos + at;
        *pos = end + 1;
        if buf[end] == b'\\' {
            self.escaped = true;
            return;
        }
        self.in_string = false;
        self.last_quote = end;
        if let Some(start) = self.key_start.take() {
            self.keys.add(&buf[start..end]);
        }
    }

    /// Scans a byte outside of strings. Returns false if the byte is not allowed at this position.
    fn accept(&mut self, byte: u8, pos: usize) -> bool {
        if self.uncounted > 0 {
            self.accept_uncounted(byte);
            return true;
        }
        let expects_value = matches!(self.expected, Expected::Value | Expected::ValueOrEnd);
        let is_after_value = matches!(self.expected, Expected::CommaOrEnd | Expected::Word);
        let in_object = self.open.last().copied();
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {
                if self.expected == Expected::Word {
                    self.expected = Expected::CommaOrEnd;
                }
            }
            0 => {}
            b'"' if expects_value => {
                self.in_string = true;
                self.expected = Expected::CommaOrEnd;
            }
            b'"' if matches!(self.expected, Expected::Key | Expected::KeyOrEnd) => {
                self.in_string = true;
                self.key_start = (self.open.len() == 1).then_some(pos + 1);
                self.expected = Expected::Colon;
            }
            b'{' | b'[' if expects_value => {
                self.expected = if byte == b'{' { Expected::KeyOrEnd } else { Expected::ValueOrEnd };
                self.has_nested |= !self.open.is_empty();
                if self.open.len() < MAX_DEPTH {
                    self.open.push(byte == b'{');
                } else {
                    self.uncounted = 1;
                }
            }
            b'}' if in_object == Some(true) && (is_after_value || self.expected == Expected::KeyOrEnd) => self.close(),
            b']' if in_object == Some(false) && (is_after_value || self.expected == Expected::ValueOrEnd) => {
                self.close()
            }
            b',' if is_after_value => {
                self.expected = if in_object == Some(true) { Expected::Key } else { Expected::Value };
            }
            b':' if self.expected == Expected::Colon => self.expected = Expected::Value,
            _ if expects_value && starts_word(byte) => self.expected = Expected::Word,
            _ => return self.expected == Expected::Word && continues_word(byte),
        }
        true
    }

    fn close(&mut self) {
        self.open.pop();
        self.expected = Expected::CommaOrEnd;
    }

    fn accept_uncounted(&mut self, byte: u8) {
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.uncounted += 1,
            b'}' | b']' => {
                self.uncounted -= 1;
                self.expected = Expected::CommaOrEnd;
            }
            _ => {}
        }
    }
}

/// True if a number, `true`, `false`, `null`, `NaN` or an infinity can start with the byte.
fn starts_word(byte: u8) -> bool {
    matches!(byte, b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'N' | b'I')
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// True if the bytes look like a number, `true`, `false`, `null`, `NaN` or an infinity.
pub(super) fn is_word(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| starts_word(*first)) && bytes.iter().all(|byte| continues_word(*byte))
}
