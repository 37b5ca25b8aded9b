//! Limits for hostile input. Readers receive them as a parameter and define none themselves.

/// Limits for reading one input. Sizes are in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Total size of all archives' content. Above it, reading ends with a `Limit` error until the user allows the size.
    pub total_bytes: u64,
    /// Size to which an archive may always expand, even if that is more than [`EXPANSION`] times its own size.
    pub expanded_bytes: u64,
    /// Size of one JSON element (a conversation, a record), or of one JSON document that is read into memory.
    pub element_bytes: u64,
    /// Size of one line in a JSONL file.
    pub line_bytes: u64,
    /// Number of entries in one archive, or of files in one folder tree.
    pub entries: u64,
    /// Nesting depth of archives.
    pub archive_depth: u32,
    /// Nesting depth of JSON values.
    pub json_depth: u32,
    /// Memory that one parsed JSON value (`Tree` in mementory-json) may use. See [`TREE_BYTES`].
    pub tree_bytes: u64,
    /// Size of one `.mem` file (spec v1.1 §8: 256 MiB).
    pub mem_file_bytes: u64,
    /// Size of an additional file that is read into memory (manifests, maps).
    pub side_file_bytes: u64,
}

impl Limits {
    /// Names of the limits that [`allowing`](Self::allowing) raises.
    pub const RAISED: [&str; 6] =
        ["total_bytes", "expanded_bytes", "element_bytes", "line_bytes", "tree_bytes", "side_file_bytes"];

    /// The limits after the user allowed this total size, in bytes. A single element may then be that large and use
    /// that much memory. The limits on depth and on numbers of entries stay the same, and so do those that a format
    /// defines.
    #[must_use]
    pub fn allowing(bytes: u64) -> Self {
        let defaults = Self::default();
        Self {
            total_bytes: bytes,
            expanded_bytes: defaults.expanded_bytes.max(bytes),
            element_bytes: defaults.element_bytes.max(bytes),
            line_bytes: defaults.line_bytes.max(bytes),
            tree_bytes: defaults.tree_bytes.max(bytes),
            side_file_bytes: defaults.side_file_bytes.max(bytes),
            ..defaults
        }
    }
}

/// An archive may always expand to this many times its own size. Exports are text, which expands to 5 to 30 times its
/// compressed size. A hostile archive of identical bytes expands to about a thousand times its size.
pub const EXPANSION: u64 = 100;

/// Memory in bytes that one parsed JSON value may use. It can be much more than the size of the text: in `[0,0,…]`,
/// each digit is a value with its own allocation, which needs 28 times as much as its text. So 62 MB of such text,
/// which fit into a ZIP file of 63 kB, would need gigabytes. The limit of 96 MiB is enough for a line of 64 MiB of
/// text, or for a conversation of 40 MB with some 40,000 messages. An import, with the text and the resulting record,
/// then stays below 500 MB.
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
