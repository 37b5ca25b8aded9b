//! Limits for hostile input. Readers receive them as a parameter and define none themselves.

/// Limits for reading one input. All sizes in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Total size read from all archives before the user must confirm (`limit` error with the size).
    pub total_bytes: u64,
    /// One JSON element (a conversation, a record), or one JSON document that is read into memory.
    pub element_bytes: u64,
    /// One line of a JSONL file.
    pub line_bytes: u64,
    /// Entries in one archive or files in one folder tree.
    pub entries: u64,
    /// Nesting depth of archives.
    pub archive_depth: u32,
    /// Nesting depth of JSON values.
    pub json_depth: u32,
    /// Memory of one JSON value that is taken apart, as [`crate::json::Tree`]. See [`TREE_BYTES`].
    pub tree_bytes: u64,
    /// One `.mem` file (spec v1.1 §8: 256 MiB).
    pub mem_file_bytes: u64,
    /// An additional file that is read into memory (manifests, maps).
    pub side_file_bytes: u64,
}

impl Limits {
    /// The names of the limits that [`allowing`](Self::allowing) raises.
    pub const RAISED: [&str; 5] = ["total_bytes", "element_bytes", "line_bytes", "tree_bytes", "side_file_bytes"];

    /// The limits if the user allows this total size: a single part may then be as large and use as much memory. Limits
    /// for depth and number, and those that a format defines, stay the same.
    #[must_use]
    pub fn allowing(bytes: u64) -> Self {
        let usual = Self::default();
        Self {
            total_bytes: bytes,
            element_bytes: usual.element_bytes.max(bytes),
            line_bytes: usual.line_bytes.max(bytes),
            tree_bytes: usual.tree_bytes.max(bytes),
            side_file_bytes: usual.side_file_bytes.max(bytes),
            ..usual
        }
    }
}

/// How much memory one parsed JSON value may use. This can be much more than its text: each digit of `[0,0,…]` is a
/// value with its own allocation, 28 times its text, so 62 MB of it, a zip of 63 kB, would use gigabytes. 96 MiB are
/// enough for a line of 64 MiB of text, or a conversation of 40 MB with some 40,000 messages; together with the text
/// and the resulting record, an import stays below 500 MB.
pub const TREE_BYTES: u64 = 96 << 20;

/// Limits for one JSON value.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Nesting depth.
    pub depth: u32,
    /// Memory in bytes; see [`TREE_BYTES`].
    pub bytes: u64,
}

/// Limits with this depth and the general limit for memory.
impl From<u32> for Bounds {
    fn from(depth: u32) -> Self {
        Self { depth, bytes: TREE_BYTES }
    }
}

impl From<&Limits> for Bounds {
    fn from(limits: &Limits) -> Self {
        Self { depth: limits.json_depth, bytes: limits.tree_bytes }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_bytes: 64 << 30,
            element_bytes: 256 << 20,
            line_bytes: 64 << 20,
            entries: 1_000_000,
            archive_depth: 3,
            json_depth: 512,
            tree_bytes: TREE_BYTES,
            mem_file_bytes: 256 << 20,
            side_file_bytes: 64 << 20,
        }
    }
}
