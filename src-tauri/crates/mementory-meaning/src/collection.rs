//! Many stored vectors in memory, and a search for those nearest to given vectors.
use crate::{Vector, vector::DIMENSIONS};
use std::collections::HashMap;

/// Stored vectors, each with a key. Several vectors can have the same key, as for the parts of one text.
#[derive(Debug, Default)]
pub struct Collection {
    keys: Vec<i64>,
    scales: Vec<f32>,
    numbers: Vec<i8>,
}

impl Collection {
    /// Adds a vector in the form of [`Vector::to_bytes`]. Bytes in any other form are ignored.
    pub fn push(&mut self, key: i64, stored: &[u8]) {
        let Some((scale, numbers)) = stored.split_first_chunk::<4>() else { return };
        let scale = f32::from_le_bytes(*scale);
        if numbers.len() != DIMENSIONS || !scale.is_normal() {
            return;
        }
        self.keys.push(key);
        self.scales.push(scale);
        self.numbers.extend(numbers.iter().map(|n| n.cast_signed()));
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Each key with the highest cosine between one of its vectors and one of `to`, highest cosine first.
    pub fn ranked(&self, to: &[Vector]) -> Vec<(i64, f32)> {
        let mut best: HashMap<i64, f32> = HashMap::with_capacity(self.keys.len());
        for ((key, scale), numbers) in self.keys.iter().zip(&self.scales).zip(self.numbers.chunks_exact(DIMENSIONS)) {
            for vector in to {
                let cosine = dot_stored(vector.as_slice(), numbers) * scale;
                best.entry(*key).and_modify(|best| *best = best.max(cosine)).or_insert(cosine);
            }
        }
        let mut ranked: Vec<(i64, f32)> = best.into_iter().collect();
        ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }
}

fn dot_stored(vector: &[f32], numbers: &[i8]) -> f32 {
    let mut sums = [0f32; 16];
    for (a, b) in vector.as_chunks::<16>().0.iter().zip(numbers.as_chunks::<16>().0) {
        for lane in 0..16 {
            sums[lane] += a[lane] * f32::from(b[lane]);
        }
    }
    sums.iter().sum()
}
