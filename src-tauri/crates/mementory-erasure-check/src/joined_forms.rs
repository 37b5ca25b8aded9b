//! The plain and escaped forms of the texts, joined and indexed so that pieces of files can be looked up in them.
use memchr::memmem;

/// Length in bytes of the windows (substrings) by which the filter rules out most pieces.
const WINDOW_BYTES: usize = 8;
/// Smallest and largest size of the filter in bytes.
const FILTER_BYTES: (usize, usize) = (1 << 8, 1 << 27);

/// The forms, each followed by a zero byte, and a Bloom filter with a bit for each window. If the bit of one window of
/// a piece is not set, no form contains the piece, and no search is needed.
pub(crate) struct JoinedForms {
    bytes: Vec<u8>,
    bits: Vec<u8>,
}

impl JoinedForms {
    pub(crate) fn new<'f>(forms: impl Iterator<Item = &'f Vec<u8>>) -> Self {
        let bytes: Vec<u8> = forms.flat_map(|form| form.iter().copied().chain([0])).collect();
        let (min_bytes, max_bytes) = FILTER_BYTES;
        let mut bits = vec![0; bytes.len().clamp(min_bytes, max_bytes).next_power_of_two()];
        for window in bytes.windows(WINDOW_BYTES) {
            let (position, bit) = place_of(window, bits.len());
            if let Some(byte) = bits.get_mut(position) {
                *byte |= bit;
            }
        }
        Self { bytes, bits }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The positions of the piece in the forms, without overlapping matches.
    pub(crate) fn positions<'p>(&'p self, piece: &'p [u8]) -> impl Iterator<Item = usize> + 'p {
        let positions = self.may_contain(piece).then(|| memmem::find_iter(&self.bytes, piece));
        positions.into_iter().flatten()
    }

    fn may_contain(&self, piece: &[u8]) -> bool {
        piece.windows(WINDOW_BYTES).all(|window| {
            let (position, bit) = place_of(window, self.bits.len());
            self.bits.get(position).is_some_and(|byte| byte & bit != 0)
        })
    }
}

/// Index of the byte, and mask of the bit in it, that the filter uses for a window. Both are derived from the window's
/// FNV hash. `length` is a power of two.
fn place_of(window: &[u8], length: usize) -> (usize, u8) {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = window.iter().fold(0xcbf2_9ce4_8422_2325, mix);
    ((hash >> 3) as usize & (length - 1), 1 << (hash & 7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suffix_of_a_text_is_found() {
        let forms = [b"The key is under the stone.".to_vec(), b"Tell nobody.".to_vec()];
        let joined = JoinedForms::new(forms.iter());
        for piece in forms.iter().flat_map(|form| (0..form.len()).filter_map(move |position| form.get(position..))) {
            assert!(joined.positions(piece).next().is_some(), "{piece:?}");
        }
        assert_eq!(joined.positions(b"nobody").collect::<Vec<_>>(), [33]);
        for piece in [&b"Some other words"[..], b"stone.Tell", b"the stones are red"] {
            assert_eq!(joined.positions(piece).next(), None, "{piece:?}");
        }
    }
}
