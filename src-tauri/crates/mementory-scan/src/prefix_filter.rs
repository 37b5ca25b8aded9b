//! Rules out the positions of a text at which no literal starts. An automaton goes from state to state, so it has to
//! wait for memory at each byte. The filter examines each position independently, which is several times as fast.

/// Number of bytes that are compared with the beginnings of the literals.
const PREFIX_BYTES: usize = 3;
/// Number of bits of an index into the filter. With 2^17 bits, the filter fits into the first-level cache.
const INDEX_BITS: u32 = 17;

/// The hashed beginnings of a set of literals.
pub(crate) struct PrefixFilter {
    bits: Vec<u64>,
}

impl PrefixFilter {
    /// A filter for these literals, each with true if it is case-sensitive. For the others, the case of ASCII letters
    /// is ignored.
    pub(crate) fn new<'l>(literals: impl Iterator<Item = (&'l str, bool)>) -> Self {
        let mut bits = vec![0; 1 << (INDEX_BITS - 6)];
        for (literal, is_case_sensitive) in literals {
            let mut prefixes = vec![0];
            for at in 0..PREFIX_BYTES {
                let choices = match literal.as_bytes().get(at) {
                    Some(byte) if is_case_sensitive => vec![*byte],
                    Some(byte) => vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()],
                    // Anything may follow a shorter literal.
                    None => (0..=u8::MAX).collect(),
                };
                let with_choice = |prefix: &u32| {
                    let prefix = *prefix;
                    choices.iter().map(move |byte| prefix | u32::from(*byte) << (8 * at))
                };
                prefixes = prefixes.iter().flat_map(with_choice).collect();
            }
            for prefix in prefixes {
                let index = index_of(prefix);
                bits[index / 64] |= 1 << (index % 64);
            }
        }
        Self { bits }
    }

    /// The first position from `at` at which a literal may start. None if `at` is the end of the text.
    pub(crate) fn next_candidate(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let may_start = |prefix: &[u8]| {
            let index = index_of(u32::from_le_bytes([prefix[0], prefix[1], prefix[2], 0]));
            self.bits[index / 64] & 1 << (index % 64) != 0
        };
        let found = rest.windows(PREFIX_BYTES).position(may_start);
        // A shorter literal may start at the last bytes.
        Some(at + found.unwrap_or(rest.len().saturating_sub(PREFIX_BYTES - 1)))
    }
}

fn index_of(prefix: u32) -> usize {
    // The upper bits of the product depend on all bits of the prefix (Knuth's multiplicative hashing).
    (prefix.wrapping_mul(0x9E37_79B1) >> (u32::BITS - INDEX_BITS)) as usize
}
