//! Watched folders, and the files detected in them.
use serde::{Deserialize, Serialize};
use specta::Type;

/// What is done with a new export in a watched folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    /// Offer it, and ask.
    Ask,
    /// Import it automatically.
    #[serde(rename = "own")]
    Automatic,
    /// Do not scan the folder.
    Paused,
}

/// Current state of a watched folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum FolderState {
    /// It can be read.
    There,
    /// It does not exist.
    Missing,
    /// It cannot be read: permission is missing.
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
    /// When it was detected.
    pub last_at: Option<String>,
}

/// An export in a watched folder that the person has not decided on.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Find {
    pub id: String,
    /// Id of the watched folder.
    pub folder: String,
    pub path: String,
    pub name: String,
    /// Null if it is encrypted.
    pub format: Option<String>,
    pub at: String,
    /// Detected since the vault was opened, and waiting for a decision.
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
    /// The newest first.
    pub finds: Vec<Find>,
    /// Id of the file that is being imported automatically; also the id of that job.
    pub importing: Option<String>,
    pub imported: Vec<OwnImport>,
}
