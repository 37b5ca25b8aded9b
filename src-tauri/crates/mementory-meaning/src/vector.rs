//! Vectors: how to compare them, and a compact format for storage.

/// Number of dimensions of a vector.
pub const DIMENSIONS: usize = 512;

/// Size of a stored vector in bytes: four for its scale, and one for each number.
const STORED_BYTES: usize = 4 + DIMENSIONS;

/// The meaning of a text as a direction: 512 numbers, scaled to length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Box<[f32]>);

impl Vector {
    /// Creates a vector from these numbers, scaled to length 1. `None` unless there are 512 numbers, all of them finite
    /// and at least one not zero.
    pub fn new(numbers: Vec<f32>) -> Option<Self> {
        let length = numbers.iter().map(|n| n * n).sum::<f32>().sqrt();
        if numbers.len() != DIMENSIONS || !length.is_normal() {
            return None;
        }
        Some(Self(numbers.into_iter().map(|n| n / length).collect()))
    }

    /// A fixed vector for texts whose own numbers are all zero.
    pub(crate) fn fallback() -> Self {
        let mut numbers = vec![0.0; DIMENSIONS];
        numbers[0] = 1.0;
        Self(numbers.into())
    }

    /// The 512 numbers.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// The vector in 516 bytes: a scale (f32, little endian), then each number as a signed byte. The cosine of two
    /// stored vectors deviates from the cosine of the original vectors by less than 0.001.
    pub fn to_bytes(&self) -> Vec<u8> {
        let largest = self.0.iter().fold(0f32, |largest, n| largest.max(n.abs()));
        let scale = largest / 127.0;
        let mut bytes = Vec::with_capacity(STORED_BYTES);
        bytes.extend(scale.to_le_bytes());
        bytes.extend(self.0.iter().map(|n| ((n / scale).round() as i8).cast_unsigned()));
        bytes
    }

    /// A vector that [`to_bytes`](Self::to_bytes) stored. `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, numbers) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        Self::new(numbers.iter().map(|n| f32::from(n.cast_signed()) * scale).collect())
    }
}

/// The similarity of two vectors: their cosine, from -1 to 1. Above about 0.5, the meanings are similar.
pub fn dot(one: &Vector, other: &Vector) -> f32 {
    // Eight partial sums allow the compiler to use SIMD registers.
    let mut sums = [0f32; 8];
    for (a, b) in one.0.chunks_exact(8).zip(other.0.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}
