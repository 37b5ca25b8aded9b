//! Makes backups. A backup is a copy of the vault in a folder of its own, made while the vault is in use. The copied
//! files are encrypted already, and the copy opens with the secrets that the vault had at that time. The index is not
//! copied, since the copy builds its own when it is opened. Restoring copies a backup to a new folder. The backup
//! itself is only read.
use crate::{
    VaultError, VaultResult,
    applied::Applied,
    context::Context,
    erasure_ledger::{FoundLedger, LEDGER_FILE, LedgerFiles},
    failed_step::FailedStep,
};
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

/// Number of bytes that are copied between two checks for cancellation.
const CHUNK_BYTES: usize = 1 << 20;

/// A backup that was written and passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Size on disk in bytes.
    pub bytes: u64,
    /// SHA-256 of a list with a line `<sha256>  <name>` for each file, sorted by name.
    pub digest: String,
}

/// A vault that was restored from a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredBackup {
    /// Size and digest of the restored copy.
    pub copy: Backup,
    /// Number of erasures and redactions made after the backup. They are applied when the copy is opened.
    pub erased_since: u32,
    /// True if a list of erasures was found outside the backup. Without such a list, erasures that were made after the
    /// backup cannot be known.
    pub has_outside_list: bool,
}

/// A backup in the same folder as its vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBackup {
    /// Folder of the backup.
    pub path: PathBuf,
    /// When the database of the backup was last written.
    pub changed: Option<std::time::SystemTime>,
}

/// Returns the backups that are in the same folder as the vault in `dir`, newest first. A backup is a folder with a
/// vault of the same id. If the header in `dir` cannot be read, the id is unknown. Then a folder counts as a backup if
/// it has a vault and its name begins with the name of `dir` and a space. No secret is needed, and no backup is opened.
pub fn backups_of(dir: &Path) -> Vec<FoundBackup> {
    let own_id = read_header(dir).ok().map(|header| header.vault_id);
    let name_prefix = dir.file_stem().map(|stem| format!("{} ", stem.to_string_lossy())).unwrap_or_default();
    let entries_beside = dir.parent().and_then(|parent| std::fs::read_dir(parent).ok()).into_iter().flatten().flatten();
    let mut backups: Vec<FoundBackup> = entries_beside
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.path() != dir)
        .filter(|entry| match (&own_id, read_header(&entry.path())) {
            (Some(own_id), Ok(header)) => header.vault_id == *own_id,
            (None, Ok(_)) => entry.file_name().to_string_lossy().starts_with(&name_prefix),
            (_, Err(_)) => false,
        })
        .map(|entry| {
            let changed = entry.path().join(store::DATABASE_FILE).metadata().and_then(|meta| meta.modified()).ok();
            FoundBackup { path: entry.path(), changed }
        })
        .collect();
    backups.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
    backups
}

/// Reports the progress of copying, and cancels it.
struct CopyMonitor<'a> {
    cancel: &'a AtomicBool,
    progress: &'a dyn Fn(u64, u64),
    done: u64,
    total: u64,
}

/// Makes backups, which are copies of the whole vault, and restores them.
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
    /// Copies the vault to `out`, which must not exist, and checks every page and every file of the copy. A copy that
    /// fails or is cancelled is removed.
    ///
    /// # Errors
    /// `Exists`, `Usage` if `out` is inside the vault, `Damaged` if the copy fails its check, `Cancelled`, I/O.
    pub fn create(
        &self,
        out: &Path,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64, u64),
    ) -> VaultResult<Applied<Backup>> {
        let parent = parent_of_new_folder(
            out,
            self.context.dir(),
            "A backup cannot lie inside the vault. Choose another folder.",
        )?;
        let partial = create_partial_folder(parent, out)?;
        self.copy_to(partial.path(), &mut CopyMonitor { cancel, progress, done: 0, total: self.context.bytes() })?;
        check_copy(partial.path(), &self.context.keys)?;
        let backup = rename_to_final_name(partial, parent, out)?;
        Ok(self.context.log_non_store_change(backup, now, "backup"))
    }

    /// Copies the header, the database, its WAL and the list of erasures while the writer is locked, so that these
    /// files match each other. Then copies the blobs.
    fn copy_to(&self, to: &Path, monitor: &mut CopyMonitor<'_>) -> VaultResult<()> {
        let writer = self.context.store.writer();
        // A passive checkpoint does not wait for readers. Changes that it cannot move into the database because of a
        // reader stay in the WAL, which is copied too.
        writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        let log = format!("{}-wal", store::DATABASE_FILE);
        for name in [HEADER_FILE, store::DATABASE_FILE, &log, LEDGER_FILE] {
            let from = self.context.dir().join(name);
            if from.exists() {
                monitor.copy_file(&from, &to.join(name))?;
            }
        }
        drop(writer);
        copy_blobs(self.context.dir(), to, &self.context.blobs_in_use()?, monitor)
    }

    /// Copies the backup in `from` to `out`, which must not exist, and checks the copy as [`create`](Self::create)
    /// does. `secret` is the passphrase or recovery code that the vault had when the backup was made. Nothing in `from`
    /// is changed, and a copy that fails or is cancelled is removed. `ledgers` is the program's folder for lists of
    /// erasures. The copy still contains records that were erased after the backup was made. These records are erased
    /// when the copy is opened, before anything can be read.
    ///
    /// # Errors
    /// `Missing`, `InUse`, `WrongSecret`, `Damaged`, `NewerSchema`; `Exists`, `Usage` if `out` is inside the backup,
    /// `Cancelled`, I/O.
    pub fn restore(
        from: &Path,
        out: &Path,
        secret: &str,
        ledgers: Option<&Path>,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64, u64),
    ) -> VaultResult<Applied<RestoredBackup>> {
        if !from.join(HEADER_FILE).exists() {
            return Err(VaultError::Missing(from.display().to_string()));
        }
        let parent = parent_of_new_folder(out, from, "A vault cannot lie inside its backup. Choose another folder.")?;
        let _lock = lock_if_present(from)?;
        let (header, keys) = open_header(from, secret)?;
        let partial = create_partial_folder(parent, out)?;
        let mut monitor = CopyMonitor { cancel, progress, done: 0, total: bytes_to_copy(from) };
        let log = format!("{}-wal", store::DATABASE_FILE);
        for name in [HEADER_FILE, store::DATABASE_FILE, &log] {
            let source = from.join(name);
            if source.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                monitor.copy_file(&source, &partial.path().join(name))?;
            }
        }
        // Only blobs that the database refers to are copied from the backup.
        let database = store::Store::open(partial.path(), keys.store(), false)?;
        let (named_digests, applied) =
            database.read(|c| Ok((store::blobs_in_use(c)?, mementory_store::tombstones::own_ids(c)?)))?;
        drop(database);
        copy_blobs(from, partial.path(), &named_digests, &mut monitor)?;
        check_copy(partial.path(), &keys)?;
        let files = LedgerFiles::new(partial.path(), &header.vault_id, ledgers);
        let erasures = read_applicable_erasures(from, &files, &keys);
        if erasures.all.read > 0 {
            files.write(&keys, &files.in_vault, &erasures.all.ledger)?;
        }
        let erased_since = u32::try_from(erasures.all.ledger.missing(&applied).len()).unwrap_or(u32::MAX);
        let copy = rename_to_final_name(partial, parent, out)?;
        Ok(copy.map(|copy| RestoredBackup { copy, erased_since, has_outside_list: erasures.has_outside_list }))
    }
}

/// The lists of erasures that apply to a backup, merged into one.
struct FoundErasures {
    all: FoundLedger,
    /// True if a list other than the backup's own was read.
    has_outside_list: bool,
}

/// Reads every list of erasures that may apply: the backup's own, the program's, the vault's, and those of other
/// backups in the same folder.
fn read_applicable_erasures(backup: &Path, files: &LedgerFiles, keys: &VaultKeys) -> FoundErasures {
    let mut all = FoundLedger::default();
    let backup_lists = backups_of(backup).into_iter().map(|copy| copy.path.join(LEDGER_FILE));
    for path in files.outside.iter().cloned().chain(backup_lists) {
        files.read(keys, &path, &mut all);
    }
    let has_outside_list = all.read > 0;
    files.read(keys, &backup.join(LEDGER_FILE), &mut all);
    FoundErasures { all, has_outside_list }
}

/// Checks that `out` does not exist and is not inside `vault`. Returns the parent folder of `out`. `inside_message` is
/// the error message if `out` is inside `vault`.
fn parent_of_new_folder<'a>(out: &'a Path, vault: &Path, inside_message: &str) -> VaultResult<&'a Path> {
    let place = out.display().to_string();
    let io = |e| VaultError::io(&place, e);
    if out.symlink_metadata().is_ok() {
        return Err(VaultError::Exists(place));
    }
    let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.canonicalize().map_err(io)?.starts_with(vault.canonicalize().map_err(io)?) {
        // A backup inside the vault would have to be changed by each erasure, and the next backup would contain it.
        return Err(VaultError::Usage(inside_message.into()));
    }
    Ok(parent)
}

/// Creates the folder for an incomplete copy. The folder has a temporary name, and only its owner can read it (0700).
fn create_partial_folder(parent: &Path, out: &Path) -> VaultResult<tempfile::TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix(".mementory-backup-");
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let created_folder = folder.tempdir_in(parent);
    created_folder.map_err(|e| VaultError::io(out.display().to_string(), e))
}

fn copy_blobs(from: &Path, to: &Path, digests: &[[u8; 32]], monitor: &mut CopyMonitor<'_>) -> VaultResult<()> {
    let blobs = to.join("blobs");
    match std::fs::create_dir(&blobs) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(VaultError::io("blobs", e)),
        _ => {}
    }
    for digest in digests {
        let name = hex::encode(digest);
        let source = from.join("blobs").join(&name);
        // A link or a pipe is not a file of the vault, and opening a pipe would block.
        if !source.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            return Err(VaultError::Damaged(format!("blobs/{name} is not there")));
        }
        monitor.copy_file(&source, &blobs.join(&name))?;
    }
    Ok(())
}

/// Checks the copy's header, every page of its database and every blob.
fn check_copy(dir: &Path, keys: &VaultKeys) -> VaultResult<()> {
    read_header(dir)?;
    let copy = store::Store::open(dir, keys.store(), false)?;
    if let Some(problem) = copy.read(store::page_problems)?.into_iter().next() {
        return Err(VaultError::Damaged(problem));
    }
    let blobs = Blobs::new(dir, keys.blobs())?;
    copy.read(store::blobs_in_use)?.iter().try_for_each(|digest| blobs.verify(digest))
}

/// Renames the finished copy to its final name.
fn rename_to_final_name(partial: tempfile::TempDir, parent: &Path, out: &Path) -> VaultResult<Applied<Backup>> {
    let place = out.display().to_string();
    let io = |e| VaultError::io(&place, e);
    let backup = size_and_digest(partial.path())?;
    // `out` is checked again, because renaming would replace an empty folder that was created in the meantime.
    if out.symlink_metadata().is_ok() {
        return Err(VaultError::Exists(place));
    }
    std::fs::rename(partial.path(), out).map_err(io)?;
    let _ = partial.keep();
    // Windows cannot sync a folder, but its file systems journal the rename.
    #[cfg(unix)]
    let is_synced = File::open(parent).and_then(|d| d.sync_all()).is_ok();
    #[cfg(not(unix))]
    let (is_synced, _) = (true, parent);
    Ok(Applied::new(backup).warn_if(!is_synced, FailedStep::Sync))
}

/// Locks the backup, so that no process opens it as a vault while it is copied. A backup that was never opened has no
/// lock file, and none is created.
fn lock_if_present(dir: &Path) -> VaultResult<Option<File>> {
    let Ok(lock) = File::open(dir.join("lock")) else { return Ok(None) };
    match lock.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(VaultError::InUse),
        // Any error other than `WouldBlock` is ignored, since on a file system without locks no other process can hold
        // a lock.
        _ => Ok(Some(lock)),
    }
}

/// Returns the approximate number of bytes to copy. Counts every blob, although blobs that no record refers to are not
/// copied.
fn bytes_to_copy(dir: &Path) -> u64 {
    let size = |path: PathBuf| path.metadata().map_or(0, |meta| meta.len());
    let blobs = std::fs::read_dir(dir.join("blobs")).into_iter().flatten().filter_map(Result::ok);
    size(dir.join(store::DATABASE_FILE)) + blobs.map(|entry| size(entry.path())).sum::<u64>()
}

impl CopyMonitor<'_> {
    fn copy_file(&mut self, from: &Path, to: &Path) -> VaultResult<()> {
        let io = |e| VaultError::io("backup", e);
        let mut source = File::open(from).map_err(io)?;
        let mut target = File::options().write(true).create_new(true).open(to).map_err(io)?;
        let mut chunk = vec![0; CHUNK_BYTES];
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

/// Returns the size and digest of the files in the folder and in its `blobs`.
fn size_and_digest(dir: &Path) -> VaultResult<Backup> {
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
