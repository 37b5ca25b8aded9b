//! What is known about the watched folders while the vault is open.
use crate::types::OwnImport;
use mementory_vault::watching::Settling;
use std::{collections::HashSet, path::PathBuf};

/// State that is dropped when the vault is locked. Its lock is never held while waiting for the vault.
#[derive(Default)]
pub(super) struct WatchState {
    pub(super) settling: Settling,
    /// Offers found since the vault was opened.
    pub(super) fresh: HashSet<String>,
    /// Offers for which an automatic import was attempted.
    pub(super) attempted: HashSet<String>,
    /// Offers whose automatic import failed, so that the person has to decide.
    pub(super) failed: HashSet<String>,
    pub(super) importing: Option<String>,
    pub(super) imported: Vec<OwnImport>,
    /// Folders that an export is being written to.
    pub(super) export_folders: Vec<PathBuf>,
}
