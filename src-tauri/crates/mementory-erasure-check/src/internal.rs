//! Steps of the check that fail only if the program itself fails.
use mementory_search::Needles;
use mementory_store::{StoreError, StoreResult};

/// Prepares a search for these strings.
///
/// # Errors
/// `Internal` if there are too many strings, or if they are too long.
pub(crate) fn search_for<N: AsRef<[u8]>>(strings: &[N]) -> StoreResult<Needles> {
    Needles::new(strings).map_err(|error| StoreError::Internal(error.to_string()))
}

/// The error for a thread of the check that panicked.
pub(crate) fn thread_stopped() -> StoreError {
    StoreError::Internal("a thread of the check stopped".into())
}
