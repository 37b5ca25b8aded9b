//! Normalises a text in the same way as the texts from which the vocabulary was built. Characters are replaced
//! according to a table (NFKC and more). A single `▁` represents the spaces between two words, and another one precedes
//! the first word.

/// The character that represents a space in pieces.
const SPACE: &str = "\u{2581}";

/// The table of replacements: a double-array trie over bytes, and the replacements that its leaves point to.
pub struct Normalizer {
    units: Vec<u32>,
    replacements: Vec<u8>,
}

impl Normalizer {
    /// Reads a table: the length of the trie in bytes, the trie, then the replacements, each terminated by a zero byte.
    pub fn new(table: &[u8]) -> Option<Self> {
        let (length, after_length) = table.split_first_chunk::<4>()?;
        let (trie, replacements) = after_length.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let units = trie.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        Some(Self { units, replacements: replacements.to_vec() })
    }

    /// The normalised text. Empty if the text has nothing but spaces.
    pub fn normalize(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + text.len() / 4 + SPACE.len());
        let mut remaining = text;
        // A space is written only together with the word that follows it, so that the result does not end with a space.
        let mut is_space_pending = true;
        while !remaining.is_empty() {
            let (replacement, consumed) = self.first_replacement(remaining);
            remaining = remaining.get(consumed..).unwrap_or("");
            for c in replacement.chars() {
                if c == ' ' {
                    is_space_pending = true;
                } else {
                    if std::mem::take(&mut is_space_pending) {
                        out.push_str(SPACE);
                    }
                    out.push(c);
                }
            }
        }
        out
    }

    /// The replacement for the longest prefix of `text` that has one, and the length of that prefix in bytes. If no
    /// prefix has a replacement, the first character and its length.
    fn first_replacement<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        let char_len = text.chars().next().map_or(0, char::len_utf8);
        let unchanged = (text.get(..char_len).unwrap_or(""), char_len);
        let Some((value, length)) = self.longest_key(text.as_bytes()) else { return unchanged };
        let Some(bytes) = self.replacements.get(value..) else { return unchanged };
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        match (std::str::from_utf8(bytes.get(..end).unwrap_or(&[])), text.is_char_boundary(length)) {
            (Ok(replacement), true) => (replacement, length),
            _ => unchanged,
        }
    }

    /// Value and length of the longest key that is a prefix of `bytes`. A unit of the trie contains its label in the
    /// low byte, a bit that is set if a key ends there, and the offset of its children.
    fn longest_key(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let offset = |unit: u32| ((unit >> 10) << ((unit & 0x200) >> 6)) as usize;
        let mut node = offset(*self.units.first()?);
        let mut longest = None;
        for (index, byte) in bytes.iter().enumerate() {
            node ^= usize::from(*byte);
            let Some(unit) = self.units.get(node).copied() else { break };
            if unit & 0x8000_00ff != u32::from(*byte) {
                break;
            }
            node ^= offset(unit);
            if unit & 0x100 != 0 {
                let value = self.units.get(node).map_or(0, |leaf| leaf & 0x7fff_ffff);
                longest = Some((value as usize, index + 1));
            }
        }
        longest
    }
}
