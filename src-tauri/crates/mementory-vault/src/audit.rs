//! The audit log and the tombstones, as they are read.
use crate::{VaultResult, context::Context};
use mementory_store::{audit, audit::AuditRow, tombstones, tombstones::TombstoneRow};

/// The audit log and the tombstones, as they are read.
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
    /// All entries of the log, oldest first.
    pub fn entries(&self) -> VaultResult<Vec<AuditRow>> {
        self.context.store.read(audit::entries)
    }

    /// The chain of all entries, oldest first.
    pub(crate) fn chain(&self) -> VaultResult<Vec<audit::Link>> {
        self.context.store.read(audit::chain)
    }

    /// Walks the chain: numbers without gaps, every hash and every signature.
    pub fn verify(&self) -> VaultResult<bool> {
        self.context.store.read(|c| audit::verify_chain(c, &self.context.keys))
    }

    /// All tombstones, newest first, signatures of our own checked.
    pub fn tombstones(&self) -> VaultResult<Vec<TombstoneRow>> {
        self.context.store.read(|c| tombstones::all(c, &self.context.keys))
    }
}
