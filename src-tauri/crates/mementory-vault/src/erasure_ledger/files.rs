//! Reads and writes the files of the list of erasures. One is in the vault's folder, one in each backup, and one in
//! the program's folder. A file that is damaged or belongs to another vault is counted and skipped.
use crate::{VaultError, VaultResult, erasure_ledger::acts::Ledger};
use mementory_crypto::{ChunkReader, ChunkWriter, Context, VaultKeys};
use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// Name of the file in a vault and in a backup.
pub(crate) const LEDGER_FILE: &str = "erasures";
/// Largest size in bytes of a file that is read; a larger file counts as damaged. A list of a million erased records
/// takes about a quarter of this size.
const MAX_LEDGER_BYTES: u64 = 1 << 30;

/// The files in which a vault's list of erasures is stored.
#[derive(Debug, Clone)]
pub(crate) struct LedgerFiles {
    vault_id: String,
    /// Path of the file in the vault's folder.
    pub(crate) in_vault: PathBuf,
    /// Path of the file in the program's folder. None if there is no such folder.
    pub(crate) outside: Option<PathBuf>,
}

/// The merged lists of several files.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundLedger {
    pub(crate) ledger: Ledger,
    /// Number of files that could not be read, because they are damaged or belong to another vault.
    pub(crate) unread: u32,
    /// Number of files that were read.
    pub(crate) read: u32,
}

impl LedgerFiles {
    pub(crate) fn new(dir: &Path, vault_id: &str, folder: Option<&Path>) -> Self {
        let outside = folder.map(|folder| folder.join(format!("{vault_id}.{LEDGER_FILE}")));
        Self { vault_id: vault_id.to_owned(), in_vault: dir.join(LEDGER_FILE), outside }
    }

    /// Merges the list of one file into `found` and counts the file. A missing file is not counted.
    pub(crate) fn read(&self, keys: &VaultKeys, path: &Path, found: &mut FoundLedger) {
        match self.open(keys, path) {
            Ok(Some(ledger)) => {
                found.ledger.merge(ledger);
                found.read += 1;
            }
            Ok(None) => {}
            Err(_) => found.unread += 1,
        }
    }

    fn open(&self, keys: &VaultKeys, path: &Path) -> VaultResult<Option<Ledger>> {
        let io = |e| VaultError::io(LEDGER_FILE, e);
        // A symbolic link or a pipe is not a file of the vault, and opening a pipe would block.
        let Ok(meta) = path.symlink_metadata() else { return Ok(None) };
        if !meta.is_file() || meta.len() > MAX_LEDGER_BYTES {
            return Err(VaultError::Damaged(LEDGER_FILE.into()));
        }
        let file = File::open(path).map_err(io)?;
        let reader = ChunkReader::open(file, meta.len(), keys.ledger(), &self.context())?;
        let mut bytes = Vec::new();
        reader.into_read().read_to_end(&mut bytes).map_err(io)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|_| VaultError::Damaged(LEDGER_FILE.into()))
    }

    /// Writes a complete file under another name and then renames it, so that the list is durable and never incomplete.
    pub(crate) fn write(&self, keys: &VaultKeys, path: &Path, ledger: &Ledger) -> VaultResult<()> {
        let io = |e| VaultError::io(LEDGER_FILE, e);
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(io)?;
        let bytes = serde_json::to_vec(ledger).map_err(|_| VaultError::Damaged(LEDGER_FILE.into()))?;
        let partial = tempfile::Builder::new().prefix(".mementory-partial-").tempfile_in(folder).map_err(io)?;
        let mut writer = ChunkWriter::new(partial, keys.ledger(), &self.context())?;
        writer.write_all(&bytes).map_err(io)?;
        let partial = writer.finish()?;
        partial.as_file().sync_all().map_err(io)?;
        partial.persist(path).map_err(|e| io(e.error))?;
        #[cfg(unix)]
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
        Ok(())
    }

    /// Gives the existing file a second name (a hard link), from which [`restore_former`](Self::restore_former) can
    /// restore it. Does nothing on a file system without hard links.
    pub(crate) fn keep_former(&self, path: &Path) {
        let former_path = self.former_path(path);
        let _ = std::fs::remove_file(&former_path);
        let _ = std::fs::hard_link(path, former_path);
    }

    /// Restores the previous file. Returns false if [`keep_former`](Self::keep_former) kept no file, or if the rename
    /// fails.
    pub(crate) fn restore_former(&self, path: &Path) -> bool {
        let folder = path.parent().unwrap_or(Path::new("."));
        let is_restored = std::fs::rename(self.former_path(path), path).is_ok();
        #[cfg(unix)]
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        #[cfg(not(unix))]
        let _ = folder;
        is_restored
    }

    /// Removes the second name of the previous file, see [`keep_former`](Self::keep_former).
    pub(crate) fn drop_former(&self, path: &Path) {
        let _ = std::fs::remove_file(self.former_path(path));
    }

    /// Returns the second name of a file, under which its previous content is kept. Opening a vault removes files with
    /// this prefix from its folder.
    fn former_path(&self, path: &Path) -> PathBuf {
        path.with_file_name(format!(".mementory-partial-{}.{LEDGER_FILE}", self.vault_id))
    }

    fn context(&self) -> Context<'_> {
        Context { purpose: "erasures", name: &self.vault_id, generation: 0 }
    }
}
