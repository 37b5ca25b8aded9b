//! Imports detected files from watched folders automatically.
use super::WatchedFolders;
use crate::{
    ApiError, ApiResult, Job,
    session::{import::Imports, offers::Offers},
    types::*,
};
use mementory_vault::watching::{FileStamp, Folder, Mode};
use std::path::Path;

impl WatchedFolders<'_> {
    /// Imports a detected file automatically. If the import fails or the file contains deletions, the file is still
    /// offered, so that the person can decide.
    ///
    /// # Errors
    /// `not_found` for a file that is not offered, `brings_deletions`, and errors of an import.
    pub fn import_detected_file(&self, id: &str, job: &Job) -> ApiResult<ImportReport> {
        let not_offered = || {
            ApiError::new(
                "not_found",
                1,
                "This file is no longer on offer: it was imported, declined, changed or deleted. Nothing was changed.",
            )
            .with("id", id)
        };
        let (path, waiting) = Offers::new(self.context)
            .list_open()?
            .into_iter()
            .find(|(_, each)| each.id == id)
            .ok_or_else(not_offered)?;
        if FileStamp::from_path(&path) != Some(waiting.stamp) {
            return Err(not_offered());
        }
        {
            let mut state = self.context.watch_state();
            state.attempted_imports.insert(id.to_owned());
            state.importing_offer = Some(id.to_owned());
        }
        let result = self.import_offer(&path, waiting.offer.format, waiting.stamp, job);
        let mut state = self.context.watch_state();
        state.importing_offer = None;
        match &result {
            Ok(report) => state.imports.push(OwnImport {
                batch: report.batch.clone(),
                name: waiting.offer.name,
                added: report.total.added,
                updated: report.total.updated,
            }),
            Err(_) => {
                state.failed_imports.insert(id.to_owned());
            }
        }
        drop(state);
        result
    }

    fn import_offer(&self, path: &Path, format: Option<String>, seen: FileStamp, job: &Job) -> ApiResult<ImportReport> {
        let request = ImportRequest { paths: vec![path.display().to_string()], format, ..ImportRequest::default() };
        job.yield_to_interactive();
        // The import refuses deletions, because anyone who can write a file into the folder could otherwise move
        // memories to the Trash unnoticed. The import also checks inside its own transaction that the file is
        // unchanged, because the file may be replaced after an earlier check.
        let is_unchanged = || FileStamp::from_path(path) == Some(seen);
        Imports::new(self.context).import_unattended(&request, &is_unchanged, job).map_err(|error| match error.code {
            "brings_deletions" => {
                let message =
                    "The file carries deletions, so it was not imported. Nothing was changed. Import it yourself.";
                ApiError::new("brings_deletions", 1, message).with("place", path.display())
            }
            _ => error,
        })
    }

    /// Ids of the offers that are to be imported automatically and for which no import was attempted yet. Encrypted
    /// files are left out, because the person has to enter their passphrase.
    pub(super) fn pending_automatic_imports(&self, folders: &[Folder]) -> ApiResult<Vec<String>> {
        let is_automatic = |id: &str| folders.iter().any(|folder| folder.id == id && folder.mode == Mode::Own);
        let waiting = Offers::new(self.context).list_open()?;
        let attempted = self.context.watch_state().attempted_imports.clone();
        Ok(waiting
            .into_iter()
            .filter(|(path, each)| {
                is_automatic(&each.folder)
                    && each.offer.format.is_some()
                    && !attempted.contains(&each.id)
                    && FileStamp::from_path(path) == Some(each.stamp)
            })
            .map(|(_, each)| each.id)
            .collect())
    }
}
