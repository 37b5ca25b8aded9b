//! Reads the audit log and the tombstones.
use crate::{VaultResult, context::Context};
use mementory_store::{audit, audit::AuditRow, tombstones, tombstones::TombstoneRow};

/// Read access to the audit log and the tombstones.
#[derive(Clone, Copy)]
pub struct AuditTrail<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> AuditTrail<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl AuditTrail<'_> {
    /// Returns all entries of the log, oldest first.
    pub fn entries(&self) -> VaultResult<Vec<AuditRow>> {
        self.context.store.read(audit::entries)
    }

    /// Returns the link of each log entry in the hash chain, oldest entry first.
    pub(crate) fn chain(&self) -> VaultResult<Vec<audit::ChainLink>> {
        self.context.store.read(audit::chain)
    }

    /// Checks the hash chain of the log: the entries have numbers without gaps, and every hash and every signature is
    /// correct.
    pub fn verify(&self) -> VaultResult<bool> {
        self.context.store.read(|c| audit::verify_chain(c, &self.context.keys))
    }

    /// Returns all tombstones, newest first. The signatures of this vault's own tombstones are checked.
    pub fn tombstones(&self) -> VaultResult<Vec<TombstoneRow>> {
        self.context.store.read(|c| tombstones::all(c, &self.context.keys))
    }
}
