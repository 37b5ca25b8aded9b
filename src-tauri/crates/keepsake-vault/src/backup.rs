//! A backup: the vault once more, in a folder of its own, made while it is in use. What is copied is encrypted already;
//! it opens with the secrets of that moment. The index stays behind: the copy makes its own when it is opened.
use crate::{Vault, VaultError, VaultResult, blobs::Blobs, store};
use keepsake_crypto::{HEADER_FILE, read_header};
use keepsake_formats::{file_sha256, sha256};
use keepsake_model::Timestamp;
use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

/// Bytes between two looks at whether it was cancelled.
const CHUNK: usize = 1 << 20;

/// A backup that was written and passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// On disk.
    pub bytes: u64,
    /// SHA-256 over a line `<sha256>  <name>` for each file, by name.
    pub digest: String,
}

/// Whom to ask and tell while copying.
struct Watch<'a> {
    cancel: &'a AtomicBool,
    progress: &'a dyn Fn(u64, u64),
    done: u64,
    total: u64,
}

impl Vault {
    /// Copies the vault to `out`, which must not exist, and checks the copy: every page and every file of it. Nothing
    /// is left of one that fails or is cancelled.
    ///
    /// # Errors
    /// `Exists`, `Usage` inside the vault itself, `Damaged` when the copy fails its check, `Cancelled`, I/O.
    pub fn backup(
        &self,
        out: &Path,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(u64, u64),
    ) -> VaultResult<Backup> {
        let place = out.display().to_string();
        let io = |e| VaultError::io(&place, e);
        if out.symlink_metadata().is_ok() {
            return Err(VaultError::Exists(place));
        }
        let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if parent.canonicalize().map_err(io)?.starts_with(self.dir().canonicalize().map_err(io)?) {
            // The next erasure would have to reach it, and the backup after it would hold it.
            return Err(VaultError::Usage("A backup cannot lie inside the vault. Choose another folder.".into()));
        }
        // Only the person can read it (0700), and under another name until it is whole.
        let partial = tempfile::Builder::new().prefix(".keepsake-backup-").tempdir_in(parent).map_err(io)?;
        self.copy_to(partial.path(), &mut Watch { cancel, progress, done: 0, total: self.bytes() })?;
        self.check_copy(partial.path())?;
        let made = facts(partial.path())?;
        // Something may have come to lie there in the meantime; an empty folder would be replaced.
        if out.symlink_metadata().is_ok() {
            return Err(VaultError::Exists(place));
        }
        std::fs::rename(partial.path(), out).map_err(io)?;
        let _ = partial.keep();
        #[cfg(unix)]
        File::open(parent).and_then(|d| d.sync_all()).map_err(io)?;
        self.store.write(|tx| crate::audit::append(tx, &self.keys, now, "backup", "vault", ""))?;
        Ok(made)
    }

    /// While the writer is held nothing is committed, so that the database and its log belong together.
    fn copy_to(&self, to: &Path, watch: &mut Watch<'_>) -> VaultResult<()> {
        let writer = self.store.writer();
        // Waits for no reader: what one keeps from being moved into the database is in the log, which is copied too.
        writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        let log = format!("{}-wal", store::FILE);
        for name in [HEADER_FILE, store::FILE, &log] {
            let from = self.dir().join(name);
            if from.exists() {
                watch.copy(&from, &to.join(name))?;
            }
        }
        drop(writer);
        let blobs = to.join("blobs");
        std::fs::create_dir(&blobs).map_err(|e| VaultError::io("blobs", e))?;
        for digest in self.named_blobs()? {
            let name = hex::encode(digest);
            watch.copy(&self.dir().join("blobs").join(&name), &blobs.join(&name))?;
        }
        Ok(())
    }

    /// The copy as it would be opened: its header, every page, every file.
    fn check_copy(&self, dir: &Path) -> VaultResult<()> {
        read_header(dir)?;
        let copy = store::Store::open(dir, self.keys.store(), false)?;
        if let Some(problem) = copy.read(store::page_problems)?.into_iter().next() {
            return Err(VaultError::Damaged(problem));
        }
        let blobs = Blobs::new(dir, self.keys.blobs())?;
        copy.read(store::named_blobs)?.iter().try_for_each(|digest| blobs.verify(digest))
    }
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
