//! A backup: the vault once more, in a folder of its own, made while it is in use. What is copied is encrypted already;
//! it opens with the secrets of that moment. The index stays behind: the copy makes its own when it is opened. Restoring is
//! the same the other way round: the backup is only read, so that it stays one.
use crate::{VaultError, VaultResult, context::Context};
use mementory_crypto::{HEADER_FILE, VaultKeys, open_header, read_header};
use mementory_formats::{file_sha256, sha256};
use mementory_model::Timestamp;
use mementory_store::{self as store, blobs::Blobs};
use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// Bytes between two checks for cancellation.
const CHUNK: usize = 1 << 20;

/// A backup that was written and passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// On disk.
    pub bytes: u64,
    /// SHA-256 over a line `<sha256>  <name>` for each file, by name.
    pub digest: String,
}

/// A copy of a vault that lies beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBackup {
    /// Its folder.
    pub path: PathBuf,
    /// When its database was written last.
    pub changed: Option<std::time::SystemTime>,
}

/// The backups of the vault in `dir` that lie beside it, the newest first: folders with a vault of the same id. Where its
/// own header says nothing any more, those that are called as its backups are. Needs no secret, and opens none of them.
pub fn backups_of(dir: &Path) -> Vec<FoundBackup> {
    let own = read_header(dir).ok().map(|header| header.vault_id);
    let stem = dir.file_stem().map(|stem| format!("{} ", stem.to_string_lossy())).unwrap_or_default();
    let beside = dir.parent().and_then(|parent| std::fs::read_dir(parent).ok()).into_iter().flatten().flatten();
    let mut found: Vec<FoundBackup> = beside
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.path() != dir)
        .filter(|entry| match (&own, read_header(&entry.path())) {
            (Some(own), Ok(header)) => header.vault_id == *own,
            (None, Ok(_)) => entry.file_name().to_string_lossy().starts_with(&stem),
            (_, Err(_)) => false,
        })
        .map(|entry| {
            let changed = entry.path().join(store::FILE).metadata().and_then(|meta| meta.modified()).ok();
            FoundBackup { path: entry.path(), changed }
        })
        .collect();
    found.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
    found
}

/// Cancellation and progress while copying.
struct Watch<'a> {
    cancel: &'a AtomicBool,
    progress: &'a dyn Fn(u64, u64),
    done: u64,
    total: u64,
}

/// Copies of the whole vault.
#[derive(Clone, Copy)]
pub struct Backups<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Backups<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Backups<'_> {
    /// Copies the vault to `out`, which must not exist, and checks the copy: every page and every file of it. Nothing
    /// is left of one that fails or is cancelled.
    ///
    /// # Errors
    /// `Exists`, `Usage` inside the vault itself, `Damaged` when the copy fails its check, `Cancelled`, I/O.
    pub fn create(
        &self,
        out: &Path,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64, u64),
    ) -> VaultResult<Backup> {
        let parent =
            free_place(out, self.context.dir(), "A backup cannot lie inside the vault. Choose another folder.")?;
        let partial = partial_in(parent, out)?;
        self.copy_to(partial.path(), &mut Watch { cancel, progress, done: 0, total: self.context.bytes() })?;
        check_copy(partial.path(), &self.context.keys)?;
        let made = put_in_place(partial, parent, out)?;
        self.context
            .store
            .write(|tx| mementory_store::audit::append(tx, &self.context.keys, now, "backup", "vault", ""))?;
        Ok(made)
    }

    /// Nothing is committed while the writer is locked, so that the database and its log belong together.
    fn copy_to(&self, to: &Path, watch: &mut Watch<'_>) -> VaultResult<()> {
        let writer = self.context.store.writer();
        // Waits for no reader: what one keeps from being moved into the database is in the log, which is copied too.
        writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        let log = format!("{}-wal", store::FILE);
        for name in [HEADER_FILE, store::FILE, &log] {
            let from = self.context.dir().join(name);
            if from.exists() {
                watch.copy(&from, &to.join(name))?;
            }
        }
        drop(writer);
        copy_blobs(self.context.dir(), to, &self.context.named_blobs()?, watch)
    }

    /// Copies the backup in `from` to `out`, which must not exist, and checks the copy as [`create`](Self::create) does its own.
    /// `secret`: the passphrase or the recovery code of the backup's moment. Nothing in `from` is changed, and nothing is
    /// left of a copy that fails or is cancelled.
    ///
    /// # Errors
    /// `Missing`, `InUse`, `WrongSecret`, `Damaged`, `NewerSchema`; `Exists`, `Usage` inside the backup, `Cancelled`, I/O.
    pub fn restore(
        from: &Path,
        out: &Path,
        secret: &str,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64, u64),
    ) -> VaultResult<Backup> {
        if !from.join(HEADER_FILE).exists() {
            return Err(VaultError::Missing(from.display().to_string()));
        }
        let parent = free_place(out, from, "A vault cannot lie inside its backup. Choose another folder.")?;
        let _lock = lock_if_there(from)?;
        let (_, keys) = open_header(from, secret)?;
        let partial = partial_in(parent, out)?;
        let mut watch = Watch { cancel, progress, done: 0, total: weight(from) };
        let log = format!("{}-wal", store::FILE);
        for name in [HEADER_FILE, store::FILE, &log] {
            let source = from.join(name);
            if source.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                watch.copy(&source, &partial.path().join(name))?;
            }
        }
        // What the database names is what belongs to it.
        let named = store::Store::open(partial.path(), keys.store(), false)?.read(store::named_blobs)?;
        copy_blobs(from, partial.path(), &named, &mut watch)?;
        check_copy(partial.path(), &keys)?;
        put_in_place(partial, parent, out)
    }
}

/// The folder that `out` is to lie in. `out` is not there, and not inside of `vault`.
fn free_place<'a>(out: &'a Path, vault: &Path, inside: &str) -> VaultResult<&'a Path> {
    let place = out.display().to_string();
    let io = |e| VaultError::io(&place, e);
    if out.symlink_metadata().is_ok() {
        return Err(VaultError::Exists(place));
    }
    let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.canonicalize().map_err(io)?.starts_with(vault.canonicalize().map_err(io)?) {
        // The next erasure would have to reach it, and the backup after it would hold it.
        return Err(VaultError::Usage(inside.into()));
    }
    Ok(parent)
}

/// Only the person can read it (0700), and it is under another name until it is whole.
fn partial_in(parent: &Path, out: &Path) -> VaultResult<tempfile::TempDir> {
    let made = tempfile::Builder::new().prefix(".mementory-backup-").tempdir_in(parent);
    made.map_err(|e| VaultError::io(out.display().to_string(), e))
}

fn copy_blobs(from: &Path, to: &Path, digests: &[[u8; 32]], watch: &mut Watch<'_>) -> VaultResult<()> {
    let blobs = to.join("blobs");
    match std::fs::create_dir(&blobs) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(VaultError::io("blobs", e)),
        _ => {}
    }
    for digest in digests {
        let name = hex::encode(digest);
        let source = from.join("blobs").join(&name);
        // A link, or something to wait for, is none of ours.
        if !source.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            return Err(VaultError::Damaged(format!("blobs/{name} is not there")));
        }
        watch.copy(&source, &blobs.join(&name))?;
    }
    Ok(())
}

/// The copy as it would be opened: its header, every page, every file.
fn check_copy(dir: &Path, keys: &VaultKeys) -> VaultResult<()> {
    read_header(dir)?;
    let copy = store::Store::open(dir, keys.store(), false)?;
    if let Some(problem) = copy.read(store::page_problems)?.into_iter().next() {
        return Err(VaultError::Damaged(problem));
    }
    let blobs = Blobs::new(dir, keys.blobs())?;
    copy.read(store::named_blobs)?.iter().try_for_each(|digest| blobs.verify(digest))
}

/// Gives the copy its name.
fn put_in_place(partial: tempfile::TempDir, parent: &Path, out: &Path) -> VaultResult<Backup> {
    let place = out.display().to_string();
    let io = |e| VaultError::io(&place, e);
    let made = facts(partial.path())?;
    // Something may have come to lie there in the meantime; an empty folder would be replaced.
    if out.symlink_metadata().is_ok() {
        return Err(VaultError::Exists(place));
    }
    std::fs::rename(partial.path(), out).map_err(io)?;
    let _ = partial.keep();
    #[cfg(unix)]
    File::open(parent).and_then(|d| d.sync_all()).map_err(io)?;
    #[cfg(not(unix))]
    let _ = parent;
    Ok(made)
}

/// Nobody works with the backup as a vault meanwhile. One that never was opened has no lock, and is given none.
fn lock_if_there(dir: &Path) -> VaultResult<Option<File>> {
    let Ok(lock) = File::open(dir.join("lock")) else { return Ok(None) };
    match lock.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(VaultError::InUse),
        // A file system without locks has nobody who holds one.
        _ => Ok(Some(lock)),
    }
}

/// Bytes that are there to be copied, about: what nothing names is not.
fn weight(dir: &Path) -> u64 {
    let size = |path: PathBuf| path.metadata().map_or(0, |meta| meta.len());
    let blobs = std::fs::read_dir(dir.join("blobs")).into_iter().flatten().filter_map(Result::ok);
    size(dir.join(store::FILE)) + blobs.map(|entry| size(entry.path())).sum::<u64>()
}

impl Watch<'_> {
    fn copy(&mut self, from: &Path, to: &Path) -> VaultResult<()> {
        let io = |e| VaultError::io("backup", e);
        let mut source = File::open(from).map_err(io)?;
        let mut target = File::options().write(true).create_new(true).open(to).map_err(io)?;
        let mut chunk = vec![0; CHUNK];
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(VaultError::Cancelled);
            }
            let n = source.read(&mut chunk).map_err(io)?;
            if n == 0 {
                break;
            }
            target.write_all(&chunk[..n]).map_err(io)?;
            self.done += n as u64;
            (self.progress)(self.done, self.total.max(self.done));
        }
        target.sync_all().map_err(io)
    }
}

/// Size and digest of what lies in the folder.
fn facts(dir: &Path) -> VaultResult<Backup> {
    let io = |e| VaultError::io("backup", e);
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in [dir.to_path_buf(), dir.join("blobs")] {
        for entry in std::fs::read_dir(folder).map_err(io)? {
            files.push(entry.map_err(io)?.path());
        }
    }
    files.retain(|path| path.is_file());
    files.sort();
    let (mut bytes, mut lines) = (0, String::new());
    for path in &files {
        bytes += path.metadata().map_err(io)?.len();
        let name = path.strip_prefix(dir).unwrap_or(path).to_string_lossy().replace('\\', "/");
        lines += &format!("{}  {name}\n", file_sha256(path)?);
    }
    Ok(Backup { bytes, digest: sha256(&mut lines.as_bytes(), "backup")? })
}
