//! The open vault, which commands of the window and connected clients share.
use mementory_api::Session;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

/// The open vault, or None while it is locked. Commands of the window and connected clients use it.
pub type SharedVault = Arc<RwLock<Option<OpenVault>>>;

/// An open vault with its path and id.
pub struct OpenVault {
    /// The session.
    pub session: Session,
    /// Its folder.
    pub path: PathBuf,
    /// Its id.
    pub vault_id: String,
}
