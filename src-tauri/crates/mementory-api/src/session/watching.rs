//! Watches folders: detects new exports in them, and offers or imports the exports. The caller decides when to scan and
//! provides the clock.
mod automatic;
#[cfg(test)]
mod tests;

use super::{
    context::Context,
    now,
    offers::{Offers, cancelled_error, file_digest},
    time,
};
use crate::{ApiError, ApiResult, Job, files, types::*};
use mementory_formats::has_encrypted_extension;
use mementory_model::Limits;
use mementory_vault::Scratch;
use mementory_vault::watching::{
    CandidateFile, FileStamp, Folder, FolderListing, LatestExport, MAX_FILES_PER_FOLDER, Mode, Offer, PendingOffer,
    QUIET_PERIOD, SeenFile, list_folder,
};
use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Lowest confidence at which a file counts as an export. Only a file with a marker or structure that is specific to
/// its format reaches this confidence. Plain text that looks like a list of memories does not.
const MIN_CONFIDENCE: f64 = 0.8;
/// Largest number of bytes that the detection of one file may read, including unpacked archives.
const MAX_READ_BYTES: u64 = 1 << 30;
/// Largest size in bytes of a document that has to be read as a whole. A larger file is not offered, but the person can
/// still drop it onto the window.
const MAX_ELEMENT_BYTES: u64 = 64 << 20;

/// The result of one scan of the watched folders.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FolderScan {
    /// True if at least one folder is watched and not paused.
    pub watching: bool,
    /// The watched folders that exist now.
    pub folders: Vec<PathBuf>,
    /// True if new exports were detected.
    pub changed: bool,
    /// Ids of the offers that the caller should import automatically, each with
    /// [`WatchedFolders::import_detected_file`].
    pub imports: Vec<String>,
    /// Time after which the caller should scan again, because a growing file may be complete then. None if no scan is
    /// needed until something changes.
    pub wait: Option<Duration>,
}

/// The watched folders of the vault.
#[derive(Clone, Copy)]
pub struct WatchedFolders<'s> {
    context: &'s Context,
}

impl<'s> WatchedFolders<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl WatchedFolders<'_> {
    /// Lists the watched folders, the open offers, and the automatic imports.
    pub fn list(&self) -> ApiResult<Watched> {
        let folders = self.context.vault.watched_folders().folders()?;
        let waiting = self.context.vault.watched_folders().offers()?;
        let (fresh, failed, importing, imported) = {
            let state = self.context.watch_state();
            (
                state.fresh_offers.clone(),
                state.failed_imports.clone(),
                state.importing_offer.clone(),
                state.imports.clone(),
            )
        };
        let view_of = |each: PendingOffer| {
            let folder = folders.iter().find(|folder| folder.id == each.folder)?;
            let path = Path::new(&folder.path).join(&each.offer.name);
            // A file that was deleted or changed is no longer the one that was detected, so its offer is not listed.
            (FileStamp::from_path(&path) == Some(each.stamp)).then(|| DetectedExport {
                // A file that will be imported automatically needs no decision of the person, so it does not count as
                // fresh.
                fresh: fresh.contains(&each.id)
                    && (folder.mode != Mode::Own || each.offer.format.is_none() || failed.contains(&each.id)),
                id: each.id,
                folder: each.folder,
                path: path.display().to_string(),
                name: each.offer.name,
                format: each.offer.format,
                at: time(each.offer.at),
            })
        };
        let detected_files = waiting.into_iter().filter_map(view_of).collect();
        Ok(Watched { detected_files, importing, imported, folders: folders.into_iter().map(folder_view).collect() })
    }

    /// Starts to watch a folder, in the mode that asks before importing. Files that are already in the folder are not
    /// offered.
    ///
    /// # Errors
    /// `not_there`, `no_permission`, `inside_a_vault`, `usage` for too many folders.
    pub fn add(&self, path: &Path) -> ApiResult<Watched> {
        let refuse = |code, exit, what: &str| {
            ApiError::new(code, exit, format!("{} {what} Nothing was changed. Choose another folder.", path.display()))
                .with("place", path.display())
        };
        let missing_error = || refuse("not_there", 7, "is not an existing folder.");
        // Links are resolved, so that the same folder is not watched twice.
        let path = path.canonicalize().map_err(|_| missing_error())?;
        if path.ancestors().any(|folder| folder.join(mementory_crypto::HEADER_FILE).exists()) {
            return Err(refuse("inside_a_vault", 2, "is a vault or lies inside one, so it is not watched."));
        }
        let existing_files = match list_folder(&path) {
            FolderListing::Files(files) => files,
            FolderListing::Missing => return Err(missing_error()),
            FolderListing::Unreadable => {
                return Err(refuse("no_permission", 7, "cannot be read: permission is missing."));
            }
        };
        {
            let _guard = self.context.write_guard();
            self.context.vault.watched_folders().watch(&path, &existing_files, now())?;
        }
        self.list()
    }

    /// Changes what happens to new exports in a folder.
    pub fn set_mode(&self, id: &str, mode: WatchMode) -> ApiResult<Watched> {
        let mode = match mode {
            WatchMode::Ask => Mode::Ask,
            WatchMode::Automatic => Mode::Own,
            WatchMode::Paused => Mode::Paused,
        };
        {
            let _guard = self.context.write_guard();
            self.context.vault.watched_folders().set_mode(id, mode, now())?;
        }
        self.list()
    }

    /// Stops watching a folder. The files in the folder are not changed.
    pub fn remove(&self, id: &str) -> ApiResult<Watched> {
        {
            let _guard = self.context.write_guard();
            self.context.vault.watched_folders().unwatch(id, now())?;
        }
        self.list()
    }

    /// Declines to import a detected file, which is then not offered again.
    pub fn dismiss(&self, id: &str) -> ApiResult<Watched> {
        {
            let _guard = self.context.write_guard();
            self.context.vault.watched_folders().answer(id)?;
        }
        self.list()
    }

    /// Scans all folders once. `clock` is the time of a monotonic clock. New and changed files are detected once they
    /// have stopped growing. The caller should call this again when something changes, and after `wait`.
    ///
    /// # Errors
    /// `cancelled`, and errors of the store. Folders and files that cannot be read are skipped.
    pub fn scan_folders(&self, clock: Duration, job: &Job) -> ApiResult<FolderScan> {
        let mut scan = FolderScan::default();
        let folders = self.context.vault.watched_folders().folders()?;
        for folder in folders.iter().filter(|folder| folder.mode != Mode::Paused) {
            let path = PathBuf::from(&folder.path);
            scan.watching = true;
            if self.context.watch_state().export_folders.contains(&path) {
                scan.folders.push(path);
                scan.wait = earliest(scan.wait, Some(QUIET_PERIOD));
                continue;
            }
            let FolderListing::Files(files) = list_folder(&path) else { continue };
            scan.folders.push(path);
            let seen = self.context.vault.watched_folders().seen(&folder.id)?;
            self.forget_deleted_files(&folder.id, &seen, &files)?;
            let mut new_files = Vec::new();
            for file in files {
                let known = seen.get(&self.context.vault.watched_folders().seen_key(&folder.id, &file.name));
                if known.is_none_or(|known| known.stamp != file.stamp) {
                    new_files.push(file);
                }
            }
            let (settled_files, wait) = self.context.watch_state().unsettled_files.settle(&folder.id, new_files, clock);
            scan.wait = earliest(scan.wait, wait);
            scan.changed |= self.detect_and_store(folder, settled_files, job)?;
        }
        scan.imports = self.pending_automatic_imports(&folders)?;
        Ok(scan)
    }

    /// Detects the format of each file and stores the result. Returns true if any file is offered for import.
    fn detect_and_store(&self, folder: &Folder, settled_files: Vec<CandidateFile>, job: &Job) -> ApiResult<bool> {
        let cancel = job.cancel_flag();
        let (mut seen_files, mut latest_export) = (Vec::new(), None);
        let mut cancelled = None;
        for file in settled_files {
            job.yield_to_interactive();
            let offer = match self.make_offer(&file, &cancel) {
                Ok(offer) => offer,
                Err(error) if error.code == "cancelled" => {
                    cancelled = Some(error);
                    break;
                }
                // The file cannot be read at the moment, so the next scan tries again.
                Err(error) if error.exit == 7 => continue,
                Err(_) => None,
            };
            if let Some(offer) = &offer {
                latest_export = Some(LatestExport { name: offer.name.clone(), at: offer.at });
                let id = self.context.vault.watched_folders().seen_key(&folder.id, &file.name);
                let mut state = self.context.watch_state();
                // A file whose content has changed may be imported automatically again.
                state.attempted_imports.remove(&id);
                state.failed_imports.remove(&id);
                state.fresh_offers.insert(id);
            }
            seen_files.push((file.name, SeenFile { stamp: file.stamp, offer }));
        }
        let has_latest_export = latest_export.is_some();
        if !seen_files.is_empty() {
            let _guard = self.context.write_guard();
            self.context.vault.watched_folders().record_seen(&folder.id, &seen_files, latest_export)?;
        }
        match cancelled {
            Some(error) => Err(error),
            None => Ok(has_latest_export),
        }
    }

    /// Makes an offer if the file is an export. None if its content is already offered, was declined or imported
    /// before, or was written by this vault.
    fn make_offer(&self, file: &CandidateFile, cancel: &AtomicBool) -> ApiResult<Option<Offer>> {
        let changed_error = || ApiError::io("The file is being changed by another program. Nothing was imported.");
        if cancel.load(Ordering::Relaxed) {
            return Err(cancelled_error());
        }
        // The file may have been replaced since it was listed, for example by a link.
        if FileStamp::from_path(&file.path) != Some(file.stamp) {
            return Err(changed_error());
        }
        let scratch = Scratch(self.context.vault.dir().to_path_buf());
        let limits = Limits { total_bytes: MAX_READ_BYTES, element_bytes: MAX_ELEMENT_BYTES, ..Limits::default() };
        let Some(found) = files::detect_one(&file.path, &limits, &scratch)? else { return Ok(None) };
        // The format of an encrypted file cannot be detected, so its name decides.
        let is_encrypted_export = found.encrypted && has_encrypted_extension(Path::new(&file.name));
        if !is_encrypted_export && (found.format.is_none() || found.confidence < MIN_CONFIDENCE) {
            return Ok(None);
        }
        let digest = self.context.vault.watched_folders().content_digest(&file_digest(&file.path, cancel)?);
        if FileStamp::from_path(&file.path) != Some(file.stamp) {
            return Err(changed_error());
        }
        if self.context.vault.watched_folders().is_known_content(&digest)?
            || self.is_offered_elsewhere(&digest, &file.path)?
        {
            return Ok(None);
        }
        Ok(Some(Offer { name: file.name.clone(), format: found.format, digest, at: now().as_micros() }))
    }

    /// True if another file with the same content is already offered.
    fn is_offered_elsewhere(&self, digest: &str, path: &Path) -> ApiResult<bool> {
        Ok(Offers::new(self.context).list_open()?.iter().any(|(other, waiting)| {
            other != path && waiting.offer.digest == digest && FileStamp::from_path(other) == Some(waiting.stamp)
        }))
    }

    /// Removes the stored entries of deleted files, so that a busy folder does not fill the vault. Does so only if
    /// there are many entries and the folder is not empty, because an empty folder may be the mount point of a
    /// disconnected drive.
    fn forget_deleted_files(
        &self,
        folder: &str,
        seen: &HashMap<String, SeenFile>,
        files: &[CandidateFile],
    ) -> ApiResult<()> {
        if seen.len() <= 2 * MAX_FILES_PER_FOLDER || files.is_empty() {
            return Ok(());
        }
        let existing: HashSet<String> =
            files.iter().map(|file| self.context.vault.watched_folders().seen_key(folder, &file.name)).collect();
        let deleted: Vec<String> = seen.keys().filter(|key| !existing.contains(*key)).cloned().collect();
        let _guard = self.context.write_guard();
        Ok(self.context.vault.watched_folders().forget_seen(&deleted)?)
    }
}

fn folder_view(folder: Folder) -> WatchedFolder {
    let state = match std::fs::symlink_metadata(&folder.path) {
        Ok(meta) if !meta.is_dir() => FolderState::Missing,
        Ok(_) if std::fs::read_dir(&folder.path).is_ok() => FolderState::There,
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => FolderState::Missing,
        _ => FolderState::Unreadable,
    };
    WatchedFolder {
        state,
        mode: match folder.mode {
            Mode::Ask => WatchMode::Ask,
            Mode::Own => WatchMode::Automatic,
            Mode::Paused => WatchMode::Paused,
        },
        last_at: folder.last.as_ref().map(|last| time(last.at)),
        last_name: folder.last.map(|last| last.name),
        id: folder.id,
        path: folder.path,
    }
}

fn earliest(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    a.into_iter().chain(b).min()
}
