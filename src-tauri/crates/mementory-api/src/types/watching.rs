//! Watched folders, and the files detected in them.
use serde::{Deserialize, Serialize};
use specta::Type;

/// What happens to a new export in a watched folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    /// Offer the export and ask the person.
    Ask,
    /// Import the export automatically.
    #[serde(rename = "own")]
    Automatic,
    /// Do not scan the folder.
    Paused,
}

/// Whether a watched folder can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum FolderState {
    /// The folder can be read.
    There,
    /// The folder does not exist.
    Missing,
    /// The folder cannot be read because permission is missing.
    Unreadable,
}

/// One watched folder.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct WatchedFolder {
    pub id: String,
    pub path: String,
    pub mode: WatchMode,
    pub state: FolderState,
    /// Name of the export that was detected last.
    pub last_name: Option<String>,
    /// When the export `last_name` was detected.
    pub last_at: Option<String>,
}

/// An export in a watched folder on which the person has not decided yet.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct DetectedExport {
    pub id: String,
    /// Id of the watched folder that contains the export.
    pub folder: String,
    pub path: String,
    pub name: String,
    /// Id of the format. Null if the file is encrypted.
    pub format: Option<String>,
    pub at: String,
    /// True if the export was detected since the vault was opened, and the person has to decide on it.
    pub fresh: bool,
}

/// An export that was imported automatically since the vault was opened.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct OwnImport {
    pub batch: String,
    pub name: String,
    pub added: u32,
    pub updated: u32,
}

/// Watched folders, detected files and automatic imports.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Watched {
    pub folders: Vec<WatchedFolder>,
    /// Detected files, newest first.
    pub detected_files: Vec<DetectedExport>,
    /// Id of the file that is being imported automatically, which is also the id of the import job. Null if none is.
    pub importing: Option<String>,
    pub imported: Vec<OwnImport>,
}
