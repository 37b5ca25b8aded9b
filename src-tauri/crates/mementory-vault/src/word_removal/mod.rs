//! Removes words from text, record bodies, JSON and bytes of any kind.
pub(crate) mod bytes;
mod removal;
mod spans;

pub(crate) use removal::{MIN_REMOVED_CHARS, Removal, contains_words};
pub(crate) use spans::Spans;

/// Replacement of erased words in other records and in files.
pub(crate) const ERASED_MARK: &str = "[REDACTED:erased]";
