//! One member of a catalog, and the location of its bytes.
use super::{compressed_name::content_name, source::Source};
use mementory_model::Timestamp;
use std::path::PathBuf;

/// Location of a member's bytes.
#[derive(Debug, Clone)]
pub(super) enum Location {
    /// A plain file.
    File(PathBuf),
    /// Entry `index` of archive `archive`.
    Zip { archive: usize, index: usize },
    /// The content of an encrypted or compressed file, in scratch space or memory.
    Unpacked(Source),
    /// A pasted text.
    Text(std::sync::Arc<str>),
}

/// One readable file: a plain file, or an entry of an archive.
#[derive(Debug, Clone)]
pub struct Member {
    /// Position in [`Catalog::members`].
    pub id: usize,
    /// Index of the opened path that contains the member.
    pub root: usize,
    /// Place for display: the name of the opened file or folder, then `/` inside folders and `!/` inside archives.
    pub place: String,
    /// Name inside the opened folder or the archive, with `/` between its parts. It is safe: it has no root and no
    /// `..`. For a file that was opened by its path, it is the file name.
    pub name: String,
    /// Declared uncompressed size in bytes; 0 if unknown.
    pub size: u64,
    /// Number of archives around the member; 0 for a plain file.
    pub depth: u32,
    /// True if the name in the archive has backslashes, which are `/` in `name`. Formats that forbid backslashes can
    /// refuse the member.
    pub backslashes: bool,
    /// Number of the archive that contains the member. None for a plain file.
    pub archive: Option<usize>,
    /// Modification time. Set for plain files only.
    pub modified: Option<Timestamp>,
    pub(super) location: Location,
}

impl Member {
    /// Last segment of the name.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// True for a file that the user selected on its own, not as part of a folder or an archive. Its name says little,
    /// because people rename exports. Also true for the content of a compressed file that was selected so.
    pub fn is_selected_alone(&self) -> bool {
        self.place == self.name || content_name(&self.place) == self.name
    }
}
