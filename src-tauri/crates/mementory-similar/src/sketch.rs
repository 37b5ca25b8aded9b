//! Sketches: a few bytes for each text, used to find texts with much in common without comparing all pairs.
use crate::{Form, form::TokenKind};
use mementory_crypto::{KeyedHasher, keyed_digest};
use std::collections::HashMap;

/// Number of minima in a sketch, one for each hash function.
pub(crate) const ROW_COUNT: usize = 128;
const DIGEST_BYTES: usize = 16;
/// Version of the sketch format, including the way in which shingles are formed.
const SKETCH_VERSION: u8 = 1;

/// The key for sketches, so that the sketches of a text differ between vaults.
pub struct Key(KeyedHasher);

impl Key {
    /// Derives the key from 32 secret bytes, which are a subkey of the vault's master key.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(KeyedHasher::new(&keyed_digest(secret, &[b"similar", &[SKETCH_VERSION]])))
    }

    fn keyed_digest_of(&self, bytes: &[&[u8]]) -> [u8; 32] {
        let mut hasher = self.0.clone();
        bytes.iter().for_each(|part| hasher.update(part));
        hasher.finish()
    }

    fn keyed_number_of(&self, bytes: &[&[u8]]) -> u64 {
        self.keyed_digest_of(bytes).iter().take(8).fold(0, |n, byte| n << 8 | u64::from(*byte))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// The sketch of a text: a keyed digest of the folded text, and the minima of its keyed shingles under 128 hash
/// functions. Without the key, a sketch reveals no word. But texts that are equal after folding have equal sketches, so
/// sketches must be stored encrypted.
#[derive(Clone, PartialEq, Eq)]
pub struct Sketch {
    digest: [u8; DIGEST_BYTES],
    rows: [u16; ROW_COUNT],
}

impl std::fmt::Debug for Sketch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sketch")
    }
}

impl Sketch {
    /// Length of a stored sketch in bytes.
    pub const LEN: usize = 1 + DIGEST_BYTES + 2 * ROW_COUNT;

    /// The sketch as bytes for storage.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[0] = SKETCH_VERSION;
        out[1..=DIGEST_BYTES].copy_from_slice(&self.digest);
        for (to, row) in out[1 + DIGEST_BYTES..].chunks_exact_mut(2).zip(&self.rows) {
            to.copy_from_slice(&row.to_le_bytes());
        }
        out
    }

    /// Reads a stored sketch. `None` if it has a different length or version, so that a new sketch is needed.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::LEN || bytes[0] != SKETCH_VERSION {
            return None;
        }
        let digest = bytes[1..=DIGEST_BYTES].try_into().ok()?;
        let mut rows = [0; ROW_COUNT];
        for (row, row_bytes) in rows.iter_mut().zip(bytes[1 + DIGEST_BYTES..].chunks_exact(2)) {
            *row = u16::from_le_bytes([row_bytes[0], row_bytes[1]]);
        }
        Some(Self { digest, rows })
    }

    /// True if the texts are equal after folding.
    pub fn same_text(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    /// Estimates the Jaccard similarity of the texts' shingles, with an error of about 0.1.
    pub fn estimate_similarity(&self, other: &Self) -> f32 {
        self.rows.iter().zip(&other.rows).filter(|(a, b)| a == b).count() as f32 / ROW_COUNT as f32
    }

    pub(crate) fn rows(&self) -> &[u16; ROW_COUNT] {
        &self.rows
    }
}

/// Number of shingles whose keyed numbers are cached while many texts are sketched.
const MAX_CACHED_SHINGLES: usize = 1 << 18;

/// Creates the sketch of a text.
pub fn sketch(key: &Key, text: &str) -> Sketch {
    sketch_with_cache(key, &Form::new(text), &mut HashMap::new())
}

/// Creates the sketches of many forms. This is faster than single calls, because texts in one language share many
/// shingles.
pub fn sketches(key: &Key, forms: &[Form]) -> Vec<Sketch> {
    let mut cached_numbers = HashMap::new();
    forms.iter().map(|form| sketch_with_cache(key, form, &mut cached_numbers)).collect()
}

fn sketch_with_cache(key: &Key, form: &Form, cached_numbers: &mut HashMap<Vec<u8>, u64>) -> Sketch {
    let full_digest = key.keyed_digest_of(&[b"text", form.canonical().as_bytes()]);
    let mut digest = [0; DIGEST_BYTES];
    digest.copy_from_slice(&full_digest[..DIGEST_BYTES]);
    let mut minima = [u32::MAX; ROW_COUNT];
    // The shingles are formed from the folded text, so that texts that differ only in capitals have equal sketches.
    for shingle in shingles(&Form::new(form.canonical())) {
        let number = match cached_numbers.get(&shingle) {
            Some(number) => *number,
            None => {
                let number = key.keyed_number_of(&[b"part", &shingle]);
                if cached_numbers.len() < MAX_CACHED_SHINGLES {
                    cached_numbers.insert(shingle, number);
                }
                number
            }
        };
        // All hash functions are derived from one keyed number. This is fast, and accurate enough for finding
        // candidates, which are then compared word by word.
        let mut step = number;
        for place in &mut minima {
            step = step.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (step ^ (step >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *place = (*place).min((mixed >> 32) as u32);
        }
    }
    Sketch { digest, rows: minima.map(|n| (n & 0xffff) as u16) }
}

/// The exact Jaccard similarity of the shingles of two texts.
pub fn jaccard(a: &Form, b: &Form) -> f32 {
    let (a, b) = (shingles(&Form::new(a.canonical())), shingles(&Form::new(b.canonical())));
    let common_count = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count();
    let union_count = a.len() + b.len() - common_count;
    if union_count == 0 { 1.0 } else { common_count as f32 / union_count as f32 }
}

/// The sorted set of a text's shingles:
/// - for a word, all groups of three consecutive characters, where the beginning and the end of the word count as
///   characters;
/// - for a script without spaces, all single characters and all pairs of consecutive characters;
/// - for a decisive word or an emoji, the whole word.
///
/// Words in scripts with spaces may be in any order.
fn shingles(form: &Form) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(form.tokens().len() * 6);
    let mut previous_char: Option<&str> = None;
    for token in form.tokens() {
        let word = form.word(token);
        match token.kind {
            TokenKind::Decisive | TokenKind::Emoji => out.push(token.hash.to_le_bytes().to_vec()),
            TokenKind::Char => {
                out.push(word.as_bytes().to_vec());
                out.extend(previous_char.map(|previous_char| format!("{previous_char}{word}").into_bytes()));
            }
            TokenKind::Word | TokenKind::SentenceStart | TokenKind::Name => {
                let mut borders: Vec<usize> = word.char_indices().map(|(position, _)| position).collect();
                borders.push(word.len());
                out.push(format!("^{}", &word[..borders[2.min(borders.len() - 1)]]).into_bytes());
                out.extend(borders.windows(4).map(|w| word.as_bytes()[w[0]..w[3]].to_vec()));
                out.push(format!("{}$", &word[borders[borders.len().saturating_sub(3)]..]).into_bytes());
            }
        }
        previous_char = (token.kind == TokenKind::Char).then_some(word);
    }
    out.sort_unstable();
    out.dedup();
    out
}
