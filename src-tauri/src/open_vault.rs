//! The open vault, which commands of the window and connected clients share.
use mementory_api::Session;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

/// The open vault, or None while it is locked. Commands of the window and connected clients use it.
pub type SharedVault = Arc<RwLock<Option<OpenVault>>>;

/// The session of the open vault, and data that the window needs without a call to the session.
pub struct OpenVault {
    /// Runs every command on the vault.
    pub session: Session,
    /// Folder of the vault.
    pub path: PathBuf,
    /// Id of the vault, as shown in the window's status.
    pub vault_id: String,
}
