//! State of the watched folders while the vault is open.
use crate::types::OwnImport;
use mementory_vault::watching::UnsettledFiles;
use std::{collections::HashSet, path::PathBuf};

/// State of the watched folders, which is dropped when the vault is locked. Its lock must not be held while waiting for
/// the vault.
#[derive(Default)]
pub(super) struct WatchState {
    pub(super) unsettled_files: UnsettledFiles,
    /// Ids of offers that were made since the vault was opened.
    pub(super) fresh_offers: HashSet<String>,
    /// Ids of offers for which an automatic import was started, whether or not it succeeded.
    pub(super) attempted_imports: HashSet<String>,
    /// Ids of offers whose automatic import failed. The person has to decide on them.
    pub(super) failed_imports: HashSet<String>,
    pub(super) importing_offer: Option<String>,
    pub(super) imports: Vec<OwnImport>,
    /// Folders to which an export is being written.
    pub(super) export_folders: Vec<PathBuf>,
}
