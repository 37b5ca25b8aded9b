//! The filter of a search, and how it is applied to a segment's documents.
use crate::{IndexResult, doc_set::SegmentDocs, filter_cache::FilterCache, schema::Fields};
use std::{collections::HashSet, sync::Arc};
use tantivy::{SegmentReader, Term};

/// Conditions on a hit. A list allows any of its values. An empty list sets no condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexFilter {
    /// Kinds of records.
    pub kinds: Vec<String>,
    /// Assistants or programs that the records come from.
    pub platforms: Vec<String>,
    /// Types of records. An empty string means records without a type.
    pub record_types: Vec<String>,
    /// Statuses of records.
    pub statuses: Vec<String>,
    /// Who said the text of the records: `user`, `assistant`, `system`. An empty string means records for which this is
    /// unknown.
    pub said_by: Vec<String>,
    /// Sensitivity levels of records.
    pub sensitivities: Vec<String>,
    /// Tags of records.
    pub tags: Vec<String>,
    /// Created at or after this time, in microseconds since 1970.
    pub created_from: Option<i64>,
    /// Created at or before this time, in microseconds since 1970.
    pub created_to: Option<i64>,
    /// True if records without a date pass `created_from` and `created_to`.
    pub undated: bool,
    /// Row of the conversation that the record belongs to.
    pub conversation: Option<u64>,
    /// Row numbers that a hit may have.
    pub rows: Option<Arc<HashSet<i64>>>,
    /// True while the person is typing, so that the last word also matches longer words that start with it.
    pub typing: bool,
}

impl IndexFilter {
    /// Removes the documents that do not pass the filter from `docs`.
    pub(crate) fn apply(
        &self,
        segment: &SegmentReader,
        fields: &Fields,
        cache: &FilterCache,
        docs: &mut SegmentDocs,
    ) -> IndexResult<()> {
        let lists = [
            (fields.kind, &self.kinds),
            (fields.platform, &self.platforms),
            (fields.record_type, &self.record_types),
            (fields.status, &self.statuses),
            (fields.said_by, &self.said_by),
            (fields.sensitivity, &self.sensitivities),
            (fields.tag, &self.tags),
        ];
        for (field, values) in lists.into_iter().filter(|(_, v)| !v.is_empty()) {
            // An empty string selects the records that have no value in this field.
            let may_lack = field == fields.record_type || field == fields.said_by;
            let docs_of = |value: &String| match value.is_empty() && may_lack {
                true => cache.docs_without_value(segment, field),
                false => cache.docs_with_term(segment, Term::from_field_text(field, value)),
            };
            docs.intersect(&*docs_with_any_value(segment, values, docs_of)?);
        }
        if self.created_from.is_some() || self.created_to.is_some() {
            let column = segment.fast_fields().i64("created")?;
            let range = self.created_from.unwrap_or(i64::MIN)..=self.created_to.unwrap_or(i64::MAX);
            docs.retain(|doc| column.first(doc).map_or(self.undated, |position| range.contains(&position)));
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

fn docs_with_any_value(
    segment: &SegmentReader,
    values: &[String],
    docs_of: impl Fn(&String) -> IndexResult<Arc<SegmentDocs>>,
) -> IndexResult<Arc<SegmentDocs>> {
    if let [value] = values {
        return docs_of(value);
    }
    let mut out = SegmentDocs::empty(segment.max_doc());
    for value in values {
        out.union(&*docs_of(value)?);
    }
    Ok(Arc::new(out))
}
