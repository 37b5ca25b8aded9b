//! Bounds on hostile input. Readers get them handed in; nothing else holds a number.

/// Bounds for one reading. All sizes in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes streamed out of all archives together before the person is asked (`limit` error with the figure).
    pub total_bytes: u64,
    /// One JSON element (a conversation, a record).
    pub element_bytes: u64,
    /// One line of a JSONL file.
    pub line_bytes: u64,
    /// Entries in one archive or files in one folder tree.
    pub entries: u64,
    /// Archives inside archives.
    pub archive_depth: u32,
    /// Nesting of JSON values.
    pub json_depth: u32,
    /// One `.mem` file (spec v1.1 §8: 256 MiB).
    pub mem_file_bytes: u64,
    /// A side file that is read whole (manifests, maps).
    pub side_file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_bytes: 64 << 30,
            element_bytes: 512 << 20,
            line_bytes: 64 << 20,
            entries: 1_000_000,
            archive_depth: 3,
            json_depth: 512,
            mem_file_bytes: 256 << 20,
            side_file_bytes: 64 << 20,
        }
    }
}
