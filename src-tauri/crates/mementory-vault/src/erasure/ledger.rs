//! Reads and writes the list of erasures. An erasure is added to the list before anything is destroyed.
use crate::{
    VaultError, VaultResult,
    backup::backups_of,
    context::Context,
    erasure_ledger::{ErasureAct, FoundLedger, LEDGER_FILE, Ledger, LedgerFiles},
};
use std::{
    path::{Path, PathBuf},
    sync::PoisonError,
};

/// The list of erasures and redactions, which is applied to older copies of the vault.
#[derive(Clone, Copy)]
pub struct ErasureLedger<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> ErasureLedger<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl ErasureLedger<'_> {
    /// Sets a second folder for the list, with one file per vault. If `folder` is None, the list is stored only in the
    /// vault's folder.
    pub fn set_outside_folder(&self, folder: Option<&Path>) {
        let files = LedgerFiles::new(self.context.dir(), &self.context.header().vault_id, folder);
        *self.context.ledger.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Adds an act (an erasure or redaction) to the list in the vault's folder and to the list in the program's folder.
    /// Returns false if the list in the program's folder could not be written. The caller must call [`end`](Self::end)
    /// afterwards.
    pub(crate) fn add(&self, id: &str, act: ErasureAct) -> VaultResult<bool> {
        let files = self.files();
        let mut ledger = self.read(Some(&files.in_vault)).ledger;
        ledger.merge(self.read(files.outside.as_deref()).ledger);
        ledger.acts.insert(id.to_owned(), act);
        files.keep_former(&files.in_vault);
        files.write(&self.context.keys, &files.in_vault, &ledger)?;
        if let Some(outside) = &files.outside {
            files.keep_former(outside);
        }
        Ok(self.write_outside(&files, &ledger))
    }

    /// Completes what [`add`](Self::add) began, and must be called after it. If the erasure was not committed, restores
    /// the previous lists by a rename, which works even on a full disk. If renaming and rewriting a list both fail, the
    /// erasure is carried out when the vault is next opened.
    pub(crate) fn end(&self, id: &str, is_committed: bool) {
        let files = self.files();
        for path in std::iter::once(&files.in_vault).chain(&files.outside) {
            if is_committed {
                files.drop_former(path);
                continue;
            }
            let mut found = self.read(Some(path));
            if found.ledger.acts.remove(id).is_none() {
                files.drop_former(path);
            } else if !files.restore_former(path) {
                let _ = match found.ledger == Ledger::default() {
                    true => std::fs::remove_file(path).map_err(|e| VaultError::io(LEDGER_FILE, e)),
                    false => files.write(&self.context.keys, path, &found.ledger),
                };
            }
        }
    }

    pub(crate) fn files(&self) -> LedgerFiles {
        self.context.ledger.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn read(&self, path: Option<&Path>) -> FoundLedger {
        let mut ledgers = FoundLedger::default();
        if let Some(path) = path {
            self.files().read(&self.context.keys, path, &mut ledgers);
        }
        ledgers
    }

    /// Reads the lists in the backups that are in the same folder as this vault.
    pub(crate) fn read_backups(&self) -> FoundLedger {
        let mut ledgers = FoundLedger::default();
        let copies: Vec<PathBuf> =
            backups_of(self.context.dir()).into_iter().map(|copy| copy.path.join(LEDGER_FILE)).collect();
        copies.iter().for_each(|path| self.files().read(&self.context.keys, path, &mut ledgers));
        ledgers
    }

    /// Writes the list in the program's folder, if there is such a folder. Returns false if the write fails, for
    /// example in a read-only folder. No erasure is lost then, because the vault's folder has the list too.
    pub(crate) fn write_outside(&self, files: &LedgerFiles, ledger: &Ledger) -> bool {
        files.outside.as_ref().is_none_or(|path| files.write(&self.context.keys, path, ledger).is_ok())
    }
}
