//! Automatic imports from watched folders, and files that Mementory itself writes into one.
use super::digest;
use crate::{ApiError, ApiResult, Job, session::Session, types::*};
use mementory_vault::watching::{Folder, Mode, Seen, Stamp};
use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// Formats that cannot carry deletions.
const FORMATS_WITHOUT_DELETIONS: [&str; 3] = ["chatgpt", "claude", "mem0"];

/// While this exists, the folder that an export is written to is not scanned.
pub(in crate::session) struct FileExportGuard<'a> {
    session: &'a Session,
    folder: Option<PathBuf>,
}

impl Session {
    /// Import a detected file automatically. A file that fails, or carries deletions, stays on offer: the person decides.
    ///
    /// # Errors
    /// `not_found` for a file that is not on offer, `brings_deletions`, those of an import.
    pub fn import_detected_file(&self, id: &str, job: &Job) -> ApiResult<ImportReport> {
        let not_offered = || {
            ApiError::new(
                "not_found",
                1,
                "This file is no longer on offer: it was imported, declined, changed or deleted. Nothing was changed.",
            )
            .with("id", id)
        };
        let (path, waiting) =
            self.open_offers()?.into_iter().find(|(_, each)| each.id == id).ok_or_else(not_offered)?;
        if Stamp::of(&path) != Some(waiting.stamp) {
            return Err(not_offered());
        }
        {
            let mut state = self.state();
            state.attempted.insert(id.to_owned());
            state.importing = Some(id.to_owned());
        }
        let result = self.import_offer(&path, waiting.offer.format, job);
        let mut state = self.state();
        state.importing = None;
        match &result {
            Ok(report) => state.imported.push(OwnImport {
                batch: report.batch.clone(),
                name: waiting.offer.name,
                added: report.total.added,
                updated: report.total.updated,
            }),
            Err(_) => {
                state.failed.insert(id.to_owned());
            }
        }
        drop(state);
        result
    }

    fn import_offer(&self, path: &Path, format: Option<String>, job: &Job) -> ApiResult<ImportReport> {
        let request = ImportRequest { paths: vec![path.display().to_string()], format, ..ImportRequest::default() };
        job.yield_to_interactive();
        // Otherwise anyone who can put a file into the folder could move memories to the Trash unnoticed.
        if !request.format.as_deref().is_some_and(|format| FORMATS_WITHOUT_DELETIONS.contains(&format)) {
            let plan = self.import(&request, true, job)?;
            if plan.tombstones_applied > 0 {
                let message =
                    "The file carries deletions, so it was not imported. Nothing was changed. Import it yourself.";
                return Err(ApiError::new("brings_deletions", 1, message).with("place", path.display()));
            }
        }
        self.import(&request, false, job)
    }

    /// Offers in folders with automatic import that were not attempted yet. Encrypted files need a passphrase from the person.
    pub(super) fn pending_automatic_imports(&self, folders: &[Folder]) -> ApiResult<Vec<String>> {
        let is_automatic = |id: &str| folders.iter().any(|folder| folder.id == id && folder.mode == Mode::Own);
        let waiting = self.open_offers()?;
        let attempted = self.state().attempted.clone();
        Ok(waiting
            .into_iter()
            .filter(|(path, each)| {
                is_automatic(&each.folder)
                    && each.offer.format.is_some()
                    && !attempted.contains(&each.id)
                    && Stamp::of(path) == Some(each.stamp)
            })
            .map(|(_, each)| each.id)
            .collect())
    }

    /// Do not offer these imported files, nor other files with the same content. The import is already committed; if this
    /// fails, the file is offered once more than necessary.
    pub(in crate::session) fn mark_imported(&self, paths: &[String]) {
        if self.vault.watched_folders().folders().is_ok_and(|folders| folders.is_empty()) {
            return;
        }
        let Ok(waiting) = self.open_offers() else { return };
        for path in paths.iter().map(PathBuf::from) {
            let Some(stamp) = Stamp::of(&path) else { continue };
            let resolved = path.canonicalize().unwrap_or_else(|_| path.clone());
            match waiting.iter().find(|(other, each)| *other == resolved && each.stamp == stamp) {
                Some((_, each)) => drop(self.vault.watched_folders().answer(&each.id)),
                None => drop(self.mark_known(&resolved, stamp)),
            }
        }
    }

    /// Remember a file and its content, so that it is not offered.
    fn mark_known(&self, path: &Path, stamp: Stamp) -> ApiResult<()> {
        let content = self.vault.watched_folders().content_digest(&digest(path, &AtomicBool::new(false))?);
        self.vault.watched_folders().mark_known(&content)?;
        // Close an open offer of the same content.
        if let Some(other) = self.vault.watched_folders().offers()?.iter().find(|each| each.offer.digest == content) {
            self.vault.watched_folders().answer(&other.id)?;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Ok(());
        };
        for watched in
            self.vault.watched_folders().folders()?.iter().filter(|watched| Path::new(&watched.path) == folder)
        {
            self.vault.watched_folders().record_seen(
                &watched.id,
                &[(name.to_owned(), Seen { stamp, offer: None })],
                None,
            )?;
        }
        Ok(())
    }

    /// Call before an export is written to `out`.
    pub(in crate::session) fn begin_file_export(&self, out: &Path) -> FileExportGuard<'_> {
        let parent = out.parent().and_then(|folder| folder.canonicalize().ok());
        let watched = self.vault.watched_folders().folders().unwrap_or_default();
        let folder = parent.filter(|folder| watched.iter().any(|each| Path::new(&each.path) == folder));
        if let Some(folder) = &folder {
            self.state().export_folders.push(folder.clone());
        }
        FileExportGuard { session: self, folder }
    }
}

impl FileExportGuard<'_> {
    /// Do not offer these files, which Mementory wrote, even if they are moved later.
    pub(in crate::session) fn files_written<'p>(&self, files: impl IntoIterator<Item = &'p PathBuf>) {
        if self.session.vault.watched_folders().folders().is_ok_and(|folders| folders.is_empty()) {
            return;
        }
        for file in files {
            let path = file.canonicalize().unwrap_or_else(|_| file.clone());
            // The export is complete, so errors here are ignored.
            let _ = Stamp::of(&path).map(|stamp| self.session.mark_known(&path, stamp));
        }
    }
}

impl Drop for FileExportGuard<'_> {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let mut state = self.session.state();
            if let Some(at) = state.export_folders.iter().position(|other| other == folder) {
                state.export_folders.swap_remove(at);
            }
        }
    }
}
