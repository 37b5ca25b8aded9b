//! State of the watched folders while the vault is open.
use crate::types::OwnImport;
use mementory_vault::watching::UnsettledFiles;
use std::{collections::HashSet, path::PathBuf};

/// State that is dropped when the vault is locked. Do not hold its lock while waiting for the vault.
#[derive(Default)]
pub(super) struct WatchState {
    pub(super) settling: UnsettledFiles,
    /// Ids of offers found since the vault was opened.
    pub(super) fresh: HashSet<String>,
    /// Ids of offers for which an automatic import was attempted.
    pub(super) attempted: HashSet<String>,
    /// Ids of offers whose automatic import failed, so that the person has to decide.
    pub(super) failed: HashSet<String>,
    pub(super) importing: Option<String>,
    pub(super) imported: Vec<OwnImport>,
    /// Folders to which an export is being written.
    pub(super) export_folders: Vec<PathBuf>,
}
