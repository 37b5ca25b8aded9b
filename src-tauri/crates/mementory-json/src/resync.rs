//! Searches for the next element of an array after a damaged one.
use super::siblings::Siblings;

/// Number of bytes after the current one that must be in the buffer: white space, a first key and a colon.
const LOOKAHEAD: usize = 1024;

/// State of the search. Brackets are only counted. A damaged quote must not invert all strings after it, so each quote
/// is judged by the characters around it.
#[derive(Debug)]
pub(super) struct ElementSearch {
    /// Number of brackets that were open at the damage, minus those closed since then. At 0 the element has ended,
    /// unless the brackets themselves are damaged.
    depth: i64,
    in_string: bool,
    /// False after a quote that does not fit its surroundings, so that brackets may have been counted inside a string.
    is_reliable: bool,
    /// The last byte that is not white space.
    previous: u8,
    /// True if the array is the value of a key in an object.
    wrapped: bool,
}

/// The result of a search step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SearchOutcome {
    /// An object at the position starts like an element.
    Candidate,
    /// An object is at the position where the next element is expected.
    Next,
    /// The bracket at the position closes the array.
    ArrayEnd,
    /// The stream ended. True if its last byte may close the array, or the object around it.
    End(bool),
    /// The buffer was searched to its end.
    More,
}

impl ElementSearch {
    /// Starts with `depth` open brackets.
    pub(super) fn new(depth: usize, wrapped: bool) -> Self {
        Self { depth: as_depth(depth), in_string: false, is_reliable: true, previous: 0, wrapped }
    }

    /// True if exactly the brackets that were open at the damage have been closed, and no unexpected byte occurred.
    pub(super) fn is_past_element(&self) -> bool {
        self.depth == 0 && self.is_reliable
    }

    /// Continues after a candidate that is not an element, of which `depth` brackets are still open.
    pub(super) fn skip_candidate(&mut self, depth: usize) {
        self.depth += as_depth(depth);
        self.in_string = false;
        self.previous = if depth == 0 { b'}' } else { 0 };
    }

    /// Continues the search at `*pos`. `at_end` is true if the stream ends with the buffer.
    pub(super) fn advance(&mut self, buf: &[u8], pos: &mut usize, at_end: bool, siblings: &Siblings) -> SearchOutcome {
        while *pos < buf.len() && (at_end || buf.len() - *pos > LOOKAHEAD) {
            let at = *pos;
            let bytes_after = || buf[at + 1..].trim_ascii_start();
            match buf[at] {
                b'{' if siblings.starts_like_element(&buf[at..]) => return SearchOutcome::Candidate,
                b'\\' => {
                    *pos += 1;
                    if *pos == buf.len() {
                        break;
                    }
                }
                b'"' => self.scan_quote(bytes_after().first().copied()),
                b']' if self.closes_array(bytes_after(), at_end) => return SearchOutcome::ArrayEnd,
                b',' if self.depth <= 0 && !self.in_string && bytes_after().first() == Some(&b'{') => {
                    self.previous = b',';
                    *pos = buf.len() - bytes_after().len();
                    return SearchOutcome::Next;
                }
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth -= 1,
                _ => {}
            }
            if !buf[at].is_ascii_whitespace() {
                self.previous = buf[at];
            }
            *pos += 1;
        }
        let closing = if self.wrapped { b'}' } else { b']' };
        if at_end { SearchOutcome::End(self.previous == closing) } else { SearchOutcome::More }
    }

    /// Decides whether a quote opens or closes a string. An opening quote follows a bracket, comma or colon, and a
    /// bracket, comma or colon follows a closing quote.
    fn scan_quote(&mut self, next_byte: Option<u8>) {
        let opens_string = matches!(self.previous, b'{' | b'[' | b',' | b':');
        let closes_string = matches!(next_byte, None | Some(b'}' | b']' | b',' | b':'));
        self.is_reliable &= opens_string != closes_string && opens_string != self.in_string;
        self.in_string = if opens_string == closes_string { !self.in_string } else { opens_string };
    }

    /// True if a closing bracket followed by `after` closes the array. A closing bracket of an array that is not in an
    /// object is the last byte of the stream.
    fn closes_array(&self, after: &[u8], at_end: bool) -> bool {
        if self.wrapped {
            return self.depth <= 0 && !self.in_string && matches!(after.first(), Some(b'}' | b','));
        }
        at_end && after.is_empty() && matches!(self.previous, b'}' | b',')
    }
}

fn as_depth(depth: usize) -> i64 {
    i64::try_from(depth).unwrap_or(i64::MAX)
}
