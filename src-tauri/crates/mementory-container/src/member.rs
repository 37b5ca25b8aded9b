//! One entry of a catalog and where its bytes are.
use super::source::Source;
use mementory_model::Timestamp;
use std::path::PathBuf;

/// Where a member's bytes are.
#[derive(Debug, Clone)]
pub(super) enum Location {
    /// A plain file.
    File(PathBuf),
    /// Entry `index` of archive `archive`.
    Zip { archive: usize, index: usize },
    /// The content of an encrypted or compressed file, in scratch space or memory.
    Unpacked(Source),
    /// Text given directly.
    Text(std::sync::Arc<str>),
}

/// One readable member.
#[derive(Debug, Clone)]
pub struct Member {
    /// Position in [`Catalog::members`].
    pub id: usize,
    /// Index of the given path that it came from.
    pub root: usize,
    /// Place for display: the name of the given file or folder, then `/` inside folders and `!/` inside archives.
    pub place: String,
    /// Name inside its folder or archive, `/`-separated, safe (no root, no `..`). For a loose file: its name.
    pub name: String,
    /// Declared uncompressed size in bytes; 0 if unknown.
    pub size: u64,
    /// Number of archives that it is inside of; 0 for a plain file.
    pub depth: u32,
    /// True if the archive writes its name with backslashes, which `name` has as `/`. Formats that forbid backslashes
    /// can refuse it.
    pub backslashes: bool,
    /// Number of the archive that it is an entry of. None for a plain file.
    pub archive: Option<usize>,
    /// Modification time, for plain files.
    pub modified: Option<Timestamp>,
    pub(super) location: Location,
}

impl Member {
    /// Last segment of the name.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }
}
