//! The state that all use cases of an open vault share.
use super::watch_state::WatchState;
use mementory_vault::{AppliedErasures, Encoder, Vault, WrittenFiles};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Longest time for which a client's call waits for a running change or export to end.
const CLIENT_WAIT: Duration = Duration::from_secs(3);
/// Time between two attempts of a client's call to acquire the lock.
const CLIENT_RETRY: Duration = Duration::from_millis(10);

/// The open vault, its locks, and cached data. Changes run one at a time, reads run in parallel.
pub(super) struct Context {
    pub(super) vault: Vault,
    /// Result of applying the lists of erasures when the vault was opened. None if that failed, or if the vault was
    /// just created and therefore not opened.
    pub(super) applied_erasures: Mutex<Option<AppliedErasures>>,
    /// Held for writing by a change, from its first read until store, index and blobs agree again. Held for reading by
    /// an export, so that no erasure runs meanwhile: the export's snapshot would prevent the erasure from truncating
    /// the write-ahead log.
    change_lock: RwLock<()>,
    /// True once the vault is about to be locked. Client calls then end as soon as they can.
    pub(super) clients_stopped: AtomicBool,
    /// State of the watched folders.
    watching: Mutex<WatchState>,
    /// The last export and its format, if the export did not pass its check. Stored so that the person can delete the
    /// export.
    pub(super) invalid_export: Mutex<Option<(WrittenFiles, String)>>,
    /// The sentence encoder. It is loaded when it is first needed, because its weights take 80 MB.
    pub(super) encoder: Mutex<Option<Arc<Encoder>>>,
    /// The format of the last text that was made for the clipboard, and the detail for the audit entry that is written
    /// when the text is copied.
    pub(super) clipboard_text: Mutex<Option<(String, String)>>,
}

impl Context {
    pub(super) fn new(vault: Vault) -> Self {
        Self {
            vault,
            applied_erasures: Mutex::default(),
            change_lock: RwLock::default(),
            clients_stopped: AtomicBool::default(),
            watching: Mutex::default(),
            invalid_export: Mutex::default(),
            encoder: Mutex::default(),
            clipboard_text: Mutex::default(),
        }
    }

    /// Acquires the lock for a change. While the guard exists, nothing else changes the vault or exports from it.
    pub(super) fn write_guard(&self) -> RwLockWriteGuard<'_, ()> {
        self.change_lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`write_guard`](Self::write_guard), but for a connected client's call. None if the vault is about to be
    /// locked. Also None if a running change or export takes longer than `CLIENT_WAIT`, because a client should not
    /// have to wait for a long import.
    pub(super) fn client_guard(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        let deadline = Instant::now() + CLIENT_WAIT;
        loop {
            if self.clients_stopped.load(Ordering::Relaxed) {
                return None;
            }
            match self.change_lock.try_write() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return None,
                Err(TryLockError::WouldBlock) => std::thread::park_timeout(CLIENT_RETRY),
            }
        }
    }

    /// Acquires the lock for reading. While the guard exists, no record changes.
    pub(super) fn snapshot_guard(&self) -> RwLockReadGuard<'_, ()> {
        self.change_lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks and returns the state of the watched folders.
    pub(super) fn watch_state(&self) -> MutexGuard<'_, WatchState> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
