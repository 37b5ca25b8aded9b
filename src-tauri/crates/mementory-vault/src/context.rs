//! The resources of an open vault that all use cases share: folder, keys, store, attachments and search index.
use crate::{
    VaultError, VaultResult,
    diff_status::CachedDiff,
    erasure_ledger::LedgerFiles,
    folder_lock::FolderLock,
    insight_cache::InsightCache,
    known_values::{KnownValues, ValuesState},
    loaded_vectors::LoadedVectors,
};
use mementory_crypto::{Header, VaultKeys};
use mementory_erasure_check::{ErasureCheck, Evidence};
use mementory_search::{IndexError, SearchIndex};
use mementory_store::{RowView, Store, blobs::Blobs, blobs_in_use};
use rusqlite::OptionalExtension;
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, RwLock, atomic::AtomicBool},
};

/// State of the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// The index is up to date with the store.
    Current,
    /// The index was missing, stale or damaged and was rebuilt from the store.
    Rebuilt,
}

/// Fault of the index that was found when the vault was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexFault {
    /// There was no index, as in a backup.
    Missing,
    /// The index did not pass its check.
    Damaged,
    /// The store contains changes that are not in the index yet.
    Behind,
}

/// The resources of an open vault, which all use cases share.
pub(crate) struct Context {
    pub(crate) dir: PathBuf,
    pub(crate) header: Mutex<Header>,
    pub(crate) keys: VaultKeys,
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) index: RwLock<SearchIndex>,
    pub(crate) index_state: Mutex<IndexState>,
    pub(crate) index_fault: Mutex<Option<IndexFault>>,
    /// True while changes of the change log are missing from the index. While it is true, single changes are not
    /// applied to the index.
    pub(crate) index_behind: AtomicBool,
    pub(crate) export_diff: Mutex<CachedDiff>,
    /// The values that masking searches for, with the state of the vault from which they were read.
    pub(crate) known_values: Mutex<Option<(ValuesState, Arc<KnownValues>)>>,
    /// Cache of the subjects and special categories of memories.
    pub(crate) insight: Mutex<InsightCache>,
    /// The vectors of the memories, once a search has loaded them.
    pub(crate) vectors: Mutex<LoadedVectors>,
    /// Paths of the files that contain the list of erasures.
    pub(crate) ledger: Mutex<LedgerFiles>,
    /// For each deletion whose receipt is not complete, by receipt id: the traces to search for. The traces are stored
    /// in memory only and are lost when the vault is locked.
    pub(crate) unproven_deletions: Mutex<HashMap<String, Evidence>>,
    /// Must be the last field, so that the lock is released after everything else is closed.
    pub(crate) lock: FolderLock,
}

impl Context {
    /// Fails if `out` is the vault's folder, is inside it, or contains it.
    pub(crate) fn check_outside(&self, out: &Path) -> VaultResult<()> {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let vault = canonical(self.dir());
        let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let target =
            if out.exists() { canonical(out) } else { canonical(parent).join(out.file_name().unwrap_or_default()) };
        if target.starts_with(&vault) || vault.starts_with(&target) {
            return Err(VaultError::Usage("Nothing can be saved into the vault's own folder. Choose another.".into()));
        }
        Ok(())
    }

    /// Returns the folder of the vault.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the header of the vault: id, times, key slots.
    pub fn header(&self) -> Header {
        self.header.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Returns whether the index was up to date when the vault was opened, or has been rebuilt.
    pub fn index_state(&self) -> IndexState {
        *self.index_state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the reason for which the index was rebuilt when the vault was opened. None if the index was not rebuilt.
    pub fn index_fault(&self) -> Option<IndexFault> {
        *self.index_fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Calls `f` with the search index.
    pub(crate) fn with_index<T>(&self, f: impl FnOnce(&SearchIndex) -> Result<T, IndexError>) -> VaultResult<T> {
        f(&self.index.read().unwrap_or_else(std::sync::PoisonError::into_inner)).map_err(index_error)
    }

    /// Returns the digests of all files that records refer to.
    pub(crate) fn blobs_in_use(&self) -> VaultResult<Vec<[u8; 32]>> {
        self.store.read(blobs_in_use)
    }

    /// Removes blob files that no record refers to, and returns their number. Removes none while it is uncertain
    /// whether a failed commit reached the database, because the records of this commit would need their blobs.
    pub(crate) fn sweep_blobs(&self) -> VaultResult<u32> {
        if self.store.is_unconfirmed() {
            return Ok(0);
        }
        let blobs_in_use: HashSet<[u8; 32]> = self.blobs_in_use()?.into_iter().collect();
        self.blobs.sweep(&blobs_in_use)
    }

    /// Returns the size of the store, the blobs and the index on disk, in bytes.
    pub fn bytes(&self) -> u64 {
        let index: u64 = std::fs::read_dir(self.dir.join("index"))
            .map(|l| l.filter_map(|e| e.ok()?.metadata().ok()).map(|m| m.len()).sum())
            .unwrap_or(0);
        self.store.bytes() + self.blobs.bytes() + index
    }

    /// Returns the erasure check for this vault.
    pub(crate) fn erasure_check(&self) -> ErasureCheck<'_> {
        ErasureCheck { dir: &self.dir, keys: &self.keys, store: &self.store, blobs: &self.blobs, index: &self.index }
    }

    /// Returns the number of records that are not in the Trash. These are the records that the index contains.
    pub(crate) fn count_live_records(&self) -> VaultResult<u64> {
        let sql = "SELECT count(*) FROM records WHERE trashed IS NULL";
        let live_count: i64 = self.store.read(|c| Ok(c.query_row(sql, [], |r| r.get(0))?))?;
        Ok(u64::try_from(live_count).unwrap_or(0))
    }

    /// Returns the row of the record with this id. The error `NotFound` says whether a record with this id was erased.
    pub(crate) fn find(&self, id: &str) -> VaultResult<RowView> {
        let parsed = mementory_store::ids::parse_id(id);
        self.store.read(|c| {
            let found = match &parsed {
                Some(parsed) => RowView::by_id(c, parsed)?,
                None => None,
            };
            match (found, parsed) {
                (Some(row), _) => Ok(row),
                (None, Some(parsed)) => {
                    let erased: Option<i64> =
                        c.query_row("SELECT 1 FROM blocked WHERE record = ?1", [parsed], |r| r.get(0)).optional()?;
                    Err(VaultError::NotFound { id: id.into(), erased: erased.is_some() })
                }
                (None, None) => Err(VaultError::not_found(id)),
            }
        })
    }
}

pub(crate) fn index_error(error: IndexError) -> VaultError {
    match error {
        IndexError::Io(e) => VaultError::io("index", e),
        other => VaultError::Index(other.to_string()),
    }
}

pub(crate) fn fresh_index(folder: &Path, key: &[u8; 32]) -> VaultResult<SearchIndex> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| VaultError::io("index", e))?;
    }
    SearchIndex::create(folder, key).map_err(index_error)
}
