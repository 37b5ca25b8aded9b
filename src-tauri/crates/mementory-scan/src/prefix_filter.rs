//! Rules out the positions of a text at which no literal starts. An automaton needs the state before each byte, so it
//! waits for memory at every byte. The filter examines each position independently and is several times as fast.

/// Number of bytes that are compared with the beginnings of the literals.
const PREFIX_BYTES: usize = 3;
/// The bytes of a prefix in a word of four bytes.
const PREFIX_MASK: u32 = 0x00FF_FFFF;
/// Number of bits of an index into a table. With 2^17 bits, a table fits into the first-level cache.
const INDEX_BITS: u32 = 17;
/// Odd numbers for two hashes that are independent of each other.
const MULTIPLIERS: [u32; 2] = [0x9E37_79B1, 0x85EB_CA6B];

/// The hashed beginnings of a set of literals. The second hash is computed only for the few percent of the positions
/// that pass the first hash, and rules out most of these positions.
pub(crate) struct PrefixFilter {
    tables: [Vec<u64>; MULTIPLIERS.len()],
}

impl PrefixFilter {
    /// Makes a filter for these literals. The flag is true for a case-sensitive literal. For the others, the case of
    /// ASCII letters is ignored.
    pub(crate) fn new<'l>(literals: impl Iterator<Item = (&'l str, bool)>) -> Self {
        let mut tables = MULTIPLIERS.map(|_| vec![0; 1 << (INDEX_BITS - 6)]);
        for (literal, is_case_sensitive) in literals {
            let mut prefixes = vec![0];
            for position in 0..PREFIX_BYTES {
                let choices = match literal.as_bytes().get(position) {
                    Some(byte) if is_case_sensitive => vec![*byte],
                    Some(byte) => vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()],
                    // Anything may follow a shorter literal.
                    None => (0..=u8::MAX).collect(),
                };
                let with_choice = |prefix: &u32| {
                    let prefix = *prefix;
                    choices.iter().map(move |byte| prefix | u32::from(*byte) << (8 * position))
                };
                prefixes = prefixes.iter().flat_map(with_choice).collect();
            }
            for prefix in prefixes {
                for (table, multiplier) in tables.iter_mut().zip(MULTIPLIERS) {
                    let index = index_of(prefix, multiplier);
                    table[index / 64] |= 1 << (index % 64);
                }
            }
        }
        Self { tables }
    }

    /// The first position from `position` at which a literal may start. None if `position` is the end of the text.
    pub(crate) fn next_candidate(&self, bytes: &[u8], position: usize) -> Option<usize> {
        let rest = bytes.get(position..).filter(|rest| !rest.is_empty())?;
        // Four bytes are read at once and the last is ignored, because that is faster than reading three.
        let may_start = |word: &[u8]| {
            let word: [u8; PREFIX_BYTES + 1] = word.try_into().unwrap_or_default();
            self.may_begin_with(u32::from_le_bytes(word) & PREFIX_MASK)
        };
        let found = rest.windows(PREFIX_BYTES + 1).position(may_start);
        // The last bytes are too few for a window, so a literal may start there.
        Some(position + found.unwrap_or(rest.len().saturating_sub(PREFIX_BYTES)))
    }

    fn may_begin_with(&self, prefix: u32) -> bool {
        self.tables.iter().zip(MULTIPLIERS).all(|(table, multiplier)| {
            let index = index_of(prefix, multiplier);
            table[index / 64] & 1 << (index % 64) != 0
        })
    }
}

fn index_of(prefix: u32, multiplier: u32) -> usize {
    // The upper bits of the product depend on all bits of the prefix (Knuth's multiplicative hashing).
    (prefix.wrapping_mul(multiplier) >> (u32::BITS - INDEX_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Literals, each with true if it is case-sensitive.
    const LITERALS: [(&str, bool); 6] =
        [("api_key", false), ("pw", false), ("AKIA", true), ("ODk", true), ("\u{ed0}", false), ("1/", true)];

    fn candidates(text: &str) -> Vec<usize> {
        let filter = PrefixFilter::new(LITERALS.into_iter());
        let next = |position: usize| filter.next_candidate(text.as_bytes(), position);
        std::iter::successors(next(0), |position| next(position + 1)).collect()
    }

    proptest! {
        #[test]
        fn no_literal_is_skipped(
            before in "[a-zA-Z0-9 \u{e9}]{0,9}",
            which in 0..LITERALS.len(),
            is_upper: bool,
            after in "[a-zA-Z0-9 \u{e9}]{0,9}",
        ) {
            let (literal, is_case_sensitive) = LITERALS[which];
            let literal = if is_upper && !is_case_sensitive { literal.to_ascii_uppercase() } else { literal.into() };
            let text = format!("{before}{literal}{after}");
            prop_assert!(candidates(&text).contains(&before.len()), "{} in {}", literal, text);
        }
    }

    #[test]
    fn most_positions_are_ruled_out() {
        let text = "The harbour was quiet, and nobody had asked for the way to the old mill. ".repeat(20);
        assert!(candidates(&text).len() < text.len() / 50, "{}", candidates(&text).len());
    }
}
