//! The elements of a JSON stream, one at a time, bounded.
use std::io::Read;

/// What can go wrong between elements.
#[derive(Debug, thiserror::Error)]
pub enum ElementError {
    /// Reading failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The stream ended inside an element or before the closing bracket. Elements before it were complete.
    #[error("the file ends early, at byte {offset}")]
    Truncated {
        /// Byte offset of the end.
        offset: u64,
    },
    /// Not JSON at this level.
    #[error("not JSON at byte {offset}")]
    Syntax {
        /// Byte offset.
        offset: u64,
    },
    /// One element is larger than allowed.
    #[error("an element is larger than {limit} bytes, at byte {offset}")]
    TooLarge {
        /// Byte offset of its start.
        offset: u64,
        /// The bound.
        limit: u64,
    },
}

/// Iterates over the elements of: a top-level array; an object with `key`ed array (`{"conversations":[…]}`); one
/// bare object; NDJSON; any of these inside a JSON string; with BOM, UTF-16, or padding. Byte offsets are of the
/// decoded stream.
pub struct Elements<'a> {
    _reader: &'a mut dyn Read,
}
