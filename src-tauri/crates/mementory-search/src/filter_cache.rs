//! Cache of the documents that pass a filter (a kind, an assistant, a tag …): gathering a million messages takes longer
//! than ranking what is found among them.
use crate::{IndexResult, doc_set::Docs};
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};
use tantivy::{SegmentReader, Term, index::SegmentId, schema::Field};

/// At most a bit for each document of a segment: some 10 MB for a million of them.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// Sets by segment and term. Only the deletions of a segment change, and the caller removes deleted documents itself.
pub(crate) struct FilterCache(Mutex<lru::LruCache<(SegmentId, Term), Arc<Docs>>>);

impl FilterCache {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(lru::LruCache::new(CAPACITY)))
    }

    /// Every document of a term, deleted ones among them.
    pub(crate) fn of(&self, segment: &SegmentReader, term: Term) -> IndexResult<Arc<Docs>> {
        self.cached(segment, term, |term| {
            let mut docs = Docs::none(segment.max_doc());
            docs.add_term(segment, term)?;
            Ok(docs)
        })
    }

    /// Every document that has nothing in a field; cached under its empty term.
    pub(crate) fn without(&self, segment: &SegmentReader, field: Field) -> IndexResult<Arc<Docs>> {
        self.cached(segment, Term::from_field_text(field, ""), |_| {
            let mut with = Docs::none(segment.max_doc());
            with.add_terms(segment, field)?;
            let mut docs = Docs::alive(segment);
            docs.and_not(&with);
            Ok(docs)
        })
    }

    fn cached(
        &self,
        segment: &SegmentReader,
        term: Term,
        gather: impl FnOnce(&Term) -> IndexResult<Docs>,
    ) -> IndexResult<Arc<Docs>> {
        let key = (segment.segment_id(), term);
        if let Some(found) = self.lock().get(&key) {
            return Ok(found.clone());
        }
        let docs = Arc::new(gather(&key.1)?);
        self.lock().put(key, docs.clone());
        Ok(docs)
    }

    /// Empties the cache: terms are words of records, and rewritten segments are never asked for again.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, lru::LruCache<(SegmentId, Term), Arc<Docs>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
