//! Limits for hostile input. Readers receive them as a parameter and define none themselves.

/// Limits for reading one input. Sizes are in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Total size of all archives' content. Above it, reading ends with a `Limit` error until the user allows the size.
    pub total_bytes: u64,
    /// What an archive may expand to although it is much smaller: more than [`EXPANSION`] times its size.
    pub expanded_bytes: u64,
    /// One JSON element (a conversation, a record), or one JSON document that is read into memory.
    pub element_bytes: u64,
    /// Size of one line in a JSONL file.
    pub line_bytes: u64,
    /// Number of entries in one archive, or of files in one folder tree.
    pub entries: u64,
    /// Nesting depth of archives.
    pub archive_depth: u32,
    /// Nesting depth of JSON values.
    pub json_depth: u32,
    /// Memory of one parsed JSON value (`Tree` in mementory-json). See [`TREE_BYTES`].
    pub tree_bytes: u64,
    /// Size of one `.mem` file (spec v1.1 §8: 256 MiB).
    pub mem_file_bytes: u64,
    /// Size of an additional file that is read into memory (manifests, maps).
    pub side_file_bytes: u64,
}

impl Limits {
    /// The names of the limits that [`allowing`](Self::allowing) raises.
    pub const RAISED: [&str; 6] =
        ["total_bytes", "expanded_bytes", "element_bytes", "line_bytes", "tree_bytes", "side_file_bytes"];

    /// The limits after the user allowed this total size. A single part may then be as large and use as much memory.
    /// Limits for depth and number, and those that a format defines, stay the same.
    #[must_use]
    pub fn allowing(bytes: u64) -> Self {
        let usual = Self::default();
        Self {
            total_bytes: bytes,
            expanded_bytes: usual.expanded_bytes.max(bytes),
            element_bytes: usual.element_bytes.max(bytes),
            line_bytes: usual.line_bytes.max(bytes),
            tree_bytes: usual.tree_bytes.max(bytes),
            side_file_bytes: usual.side_file_bytes.max(bytes),
            ..usual
        }
    }
}

/// How many times its size an archive may expand to without question. Exports, which are text, expand 5 to 30 times;
/// deflate reaches 1,000 times with bytes that are all the same.
pub const EXPANSION: u64 = 100;

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

/// Limits with this depth and the default memory.
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
            expanded_bytes: 100_000_000,
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
