//! Holds many stored vectors in memory, and ranks them by their similarity to given vectors.
use crate::{Vector, vector::DIMENSIONS};

/// Stored vectors, each with a key. The vectors of the parts of one text, for example, have the same key.
#[derive(Debug, Default)]
pub struct Collection {
    keys: Vec<i64>,
    scales: Vec<f32>,
    numbers: Vec<i8>,
}

impl Collection {
    /// Adds a vector that [`Vector::to_bytes`] converted to bytes. Any other bytes are ignored.
    pub fn push(&mut self, key: i64, stored_vector: &[u8]) {
        let Some((scale, numbers)) = stored_vector.split_first_chunk::<4>() else { return };
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

    /// All keys, each with the highest cosine between one of its vectors and one of `queries`, highest cosine first.
    /// Because stored vectors are rounded, the cosines deviate by less than 0.002 from those of the original vectors.
    pub fn ranked(&self, queries: &[Vector]) -> Vec<(i64, f32)> {
        let queries: Vec<Query> = queries.iter().map(Query::new).collect();
        if queries.is_empty() {
            return Vec::new();
        }
        let stored = self.keys.iter().zip(&self.scales).zip(self.numbers.chunks_exact(DIMENSIONS));
        let mut ranked: Vec<(i64, f32)> = Vec::with_capacity(self.keys.len());
        for ((key, scale), numbers) in stored {
            let cosine = queries.iter().map(|query| query.dot(numbers) * scale).fold(f32::NEG_INFINITY, f32::max);
            match ranked.last_mut() {
                // The vectors of one text are stored one after the other, so equal keys are adjacent.
                Some((last, best)) if last == key => *best = best.max(cosine),
                _ => ranked.push((*key, cosine)),
            }
        }
        if !ranked.is_sorted_by(|a, b| a.0 < b.0) {
            ranked.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            ranked.dedup_by_key(|each| each.0);
        }
        ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }
}

/// A query vector, scaled to integers, because integers are multiplied several times faster than floats.
struct Query {
    numbers: Vec<i16>,
    scale: f32,
}

impl Query {
    fn new(vector: &Vector) -> Self {
        let largest = vector.as_slice().iter().fold(f32::MIN_POSITIVE, |largest, n| largest.max(n.abs()));
        // 16-bit numbers are as fast as bytes here, so the query is rounded less than the stored vectors are. The
        // largest value is chosen so that the sum of all products stays below 2^31.
        let scale = largest / 8_191.0;
        Self { numbers: vector.as_slice().iter().map(|n| (n / scale).round() as i16).collect(), scale }
    }

    fn dot(&self, numbers: &[i8]) -> f32 {
        // In this form, the compiler can use a single instruction for two products and their sum.
        let mut sums = [0i32; 8];
        for (a, b) in self.numbers.as_chunks::<16>().0.iter().zip(numbers.as_chunks::<16>().0) {
            for lane in 0..8 {
                sums[lane] += i32::from(a[2 * lane]) * i32::from(i16::from(b[2 * lane]))
                    + i32::from(a[2 * lane + 1]) * i32::from(i16::from(b[2 * lane + 1]));
            }
        }
        sums.iter().sum::<i32>() as f32 * self.scale
    }
}
