//! Lists a watched folder. Subfolders are not read, and no link is followed.
use serde::{Deserialize, Serialize};
use std::{
    fs::Metadata,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// Most files of a folder that are considered, the newest first.
pub const LARGEST_FOLDER: usize = 20_000;
/// Most directory entries that are read.
const MOST_ENTRIES: usize = 500_000;

/// File name endings of unfinished downloads.
const UNFINISHED: [&str; 10] =
    ["crdownload", "part", "partial", "download", "opdownload", "tmp", "temp", "filepart", "aria2", "!ut"];

/// Size and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    #[serde(rename = "s")]
    pub size: u64,
    /// Changed last, in milliseconds since 1970.
    #[serde(rename = "m")]
    pub modified: i64,
}

impl Stamp {
    /// Of a regular file, by its path and without following a link. None for everything else.
    pub fn of(path: &Path) -> Option<Self> {
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
pub struct FileFound {
    /// Its name.
    pub name: String,
    /// Where.
    pub path: PathBuf,
    /// How it looks.
    pub stamp: Stamp,
}

/// Result of listing a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// The files in it that may be exports, by name.
    Files(Vec<FileFound>),
    /// It does not exist, or is no folder.
    Missing,
    /// It cannot be read for lack of permission.
    Unreadable,
}

/// Lists the regular files of a folder, without empty, hidden and unfinished ones. Names that are not Unicode are left out,
/// since no request can contain them.
pub fn look_into(folder: &Path) -> Look {
    match std::fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => {}
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Look::Unreadable,
        _ => return Look::Missing,
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Look::Missing,
        Err(_) => return Look::Unreadable,
    };
    let mut files = Vec::new();
    for entry in entries.take(MOST_ENTRIES).flatten() {
        // The type of the entry itself, so that a link is not a file.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if unfinished(&name) {
            continue;
        }
        let Ok(meta) = entry.metadata() else { continue };
        // An empty file is the placeholder of a download.
        if meta.len() > 0 {
            files.push(FileFound { path: folder.join(&name), stamp: Stamp::new(&meta), name });
        }
    }
    if files.len() > LARGEST_FOLDER {
        files.sort_by_key(|file| std::cmp::Reverse(file.stamp.modified));
        files.truncate(LARGEST_FOLDER);
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Look::Files(files)
}

/// Hidden, or not finished yet, by its name.
fn unfinished(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    name.starts_with('.')
        || name.starts_with("~$")
        || name.ends_with('~')
        || ending.is_some_and(|ending| UNFINISHED.contains(&ending.as_str()))
}
