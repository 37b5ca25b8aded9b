//! A Bloom filter that rules out most pieces of a file in one pass, so that few pieces have to be searched for in the
//! erased texts.

/// Length in bytes of the windows (substrings) that are in the filter.
const WINDOW_BYTES: usize = 8;
/// Number of bits of the filter for each byte of the texts.
const BITS_PER_BYTE: usize = 8;
/// Smallest and largest number of bits of the filter.
const BIT_COUNTS: (usize, usize) = (1 << 10, 1 << 30);

/// A bit for each window of the texts. Two windows may share a bit, so false positives are possible.
pub(super) struct WindowFilter {
    bits: Vec<u64>,
    /// Number of bits by which a hash is shifted to the right to get the index of a bit.
    shift: u32,
}

impl WindowFilter {
    pub(super) fn new(texts: &[u8]) -> Self {
        let (fewest, most) = BIT_COUNTS;
        let count = texts.len().saturating_mul(BITS_PER_BYTE).clamp(fewest, most).next_power_of_two();
        let mut filter = Self { bits: vec![0; count / 64], shift: u64::BITS - count.trailing_zeros() };
        for window in texts.windows(WINDOW_BYTES) {
            let bit = filter.bit_of(window);
            if let Some(bits) = filter.bits.get_mut(bit / 64) {
                *bits |= 1 << (bit % 64);
            }
        }
        filter
    }

    /// True if one of the texts may contain the piece. False if none of the texts contains it.
    pub(super) fn may_contain(&self, piece: &str) -> bool {
        piece.as_bytes().windows(WINDOW_BYTES).all(|window| {
            let bit = self.bit_of(window);
            self.bits.get(bit / 64).is_some_and(|bits| (bits >> (bit % 64)) & 1 == 1)
        })
    }

    fn bit_of(&self, window: &[u8]) -> usize {
        let number = <[u8; WINDOW_BYTES]>::try_from(window).map_or(0, u64::from_le_bytes);
        (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_of_a_text_passes() {
        let text = "The old key is under the shed. Müller knows the way there.";
        let filter = WindowFilter::new(text.as_bytes());
        let mut pieces = text.char_indices().map(|(at, _)| &text[at..]).chain(["", "key", "under the"]);
        assert!(pieces.all(|piece| filter.may_contain(piece)));
        assert!(!filter.may_contain("Some other words that are not in it."));
    }
}
