//! Ends of the consecutive parts of a text.

/// The end of each part of a text, in ascending order. `starts` are the offsets at which the parts start, in ascending
/// order. A part ends where the next one starts, and the last part ends with the text, which has `len` bytes.
pub fn ends_of_parts(starts: impl IntoIterator<Item = usize>, len: usize) -> Vec<usize> {
    starts.into_iter().skip(1).chain([len]).collect()
}
