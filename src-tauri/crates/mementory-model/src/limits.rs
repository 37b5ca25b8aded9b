//! Bounds on hostile input. Readers get them handed in; nothing else holds a number.

/// Bounds for one reading. All sizes in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes streamed out of all archives together before the person is asked (`limit` error with the figure).
    pub total_bytes: u64,
    /// One JSON element (a conversation, a record), and one JSON document that is read whole.
    pub element_bytes: u64,
    /// One line of a JSONL file.
    pub line_bytes: u64,
    /// Entries in one archive or files in one folder tree.
    pub entries: u64,
    /// Archives inside archives.
    pub archive_depth: u32,
    /// Nesting of JSON values.
    pub json_depth: u32,
    /// Memory of one JSON value that is taken apart, as [`crate::json::Tree`]. See [`TREE_BYTES`].
    pub tree_bytes: u64,
    /// One `.mem` file (spec v1.1 §8: 256 MiB).
    pub mem_file_bytes: u64,
    /// A side file that is read whole (manifests, maps).
    pub side_file_bytes: u64,
}

impl Limits {
    /// Bounds that [`allowing`](Self::allowing) raises, by name.
    pub const RAISED: [&str; 5] = ["total_bytes", "element_bytes", "line_bytes", "tree_bytes", "side_file_bytes"];

    /// The bounds of somebody who allows this many bytes in all: a part of them is not too large by itself then, and may
    /// take as much memory. How deep, how many, and what a format bounds itself stays.
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

/// What one JSON value may take in memory once it is taken apart. Its bytes say little of that: each digit of `[0,0,…]` is
/// a value with an allocation of its own, 28 times its text, so that 62 MB of it, a zip of 63 kB, were gigabytes. 96 MiB
/// hold a line of 64 MiB of text, or a conversation of 40 MB in some 40,000 messages; with the text beside it and the
/// record that is made of it, an import stays below 500 MB.
pub const TREE_BYTES: u64 = 96 << 20;

/// How deep and how large one JSON value may be.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Levels of nesting.
    pub depth: u32,
    /// Bytes of memory, as [`TREE_BYTES`] has it.
    pub bytes: u64,
}

/// So deep, and as large as any value may be.
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
