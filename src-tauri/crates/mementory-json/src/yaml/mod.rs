//! YAML as trees.
mod read;
mod write;

pub use read::{TOO_LARGE_CODE, YamlError, parse, repeated_keys, spell_numbers_as_json};
pub use write::{write_element, write_member};
