//! The lock of a vault's folder: only one process has the vault open at a time.
use crate::{VaultError, VaultResult};
use std::{
    fs::{File, TryLockError},
    io::{Seek, SeekFrom, Write},
    path::Path,
};

/// Content of the lock file while the process that has the vault open answers connected clients.
const ANSWERING_NOTE: &str = "answers clients\n";

/// The lock file, which stays locked while the vault is open. The system frees it when the process dies.
pub(crate) struct FolderLock(File);

impl FolderLock {
    /// Locks the lock file of a vault.
    ///
    /// # Errors
    /// `InUse`, `AnsweringClients`, I/O.
    pub(crate) fn take(dir: &Path) -> VaultResult<Self> {
        let path = dir.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|e| VaultError::io("lock", e))?;
        match file.try_lock() {
            Ok(()) => {
                let lock = Self(file);
                // Removes the note that a killed process left behind.
                lock.note_answering(false);
                Ok(lock)
            }
            // On systems where a locked file cannot be read, the reason stays unknown.
            Err(TryLockError::WouldBlock) => match std::fs::read(&path) {
                Ok(note) if note == ANSWERING_NOTE.as_bytes() => Err(VaultError::AnsweringClients),
                _ => Err(VaultError::InUse),
            },
            Err(TryLockError::Error(e)) => Err(VaultError::io("lock", e)),
        }
    }

    /// Writes into the lock file whether this process answers connected clients. Another process that finds the vault
    /// in use reads the file to choose its error message. If this write fails, the other process shows the general
    /// message.
    pub(crate) fn note_answering(&self, answering: bool) {
        let note = if answering { ANSWERING_NOTE } else { "" };
        if self.0.metadata().is_ok_and(|meta| meta.len() == note.len() as u64) {
            return;
        }
        let mut file = &self.0;
        let _ = file.set_len(0);
        let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(note.as_bytes()));
    }
}
