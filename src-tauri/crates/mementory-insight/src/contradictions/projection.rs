//! Projects the vectors of the sentence encoder to fewer dimensions, in which two statements are similar if they state
//! the same attribute of a person. The value, the style of the assistant and the language influence this similarity
//! less than that of the original vectors. The projection also works for attributes that are in no list.
//! `examples/fit_projection.py` fitted it to the sentences in `data/claims` and `data/samples`.
use super::attributes::dot;
use crate::fitted::DIMENSIONS;
use std::sync::OnceLock;

/// Length of a row in bytes: the scale of the row as `f32`, little endian, then one signed byte for each dimension of
/// the encoder's vectors.
const ROW_BYTES: usize = 4 + DIMENSIONS;
/// The stored projection: one row for each dimension of the projected vectors.
const STORED_ROWS: &[u8] = include_bytes!("../../data/projection.bin");

/// Returns the projection of `vector`, normalised to length 1. It is empty if `vector` has the wrong number of
/// dimensions or cannot be projected.
pub(super) fn project(vector: &[f32]) -> Vec<f32> {
    if vector.len() != DIMENSIONS {
        return Vec::new();
    }
    let mut out: Vec<f32> = rows().as_chunks::<DIMENSIONS>().0.iter().map(|row| dot(row, vector)).collect();
    let length = dot(&out, &out).sqrt();
    if !length.is_normal() {
        return Vec::new();
    }
    out.iter_mut().for_each(|number| *number /= length);
    out
}

/// The weights of all rows, one row after another.
fn rows() -> &'static [f32] {
    static ROWS: OnceLock<Vec<f32>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let numbers = |row: &'static [u8; ROW_BYTES]| {
            let ([a, b, c, d], stored) = row.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
            let scale = f32::from_le_bytes([*a, *b, *c, *d]);
            stored.iter().map(move |number| f32::from(number.cast_signed()) * scale)
        };
        STORED_ROWS.as_chunks::<ROW_BYTES>().0.iter().flat_map(numbers).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_are_there_and_bad_vectors_have_no_projection() {
        assert_eq!(STORED_ROWS.len() % ROW_BYTES, 0);
        assert_eq!(rows().len(), STORED_ROWS.len() / ROW_BYTES * DIMENSIONS);
        // `dot` adds eight numbers at once and ignores any remaining ones.
        assert_eq!(STORED_ROWS.len() / ROW_BYTES % 8, 0);
        let mut vector = vec![0.0; DIMENSIONS];
        vector[7] = 1.0;
        let projected = project(&vector);
        assert!((dot(&projected, &projected) - 1.0).abs() < 1e-4);
        for bad in [vec![], vec![1.0; 3], vec![0.0; DIMENSIONS], vec![f32::NAN; DIMENSIONS]] {
            assert!(project(&bad).is_empty());
        }
    }
}
