//! Finds where one JSON value ends, across buffer refills, without recursion.
use memchr::{memchr2, memchr3};

/// Framing state of the value being scanned. Brackets are counted, not matched: a mismatch is the parser's to find.
#[derive(Debug, Default, Clone)]
pub(super) struct Scanner {
    /// Open brackets.
    pub(super) depth: u32,
    in_string: bool,
    escaped: bool,
    /// Start and end of the last string that ended at depth 1, as buffer positions.
    last_string: (usize, usize),
    /// One value per line: a line feed followed by `{` ends a value that was cut off.
    pub(super) lines: bool,
    /// A line feed was the last byte of the buffer seen so far.
    line_feed: bool,
}

/// Why scanning paused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The value ends before this position.
    End(usize),
    /// An array opens as the value of a depth-1 key (positions of the key's text); its first byte is at the position.
    Array { key: (usize, usize), at: usize },
    /// All bytes were seen.
    More,
}

impl Scanner {
    pub(super) fn new(lines: bool) -> Self {
        Self { lines, ..Self::default() }
    }

    /// Inside a top-level object whose start is past.
    pub(super) fn inside_object() -> Self {
        Self { depth: 1, ..Self::default() }
    }

    /// Buffer positions moved down by `by`.
    pub(super) fn shift(&mut self, by: usize) {
        self.last_string = (self.last_string.0.saturating_sub(by), self.last_string.1.saturating_sub(by));
        if self.last_string.0 == 0 {
            self.last_string = (0, 0);
        }
    }

    /// Goes on at `*pos`. `keys` asks for [`Stop::Array`].
    pub(super) fn advance(&mut self, buf: &[u8], pos: &mut usize, keys: bool) -> Stop {
        while *pos < buf.len() {
            if self.line_feed {
                self.line_feed = false;
                if buf[*pos] == b'{' {
                    return Stop::End(*pos);
                }
            }
            if self.in_string {
                if !self.string(buf, pos) {
                    continue;
                }
                if self.depth == 0 {
                    return Stop::End(*pos);
                }
                continue;
            }
            let byte = buf[*pos];
            match byte {
                b'"' => {
                    self.in_string = true;
                    if self.depth == 1 {
                        self.last_string = (*pos + 1, 0);
                    }
                }
                b'[' if keys && self.depth == 1 && self.is_value_of_key(buf, *pos) => {
                    *pos += 1;
                    return Stop::Array { key: self.last_string, at: *pos };
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        *pos += 1;
                        return Stop::End(*pos);
                    }
                }
                b'\n' if self.lines => self.line_feed = true,
                _ => {}
            }
            *pos += 1;
        }
        Stop::More
    }

    /// Inside a string; true when it ended at `*pos`.
    fn string(&mut self, buf: &[u8], pos: &mut usize) -> bool {
        if self.escaped {
            self.escaped = false;
            *pos += 1;
            return false;
        }
        let rest = &buf[*pos..];
        let found = if self.lines { memchr3(b'"', b'\\', b'\n', rest) } else { memchr2(b'"', b'\\', rest) };
        let Some(at) = found else {
            *pos = buf.len();
            return false;
        };
        *pos += at + 1;
        match rest[at] {
            b'"' => {
                self.in_string = false;
                if self.depth == 1 {
                    self.last_string.1 = *pos - 1;
                }
                true
            }
            b'\\' => {
                if *pos < buf.len() {
                    *pos += 1;
                } else {
                    self.escaped = true;
                }
                false
            }
            _ => {
                self.line_feed = true;
                false
            }
        }
    }

    fn is_value_of_key(&self, buf: &[u8], pos: usize) -> bool {
        let (start, end) = self.last_string;
        start > 0
            && end >= start
            && buf
                .get(end + 1..pos)
                .is_some_and(|between| between.iter().filter(|b| !b.is_ascii_whitespace()).eq([b':'].iter()))
    }
}
