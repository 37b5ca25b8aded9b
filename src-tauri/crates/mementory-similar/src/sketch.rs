//! Sketches: a fixed number of bytes for a text, by which texts with much in common are found without reading them.
use crate::{Form, form::What};
use mementory_crypto::{KeyedHasher, keyed_digest};
use std::collections::HashMap;

/// Smallest hashes that a sketch keeps.
pub(crate) const ROWS: usize = 128;
const DIGEST_LEN: usize = 16;
/// What the sketch of a text is made of changes with this number.
const VERSION: u8 = 1;

/// The key sketches are made under. Two vaults make different sketches of the same text.
pub struct Key(KeyedHasher);

impl Key {
    /// From 32 secret bytes, a subkey of the vault's master key.
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

/// A text's sketch: a keyed digest of the folded text, and the smallest of its keyed shingles under 128 orders. Equal
/// texts have equal sketches, so it is stored encrypted like everything else; without the key it names no word.
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
    /// Bytes of a stored sketch.
    pub const LEN: usize = 1 + DIGEST_LEN + 2 * ROWS;

    /// As it is stored.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[0] = VERSION;
        out[1..=DIGEST_LEN].copy_from_slice(&self.digest);
        for (to, row) in out[1 + DIGEST_LEN..].chunks_exact_mut(2).zip(&self.rows) {
            to.copy_from_slice(&row.to_le_bytes());
        }
        out
    }

    /// From what was stored; None for another length or an older way of making them: sketch the text again.
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

    /// True when the texts are equal after folding.
    pub fn same_text(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    /// Jaccard similarity of the two texts' shingles as the sketches tell it, within a tenth or so.
    pub fn estimate(&self, other: &Self) -> f32 {
        self.rows.iter().zip(&other.rows).filter(|(a, b)| a == b).count() as f32 / ROWS as f32
    }

    pub(crate) fn rows(&self) -> &[u16; ROWS] {
        &self.rows
    }
}

/// Shingles whose keyed numbers are remembered while many texts are sketched.
const REMEMBERED: usize = 1 << 18;

/// A text's sketch under a key.
pub fn sketch(key: &Key, text: &str) -> Sketch {
    sketch_with(key, &Form::new(text), &mut HashMap::new())
}

/// The sketches of many forms. Faster than one by one: texts of one language share most shingles.
pub fn sketches(key: &Key, forms: &[Form]) -> Vec<Sketch> {
    let mut known = HashMap::new();
    forms.iter().map(|form| sketch_with(key, form, &mut known)).collect()
}

fn sketch_with(key: &Key, form: &Form, known: &mut HashMap<Vec<u8>, u64>) -> Sketch {
    let full = key.digest(&[b"text", form.canonical().as_bytes()]);
    let mut digest = [0; DIGEST_LEN];
    digest.copy_from_slice(&full[..DIGEST_LEN]);
    let mut least = [u32::MAX; ROWS];
    // Of the folded text, so that texts that are equal after folding have one sketch, whatever their capitals say.
    for shingle in shingles(&Form::new(form.canonical())) {
        let number = match known.get(&shingle) {
            Some(number) => *number,
            None => {
                let number = key.number(&[b"part", &shingle]);
                if known.len() < REMEMBERED {
                    known.insert(shingle, number);
                }
                number
            }
        };
        // Orders of one keyed number, each mixed anew: a cheap family that is good enough to find candidates, which are
        // then compared word by word.
        let mut step = number;
        for place in &mut least {
            step = step.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (step ^ (step >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *place = (*place).min((mixed >> 32) as u32);
        }
    }
    Sketch { digest, rows: least.map(|n| (n & 0xffff) as u16) }
}

/// Jaccard similarity of two texts' shingles, exactly.
pub fn jaccard(a: &Form, b: &Form) -> f32 {
    let (a, b) = (shingles(&Form::new(a.canonical())), shingles(&Form::new(b.canonical())));
    let both = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count();
    let any = a.len() + b.len() - both;
    if any == 0 { 1.0 } else { both as f32 / any as f32 }
}

/// The set of a text's shingles, sorted: three letters in a row of each word, its borders included; of scripts without
/// spaces each character and each two in a row; what decides, as a whole. The order of words makes no difference.
fn shingles(form: &Form) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(form.tokens().len() * 6);
    let mut before: Option<&str> = None;
    for token in form.tokens() {
        let word = form.word(token);
        match token.what {
            What::Hard | What::Picture => out.push(token.hash.to_le_bytes().to_vec()),
            What::Char => {
                out.push(word.as_bytes().to_vec());
                out.extend(before.map(|before| format!("{before}{word}").into_bytes()));
            }
            What::Word | What::Start | What::Name => {
                let mut borders: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
                borders.push(word.len());
                out.push(format!("^{}", &word[..borders[2.min(borders.len() - 1)]]).into_bytes());
                out.extend(borders.windows(4).map(|w| word.as_bytes()[w[0]..w[3]].to_vec()));
                out.push(format!("{}$", &word[borders[borders.len().saturating_sub(3)]..]).into_bytes());
            }
        }
        before = (token.what == What::Char).then_some(word);
    }
    out.sort_unstable();
    out.dedup();
    out
}
