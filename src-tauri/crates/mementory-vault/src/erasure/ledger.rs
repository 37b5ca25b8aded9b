//! The list of erasures: added to before an erasure destroys anything.
use crate::{
    VaultResult,
    backup::backups_of,
    context::Context,
    erasure_ledger::{Act, FILE, FoundLedger, Ledger, LedgerFiles},
};
use std::{
    path::{Path, PathBuf},
    sync::PoisonError,
};

/// What was erased and redacted, for older copies of the vault.
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
    /// Keeps the list in `folder` too, from now on: one file for each vault.
    pub fn keep_in(&self, folder: Option<&Path>) {
        let files = LedgerFiles::new(self.context.dir(), &self.context.header().vault_id, folder);
        *self.context.ledger.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Writes an act into the lists. The one in the vault's folder has to be written; the other is one more.
    pub(crate) fn add(&self, id: &str, act: Act) -> VaultResult<()> {
        let files = self.files();
        let mut ledger = self.read(Some(&files.own)).ledger;
        ledger.merge(self.read(files.outside.as_deref()).ledger);
        ledger.acts.insert(id.to_owned(), act);
        files.write(&self.context.keys, &files.own, &ledger)?;
        self.write_outside(&files, &ledger);
        Ok(())
    }

    /// Takes an act out again whose erasure did not happen. Where that fails, the next opening does what was asked for.
    pub(crate) fn withdraw(&self, id: &str) {
        let files = self.files();
        for path in std::iter::once(&files.own).chain(&files.outside) {
            let mut found = self.read(Some(path));
            if found.ledger.acts.remove(id).is_some() {
                let _ = files.write(&self.context.keys, path, &found.ledger);
            }
        }
    }

    pub(crate) fn files(&self) -> LedgerFiles {
        self.context.ledger.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn read(&self, path: Option<&Path>) -> FoundLedger {
        let mut found = FoundLedger::default();
        if let Some(path) = path {
            self.files().read(&self.context.keys, path, &mut found);
        }
        found
    }

    /// The lists in the copies of this vault that lie beside it.
    pub(crate) fn beside(&self) -> FoundLedger {
        let mut found = FoundLedger::default();
        let copies: Vec<PathBuf> =
            backups_of(self.context.dir()).into_iter().map(|copy| copy.path.join(FILE)).collect();
        copies.iter().for_each(|path| self.files().read(&self.context.keys, path, &mut found));
        found
    }

    /// Where it cannot be written (a folder that only can be read), the list in the vault is what there is.
    pub(crate) fn write_outside(&self, files: &LedgerFiles, ledger: &Ledger) {
        if let Some(path) = &files.outside {
            let _ = files.write(&self.context.keys, path, ledger);
        }
    }
}
