//! Manages the files in watched folders that are offered for import. Files that Mementory imported or wrote itself are
//! not offered.
use super::context::Context;
use crate::{ApiError, ApiResult};
use mementory_formats::sha256;
use mementory_vault::watching::{FileStamp, PendingOffer, SeenFile};
use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

/// The files that are offered for import.
#[derive(Clone, Copy)]
pub(super) struct Offers<'s> {
    context: &'s Context,
}

impl<'s> Offers<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }

    /// Lists the offers on which the person has not decided yet, with the paths of their files.
    pub(super) fn list_open(&self) -> ApiResult<Vec<(PathBuf, PendingOffer)>> {
        let folders: HashMap<String, String> = self
            .context
            .vault
            .watched_folders()
            .folders()?
            .into_iter()
            .map(|folder| (folder.id, folder.path))
            .collect();
        let waiting = self.context.vault.watched_folders().offers()?;
        Ok(waiting
            .into_iter()
            .filter_map(|each| Some((Path::new(folders.get(&each.folder)?).join(&each.offer.name), each)))
            .collect())
    }

    /// Marks files as imported, so that neither these files nor others with the same content are offered. Errors are
    /// ignored, because the import is already committed and the worst effect is an unnecessary offer.
    pub(super) fn mark_imported(&self, paths: &[String]) {
        if self.context.vault.watched_folders().folders().is_ok_and(|folders| folders.is_empty()) {
            return;
        }
        let Ok(waiting) = self.list_open() else { return };
        for path in paths.iter().map(PathBuf::from) {
            let Some(stamp) = FileStamp::from_path(&path) else { continue };
            let resolved = path.canonicalize().unwrap_or_else(|_| path.clone());
            match waiting.iter().find(|(other, each)| *other == resolved && each.stamp == stamp) {
                Some((_, each)) => drop(self.context.vault.watched_folders().answer(&each.id)),
                None => drop(self.mark_known(&resolved, stamp)),
            }
        }
    }

    /// Stores that a file and its content are known, so that neither is offered.
    fn mark_known(&self, path: &Path, stamp: FileStamp) -> ApiResult<()> {
        let content = self.context.vault.watched_folders().content_digest(&file_digest(path, &AtomicBool::new(false))?);
        self.context.vault.watched_folders().mark_known(&content)?;
        // An existing offer for another file with the same content is closed.
        if let Some(other) =
            self.context.vault.watched_folders().offers()?.iter().find(|each| each.offer.digest == content)
        {
            self.context.vault.watched_folders().answer(&other.id)?;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Ok(());
        };
        for watched in
            self.context.vault.watched_folders().folders()?.iter().filter(|watched| Path::new(&watched.path) == folder)
        {
            self.context.vault.watched_folders().record_seen(
                &watched.id,
                &[(name.to_owned(), SeenFile { stamp, offer: None })],
                None,
            )?;
        }
        Ok(())
    }

    /// Prevents scans of the folder of `out` until the guard is dropped. Must be called before an export is written to
    /// `out`.
    pub(super) fn begin_file_export(&self, out: &Path) -> FileExportGuard<'s> {
        let parent = out.parent().and_then(|folder| folder.canonicalize().ok());
        let watched = self.context.vault.watched_folders().folders().unwrap_or_default();
        let folder = parent.filter(|folder| watched.iter().any(|each| Path::new(&each.path) == folder));
        if let Some(folder) = &folder {
            self.context.watch_state().export_folders.push(folder.clone());
        }
        FileExportGuard { context: self.context, folder }
    }
}

/// While this guard exists, the folder of the export is not scanned.
pub(super) struct FileExportGuard<'a> {
    context: &'a Context,
    folder: Option<PathBuf>,
}

impl FileExportGuard<'_> {
    /// Marks files that Mementory wrote, so that they are not offered even if they are moved to another folder later.
    pub(super) fn mark_written<'p>(&self, files: impl IntoIterator<Item = &'p PathBuf>) {
        if self.context.vault.watched_folders().folders().is_ok_and(|folders| folders.is_empty()) {
            return;
        }
        for file in files {
            let path = file.canonicalize().unwrap_or_else(|_| file.clone());
            // Errors are ignored, because the export is already complete.
            let _ = FileStamp::from_path(&path).map(|stamp| Offers::new(self.context).mark_known(&path, stamp));
        }
    }
}

impl Drop for FileExportGuard<'_> {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let mut state = self.context.watch_state();
            if let Some(at) = state.export_folders.iter().position(|other| other == folder) {
                state.export_folders.swap_remove(at);
            }
        }
    }
}

pub(super) fn cancelled_error() -> ApiError {
    ApiError::new("cancelled", 130, "Cancelled. Nothing was changed.")
}

/// Computes the SHA-256 of a file. Fails with `cancelled` if `cancel` is set.
pub(super) fn file_digest(path: &Path, cancel: &AtomicBool) -> ApiResult<String> {
    let read_error = |error: io::Error| ApiError::io(format!("{} could not be read: {error}.", path.display()));
    let mut reader = CancellableReader { file: File::open(path).map_err(read_error)?, cancel };
    let digest = sha256(&mut reader, "watched file");
    if cancel.load(Ordering::Relaxed) { Err(cancelled_error()) } else { Ok(digest?) }
}

/// Reads a file until its end or until `cancel` is set. After a cancellation, the bytes that were read must not be
/// used.
struct CancellableReader<'a> {
    file: File,
    cancel: &'a AtomicBool,
}

impl Read for CancellableReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) { Ok(0) } else { self.file.read(into) }
    }
}
