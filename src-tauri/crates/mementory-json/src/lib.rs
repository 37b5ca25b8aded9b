//! Reads and writes JSON from any source: a tree with bounded memory, a stream that is read element by element, the
//! repair of near-JSON, the canonical texts that are hashed and signed, YAML, and a schema checker whose schemas are
//! tables.
//!
//! ```text
//! bytes ─ DecodingReader (BOM, UTF-16, JSON in strings) ─ Scanner (finds the end of a value) ─ Elements
//! ```
//! [`Elements`] finds where each value ends, but does not validate it. The caller passes [`Element::bytes`] to
//! `serde_json`, and if that returns an error, to [`repair`].
pub mod canonical;
mod cut;
#[cfg(test)]
mod damage_tests;
mod decoded;
mod element_error;
mod elements;
mod keys;
mod object_scan;
mod repair;
mod resync;
mod scan;
pub mod schema;
mod siblings;
#[cfg(test)]
mod tests;
mod tool_result;
mod tree;
pub mod yaml;

pub use cut::close_truncated;
pub use element_error::ElementError;
pub use elements::{Element, Elements};
pub use keys::{Keys, keys, keys_of};
pub use repair::repair;
pub use tree::{Members, Tree, TreeError, equal_names, is_shortest, tree_of, value_of, write_string};

/// The first `n` bytes of a text, or fewer if it is shorter. The text is decoded as in [`Elements`] (BOM, UTF-16, JSON
/// in a string or in the texts of a tool's result), and leading white space is removed. Used for detection.
pub fn decoded_head(reader: &mut dyn std::io::Read, n: usize) -> std::io::Result<Vec<u8>> {
    decoded::read_decoded_head(reader, n)
}
