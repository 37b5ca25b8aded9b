//! Which documents of a segment match: sets of documents, from filters, required words and phrases.
use super::{IndexResult, passing::Passing, query::Part, schema::Fields, search::IndexFilter};
use std::sync::Arc;
use tantivy::{
    DocSet, SegmentReader, TERMINATED, Term,
    postings::BlockSegmentPostings,
    query::{EnableScoring, PhraseQuery, Query},
    schema::{Field, IndexRecordOption},
};

/// A set of documents of one segment.
#[derive(Debug, Clone)]
pub(super) struct Docs {
    words: Vec<u64>,
}

impl Docs {
    pub(super) fn none(max_doc: u32) -> Self {
        Self { words: vec![0; (max_doc as usize).div_ceil(64)] }
    }

    /// Every document that is not deleted.
    pub(super) fn alive(segment: &SegmentReader) -> Self {
        let max_doc = segment.max_doc();
        let mut out = Self { words: vec![u64::MAX; (max_doc as usize).div_ceil(64)] };
        if let Some(last) = out.words.last_mut().filter(|_| !max_doc.is_multiple_of(64)) {
            *last = (1 << (max_doc % 64)) - 1;
        }
        out.drop_deleted(segment);
        out
    }

    pub(super) fn drop_deleted(&mut self, segment: &SegmentReader) {
        if let Some(alive) = segment.alive_bitset() {
            self.retain(|doc| alive.is_alive(doc));
        }
    }

    pub(super) fn insert(&mut self, doc: u32) {
        if let Some(word) = self.words.get_mut(doc as usize / 64) {
            *word |= 1 << (doc % 64);
        }
    }

    pub(super) fn contains(&self, doc: u32) -> bool {
        self.words.get(doc as usize / 64).is_some_and(|w| w >> (doc % 64) & 1 == 1)
    }

    pub(super) fn len(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    pub(super) fn and(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
    }

    pub(super) fn or(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn and_not(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= !b);
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keep(at as u32 * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Calls for every document, the last one first.
    pub(super) fn each_from_end(&self, mut each: impl FnMut(u32)) {
        for (at, word) in self.words.iter().enumerate().rev() {
            let mut left = *word;
            while left != 0 {
                let bit = 63 - left.leading_zeros();
                left &= !(1 << bit);
                each(at as u32 * 64 + bit);
            }
        }
    }

    /// Adds every document of a term.
    pub(super) fn add_term(&mut self, segment: &SegmentReader, term: &Term) -> IndexResult<()> {
        let terms = segment.inverted_index(term.field())?;
        if let Some(postings) = terms.read_block_postings(term, IndexRecordOption::Basic)? {
            self.add(postings);
        }
        Ok(())
    }

    /// Adds every document that has any term of a field but the empty one.
    pub(super) fn add_terms(&mut self, segment: &SegmentReader, field: Field) -> IndexResult<()> {
        let terms = segment.inverted_index(field)?;
        let mut stream = terms.terms().stream()?;
        while stream.advance() {
            if !stream.key().is_empty() {
                self.add(terms.read_block_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)?);
            }
        }
        Ok(())
    }

    fn add(&mut self, mut postings: BlockSegmentPostings) {
        while !postings.docs().is_empty() {
            postings.docs().iter().for_each(|d| self.insert(*d));
            postings.advance();
        }
    }
}

/// Documents that hold a phrase in one of the searched fields; a phrase of one word is that word, or with `prefix` any
/// word that `expand` gives for it.
pub(super) fn phrase(
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

impl IndexFilter {
    /// Takes out of `docs` what does not pass.
    pub(super) fn apply(
        &self,
        segment: &SegmentReader,
        fields: &Fields,
        passing: &Passing,
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
                true => passing.without(segment, field),
                false => passing.of(segment, Term::from_field_text(field, value)),
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
