//! Watched folders, and what was found in them.
use serde::{Deserialize, Serialize};
use specta::Type;

/// What is done with an export that lands in a watched folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    /// It is offered.
    Ask,
    /// It is imported.
    Own,
    /// Nobody looks.
    Paused,
}

/// How a watched folder was found just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum FolderState {
    /// It can be read.
    There,
    /// It is not there.
    Missing,
    /// It may not be read.
    Unreadable,
}

/// One watched folder.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct WatchedFolder {
    pub id: String,
    pub path: String,
    pub mode: WatchMode,
    pub state: FolderState,
    /// Name of the export that was found last.
    pub last_name: Option<String>,
    /// When that was.
    pub last_at: Option<String>,
}

/// An export that waits for an answer.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Find {
    pub id: String,
    /// Id of the watched folder.
    pub folder: String,
    pub path: String,
    pub name: String,
    /// Null while it is encrypted.
    pub format: Option<String>,
    pub at: String,
    /// Found since the vault was opened, and for the person to answer.
    pub fresh: bool,
}

/// An export that was imported on its own since the vault was opened.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct OwnImport {
    pub batch: String,
    pub name: String,
    pub added: u32,
    pub updated: u32,
}

/// Everything about watched folders.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Watched {
    pub folders: Vec<WatchedFolder>,
    /// The latest first.
    pub finds: Vec<Find>,
    /// Id of the find that is being imported on its own; also the id of that job.
    pub importing: Option<String>,
    pub imported: Vec<OwnImport>,
}
