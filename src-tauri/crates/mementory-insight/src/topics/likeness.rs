//! How alike each two texts are in meaning, words and kind.
use super::Edges;
use crate::{fitted, kinds::AboutKind};

/// Nearest texts of each text that are kept.
const KEPT: usize = 16;
/// Nearest texts whose mean likeness is what is usual for a text. Some texts are like everything a little.
const USUAL: usize = 10;
/// Most texts whose vectors are compared, each with each other. The time grows with the square of their number.
pub(super) const MAX_COMPARED: usize = 3000;
/// What shared words and the same kind add, by search on the development half of labelled memories.
const WORDS: f32 = 0.3;
const KIND: f32 = 0.3;
/// Texts less alike than this have nothing in common, however far all others are.
const MIN_LIKENESS: f32 = 0.25;
/// Texts more alike than this belong together, however many others are as near.
const SURE: f32 = 0.8;

const KINDS: usize = AboutKind::ALL.len();

struct Texts<'v> {
    vectors: &'v [Vec<f32>],
    /// Roots of the probabilities of kinds.
    kinds: Vec<[f32; KINDS]>,
    by_words: &'v Edges,
}

/// Pairs of texts with their likeness, as far as it is above what is usual for both. 0 is usual.
pub(super) fn pairs(texts: &[&str], vectors: &[Vec<f32>], by_words: &Edges) -> Edges {
    let kinds = texts.iter().zip(vectors).map(|(text, vector)| fitted::kind_roots(text, vector)).collect();
    let all = Texts { vectors, kinds, by_words };
    let mut nearest: Vec<Vec<(f32, usize)>> = vec![Vec::new(); texts.len()];
    for a in 0..texts.len() {
        for b in a + 1..texts.len() {
            all.offer(&mut nearest, a, b);
        }
    }
    let usual: Vec<f32> = nearest.iter().map(|list| mean(list)).collect();
    let mut out = Edges::new();
    for (a, list) in nearest.iter().enumerate() {
        for (likeness, b) in list.iter().filter(|(likeness, _)| *likeness >= MIN_LIKENESS) {
            let above = likeness - (usual[a] + usual[*b]) / 2.0;
            out.insert((a.min(*b), a.max(*b)), above.max(likeness - SURE));
        }
    }
    out
}

fn mean(list: &[(f32, usize)]) -> f32 {
    let count = list.len().min(USUAL);
    list.iter().take(count).map(|(likeness, _)| likeness).sum::<f32>() / count.max(1) as f32
}

impl Texts<'_> {
    fn likeness(&self, a: usize, b: usize) -> f32 {
        let kind: f32 = self.kinds[a].iter().zip(&self.kinds[b]).map(|(x, y)| x * y).sum();
        let words = self.by_words.get(&(a.min(b), a.max(b))).copied().unwrap_or_default();
        dot(&self.vectors[a], &self.vectors[b]) + KIND * (kind - 0.5) + WORDS * words
    }

    fn offer(&self, nearest: &mut [Vec<(f32, usize)>], a: usize, b: usize) {
        let likeness = self.likeness(a, b);
        for (n, other) in [(a, b), (b, a)] {
            let list = &mut nearest[n];
            if list.len() == KEPT && list.last().is_some_and(|(least, _)| *least >= likeness) {
                continue;
            }
            let at = list.partition_point(|(known, _)| *known >= likeness);
            list.insert(at, (likeness, other));
            list.truncate(KEPT);
        }
    }
}

/// Sum of products; 0 if a text has no vector.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums at a time, since one running sum keeps the compiler from using wide registers.
    let mut sums = [0f32; 8];
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum()
}
