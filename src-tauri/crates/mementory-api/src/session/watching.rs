//! Watched folders: what lands in them is recognised, and offered or imported. Called round by round; when, says the
//! caller, whose clock it is.
mod automatic;
#[cfg(test)]
mod tests;

use super::{Session, now, time};
use crate::{ApiError, ApiResult, Job, files, types::*};
use mementory_formats::sha256;
use mementory_model::Limits;
use mementory_vault::Scratch;
use mementory_vault::watching::{
    FileFound, Folder, LARGEST_FOLDER, LastFind, Look, Mode, Offer, QUIET, Seen, Settling, Stamp, Waiting, look_into,
};
use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// From here on a file looks like an export: its format's own marker, or the shape of its content. Plain text that reads
/// like a list of memories does not.
const SURE: f64 = 0.8;
/// Bytes that a look at one file may read, and unpack from archives inside of it; and of one document that has to be read
/// whole. Whoever drops a larger one on the window is asked.
const MOST_READ: u64 = 1 << 30;
const MOST_ELEMENT: u64 = 64 << 20;
/// What a vault is known by.
const VAULT_FILE: &str = "vault.json";

/// What is remembered until the vault is locked. Never held while something waits for the vault.
#[derive(Default)]
pub(super) struct Watching(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    settling: Settling,
    /// Offers that were found since the vault was opened.
    fresh: HashSet<String>,
    /// Offers that were tried to be imported on their own.
    tried: HashSet<String>,
    /// Those of them that the person has to see.
    failed: HashSet<String>,
    importing: Option<String>,
    imported: Vec<OwnImport>,
    /// Folders that an export is being written to.
    writing: Vec<PathBuf>,
}

/// What came of one round.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct WatchRound {
    /// There are folders to look into.
    pub watching: bool,
    /// Those that are there.
    pub folders: Vec<PathBuf>,
    /// There is something else to show than before.
    pub changed: bool,
    /// Offers to be imported on their own, each with [`Session::import_find`].
    pub imports: Vec<String>,
    /// When something may have settled; None: when something happens.
    pub wait: Option<Duration>,
}

impl Session {
    /// The watched folders, what waits for an answer, and what was imported on its own.
    pub fn watched(&self) -> ApiResult<Watched> {
        let folders = self.vault.watched()?;
        let waiting = self.vault.waiting()?;
        let (fresh, failed, importing, imported) = {
            let inner = self.inner();
            (inner.fresh.clone(), inner.failed.clone(), inner.importing.clone(), inner.imported.clone())
        };
        let find = |each: Waiting| {
            let folder = folders.iter().find(|folder| folder.id == each.folder)?;
            let path = Path::new(&folder.path).join(&each.offer.name);
            // What is gone, or was changed, cannot be imported as what it was.
            (Stamp::of(&path) == Some(each.stamp)).then(|| Find {
                // What is about to be imported is no news yet.
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
        let finds = waiting.into_iter().filter_map(find).collect();
        Ok(Watched { finds, importing, imported, folders: folders.into_iter().map(view).collect() })
    }

    /// Watch a folder and ask first. What is in it now is not offered.
    ///
    /// # Errors
    /// `not_there`, `no_permission`, `inside_a_vault`, `usage` for too many.
    pub fn watch_folder(&self, path: &Path) -> ApiResult<Watched> {
        let refuse = |code, exit, what: &str| {
            ApiError::new(code, exit, format!("{} {what} Nothing was changed.", path.display()))
                .with("place", path.display())
        };
        let missing = || refuse("not_there", 7, "is not a folder that is there.");
        // Without links, so that the same folder is known as the same.
        let path = path.canonicalize().map_err(|_| missing())?;
        if path.ancestors().any(|folder| folder.join(VAULT_FILE).exists()) {
            return Err(refuse("inside_a_vault", 2, "is a vault or lies in one, and nobody puts exports there."));
        }
        let present = match look_into(&path) {
            Look::Files(files) => files,
            Look::Missing => return Err(missing()),
            Look::Unreadable => return Err(refuse("no_permission", 7, "may not be read.")),
        };
        {
            let _turn = self.changing();
            self.vault.watch(&path, &present, now())?;
        }
        self.watched()
    }

    /// Do something else with what lands in a folder.
    pub fn set_watching(&self, id: &str, mode: WatchMode) -> ApiResult<Watched> {
        let mode = match mode {
            WatchMode::Ask => Mode::Ask,
            WatchMode::Own => Mode::Own,
            WatchMode::Paused => Mode::Paused,
        };
        {
            let _turn = self.changing();
            self.vault.set_watching(id, mode, now())?;
        }
        self.watched()
    }

    /// Watch a folder no longer. Nothing in it is touched.
    pub fn unwatch_folder(&self, id: &str) -> ApiResult<Watched> {
        {
            let _turn = self.changing();
            self.vault.unwatch(id, now())?;
        }
        self.watched()
    }

    /// Do not import a find. It is not offered again.
    pub fn dismiss_find(&self, id: &str) -> ApiResult<Watched> {
        {
            let _turn = self.changing();
            self.vault.answer(id)?;
        }
        self.watched()
    }

    /// One round through all folders at `clock`, which never goes back. Files that are new or changed and have stopped
    /// growing are recognised. To be called again when something happened, and after `wait`.
    ///
    /// # Errors
    /// `cancelled`, the store. A folder or file that cannot be read is none.
    pub fn watch_round(&self, clock: Duration, job: &Job) -> ApiResult<WatchRound> {
        let mut round = WatchRound::default();
        let folders = self.vault.watched()?;
        for folder in folders.iter().filter(|folder| folder.mode != Mode::Paused) {
            let path = PathBuf::from(&folder.path);
            round.watching = true;
            if self.inner().writing.contains(&path) {
                round.folders.push(path);
                round.wait = sooner(round.wait, Some(QUIET));
                continue;
            }
            let Look::Files(files) = look_into(&path) else { continue };
            round.folders.push(path);
            let seen = self.vault.seen(&folder.id)?;
            self.forget_gone(&folder.id, &seen, &files)?;
            let mut unknown = Vec::new();
            for file in files {
                let known = seen.get(&self.vault.seen_key(&folder.id, &file.name));
                if known.is_none_or(|known| known.stamp != file.stamp) {
                    unknown.push(file);
                }
            }
            let (settled, wait) = self.inner().settling.settle(&folder.id, unknown, clock);
            round.wait = sooner(round.wait, wait);
            round.changed |= self.recognise(folder, settled, job)?;
        }
        round.imports = self.to_import(&folders)?;
        Ok(round)
    }

    /// Says of each file what it is, and keeps that. True when something was found.
    fn recognise(&self, folder: &Folder, settled: Vec<FileFound>, job: &Job) -> ApiResult<bool> {
        let cancel = job.cancel_flag();
        let (mut seen, mut last) = (Vec::new(), None);
        let mut stopped = None;
        for file in settled {
            job.give_way();
            let offer = match self.offer(&file, &cancel) {
                Ok(offer) => offer,
                Err(error) if error.code == "cancelled" => {
                    stopped = Some(error);
                    break;
                }
                // Not readable just now: another round asks again.
                Err(error) if error.exit == 7 => continue,
                Err(_) => None,
            };
            if let Some(offer) = &offer {
                last = Some(LastFind { name: offer.name.clone(), at: offer.at });
                let id = self.vault.seen_key(&folder.id, &file.name);
                let mut inner = self.inner();
                // Another content under a name that was tried before.
                inner.tried.remove(&id);
                inner.failed.remove(&id);
                inner.fresh.insert(id);
            }
            seen.push((file.name, Seen { stamp: file.stamp, offer }));
        }
        let found = last.is_some();
        if !seen.is_empty() {
            let _turn = self.changing();
            self.vault.see(&folder.id, &seen, last)?;
        }
        match stopped {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }

    /// The offer that a file is worth: it looks like an export, and its content has no answer yet.
    fn offer(&self, file: &FileFound, cancel: &AtomicBool) -> ApiResult<Option<Offer>> {
        let changed = || ApiError::new("io", 7, "The file is being changed.");
        if cancel.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        // Nothing but the file that was seen: no link in its place.
        if Stamp::of(&file.path) != Some(file.stamp) {
            return Err(changed());
        }
        let scratch = Scratch(self.vault.dir().to_path_buf());
        let limits = Limits { total_bytes: MOST_READ, element_bytes: MOST_ELEMENT, ..Limits::default() };
        let Some(found) = files::look_at(&file.path, &limits, &scratch)? else { return Ok(None) };
        // What is encrypted says nothing of itself; then its name has to.
        let sealed =
            found.encrypted && Path::new(&file.name).extension().is_some_and(|e| e.eq_ignore_ascii_case("alf"));
        if !sealed && (found.format.is_none() || found.confidence < SURE) {
            return Ok(None);
        }
        let digest = self.vault.content_digest(&digest(&file.path, cancel)?);
        if Stamp::of(&file.path) != Some(file.stamp) {
            return Err(changed());
        }
        if self.vault.content_known(&digest)? || self.offered(&digest, &file.path)? {
            return Ok(None);
        }
        Ok(Some(Offer { name: file.name.clone(), format: found.format, digest, at: now().as_micros() }))
    }

    /// Whether another file of the same content waits for an answer.
    fn offered(&self, digest: &str, path: &Path) -> ApiResult<bool> {
        Ok(self.watched_paths()?.iter().any(|(other, waiting)| {
            other != path && waiting.offer.digest == digest && Stamp::of(other) == Some(waiting.stamp)
        }))
    }

    /// What waits, with the path of each.
    fn watched_paths(&self) -> ApiResult<Vec<(PathBuf, Waiting)>> {
        let folders: HashMap<String, String> =
            self.vault.watched()?.into_iter().map(|folder| (folder.id, folder.path)).collect();
        let waiting = self.vault.waiting()?;
        Ok(waiting
            .into_iter()
            .filter_map(|each| Some((Path::new(folders.get(&each.folder)?).join(&each.offer.name), each)))
            .collect())
    }

    /// A folder that goes on getting and losing files must not fill the vault. An empty one may be the place of a drive
    /// that is not connected, so nothing is forgotten before there is much of it.
    fn forget_gone(&self, folder: &str, seen: &HashMap<String, Seen>, files: &[FileFound]) -> ApiResult<()> {
        if seen.len() <= 2 * LARGEST_FOLDER || files.is_empty() {
            return Ok(());
        }
        let here: HashSet<String> = files.iter().map(|file| self.vault.seen_key(folder, &file.name)).collect();
        let gone: Vec<String> = seen.keys().filter(|key| !here.contains(*key)).cloned().collect();
        let _turn = self.changing();
        Ok(self.vault.unsee(&gone)?)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.watching.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn view(folder: Folder) -> WatchedFolder {
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
            Mode::Own => WatchMode::Own,
            Mode::Paused => WatchMode::Paused,
        },
        last_at: folder.last.as_ref().map(|last| time(last.at)),
        last_name: folder.last.map(|last| last.name),
        id: folder.id,
        path: folder.path,
    }
}

fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    one.into_iter().chain(other).min()
}

fn stopped() -> ApiError {
    ApiError::new("cancelled", 130, "Cancelled. Nothing from it was kept.")
}

/// SHA-256 of a file, unless it is cancelled.
fn digest(path: &Path, cancel: &AtomicBool) -> ApiResult<String> {
    let failed = |error: io::Error| ApiError::new("io", 7, format!("{} could not be read: {error}.", path.display()));
    let mut reader = Cancellable { file: File::open(path).map_err(failed)?, cancel };
    let digest = sha256(&mut reader, "watched file");
    if cancel.load(Ordering::Relaxed) { Err(stopped()) } else { Ok(digest?) }
}

/// Ends early when it is cancelled; what was read until then is not to be used.
struct Cancellable<'a> {
    file: File,
    cancel: &'a AtomicBool,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) { Ok(0) } else { self.file.read(into) }
    }
}
