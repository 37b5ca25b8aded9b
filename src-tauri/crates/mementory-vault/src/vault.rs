//! Creates, opens and closes a vault, and gives access to its use cases.
use crate::{
    VaultError, VaultResult,
    agents::Grants,
    applied::Applied,
    audit::AuditTrail,
    backup::Backups,
    context::{Context, IndexFault, IndexState, fresh_index, index_error},
    demonstration::Demonstration,
    diff_status::ExportDiff,
    duplicates::Duplicates,
    edit::Editor,
    erasure::{Eraser, ErasureLedger, Receipts, Redactor},
    erasure_ledger::LedgerFiles,
    export::Exporter,
    export_diff::export_diff,
    failed_step::FailedStep,
    file_locations::FileLocations,
    folder_lock::FolderLock,
    import::Importer,
    index_sync::IndexWatch,
    integrity::IntegrityCheck,
    key_ring::KeyRing,
    query::{Batches, Files, Queries, Reader, Search},
    sensitive::Scanner,
    suggestions::Suggestions,
    trash::Trash,
    watching::WatchedFolders,
};
use mementory_crypto::{
    CryptoError, Header, KdfChoice, RecoveryCode, VaultKeys, change_passphrase, create_header, create_temporary_header,
    new_recovery_code, open_header,
};
use mementory_model::Timestamp;
use mementory_search::{IndexError, SearchIndex};
use mementory_store::{Store, blobs::Blobs};
use std::{
    path::Path,
    sync::{Arc, Mutex, RwLock, atomic::AtomicBool},
};
use zeroize::Zeroizing;

/// An open vault. Dropping it zeroizes the keys and releases the lock.
pub struct Vault {
    pub(crate) context: Context,
}

impl Vault {
    /// Creates a vault in `dir`, which must be an empty folder or not exist.
    ///
    /// # Errors
    /// `Exists`, I/O.
    pub fn create(
        dir: &Path,
        passphrase: &str,
        kdf: KdfChoice,
        now: Timestamp,
    ) -> VaultResult<(Self, Applied<RecoveryCode>)> {
        let (vault, code) = create_files(dir, || create_header(dir, passphrase, kdf, &now.to_rfc3339()))?;
        let code = vault.context.log_non_store_change(Applied::new(code), now, "create");
        Ok((vault, code))
    }

    /// Opens a vault with its passphrase or recovery code. Upgrades an older schema and brings the index up to date.
    ///
    /// # Errors
    /// `Missing`, `InUse`, `AnsweringClients`, `WrongSecret`, `Damaged`, `DamagedPages`, `NewerSchema`. After an error,
    /// no record is changed.
    pub fn open(dir: &Path, secret: &str) -> VaultResult<Self> {
        Self::open_watched(dir, secret, &IndexWatch { progress: &|_, _, _| {}, cancel: &AtomicBool::new(false) })
    }

    /// Opens a vault like [`open`](Self::open), with progress and cancellation while the index is brought up to date,
    /// since a rebuild reads every record.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Cancelled`.
    pub fn open_watched(dir: &Path, secret: &str, watch: &IndexWatch<'_>) -> VaultResult<Self> {
        match dir.join("vault.json").try_exists() {
            Ok(true) => {}
            // Access was denied, so this folder may contain the vault of another user.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(VaultError::io("vault.json", error));
            }
            _ => return Err(VaultError::Missing(dir.display().to_string())),
        }
        let lock = FolderLock::take(dir)?;
        let (header, keys) = open_header(dir, secret)?;
        let key = Zeroizing::new(*keys.store());
        let open_files = || -> VaultResult<Self> {
            let store = Store::open(dir, keys.store(), false)?;
            let folder = dir.join("index");
            let (index, fault) = match SearchIndex::open(&folder, keys.index()) {
                Ok(index) => (index, None),
                Err(IndexError::Missing) => (fresh_index(&folder, keys.index())?, Some(IndexFault::Missing)),
                Err(_) => (fresh_index(&folder, keys.index())?, Some(IndexFault::Damaged)),
            };
            let state = if fault.is_some() { IndexState::Rebuilt } else { IndexState::Current };
            let vault = Self::assemble(dir, header, keys, store, index, state, lock)?;
            *vault.context.index_fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = fault;
            vault.context.index_catch_up_watched(Some(watch))?;
            mementory_erasure_check::clear_partials(dir);
            vault.context.sweep_blobs()?;
            Ok(vault)
        };
        open_files().map_err(|error| with_damaged_page_count(dir, &key, error))
    }

    /// Counts the damaged pages of the database after a `Damaged` error. If there are any, returns `DamagedPages` with
    /// their number, otherwise returns the error unchanged. Reads the whole database.
    pub fn count_damaged_pages(&self, error: VaultError) -> VaultError {
        with_damaged_page_count(&self.context.dir, self.context.keys.store(), error)
    }

    fn assemble(
        dir: &Path,
        header: Header,
        keys: VaultKeys,
        store: Store,
        index: SearchIndex,
        state: IndexState,
        lock: FolderLock,
    ) -> VaultResult<Self> {
        let blobs = Blobs::new(dir, keys.blobs())?;
        let ledger = LedgerFiles::new(dir, &header.vault_id, None);
        let context = Context {
            dir: dir.to_path_buf(),
            header: Mutex::new(header),
            keys,
            store,
            blobs,
            index: RwLock::new(index),
            index_state: Mutex::new(state),
            index_fault: Mutex::new(None),
            index_behind: AtomicBool::new(false),
            export_diff: Mutex::default(),
            known_values: Mutex::default(),
            insight: Mutex::default(),
            vectors: Mutex::default(),
            ledger: Mutex::new(ledger),
            unproven_deletions: Mutex::default(),
            lock,
        };
        Ok(Self { context })
    }

    /// Changes the passphrase and rewrites its key slot atomically. After an error the old passphrase stays valid.
    pub fn change_passphrase(
        &self,
        secret: &str,
        new: &str,
        kdf: KdfChoice,
        now: Timestamp,
    ) -> VaultResult<Applied<Header>> {
        let written = change_passphrase(&self.context.dir, secret, new, kdf, &now.to_rfc3339())?;
        Ok(self.header_replaced(written.header, written.synced, now, "passwd"))
    }

    /// Makes a new recovery code and rewrites its key slot atomically. The old code then no longer opens the vault.
    /// After an error, the old code stays valid.
    pub fn new_recovery_code(&self, secret: &str, now: Timestamp) -> VaultResult<Applied<(Header, RecoveryCode)>> {
        let (written, code) = new_recovery_code(&self.context.dir, secret, &now.to_rfc3339())?;
        Ok(self.header_replaced(written.header, written.synced, now, "recovery_code").map(|header| (header, code)))
    }

    /// Runs the steps that follow the replacement of a header.
    fn header_replaced(&self, header: Header, synced: bool, now: Timestamp, op: &str) -> Applied<Header> {
        *self.context.header.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = header.clone();
        self.context.log_non_store_change(Applied::new(header), now, op).warn_if(!synced, FailedStep::Sync)
    }

    /// The context, for tests.
    #[cfg(test)]
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the folder of the vault.
    pub fn dir(&self) -> &Path {
        self.context.dir()
    }

    /// Returns the header of the vault: id, times, key slots.
    pub fn header(&self) -> Header {
        self.context.header()
    }

    /// Returns the size of the store, the blobs and the index on disk, in bytes.
    pub fn bytes(&self) -> u64 {
        self.context.bytes()
    }

    /// Returns whether the index was up to date when the vault was opened, or has been rebuilt.
    pub fn index_state(&self) -> IndexState {
        self.context.index_state()
    }

    /// Returns the reason for which the index was rebuilt when the vault was opened. None if the index was not rebuilt.
    pub fn index_fault(&self) -> Option<IndexFault> {
        self.context.index_fault()
    }

    /// Returns the number of documents in the index.
    pub fn index_documents(&self) -> u64 {
        self.context.index_documents()
    }

    /// Rebuilds the search index from the store. If `cancel` is set during the rebuild, the index is rebuilt at the
    /// next change or when the vault is next opened.
    ///
    /// # Errors
    /// Errors of the store or the index; `Cancelled`.
    pub fn index_rebuild_until(&self, cancel: &AtomicBool) -> VaultResult<()> {
        self.context.index_rebuild_until(cancel)
    }

    /// Returns the differences between the newest export of each assistant and earlier exports. The result is cached
    /// until the vault changes.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn export_diff(&self) -> VaultResult<Arc<ExportDiff>> {
        export_diff(&self.context)
    }

    /// Read access to the audit log and the tombstones.
    pub fn audit(&self) -> AuditTrail<'_> {
        AuditTrail::new(&self.context)
    }

    /// Makes backups, which are copies of the whole vault.
    pub fn backups(&self) -> Backups<'_> {
        Backups::new(&self.context)
    }

    /// Writes, edits and tags records.
    pub fn editor(&self) -> Editor<'_> {
        Editor::new(&self.context)
    }

    /// Moves records to the Trash, restores them, and empties the Trash.
    pub fn trash(&self) -> Trash<'_> {
        Trash::new(&self.context)
    }

    /// Erases records for good.
    pub fn eraser(&self) -> Eraser<'_> {
        Eraser::new(&self.context)
    }

    /// The list of erasures and redactions, which is applied to older copies of this vault.
    pub fn erasure_ledger(&self) -> ErasureLedger<'_> {
        ErasureLedger::new(&self.context)
    }

    /// Writes, finishes and retries the receipts of erasures and redactions.
    pub fn receipts(&self) -> Receipts<'_> {
        Receipts::new(&self.context)
    }

    /// Redacts text spans and sensitive values.
    pub fn redactor(&self) -> Redactor<'_> {
        Redactor::new(&self.context)
    }

    /// Finds, dismisses and merges memories with the same or nearly the same text.
    pub fn duplicates(&self) -> Duplicates<'_> {
        Duplicates::new(&self.context)
    }

    /// Writes and previews exports, and writes Evidence Packs.
    pub fn exporter(&self) -> Exporter<'_> {
        Exporter::new(&self.context)
    }

    /// Imports files, and undoes imports.
    pub fn importer(&self) -> Importer<'_> {
        Importer::new(&self.context)
    }

    /// Reads and changes the list of other people's public keys.
    pub fn key_ring(&self) -> KeyRing<'_> {
        KeyRing::new(&self.context)
    }

    /// Reads records with their versions, links and messages.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.context)
    }

    /// Lists and counts records.
    pub fn queries(&self) -> Queries<'_> {
        Queries::new(&self.context)
    }

    /// Full-text search.
    pub fn search(&self) -> Search<'_> {
        Search::new(&self.context)
    }

    /// Reads the files that records refer to, and their bytes.
    pub fn files(&self) -> Files<'_> {
        Files::new(&self.context)
    }

    /// Reads the batches, one for each import.
    pub fn batches(&self) -> Batches<'_> {
        Batches::new(&self.context)
    }

    /// Scans for sensitive values, lists them, and stores decisions on them.
    pub fn scanner(&self) -> Scanner<'_> {
        Scanner::new(&self.context)
    }

    /// Makes, lists and revokes the grants of connected clients, and reads the records that a grant makes visible.
    pub fn grants(&self) -> Grants<'_> {
        Grants::new(&self.context)
    }

    /// The queue of suggestions from clients.
    pub fn suggestions(&self) -> Suggestions<'_> {
        Suggestions::new(&self.context)
    }

    /// Reads and changes the folders that are watched for exports.
    pub fn watched_folders(&self) -> WatchedFolders<'_> {
        WatchedFolders::new(&self.context)
    }

    /// Reads and stores the paths of imports and exports.
    pub fn file_locations(&self) -> FileLocations<'_> {
        FileLocations::new(&self.context)
    }

    /// Reads and sets the mark of a demonstration vault.
    pub fn demonstration(&self) -> Demonstration<'_> {
        Demonstration::new(&self.context)
    }

    /// Checks every part of the vault.
    pub fn integrity(&self) -> IntegrityCheck<'_> {
        IntegrityCheck::new(&self.context)
    }
}

/// Creates a vault that is never opened again, for a conversion. Two vaults with one `seed` have the same id, and give
/// the same records the same ids.
///
/// # Errors
/// As [`Vault::create`].
pub fn create_temporary(dir: &Path, passphrase: &str, seed: &[u8; 32], now: Timestamp) -> VaultResult<Vault> {
    let with_empty_code = |(header, keys)| (header, keys, ());
    create_files(dir, || create_temporary_header(dir, passphrase, &now.to_rfc3339(), seed).map(with_empty_code))
        .map(|(vault, ())| vault)
}

/// Creates the files of a vault in `dir`, which must be an empty folder or not exist. `create_keys` writes its header.
fn create_files<T>(
    dir: &Path,
    create_keys: impl FnOnce() -> Result<(Header, VaultKeys, T), CryptoError>,
) -> VaultResult<(Vault, T)> {
    let place = dir.display().to_string();
    if dir.exists() && !dir.is_dir() {
        return Err(VaultError::Exists(place));
    }
    if dir.exists() {
        let mut list = std::fs::read_dir(dir).map_err(|e| VaultError::io(&place, e))?;
        if list.next().is_some() {
            return Err(VaultError::Exists(place));
        }
    }
    let folder_existed = dir.exists();
    std::fs::create_dir_all(dir).map_err(|e| VaultError::io(&place, e))?;
    let create = || -> VaultResult<(Vault, T)> {
        restrict_to_owner(dir)?;
        let lock = FolderLock::take(dir)?;
        let (header, keys, code) = create_keys()?;
        let store = Store::open(dir, keys.store(), true)?;
        let index = SearchIndex::create(&dir.join("index"), keys.index()).map_err(index_error)?;
        Ok((Vault::assemble(dir, header, keys, store, index, IndexState::Current, lock)?, code))
    };
    create().inspect_err(|error| {
        // Nobody has the recovery code of an incomplete vault, so the incomplete vault is removed. If the folder is in
        // use, it belongs to another process and stays.
        if !matches!(error, VaultError::InUse | VaultError::AnsweringClients) {
            remove_incomplete_vault(dir, folder_existed);
        }
    })
}

/// Removes what a failed creation left in a folder that was empty or did not exist before. Errors of this removal are
/// ignored, since the error of the creation is returned.
fn remove_incomplete_vault(dir: &Path, folder_existed: bool) {
    if !folder_existed {
        let _ = std::fs::remove_dir_all(dir);
        return;
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}

/// If the error is `Damaged` and the database has damaged pages, returns `DamagedPages` with their number. Otherwise
/// returns the error unchanged.
fn with_damaged_page_count(dir: &Path, key: &[u8; 32], error: VaultError) -> VaultError {
    match error {
        VaultError::Damaged(_) => match mementory_store::failing_pages(dir, key) {
            0 => error,
            pages => VaultError::DamagedPages { pages },
        },
        other => other,
    }
}

#[cfg(unix)]
fn restrict_to_owner(dir: &Path) -> VaultResult<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).map_err(|e| VaultError::io("vault folder", e))
}

#[cfg(not(unix))]
fn restrict_to_owner(_dir: &Path) -> VaultResult<()> {
    Ok(())
}
