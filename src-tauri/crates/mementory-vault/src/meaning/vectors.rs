//! Loads the vectors into memory.
use super::VECTOR_WRITES_KEY;
use crate::{VaultResult, context::Context, loaded_vectors::LoadedFrom, meta};
use mementory_meaning::Collection;
use mementory_store::Store;
use std::sync::{Arc, PoisonError};

impl Context {
    /// Returns all vectors. Reads them from the store unless the vectors in memory are up to date.
    pub(crate) fn loaded_vectors(&self) -> VaultResult<Arc<Collection>> {
        let mut loaded = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        self.store.read(|c| {
            // State and vectors are read in one transaction, so that they match.
            let c = c.unchecked_transaction()?;
            let state: LoadedFrom = (Store::last_change(&c)?, meta::read(&c, VECTOR_WRITES_KEY)?.unwrap_or(0));
            if let Some((loaded_from, vectors)) = &loaded.0
                && *loaded_from == state
            {
                return Ok(vectors.clone());
            }
            let mut vectors = Collection::default();
            let mut statement = c.prepare_cached("SELECT row, vector FROM vectors")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                vectors.push(row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
            }
            let vectors = Arc::new(vectors);
            loaded.0 = Some((state, vectors.clone()));
            Ok(vectors)
        })
    }

    /// Drops the vectors in memory, after an erasure or redaction.
    pub(crate) fn forget_loaded_vectors(&self) {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
    }
}
