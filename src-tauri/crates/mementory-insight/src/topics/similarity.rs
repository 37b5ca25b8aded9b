//! Computes how similar each pair of texts is in meaning, words and kind (what a text is about, see [`AboutKind`]).
use super::Edges;
use crate::{fitted, kinds::AboutKind};

/// Number of texts that are stored as the neighbours of a text: the most similar ones.
const MAX_NEIGHBOURS: usize = 16;
/// Number of the most similar texts whose mean similarity is the usual similarity of a text. Some texts are slightly
/// similar to all others, so the similarity of two texts is compared with the usual similarity of each.
const USUAL_NEAREST_COUNT: usize = 10;
/// If there are more texts than this, their vectors are not compared. Every text is compared with every other, so the
/// time grows with the square of the number of texts.
pub(super) const MAX_COMPARED_TEXTS: usize = 3000;
/// Weights of shared words and of an equal kind in the similarity. They were tuned on the development half of the
/// labelled memories.
const SHARED_WORDS_WEIGHT: f32 = 0.3;
const SAME_KIND_WEIGHT: f32 = 0.3;
/// If their similarity is below this, two texts have nothing in common, even if they are more similar to each other
/// than to all other texts.
const MIN_SIMILARITY: f32 = 0.25;
/// If their similarity is above this, two texts count as similar, even if many other texts are just as similar to them.
const SURE_SIMILARITY: f32 = 0.8;

const KIND_COUNT: usize = AboutKind::ALL.len();

struct Texts<'v> {
    vectors: &'v [Vec<f32>],
    /// For each text, the square root of the probability of each kind.
    kinds: Vec<[f32; KIND_COUNT]>,
    by_words: &'v Edges,
}

/// Returns the pairs of similar texts, each with the amount by which their similarity exceeds the usual similarity of
/// the two texts. For a very high similarity, the amount is at least the difference from `SURE_SIMILARITY`.
pub(super) fn pairs(texts: &[&str], vectors: &[Vec<f32>], by_words: &Edges) -> Edges {
    let kinds = texts.iter().zip(vectors).map(|(text, vector)| fitted::kind_roots(text, vector)).collect();
    let all = Texts { vectors, kinds, by_words };
    let mut nearest: Vec<Vec<(f32, usize)>> = vec![Vec::new(); texts.len()];
    for a in 0..texts.len() {
        for b in a + 1..texts.len() {
            all.add_neighbours(&mut nearest, a, b);
        }
    }
    let usual_similarities: Vec<f32> = nearest.iter().map(|list| mean_similarity(list)).collect();
    let mut out = Edges::new();
    for (a, list) in nearest.iter().enumerate() {
        for (similarity, b) in list.iter().filter(|(similarity, _)| *similarity >= MIN_SIMILARITY) {
            let similarity_excess = similarity - (usual_similarities[a] + usual_similarities[*b]) / 2.0;
            out.insert((a.min(*b), a.max(*b)), similarity_excess.max(similarity - SURE_SIMILARITY));
        }
    }
    out
}

fn mean_similarity(list: &[(f32, usize)]) -> f32 {
    let count = list.len().min(USUAL_NEAREST_COUNT);
    list.iter().take(count).map(|(similarity, _)| similarity).sum::<f32>() / count.max(1) as f32
}

impl Texts<'_> {
    fn similarity(&self, a: usize, b: usize) -> f32 {
        let kind: f32 = self.kinds[a].iter().zip(&self.kinds[b]).map(|(x, y)| x * y).sum();
        let words = self.by_words.get(&(a.min(b), a.max(b))).copied().unwrap_or_default();
        dot(&self.vectors[a], &self.vectors[b]) + SAME_KIND_WEIGHT * (kind - 0.5) + SHARED_WORDS_WEIGHT * words
    }

    fn add_neighbours(&self, nearest: &mut [Vec<(f32, usize)>], a: usize, b: usize) {
        let similarity = self.similarity(a, b);
        for (n, other) in [(a, b), (b, a)] {
            let list = &mut nearest[n];
            if list.len() == MAX_NEIGHBOURS && list.last().is_some_and(|(least, _)| *least >= similarity) {
                continue;
            }
            let at = list.partition_point(|(known, _)| *known >= similarity);
            list.insert(at, (similarity, other));
            list.truncate(MAX_NEIGHBOURS);
        }
    }
}

/// The dot product of two vectors. 0 if one of them is empty, because the text has no vector.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight accumulators allow the compiler to vectorise the loop.
    let mut sums = [0f32; 8];
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum()
}
