//! Creates backups of the vault and restores vaults from them.
use super::{context::Context, now, progress::ProgressThrottle};
use crate::{ApiResult, Job, types::*};
use std::path::Path;

/// Backups of the vault.
#[derive(Clone, Copy)]
pub struct Backups<'s> {
    context: &'s Context,
}

impl<'s> Backups<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Backups<'_> {
    /// Copies the vault to `out`, which must not exist, and checks the copy. The copy is a complete vault.
    pub fn create(&self, out: &Path, job: &Job) -> ApiResult<BackedUp> {
        let throttle = ProgressThrottle::new(job);
        let cancel = job.cancel_flag();
        let _guard = self.context.snapshot_guard();
        let backup = self
            .context
            .vault
            .backups()
            .create(out, now(), &cancel, &|done, total| throttle.report("copy", done, total, 0))?;
        Ok(BackedUp { path: out.display().to_string(), bytes: backup.bytes, digest: backup.digest })
    }

    /// Copies a backup to `out`, which must not exist, and checks the copy. `secret` is the passphrase or recovery code
    /// that the vault had when the backup was made. The backup is not changed.
    ///
    /// # Errors
    /// Those of opening a vault; `exists`, `usage` if `out` is inside the backup, `cancelled`, `io`.
    pub fn restore(from: &Path, out: &Path, secret: &str, job: &Job) -> ApiResult<BackedUp> {
        let throttle = ProgressThrottle::new(job);
        let cancel = job.cancel_flag();
        let backup = mementory_vault::Backups::restore(from, out, secret, &cancel, &|done, total| {
            throttle.report("copy", done, total, 0)
        })?;
        Ok(BackedUp { path: out.display().to_string(), bytes: backup.bytes, digest: backup.digest })
    }
}
