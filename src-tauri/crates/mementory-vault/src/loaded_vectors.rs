//! Keeps the vectors of all memories in memory as long as the vault does not change.
use mementory_meaning::Collection;
use std::sync::Arc;

/// The state of the vault that vectors were loaded from: the number of its last change, and the number of calls that
/// stored vectors.
pub(crate) type LoadedFrom = (u64, i64);

/// The loaded vectors, with the state of the vault from which they were loaded. None until the first search, and after
/// an erasure or redaction.
#[derive(Default)]
pub(crate) struct LoadedVectors(pub(crate) Option<(LoadedFrom, Arc<Collection>)>);
