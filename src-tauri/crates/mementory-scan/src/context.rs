//! Finds the context words near a number, which indicate what kind of number it is.
use memchr::{memchr, memrchr};

/// The kinds of number that a context word can indicate. They are bit flags, because a word may indicate several kinds.
pub(crate) mod bits {
    pub const PHONE: u64 = 1;
    pub const CARD: u64 = 1 << 1;
    /// Numbers that are not sensitive, such as an order number, an invoice number, a serial number or a timestamp.
    pub const OTHER: u64 = 1 << 2;
    /// Numbers that are only examples, after words such as "example" and "sample".
    pub const EXAMPLE: u64 = 1 << 3;
    /// Telephone numbers after words such as "call" and "reach me", which are weaker evidence than "phone".
    pub const CALL: u64 = 1 << 4;
    /// Position of the first bit for national ids; see `national`.
    pub const ID_BASE: u32 = 8;
    /// The bits for all national ids.
    pub const IDS: u64 = !((1 << ID_BASE) - 1);
}

/// Number of bytes before a value that are searched for context words.
const MAX_BYTES_BEFORE: usize = 90;
/// Number of bytes after a value that are searched for context words.
const MAX_BYTES_AFTER: usize = 40;

struct ContextWord {
    start: usize,
    end: usize,
    bits: u64,
}

/// A text and its context words.
pub(crate) struct Doc<'a> {
    pub text: &'a str,
    pub bytes: &'a [u8],
    words: Vec<ContextWord>,
}

impl<'a> Doc<'a> {
    pub fn new(text: &'a str) -> Self {
        Doc { text, bytes: text.as_bytes(), words: Vec::new() }
    }

    /// Adds a context word. Words must be added in text order.
    pub fn add_word(&mut self, start: usize, end: usize, bits: u64) {
        self.words.push(ContextWord { start, end, bits });
    }

    /// Start of the text in which context words apply to the value at `start`: the start of its line, or of the line
    /// above if the value begins its line and the line above ends with a colon. At most [`MAX_BYTES_BEFORE`] bytes
    /// before `start`.
    fn context_start(&self, start: usize) -> usize {
        let floor = start.saturating_sub(MAX_BYTES_BEFORE);
        let Some(position) = memrchr(b'\n', &self.bytes[floor..start]) else { return floor };
        let line = floor + position;
        let line_above = self.bytes[floor..line].trim_ascii_end();
        if line_above.ends_with(b":") && self.bytes[line..start].trim_ascii().len() < 4 {
            memrchr(b'\n', line_above).map_or(floor, |n| floor + n)
        } else {
            line
        }
    }

    /// Whether a word with one of the bits in `mask` applies to the value at `start..end`. The word must be the nearest
    /// one before the value, or come before it with no other number in between, or follow shortly after it. If the
    /// nearest word before the value has the bit `OTHER` and none of the bits in `mask`, no word applies.
    pub fn matches_context(&self, start: usize, end: usize, mask: u64) -> bool {
        let floor = self.context_start(start);
        let digit = self.bytes[floor..start].iter().rposition(u8::is_ascii_digit).map_or(floor, |n| floor + n);
        let words_before = self.words.partition_point(|word| word.end <= start);
        let mut is_nearest = true;
        for word in self.words[..words_before].iter().rev() {
            if word.start < floor || (!is_nearest && word.start < digit) {
                break;
            }
            if word.bits & mask != 0 {
                return true;
            }
            if is_nearest && word.bits & bits::OTHER != 0 {
                return false;
            }
            is_nearest = false;
        }
        let ceiling = (end + MAX_BYTES_AFTER).min(self.bytes.len());
        let tail = &self.bytes[end..ceiling];
        // A word in the next sentence does not apply to the value.
        let sentence = tail.windows(2).position(|pair| matches!(pair, [b'.' | b'!' | b'?', b' ' | b'\r']));
        let digit = tail.iter().position(u8::is_ascii_digit);
        let tail_end = memchr(b'\n', tail).into_iter().chain(digit).chain(sentence).min();
        let tail_end = end + tail_end.unwrap_or(tail.len());
        self.words[words_before..].iter().take_while(|word| word.start < tail_end).any(|word| word.bits & mask != 0)
    }

    /// The bits of the last context word that ends before `start`. 0 if it begins before `context_start`, or more than
    /// `max_distance` bytes before `start`.
    pub fn nearest_word_bits_before(&self, start: usize, max_distance: usize) -> u64 {
        let floor = self.context_start(start).max(start.saturating_sub(max_distance));
        let words_before = self.words.partition_point(|word| word.end <= start);
        self.words[..words_before].last().filter(|word| word.start >= floor).map_or(0, |word| word.bits)
    }

    /// The bits of all context words between `context_start` and the value.
    pub fn all_bits_before(&self, start: usize) -> u64 {
        let floor = self.context_start(start);
        let words_before = self.words.partition_point(|word| word.end <= start);
        let nearest_first = self.words[..words_before].iter().rev();
        nearest_first.take_while(|word| word.start >= floor).fold(0, |all, word| all | word.bits)
    }
}
