//! Finds the end of a JSON value. The value may extend over several refills of the buffer. The scan is not recursive.
use memchr::{memchr2, memchr3};

/// State of the scan of one value. Brackets are counted, but whether they match is left to the parser.
#[derive(Debug, Default, Clone)]
pub(super) struct Scanner {
    /// Number of open brackets.
    pub(super) depth: u32,
    in_string: bool,
    escaped: bool,
    /// Start and end of the last string at depth 1, as buffer positions.
    last_string: (usize, usize),
    /// True if there is one value per line. A line feed before `{` then means that the previous value was truncated.
    pub(super) one_value_per_line: bool,
    /// True if the last scanned byte was a line feed.
    after_line_feed: bool,
}

/// Reason why a scan paused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// The value ends before this position.
    End(usize),
    /// An array begins as the value of a key at depth 1. `key` has the start and end of the key's text, `at` is the
    /// position after the `[`.
    Array { key: (usize, usize), at: usize },
    /// The buffer was scanned to its end.
    More,
}

impl Scanner {
    pub(super) fn new(one_value_per_line: bool) -> Self {
        Self { one_value_per_line, ..Self::default() }
    }

    /// State inside a top-level object after its opening bracket.
    pub(super) fn inside_object() -> Self {
        Self { depth: 1, ..Self::default() }
    }

    /// Subtracts `distance` from the buffer positions.
    pub(super) fn subtract_from_positions(&mut self, distance: usize) {
        self.last_string = (self.last_string.0.saturating_sub(distance), self.last_string.1.saturating_sub(distance));
        if self.last_string.0 == 0 {
            self.last_string = (0, 0);
        }
    }

    /// Continues the scan at `*pos`. If `stops_at_arrays` is true, pauses for [`Pause::Array`].
    pub(super) fn advance(&mut self, buf: &[u8], pos: &mut usize, stops_at_arrays: bool) -> Pause {
        while *pos < buf.len() {
            if self.after_line_feed {
                self.after_line_feed = false;
                if buf[*pos] == b'{' {
                    return Pause::End(*pos);
                }
            }
            if self.in_string {
                if !self.scan_string(buf, pos) {
                    continue;
                }
                if self.depth == 0 {
                    return Pause::End(*pos);
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
                b'[' if stops_at_arrays && self.depth == 1 && self.is_value_of_key(buf, *pos) => {
                    *pos += 1;
                    return Pause::Array { key: self.last_string, at: *pos };
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        *pos += 1;
                        return Pause::End(*pos);
                    }
                }
                b'\n' if self.one_value_per_line => self.after_line_feed = true,
                _ => {}
            }
            *pos += 1;
        }
        Pause::More
    }

    /// Scans inside a string, up to its end, an escape, or (with one value per line) a line feed. Returns true if the
    /// string ended before `*pos`.
    fn scan_string(&mut self, buf: &[u8], pos: &mut usize) -> bool {
        if self.escaped {
            self.escaped = false;
            *pos += 1;
            return false;
        }
        let rest = &buf[*pos..];
        let found =
            if self.one_value_per_line { memchr3(b'"', b'\\', b'\n', rest) } else { memchr2(b'"', b'\\', rest) };
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
                self.after_line_feed = true;
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
