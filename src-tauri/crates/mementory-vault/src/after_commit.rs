//! Steps after a commit. The change is made by then, so a step that fails is not an error of the change. The failure
//! is noted, and the caller gets it as a warning with the result.
use crate::{VaultResult, context::Context, failed_step::FailedStep};
use mementory_model::Timestamp;
use std::sync::PoisonError;

impl Context {
    /// Brings the index up to date with the store's change `seq`. `update` passes the changed rows to the index. If
    /// that fails, recovers the index from the change log.
    pub(crate) fn index_follow(&self, seq: u64, update: impl FnOnce() -> VaultResult<()>) {
        let done = update().and_then(|()| self.index_commit(seq));
        if done.or_else(|_| self.index_recover()).is_err() {
            self.note_failed(FailedStep::Index);
        }
    }

    /// Writes the audit entry of a change that was made outside the store.
    pub(crate) fn log_non_store_change(&self, now: Timestamp, op: &str, target: &str, detail: &str) {
        let written = self.store.write(|tx| mementory_store::audit::append(tx, &self.keys, now, op, target, detail));
        if written.is_err() {
            self.note_failed(FailedStep::AuditLog);
        }
    }

    pub(crate) fn note_failed(&self, step: FailedStep) {
        let mut failed = self.failed_steps.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert(step);
    }

    pub(crate) fn take_failed_steps(&self) -> Vec<FailedStep> {
        let mut failed = self.failed_steps.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *failed).into_iter().collect()
    }
}
