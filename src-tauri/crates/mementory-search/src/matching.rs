//! Finds the documents that contain a required word or phrase.
use crate::{IndexResult, doc_set::SegmentDocs, query::QueryToken, schema::Fields};
use tantivy::{
    DocSet, SegmentReader, TERMINATED, Term,
    query::{EnableScoring, PhraseQuery, Query},
};

/// Documents with the phrase in one of the searched fields. A phrase of one token matches every form that `expand`
/// returns for it.
pub(crate) fn docs_with_phrase(
    segment: &SegmentReader,
    fields: &Fields,
    parts: &[QueryToken],
    expand: &dyn Fn(&QueryToken) -> Vec<String>,
) -> IndexResult<SegmentDocs> {
    let mut out = SegmentDocs::empty(segment.max_doc());
    for (field, _) in fields.searched_fields() {
        match parts {
            [] => {}
            [one] => {
                for token in expand(one) {
                    out.add_term(segment, &Term::from_field_text(field, &token))?;
                }
            }
            several => {
                let terms = several.iter().map(|p| (p.position, Term::from_field_text(field, &p.token))).collect();
                let schema = segment.schema();
                let weight = PhraseQuery::new_with_offset(terms).weight(EnableScoring::disabled_from_schema(schema))?;
                let mut docs = weight.scorer(segment, 1.0)?;
                while docs.doc() != TERMINATED {
                    out.insert(docs.doc());
                    docs.advance();
                }
            }
        }
    }
    Ok(out)
}
