//! Ends a long loop when the person cancels it.
use crate::{VaultError, VaultResult};
use std::sync::atomic::{AtomicBool, Ordering};

/// Fails with `Cancelled` once the flag is set.
pub(crate) fn check(cancel: &AtomicBool) -> VaultResult<()> {
    if cancel.load(Ordering::Relaxed) { Err(VaultError::Cancelled) } else { Ok(()) }
}
