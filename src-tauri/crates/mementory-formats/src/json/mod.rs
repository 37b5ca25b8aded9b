//! Streaming over JSON of unknown quality: elements of a top-level array one at a time, repair of near-JSON.
//!
//! ```text
//! bytes ─ Decoded (BOM, UTF-16, JSON in a string) ─ Scanner (where does a value end?) ─ Elements
//! ```
//! [`Elements`] frames, it does not validate: hand [`Element::bytes`] to `serde_json`, and on an error to [`repair`].
mod decoded;
mod elements;
mod keys;
mod repair;
mod scan;
#[cfg(test)]
mod tests;

pub use elements::{Element, ElementError, Elements};
pub(crate) use keys::{Keys, keys, keys_of};
pub use repair::repair;

/// About the first `n` bytes of a text, decoded like [`Elements`] does (BOM, UTF-16, JSON in a string) and without
/// leading white space, for looking at a file before reading it.
pub fn decoded_head(reader: &mut dyn std::io::Read, n: usize) -> std::io::Result<Vec<u8>> {
    decoded::head(reader, n)
}
