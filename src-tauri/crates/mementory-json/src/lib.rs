//! JSON of unknown quality: a tree with bounded memory, elements of a stream one at a time, repair of near-JSON, the
//! canonical texts that are hashed and signed, and a schema checker driven by tables.
//!
//! ```text
//! bytes ─ Decoded (BOM, UTF-16, JSON in a string) ─ Scanner (where does a value end?) ─ Elements
//! ```
//! [`Elements`] frames, it does not validate: hand [`Element::bytes`] to `serde_json`, and on an error to [`repair`].
pub mod canonical;
mod decoded;
mod elements;
mod keys;
mod repair;
mod scan;
pub mod schema;
#[cfg(test)]
mod tests;
mod tree;

pub use elements::{Element, ElementError, Elements};
pub use keys::{Keys, keys, keys_of};
pub use repair::repair;
pub use tree::{Members, Tree, TreeError, is_shortest, same, write_string};

/// About the first `n` bytes of a text, decoded like [`Elements`] does (BOM, UTF-16, JSON in a string) and without
/// leading white space, for looking at a file before reading it.
pub fn decoded_head(reader: &mut dyn std::io::Read, n: usize) -> std::io::Result<Vec<u8>> {
    decoded::head(reader, n)
}
