//! The words around a number that say what it is.
use memchr::{memchr, memrchr};

/// What a context word speaks for. Bits, since one word may speak for several.
pub(crate) mod bits {
    pub const PHONE: u64 = 1;
    pub const CARD: u64 = 1 << 1;
    /// Speaks against: order, invoice, serial, timestamp.
    pub const OTHER: u64 = 1 << 2;
    /// "example", "sample", "Beispiel".
    pub const EXAMPLE: u64 = 1 << 3;
    /// "call", "ring", "reach me": weaker than a word for a telephone.
    pub const CALL: u64 = 1 << 4;
    /// The first of the bits of national ids; see `national`.
    pub const ID_BASE: u32 = 8;
    /// All of them.
    pub const IDS: u64 = !((1 << ID_BASE) - 1);
}

/// How far before and after a value its word may stand, in bytes, within its line.
const BEFORE: usize = 90;
const AFTER: usize = 40;

struct Word {
    start: usize,
    end: usize,
    bits: u64,
}

/// A text with the context words found in it.
pub(crate) struct Doc<'a> {
    pub text: &'a str,
    pub bytes: &'a [u8],
    words: Vec<Word>,
}

impl<'a> Doc<'a> {
    pub fn new(text: &'a str) -> Self {
        Doc { text, bytes: text.as_bytes(), words: Vec::new() }
    }

    /// Adds a context word. They come in order of their place.
    pub fn push(&mut self, start: usize, end: usize, bits: u64) {
        self.words.push(Word { start, end, bits });
    }

    /// Where the reach of words before `start` begins: the line, and a line above it that ends in a colon.
    fn reach(&self, start: usize) -> usize {
        let floor = start.saturating_sub(BEFORE);
        let Some(at) = memrchr(b'\n', &self.bytes[floor..start]) else { return floor };
        let line = floor + at;
        let above = self.bytes[floor..line].trim_ascii_end();
        if above.ends_with(b":") && self.bytes[line..start].trim_ascii().len() < 4 {
            memrchr(b'\n', above).map_or(floor, |n| floor + n)
        } else {
            line
        }
    }

    /// Whether a word with one of `mask` belongs to the value at `start..end`: it is the nearest before it, or stands
    /// before it with no other number between, or follows it closely. A nearest word that speaks against wins.
    pub fn speaks(&self, start: usize, end: usize, mask: u64) -> bool {
        let floor = self.reach(start);
        let digit = self.bytes[floor..start].iter().rposition(u8::is_ascii_digit).map_or(floor, |n| floor + n);
        let upto = self.words.partition_point(|word| word.end <= start);
        let mut nearest = true;
        for word in self.words[..upto].iter().rev() {
            if word.start < floor || (!nearest && word.start < digit) {
                break;
            }
            if word.bits & mask != 0 {
                return true;
            }
            if nearest && word.bits & bits::OTHER != 0 {
                return false;
            }
            nearest = false;
        }
        let ceiling = (end + AFTER).min(self.bytes.len());
        let tail = &self.bytes[end..ceiling];
        // A word behind the end of the sentence speaks for what follows it.
        let sentence = tail.windows(2).position(|pair| matches!(pair, [b'.' | b'!' | b'?', b' ' | b'\r']));
        let digit = tail.iter().position(u8::is_ascii_digit);
        let stop = memchr(b'\n', tail).into_iter().chain(digit).chain(sentence).min();
        let stop = end + stop.unwrap_or(tail.len());
        self.words[upto..].iter().take_while(|word| word.start < stop).any(|word| word.bits & mask != 0)
    }

    /// The bits of the nearest word before the value on its line, within `within` bytes.
    pub fn nearest(&self, start: usize, within: usize) -> u64 {
        let floor = self.reach(start).max(start.saturating_sub(within));
        let upto = self.words.partition_point(|word| word.end <= start);
        self.words[..upto].last().filter(|word| word.start >= floor).map_or(0, |word| word.bits)
    }

    /// All bits of the words before the value on its line.
    pub fn before(&self, start: usize) -> u64 {
        let floor = self.reach(start);
        let upto = self.words.partition_point(|word| word.end <= start);
        self.words[..upto].iter().rev().take_while(|word| word.start >= floor).fold(0, |all, word| all | word.bits)
    }
}
