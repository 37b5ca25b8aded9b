//! Sets of documents in one segment, as bitmaps.
use crate::IndexResult;
use tantivy::{
    SegmentReader, Term,
    postings::BlockSegmentPostings,
    schema::{Field, IndexRecordOption},
};

#[derive(Debug, Clone)]
pub(crate) struct SegmentDocs {
    words: Vec<u64>,
}

impl SegmentDocs {
    pub(crate) fn empty(max_doc: u32) -> Self {
        Self { words: vec![0; (max_doc as usize).div_ceil(64)] }
    }

    /// All documents of the segment that are not deleted.
    pub(crate) fn all_live(segment: &SegmentReader) -> Self {
        let max_doc = segment.max_doc();
        let mut out = Self { words: vec![u64::MAX; (max_doc as usize).div_ceil(64)] };
        if let Some(last) = out.words.last_mut().filter(|_| !max_doc.is_multiple_of(64)) {
            *last = (1 << (max_doc % 64)) - 1;
        }
        out.drop_deleted(segment);
        out
    }

    pub(crate) fn drop_deleted(&mut self, segment: &SegmentReader) {
        if let Some(alive) = segment.alive_bitset() {
            self.retain(|doc| alive.is_alive(doc));
        }
    }

    pub(crate) fn insert(&mut self, doc: u32) {
        if let Some(word) = self.words.get_mut(doc as usize / 64) {
            *word |= 1 << (doc % 64);
        }
    }

    pub(crate) fn contains(&self, doc: u32) -> bool {
        self.words.get(doc as usize / 64).is_some_and(|w| w >> (doc % 64) & 1 == 1)
    }

    pub(crate) fn len(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    pub(crate) fn intersect(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
    }

    pub(crate) fn union(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= !b);
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        for (position, word) in self.words.iter_mut().enumerate() {
            let mut remaining_bits = *word;
            while remaining_bits != 0 {
                let bit = remaining_bits.trailing_zeros();
                remaining_bits &= remaining_bits - 1;
                if !keep(position as u32 * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Calls `each` for every document, in descending order.
    pub(crate) fn for_each_descending(&self, mut each: impl FnMut(u32)) {
        for (position, word) in self.words.iter().enumerate().rev() {
            let mut remaining_bits = *word;
            while remaining_bits != 0 {
                let bit = 63 - remaining_bits.leading_zeros();
                remaining_bits &= !(1 << bit);
                each(position as u32 * 64 + bit);
            }
        }
    }

    /// Adds every document that contains the term.
    pub(crate) fn add_term(&mut self, segment: &SegmentReader, term: &Term) -> IndexResult<()> {
        let terms = segment.inverted_index(term.field())?;
        if let Some(postings) = terms.read_block_postings(term, IndexRecordOption::Basic)? {
            self.add(postings);
        }
        Ok(())
    }

    /// Adds every document that has a non-empty term in this field.
    pub(crate) fn add_terms(&mut self, segment: &SegmentReader, field: Field) -> IndexResult<()> {
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
