//! The open vault, which commands of the window and connected clients share.
use mementory_api::Session;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

/// The open vault, which connected clients use too.
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
