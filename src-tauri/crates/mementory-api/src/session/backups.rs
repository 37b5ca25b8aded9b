//! Makes backups of the vault, and restores a vault from a backup.
use super::{Session, context::Context, now, progress::ProgressThrottle};
use crate::{ApiResult, Applied, Job, types::*};
use std::path::Path;

/// Makes and restores backups.
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
    pub fn create(&self, out: &Path, job: &Job) -> ApiResult<Applied<WrittenBackup>> {
        let throttle = ProgressThrottle::new(job);
        let cancel = job.cancel_flag();
        let _guard = self.context.snapshot_guard();
        let backup = self
            .context
            .vault
            .backups()
            .create(out, now(), &cancel, &|done, total| throttle.report("copy", done, total, 0))?;
        let path = out.display().to_string();
        Ok(backup.map(|backup| WrittenBackup { path, bytes: backup.bytes, digest: backup.digest }))
    }

    /// Copies a backup to `out`, which must not exist, and checks the copy. `secret` is the passphrase or the recovery
    /// code that the vault had at the time of the backup. The backup itself is not changed. Records that were erased
    /// after the backup are also erased in the copy, if a list of erasures contains them. Such lists are searched for
    /// in the folder `ledgers`, next to the backup and inside the backup.
    ///
    /// # Errors
    /// Errors of opening a vault; `exists`; `usage` if `out` is inside the backup; `cancelled`, `io`.
    pub fn restore(
        from: &Path,
        out: &Path,
        secret: &str,
        ledgers: Option<&Path>,
        job: &Job,
    ) -> ApiResult<Applied<Restored>> {
        let throttle = ProgressThrottle::new(job);
        let cancel = job.cancel_flag();
        let restored = mementory_vault::Backups::restore(from, out, secret, ledgers, &cancel, &|done, total| {
            throttle.report("copy", done, total, 0)
        })?;
        let mut applied = AppliedErasures { erasures: 0, ledger: (!restored.has_outside_list).then(|| "none".into()) };
        if restored.erased_since > 0 {
            // Opening the copy applies the erasures before anything can be read. If applying them or opening fails, the
            // field `ledger` of the result says so, and the next opening tries again.
            let opened = Session::open_watched(out, secret, ledgers, job).map(|opened| opened.applied_erasures());
            let failed = || AppliedErasures { erasures: 0, ledger: Some("failed".into()) };
            let opened = opened.unwrap_or_else(|_| failed());
            applied.erasures = opened.erasures;
            if opened.ledger.as_deref() == Some("failed") {
                applied.ledger = opened.ledger;
            }
        }
        Ok(restored.map(|restored| Restored {
            path: out.display().to_string(),
            bytes: restored.copy.bytes,
            digest: restored.copy.digest,
            erasures_reapplied: (restored.has_outside_list || applied.erasures > 0).then_some(applied.erasures),
            ledger: applied.ledger,
        }))
    }
}
