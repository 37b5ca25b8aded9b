//! Texts whose parts follow each other.

/// The end of each part of a text, from where the parts start, in ascending order: a part ends where the next one
/// starts, and the last part ends with the text, which has `len` bytes.
pub fn ends_of_parts(starts: impl IntoIterator<Item = usize>, len: usize) -> Vec<usize> {
    starts.into_iter().skip(1).chain([len]).collect()
}
