//! Lists a watched folder. Subfolders are not read, and no link is followed.
use serde::{Deserialize, Serialize};
use std::{
    fs::Metadata,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// Maximum number of files of one folder that are considered. If the folder has more files, the newest are considered.
pub const MAX_FILES_PER_FOLDER: usize = 20_000;
/// Maximum number of directory entries that are read in one folder.
const MAX_ENTRIES: usize = 500_000;

/// File name endings of unfinished downloads.
const UNFINISHED_ENDINGS: [&str; 10] =
    ["crdownload", "part", "partial", "download", "opdownload", "tmp", "temp", "filepart", "aria2", "!ut"];

/// Size and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    /// Size in bytes.
    #[serde(rename = "s")]
    pub size: u64,
    /// Time of the last change, in milliseconds since 1970.
    #[serde(rename = "m")]
    pub modified: i64,
}

impl FileStamp {
    /// Returns the stamp of the regular file at this path. None for everything else, including a link.
    pub fn from_path(path: &Path) -> Option<Self> {
        let meta = std::fs::symlink_metadata(path).ok()?;
        meta.is_file().then(|| Self::new(&meta))
    }

    fn new(meta: &Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        Self { size: meta.len(), modified: i64::try_from(modified.as_millis()).unwrap_or(i64::MAX) }
    }
}

/// A file that may be an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateFile {
    /// Name of the file.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Size and modification time of the file.
    pub stamp: FileStamp,
}

/// Result of listing a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderListing {
    /// The files in the folder that may be exports, by name.
    Files(Vec<CandidateFile>),
    /// The path does not exist, or is not a folder.
    Missing,
    /// The folder cannot be read, for example because permission is missing.
    Unreadable,
}

/// Lists the regular files of a folder, without empty files, hidden files and unfinished downloads. Names that are not
/// Unicode are left out, since no request can contain them.
pub fn list_folder(folder: &Path) -> FolderListing {
    match std::fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => {}
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return FolderListing::Unreadable,
        _ => return FolderListing::Missing,
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return FolderListing::Missing,
        Err(_) => return FolderListing::Unreadable,
    };
    let mut files = Vec::new();
    for entry in entries.take(MAX_ENTRIES).flatten() {
        // `file_type` does not follow a link, so a link does not count as a file.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if is_hidden_or_unfinished(&name) {
            continue;
        }
        let Ok(meta) = entry.metadata() else { continue };
        // An empty file is the placeholder of a download.
        if meta.len() > 0 {
            files.push(CandidateFile { path: folder.join(&name), stamp: FileStamp::new(&meta), name });
        }
    }
    if files.len() > MAX_FILES_PER_FOLDER {
        files.sort_by_key(|file| std::cmp::Reverse(file.stamp.modified));
        files.truncate(MAX_FILES_PER_FOLDER);
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    FolderListing::Files(files)
}

/// True for the name of a hidden file or an unfinished download.
fn is_hidden_or_unfinished(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    name.starts_with('.')
        || name.starts_with("~$")
        || name.ends_with('~')
        || ending.is_some_and(|ending| UNFINISHED_ENDINGS.contains(&ending.as_str()))
}
