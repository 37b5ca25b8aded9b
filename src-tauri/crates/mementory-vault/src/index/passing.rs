//! The documents that pass a filter (a kind, an assistant, a tag …), kept between questions: gathering a million messages
//! takes longer than ranking what is found among them.
use super::{IndexResult, matching::Docs};
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};
use tantivy::{SegmentReader, Term, index::SegmentId, schema::Field};

/// At most a bit for each document of a segment: some 10 MB for a million of them.
const KEPT: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// Sets by segment and term. A segment never changes but for its deletions, which are not looked at again.
pub(super) struct Passing(Mutex<lru::LruCache<(SegmentId, Term), Arc<Docs>>>);

impl Passing {
    pub(super) fn new() -> Self {
        Self(Mutex::new(lru::LruCache::new(KEPT)))
    }

    /// Every document of a term, deleted ones among them.
    pub(super) fn of(&self, segment: &SegmentReader, term: Term) -> IndexResult<Arc<Docs>> {
        self.kept(segment, term, |term| {
            let mut docs = Docs::none(segment.max_doc());
            docs.add_term(segment, term)?;
            Ok(docs)
        })
    }

    /// Every document that has nothing in a field; kept under its empty term.
    pub(super) fn without(&self, segment: &SegmentReader, field: Field) -> IndexResult<Arc<Docs>> {
        self.kept(segment, Term::from_field_text(field, ""), |_| {
            let mut with = Docs::none(segment.max_doc());
            with.add_terms(segment, field)?;
            let mut docs = Docs::alive(segment);
            docs.and_not(&with);
            Ok(docs)
        })
    }

    fn kept(
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

    /// Terms are words of the records, and segments that were rewritten are of no use any more.
    pub(super) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, lru::LruCache<(SegmentId, Term), Arc<Docs>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
