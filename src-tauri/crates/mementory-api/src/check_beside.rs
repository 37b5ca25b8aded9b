//! Checks the content of files on a thread of its own while an import reads them.
use crate::{ApiError, ApiResult, inspection::Inspection};
use mementory_formats::Detection;
use mementory_model::Issue;
use mementory_vault::{VaultError, VaultResult};
use std::sync::{Mutex, PoisonError};

/// Waits for the check of the files and returns its findings, see `ImportOptions::findings`.
pub(crate) type AwaitFindings<'a> = &'a (dyn Fn() -> VaultResult<Vec<Issue>> + Sync);

/// Largest size of sources that are checked while they are read, in unpacked bytes. Larger ones are checked before they
/// are read, so that both need memory one after the other, and so that a bomb is refused before anything of it is
/// stored.
const MAX_BYTES_CHECKED_BESIDE: u64 = 64 << 20;

/// True if the sources are small enough to be checked while they are read.
pub(crate) fn is_checked_beside(found: &Detection) -> bool {
    let sizes = found.sources.iter().map(|source| source.total_bytes);
    sizes.fold(0, u64::saturating_add) <= MAX_BYTES_CHECKED_BESIDE
}

/// Runs `check` on another thread while `import` runs on this one. `import` waits for the check before it commits.
///
/// # Errors
/// The error of the check if it fails, since it names every fault; otherwise that of the import.
pub(crate) fn import_beside_check<T>(
    check: impl FnOnce() -> ApiResult<Inspection> + Send,
    import: impl FnOnce(AwaitFindings<'_>) -> VaultResult<T>,
) -> ApiResult<T> {
    std::thread::scope(|scope| {
        let running = Mutex::new(Some(scope.spawn(check)));
        let refusal = Mutex::new(None);
        let await_findings = || {
            let Some(check) = running.lock().unwrap_or_else(PoisonError::into_inner).take() else {
                return Ok(Vec::new());
            };
            let stopped = |_| Err(ApiError::internal("the check of the files stopped unexpectedly"));
            check.join().unwrap_or_else(stopped).map(|checked| checked.findings).map_err(|error| {
                *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                VaultError::Cancelled
            })
        };
        let imported = import(&await_findings);
        // An import that failed did not wait for the check.
        let checked = await_findings();
        match refusal.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(refusal) => Err(refusal),
            None => Ok(checked.and(imported)?),
        }
    })
}
