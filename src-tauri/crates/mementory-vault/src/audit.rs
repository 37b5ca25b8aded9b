//! The audit log and the tombstones, as they are read.
use crate::{AuditRow, TombstoneRow, Vault, VaultResult};
use mementory_store::{audit, tombstones};

impl Vault {
    /// All entries of the log, oldest first.
    pub fn audit_log(&self) -> VaultResult<Vec<AuditRow>> {
        self.store.read(audit::entries)
    }

    /// The chain of all entries, oldest first.
    pub(crate) fn audit_chain(&self) -> VaultResult<Vec<audit::Link>> {
        self.store.read(audit::chain)
    }

    /// Walks the chain: numbers without gaps, every hash and every signature.
    pub fn audit_verify(&self) -> VaultResult<bool> {
        self.store.read(|c| audit::verify_chain(c, &self.keys))
    }

    /// All tombstones, newest first, signatures of our own checked.
    pub fn tombstones(&self) -> VaultResult<Vec<TombstoneRow>> {
        self.store.read(|c| tombstones::all(c, &self.keys))
    }
}
