//! Commits changes to the store and runs the steps that follow the commit. A failed step does not undo the stored
//! change, so the failure is returned as a warning in [`Applied`], not as an error.
use crate::{VaultResult, applied::Applied, context::Context, failed_step::FailedStep};
use mementory_model::Timestamp;
use rusqlite::Transaction;

impl Context {
    /// Runs `f` in one write transaction. After an error, the store is unchanged.
    pub(crate) fn commit<T>(&self, f: impl FnOnce(&Transaction<'_>) -> VaultResult<T>) -> VaultResult<Applied<T>> {
        self.store.write(f).map(Applied::new)
    }

    /// Brings the index up to date with the store's change `seq`. `update` passes the changed rows to the index. If
    /// `update` fails, the index is recovered from the change log.
    pub(crate) fn update_index(&self, seq: u64, update: impl FnOnce() -> VaultResult<()>) -> VaultResult<()> {
        let result = update().and_then(|()| self.index_commit(seq));
        result.or_else(|_| self.index_recover())
    }

    /// Writes the audit entry of a change that was made outside the store. If writing the entry fails, adds a warning
    /// to `done`.
    pub(crate) fn log_non_store_change<T>(&self, done: Applied<T>, now: Timestamp, op: &str) -> Applied<T> {
        done.then(FailedStep::AuditLog, |_| {
            self.store.write(|tx| mementory_store::audit::append(tx, &self.keys, now, op, "vault", ""))
        })
    }
}
