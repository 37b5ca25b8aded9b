//! Where the list is: in the vault's folder, in each backup, and in a folder of the program. All are read, all are
//! written; one that cannot be read is of another vault or damaged, and is left out.
use crate::{VaultError, VaultResult, erasure_ledger::acts::Ledger};
use mementory_crypto::{ChunkReader, ChunkWriter, Context, VaultKeys};
use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// Its name in a vault and in a backup.
pub(crate) const FILE: &str = "erasures";
/// Larger ones are not read: a million erased records take about a quarter of this.
const MOST: u64 = 1 << 30;

/// Where the list of one vault is kept.
#[derive(Debug, Clone)]
pub(crate) struct LedgerFiles {
    vault_id: String,
    /// In the vault's folder.
    pub(crate) own: PathBuf,
    /// In the program's folder, if there is one.
    pub(crate) outside: Option<PathBuf>,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundLedger {
    pub(crate) ledger: Ledger,
    /// A file could not be read: of another vault, or damaged.
    pub(crate) unread: u32,
    /// Files that were read.
    pub(crate) read: u32,
}

impl LedgerFiles {
    pub(crate) fn new(dir: &Path, vault_id: &str, folder: Option<&Path>) -> Self {
        let outside = folder.map(|folder| folder.join(format!("{vault_id}.{FILE}")));
        Self { vault_id: vault_id.to_owned(), own: dir.join(FILE), outside }
    }

    /// Reads one file into `found`; one that is not there is none.
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
        let io = |e| VaultError::io(FILE, e);
        // A link, or something to wait for, is none of ours.
        let Ok(meta) = path.symlink_metadata() else { return Ok(None) };
        if !meta.is_file() || meta.len() > MOST {
            return Err(VaultError::Damaged(FILE.into()));
        }
        let file = File::open(path).map_err(io)?;
        let reader = ChunkReader::open(file, meta.len(), keys.ledger(), &self.context())?;
        let mut bytes = Vec::new();
        reader.into_read().read_to_end(&mut bytes).map_err(io)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|_| VaultError::Damaged(FILE.into()))
    }

    /// Writes the list durably: the file is either as before or complete.
    pub(crate) fn write(&self, keys: &VaultKeys, path: &Path, ledger: &Ledger) -> VaultResult<()> {
        let io = |e| VaultError::io(FILE, e);
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(io)?;
        let bytes = serde_json::to_vec(ledger).map_err(|_| VaultError::Damaged(FILE.into()))?;
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

    fn context(&self) -> Context<'_> {
        Context { purpose: "erasures", name: &self.vault_id, generation: 0 }
    }
}
