//! Documents that hold a required word or phrase.
use crate::{IndexResult, doc_set::Docs, query::Part, schema::Fields};
use tantivy::{
    DocSet, SegmentReader, TERMINATED, Term,
    query::{EnableScoring, PhraseQuery, Query},
};

/// Documents that hold a phrase in one of the searched fields; a phrase of one word is that word, or with `prefix` any
/// word that `expand` gives for it.
pub(crate) fn phrase(
    segment: &SegmentReader,
    fields: &Fields,
    parts: &[Part],
    expand: &dyn Fn(&Part) -> Vec<String>,
) -> IndexResult<Docs> {
    let mut out = Docs::none(segment.max_doc());
    for (field, _) in fields.searched() {
        match parts {
            [] => {}
            [one] => {
                for token in expand(one) {
                    out.add_term(segment, &Term::from_field_text(field, &token))?;
                }
            }
            several => {
                let terms = several.iter().map(|p| (p.place, Term::from_field_text(field, &p.token))).collect();
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
