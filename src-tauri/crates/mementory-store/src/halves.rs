//! Reads a list on two threads.
use crate::StoreError;

/// Calls `read` for the two halves of `all` on two threads. Returns the results in the order of `all`.
///
/// # Errors
/// Errors of `read`; `Internal` if `read` panics on the second thread.
pub fn in_halves<T: Sync, R: Send, E: From<StoreError> + Send>(
    all: &[T],
    read: impl Fn(&[T]) -> Result<Vec<R>, E> + Sync,
) -> Result<Vec<R>, E> {
    let (first, second) = all.split_at(all.len().div_ceil(2));
    if second.is_empty() {
        return read(first);
    }
    std::thread::scope(|scope| {
        let second = scope.spawn(|| read(second));
        let mut out = read(first)?;
        let panicked = |_| Err(StoreError::Internal("a thread that reads records stopped".into()).into());
        out.extend(second.join().unwrap_or_else(panicked)?);
        Ok(out)
    })
}
