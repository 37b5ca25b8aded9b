//! Cache of the documents that pass a filter (a kind, an assistant, a tag …). In an index of a million messages,
//! collecting these documents takes longer than ranking the matches.
use crate::{IndexResult, doc_set::SegmentDocs};
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};
use tantivy::{SegmentReader, Term, index::SegmentId, schema::Field};

/// Largest number of cached sets. A set has one bit per document of its segment, so it takes at most about 8 KiB.
const MAX_CACHED_SETS: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// Sets of documents by segment and term. Apart from deletions, a segment never changes, so a cached set stays valid.
/// The caller removes deleted documents from it.
pub(crate) struct FilterCache(Mutex<lru::LruCache<(SegmentId, Term), Arc<SegmentDocs>>>);

impl FilterCache {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(lru::LruCache::new(MAX_CACHED_SETS)))
    }

    /// Every document with this term, including deleted ones.
    pub(crate) fn docs_with_term(&self, segment: &SegmentReader, term: Term) -> IndexResult<Arc<SegmentDocs>> {
        self.get_or_collect(segment, term, |term| {
            let mut docs = SegmentDocs::empty(segment.max_doc());
            docs.add_term(segment, term)?;
            Ok(docs)
        })
    }

    /// Every document without a value in this field that was not deleted when the set was made; cached under the
    /// field's empty term.
    pub(crate) fn docs_without_value(&self, segment: &SegmentReader, field: Field) -> IndexResult<Arc<SegmentDocs>> {
        self.get_or_collect(segment, Term::from_field_text(field, ""), |_| {
            let mut with_value = SegmentDocs::empty(segment.max_doc());
            with_value.add_terms(segment, field)?;
            let mut docs = SegmentDocs::all_live(segment);
            docs.subtract(&with_value);
            Ok(docs)
        })
    }

    fn get_or_collect(
        &self,
        segment: &SegmentReader,
        term: Term,
        collect: impl FnOnce(&Term) -> IndexResult<SegmentDocs>,
    ) -> IndexResult<Arc<SegmentDocs>> {
        let key = (segment.segment_id(), term);
        if let Some(found) = self.lock().get(&key) {
            return Ok(found.clone());
        }
        let docs = Arc::new(collect(&key.1)?);
        self.lock().put(key, docs.clone());
        Ok(docs)
    }

    /// Clears the cache. Its keys contain words of records, and it may have entries of segments that no longer exist.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, lru::LruCache<(SegmentId, Term), Arc<SegmentDocs>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
