//! A workspace in memory before its files are written.
use super::Runtime;
use mementory_format::{FormatError, StoredRecord, WriteReport};
use mementory_json::Tree;
use mementory_model::Record;
use std::collections::BTreeMap;
use std::io::Read;

/// Largest size of a file, in bytes. The size is limited because files are assembled in memory.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// A workspace while its files are assembled.
pub struct Workspace {
    /// Runtime of the workspace.
    pub runtime: &'static Runtime,
    /// Files of the workspace by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Records of this runtime that are not stored in text files, such as rows of its database.
    pub rows: Vec<StoredRecord>,
    /// Records of other formats.
    pub foreign: Vec<Record>,
    /// The passthrough files in `files` by path, each with the scope of its workspace and its path in that workspace.
    pub passthrough: BTreeMap<String, (String, String)>,
    /// Scope of the workspace at the top of the output. Other workspaces are below `other-agents/`.
    pub main_scope: String,
    /// True for a complete export, false for an export of selected records.
    pub everything: bool,
    /// Folder for new files: `workspace/` in a ZeroClaw home, otherwise empty.
    pub prefix: String,
    /// Counts and losses of the export.
    pub report: WriteReport,
    /// Files that an archive lists without their content.
    pub absent: Vec<AbsentFile>,
    /// Attachment files of an archive, which are written to the paths in its attachment index (spec §6.2).
    pub(super) artifacts: Vec<Artifact>,
    pub(super) slots: Vec<String>,
}

/// An attachment file of an archive that has no path in the workspace yet.
pub struct Artifact {
    /// Vault id of the attachment record of the file.
    pub(super) id: String,
    /// Possible paths in order of preference: the original path, then the path inside the archive.
    pub(super) paths: Vec<String>,
    pub(super) bytes: Vec<u8>,
}

/// A file that is missing in the workspace, because an archive lists it without its content.
pub struct AbsentFile {
    /// Scope of the workspace in which the file is missing.
    pub scope: String,
    /// Path in that workspace.
    pub path: String,
    /// Row of the file in the attachment index of the `.alf`.
    pub row: Tree,
    /// Path of the index file that lists the file.
    pub(super) index_path: String,
}

/// Reads a whole file. Fails if it has more than [`MAX_FILE_BYTES`].
pub(super) fn read_all(bytes: &mut dyn Read, name: &str) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    bytes.take(MAX_FILE_BYTES + 1).read_to_end(&mut out).map_err(|e| FormatError::io(name, e))?;
    if out.len() as u64 > MAX_FILE_BYTES {
        return Err(FormatError::Limit { limit: "file_bytes", place: name.into(), figure: MAX_FILE_BYTES });
    }
    Ok(out)
}
