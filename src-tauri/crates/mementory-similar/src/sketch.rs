//! Sketches: a few bytes for each text that are enough to find texts with much in common.
use crate::{Form, form::TokenKind};
use mementory_crypto::{KeyedHasher, keyed_digest};
use std::collections::HashMap;

/// How many minimal hashes a sketch has.
pub(crate) const ROWS: usize = 128;
const DIGEST_LEN: usize = 16;
/// Version of the sketch format and of the shingles it is made of.
const VERSION: u8 = 1;

/// The key for sketches. Two vaults have different sketches of the same text.
pub struct Key(KeyedHasher);

impl Key {
    /// Derives the key from 32 secret bytes, a subkey of the vault's master key.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(KeyedHasher::new(&keyed_digest(secret, &[b"similar", &[VERSION]])))
    }

    fn digest(&self, bytes: &[&[u8]]) -> [u8; 32] {
        let mut hasher = self.0.clone();
        bytes.iter().for_each(|part| hasher.update(part));
        hasher.finish()
    }

    fn number(&self, bytes: &[&[u8]]) -> u64 {
        self.digest(bytes).iter().take(8).fold(0, |n, byte| n << 8 | u64::from(*byte))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// The sketch of a text: a keyed digest of the folded text, and the minima of its keyed shingles under 128 hash
/// functions. Equal texts have equal sketches, so sketches are stored encrypted. Without the key they reveal no word.
#[derive(Clone, PartialEq, Eq)]
pub struct Sketch {
    digest: [u8; DIGEST_LEN],
    rows: [u16; ROWS],
}

impl std::fmt::Debug for Sketch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sketch")
    }
}

impl Sketch {
    /// Length of a stored sketch in bytes.
    pub const LEN: usize = 1 + DIGEST_LEN + 2 * ROWS;

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[0] = VERSION;
        out[1..=DIGEST_LEN].copy_from_slice(&self.digest);
        for (to, row) in out[1 + DIGEST_LEN..].chunks_exact_mut(2).zip(&self.rows) {
            to.copy_from_slice(&row.to_le_bytes());
        }
        out
    }

    /// Reads the stored form. `None` for another length or version: make a new sketch of the text.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::LEN || bytes[0] != VERSION {
            return None;
        }
        let digest = bytes[1..=DIGEST_LEN].try_into().ok()?;
        let mut rows = [0; ROWS];
        for (row, from) in rows.iter_mut().zip(bytes[1 + DIGEST_LEN..].chunks_exact(2)) {
            *row = u16::from_le_bytes([from[0], from[1]]);
        }
        Some(Self { digest, rows })
    }

    /// True if the texts are equal after folding.
    pub fn same_text(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    /// Estimate of the Jaccard similarity of the texts' shingles, accurate to about a tenth.
    pub fn estimate(&self, other: &Self) -> f32 {
        self.rows.iter().zip(&other.rows).filter(|(a, b)| a == b).count() as f32 / ROWS as f32
    }

    pub(crate) fn rows(&self) -> &[u16; ROWS] {
        &self.rows
    }
}

/// How many shingles are cached with their keyed numbers while many texts are sketched.
const CACHE_SIZE: usize = 1 << 18;

/// The sketch of a text under a key.
pub fn sketch(key: &Key, text: &str) -> Sketch {
    sketch_with(key, &Form::new(text), &mut HashMap::new())
}

/// The sketches of many forms. Faster than single calls, because texts of one language share most shingles.
pub fn sketches(key: &Key, forms: &[Form]) -> Vec<Sketch> {
    let mut known = HashMap::new();
    forms.iter().map(|form| sketch_with(key, form, &mut known)).collect()
}

fn sketch_with(key: &Key, form: &Form, known: &mut HashMap<Vec<u8>, u64>) -> Sketch {
    let full = key.digest(&[b"text", form.canonical().as_bytes()]);
    let mut digest = [0; DIGEST_LEN];
    digest.copy_from_slice(&full[..DIGEST_LEN]);
    let mut least = [u32::MAX; ROWS];
    // From the folded text, so that texts that are equal after folding have equal sketches despite their capitals.
    for shingle in shingles(&Form::new(form.canonical())) {
        let number = match known.get(&shingle) {
            Some(number) => *number,
            None => {
                let number = key.number(&[b"part", &shingle]);
                if known.len() < CACHE_SIZE {
                    known.insert(shingle, number);
                }
                number
            }
        };
        // A cheap family of hash functions from one keyed number. It is good enough to find candidates, which are then
        // compared word by word.
        let mut step = number;
        for place in &mut least {
            step = step.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (step ^ (step >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *place = (*place).min((mixed >> 32) as u32);
        }
    }
    Sketch { digest, rows: least.map(|n| (n & 0xffff) as u16) }
}

/// The exact Jaccard similarity of two texts' shingles.
pub fn jaccard(a: &Form, b: &Form) -> f32 {
    let (a, b) = (shingles(&Form::new(a.canonical())), shingles(&Form::new(b.canonical())));
    let both = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count();
    let any = a.len() + b.len() - both;
    if any == 0 { 1.0 } else { both as f32 / any as f32 }
}

/// The set of a text's shingles, sorted: three consecutive letters of each word, including its borders; in scripts
/// without spaces each character and each two in a row; decisive words as a whole. The order of words makes no
/// difference.
fn shingles(form: &Form) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(form.tokens().len() * 6);
    let mut before: Option<&str> = None;
    for token in form.tokens() {
        let word = form.word(token);
        match token.kind {
            TokenKind::Decisive | TokenKind::Emoji => out.push(token.hash.to_le_bytes().to_vec()),
            TokenKind::Char => {
                out.push(word.as_bytes().to_vec());
                out.extend(before.map(|before| format!("{before}{word}").into_bytes()));
            }
            TokenKind::Word | TokenKind::SentenceStart | TokenKind::Name => {
                let mut borders: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
                borders.push(word.len());
                out.push(format!("^{}", &word[..borders[2.min(borders.len() - 1)]]).into_bytes());
                out.extend(borders.windows(4).map(|w| word.as_bytes()[w[0]..w[3]].to_vec()));
                out.push(format!("{}$", &word[borders[borders.len().saturating_sub(3)]..]).into_bytes());
            }
        }
        before = (token.kind == TokenKind::Char).then_some(word);
    }
    out.sort_unstable();
    out.dedup();
    out
}
