//! Imports of what was found, and what Mementory itself writes into a watched folder.
use super::digest;
use crate::{ApiError, ApiResult, Job, session::Session, types::*};
use mementory_vault::watching::{Folder, Mode, Seen, Stamp};
use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// Formats that tell of no deletions.
const TELL_OF_NONE: [&str; 3] = ["chatgpt", "claude", "mem0"];

/// While an export is being written, nobody looks into the folder that it goes to.
pub(in crate::session) struct Writing<'a> {
    session: &'a Session,
    folder: Option<PathBuf>,
}

impl Session {
    /// Import a find on its own. Afterwards it has its answer; what fails, or brings deletions
    /// with it, goes on waiting for the person.
    ///
    /// # Errors
    /// `not_found` for what does not wait, `brings_deletions`, those of an import.
    pub fn import_find(&self, id: &str, job: &Job) -> ApiResult<ImportReport> {
        let gone = || ApiError::new("not_found", 1, "This file is not waiting any more.").with("id", id);
        let (path, waiting) = self.watched_paths()?.into_iter().find(|(_, each)| each.id == id).ok_or_else(gone)?;
        if Stamp::of(&path) != Some(waiting.stamp) {
            return Err(gone());
        }
        {
            let mut inner = self.inner();
            inner.tried.insert(id.to_owned());
            inner.importing = Some(id.to_owned());
        }
        let done = self.import_waiting(&path, waiting.offer.format, job);
        let mut inner = self.inner();
        inner.importing = None;
        match &done {
            Ok(report) => inner.imported.push(OwnImport {
                batch: report.batch.clone(),
                name: waiting.offer.name,
                added: report.total.added,
                updated: report.total.updated,
            }),
            Err(_) => {
                inner.failed.insert(id.to_owned());
            }
        }
        drop(inner);
        done
    }

    fn import_waiting(&self, path: &Path, format: Option<String>, job: &Job) -> ApiResult<ImportReport> {
        let request = ImportRequest { paths: vec![path.display().to_string()], format, ..ImportRequest::default() };
        job.give_way();
        // Whoever can put a file into the folder could otherwise send memories to the Trash, unseen.
        if !request.format.as_deref().is_some_and(|format| TELL_OF_NONE.contains(&format)) {
            let plan = self.import(&request, true, job)?;
            if plan.tombstones_applied > 0 {
                let message = "The file brings deletions with it, so it waits for you. Nothing was changed.";
                return Err(ApiError::new("brings_deletions", 1, message).with("place", path.display()));
            }
        }
        self.import(&request, false, job)
    }

    /// What waits in folders that import on their own, and was not tried yet. Encrypted files need the person.
    pub(super) fn to_import(&self, folders: &[Folder]) -> ApiResult<Vec<String>> {
        let own = |id: &str| folders.iter().any(|folder| folder.id == id && folder.mode == Mode::Own);
        let waiting = self.watched_paths()?;
        let tried = self.inner().tried.clone();
        Ok(waiting
            .into_iter()
            .filter(|(path, each)| {
                own(&each.folder)
                    && each.offer.format.is_some()
                    && !tried.contains(&each.id)
                    && Stamp::of(path) == Some(each.stamp)
            })
            .map(|(_, each)| each.id)
            .collect())
    }

    /// These files were imported: none of them is offered, nor its content elsewhere. The import is done; what cannot be
    /// kept of it here costs an offer too many.
    pub(in crate::session) fn imported_from(&self, paths: &[String]) {
        if self.vault.watched().is_ok_and(|folders| folders.is_empty()) {
            return;
        }
        let Ok(waiting) = self.watched_paths() else { return };
        for path in paths.iter().map(PathBuf::from) {
            let Some(stamp) = Stamp::of(&path) else { continue };
            let here = path.canonicalize().unwrap_or_else(|_| path.clone());
            match waiting.iter().find(|(other, each)| *other == here && each.stamp == stamp) {
                Some((_, each)) => drop(self.vault.answer(&each.id)),
                None => drop(self.known_file(&here, stamp)),
            }
        }
    }

    /// A file that needs no offer, and its content.
    fn known_file(&self, path: &Path, stamp: Stamp) -> ApiResult<()> {
        let content = self.vault.content_digest(&digest(path, &AtomicBool::new(false))?);
        self.vault.know_content(&content)?;
        // The answer is for all of the same content.
        if let Some(other) = self.vault.waiting()?.iter().find(|each| each.offer.digest == content) {
            self.vault.answer(&other.id)?;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Ok(());
        };
        for watched in self.vault.watched()?.iter().filter(|watched| Path::new(&watched.path) == folder) {
            self.vault.see(&watched.id, &[(name.to_owned(), Seen { stamp, offer: None })], None)?;
        }
        Ok(())
    }

    /// An export is about to be written to `out`.
    pub(in crate::session) fn writing(&self, out: &Path) -> Writing<'_> {
        let parent = out.parent().and_then(|folder| folder.canonicalize().ok());
        let watched = self.vault.watched().unwrap_or_default();
        let folder = parent.filter(|folder| watched.iter().any(|each| Path::new(&each.path) == folder));
        if let Some(folder) = &folder {
            self.inner().writing.push(folder.clone());
        }
        Writing { session: self, folder }
    }
}

impl Writing<'_> {
    /// These files are written. They are ours, and not offered even where they are moved to.
    pub(in crate::session) fn done<'p>(&self, files: impl IntoIterator<Item = &'p PathBuf>) {
        if self.session.vault.watched().is_ok_and(|folders| folders.is_empty()) {
            return;
        }
        for file in files {
            let path = file.canonicalize().unwrap_or_else(|_| file.clone());
            // The export is there whatever happens now.
            let _ = Stamp::of(&path).map(|stamp| self.session.known_file(&path, stamp));
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let mut inner = self.session.inner();
            if let Some(at) = inner.writing.iter().position(|other| other == folder) {
                inner.writing.swap_remove(at);
            }
        }
    }
}
