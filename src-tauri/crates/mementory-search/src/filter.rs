//! Filters of a search, and how they are applied to a set of documents.
use crate::{IndexResult, doc_set::Docs, filter_cache::FilterCache, schema::Fields};
use std::{collections::HashSet, sync::Arc};
use tantivy::{SegmentReader, Term};

/// What a hit must be. An empty list asks for nothing; several values in one list are alternatives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexFilter {
    /// Kinds.
    pub kinds: Vec<String>,
    /// Platforms.
    pub platforms: Vec<String>,
    /// The records' own types; an empty one: records without a type.
    pub record_types: Vec<String>,
    /// Statuses.
    pub statuses: Vec<String>,
    /// Sensitivities.
    pub sensitivities: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Created at or after, in microseconds.
    pub created_from: Option<i64>,
    /// Created at or before, in microseconds.
    pub created_to: Option<i64>,
    /// Part of this conversation.
    pub conversation: Option<u64>,
    /// One of these rows.
    pub rows: Option<Arc<HashSet<i64>>>,
    /// The last word is still being typed: words that start with it count.
    pub typing: bool,
}

impl IndexFilter {
    /// Removes from `docs` the documents that do not pass.
    pub(crate) fn apply(
        &self,
        segment: &SegmentReader,
        fields: &Fields,
        cache: &FilterCache,
        docs: &mut Docs,
    ) -> IndexResult<()> {
        let lists = [
            (fields.kind, &self.kinds),
            (fields.platform, &self.platforms),
            (fields.record_type, &self.record_types),
            (fields.status, &self.statuses),
            (fields.sensitivity, &self.sensitivities),
            (fields.tag, &self.tags),
        ];
        for (field, values) in lists.into_iter().filter(|(_, v)| !v.is_empty()) {
            // A record may have no type, and is asked for by that.
            let of = |value: &String| match value.is_empty() && field == fields.record_type {
                true => cache.without(segment, field),
                false => cache.of(segment, Term::from_field_text(field, value)),
            };
            docs.and(&*any_of(segment, values, of)?);
        }
        if self.created_from.is_some() || self.created_to.is_some() {
            let column = segment.fast_fields().i64("created")?;
            let range = self.created_from.unwrap_or(i64::MIN)..=self.created_to.unwrap_or(i64::MAX);
            docs.retain(|doc| column.first(doc).is_some_and(|at| range.contains(&at)));
        }
        if let Some(conversation) = self.conversation {
            let column = segment.fast_fields().u64("conversation")?;
            docs.retain(|doc| column.first(doc) == Some(conversation));
        }
        if let Some(rows) = &self.rows {
            let column = segment.fast_fields().u64("row")?;
            docs.retain(|doc| column.first(doc).is_some_and(|row| rows.contains(&row.cast_signed())));
        }
        Ok(())
    }
}

fn any_of(
    segment: &SegmentReader,
    values: &[String],
    of: impl Fn(&String) -> IndexResult<Arc<Docs>>,
) -> IndexResult<Arc<Docs>> {
    if let [value] = values {
        return of(value);
    }
    let mut out = Docs::none(segment.max_doc());
    for value in values {
        out.or(&*of(value)?);
    }
    Ok(Arc::new(out))
}
