//! Runs a search. From a query and a filter, it determines ranked rows, their total number, and the counts for each
//! value of a facet.
use crate::{
    IndexFilter, IndexResult, SearchIndex,
    doc_set::SegmentDocs,
    index::unreadable_segment_error,
    matching::docs_with_phrase,
    query::{ParsedQuery, QueryToken, query_tokens},
    rank::{Candidate, Ranking, with_scores},
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};
use tantivy::{Searcher, SegmentReader, schema::IndexRecordOption};

/// Number of best candidates that are scored again. The hits after these candidates keep the order of the first score.
const RESCORED_CANDIDATES: usize = 100;

/// Filter and range of a page of results.
#[derive(Debug, Clone, Copy)]
pub struct SearchPage<'f> {
    /// Conditions on the hits.
    pub filter: &'f IndexFilter,
    /// Maximum number of hits on the page.
    pub limit: usize,
    /// Number of hits before the page.
    pub offset: usize,
}

/// The best entries so far (sort key, segment, document), and the number of all matches.
#[derive(Default)]
struct BestEntries {
    heap: BinaryHeap<Reverse<(u64, u32, u32)>>,
    total: u32,
}

impl BestEntries {
    /// Adds an entry if it is among the `wanted_count` best entries.
    fn add_if_best(&mut self, entry: (u64, u32, u32), wanted_count: usize) {
        if self.heap.len() < wanted_count {
            self.heap.push(Reverse(entry));
        } else if let Some(mut least) = self.heap.peek_mut().filter(|least| least.0 < entry) {
            *least = Reverse(entry);
        }
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchOutcome {
    /// Number of matching documents. A document matches if it contains everything required and nothing forbidden. If
    /// the query has words but requires nothing, the document must also contain at least one of the words that produce
    /// candidates. These are the rarest words of the query; a word that more than a fifth of all documents contain is
    /// among them only if no word is below this limit, or if the index is small.
    pub total: u32,
    /// Row and score of each hit on the page, best first. If the query has no words, the newest hits come first, and
    /// all scores are 0.
    pub hits: Vec<(u64, f32)>,
    /// The folded words that were searched for, for use with [`crate::snippet()`].
    pub terms: Vec<String>,
}

/// A field whose values are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FacetField {
    /// The kind of the record.
    Kind,
    /// The assistant or program that the record comes from.
    Platform,
    /// The type of the record.
    RecordType,
    /// The tags of the record.
    Tag,
    /// The status of the record.
    Status,
}

impl SearchIndex {
    /// Searches for the words of a query. Hits are ranked, and need not contain all words. A `"quoted phrase"` or a
    /// `+word` is required, and a `-word` is forbidden. Every query is valid. Returns `Damaged` if a file fails its
    /// check.
    pub fn search(&self, query: &str, filter: &IndexFilter, limit: usize, offset: usize) -> IndexResult<SearchOutcome> {
        Ok(self.search_pages(query, &[SearchPage { filter, limit, offset }])?.pop().unwrap_or_default())
    }

    /// Runs several searches for the same words. Looking up the words is most of the work and is done only once. The
    /// first page's filter says whether the last word is unfinished.
    pub fn search_pages(&self, query: &str, pages: &[SearchPage<'_>]) -> IndexResult<Vec<SearchOutcome>> {
        self.with_searcher(|searcher| self.search_in(searcher, query, pages))
    }

    /// Rows of at most `max_rows` documents that contain these words consecutively in this order, newest documents
    /// first. The result is not ranked, so this is much cheaper than [`search`](Self::search) for the same phrase.
    pub fn rows_with_phrase(&self, words: &str, max_rows: usize) -> IndexResult<Vec<u64>> {
        self.with_searcher(|searcher| {
            let parts = query_tokens(words, false);
            // Only a phrase of one word also matches other forms of the word.
            let ranking = match parts.as_slice() {
                [_] => Some(Ranking::new(searcher, &self.fields, std::iter::empty())?),
                _ => None,
            };
            let expand = |part: &QueryToken| {
                let forms = ranking.as_ref().and_then(|ranking| ranking.expand(part).ok());
                forms.unwrap_or_else(|| vec![part.token.clone()])
            };
            let mut out = Vec::new();
            for segment in searcher.segment_readers().iter().rev() {
                let mut docs = docs_with_phrase(segment, &self.fields, &parts, &expand)?;
                docs.drop_deleted(segment);
                if docs.len() == 0 {
                    continue;
                }
                let rows = segment.fast_fields().u64("row")?;
                docs.for_each_descending(|doc| {
                    if out.len() < max_rows {
                        out.extend(rows.first(doc));
                    }
                });
                if out.len() >= max_rows {
                    break;
                }
            }
            Ok(out)
        })
    }

    /// Number of matching documents for each value of a field.
    pub fn facets(&self, query: &str, filter: &IndexFilter, field: FacetField) -> IndexResult<BTreeMap<String, u32>> {
        self.with_searcher(|searcher| self.facets_in(searcher, query, filter, field))
    }

    fn search_in(&self, searcher: &Searcher, query: &str, pages: &[SearchPage<'_>]) -> IndexResult<Vec<SearchOutcome>> {
        let parsed = ParsedQuery::parse(query, pages.first().is_some_and(|page| page.filter.typing));
        let ranking = Ranking::new(searcher, &self.fields, parsed.positive_tokens())?;
        let segments = searcher.segment_readers();
        let best = |numbers: Range<usize>| {
            let part =
                || with_scores(|scores| self.best_in_segments(&ranking, &parsed, pages, segments, numbers, scores));
            // `with_searcher` cannot catch a panic on the spawned thread, so it is caught here and becomes an error.
            catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| Err(unreadable_segment_error()))
        };
        // Later segments contain newer documents, which come first among equal scores. Segments are of similar size, so
        // each thread takes half of them.
        let middle = segments.len() / 2;
        let (newer_half, older_half) = std::thread::scope(|scope| {
            let older_half = (middle > 0).then(|| scope.spawn(|| best(0..middle)));
            let newer_half = best(middle..segments.len());
            (
                newer_half,
                older_half.map_or_else(
                    || Ok(Vec::new()),
                    |older_half| older_half.join().unwrap_or_else(|_| Err(unreadable_segment_error())),
                ),
            )
        });
        let mut best_entries = newer_half?;
        for ((best, older_best), page) in best_entries.iter_mut().zip(older_half?).zip(pages) {
            best.total += older_best.total;
            older_best.heap.into_iter().for_each(|Reverse(entry)| best.add_if_best(entry, page.candidates_wanted()));
        }
        best_entries
            .into_iter()
            .zip(pages)
            .map(|(best, page)| build_page(searcher, &ranking, &parsed, best, page))
            .collect()
    }

    /// For each page, the best entries in the segments with these numbers.
    fn best_in_segments(
        &self,
        ranking: &Ranking<'_>,
        parsed: &ParsedQuery,
        pages: &[SearchPage<'_>],
        segments: &[SegmentReader],
        numbers: Range<usize>,
        scores: &mut Vec<f32>,
    ) -> IndexResult<Vec<BestEntries>> {
        let mut best_entries: Vec<BestEntries> = pages.iter().map(|_| BestEntries::default()).collect();
        // Newest segments first, so that fewer entries have to be replaced later.
        for number in numbers.rev() {
            let segment = &segments[number];
            let matching_docs = self.matching_docs(ranking, parsed, number, segment, scores)?;
            let newest = if parsed.has_positive_term() { None } else { Some(segment.fast_fields().i64("created")?) };
            for (page, best) in pages.iter().zip(&mut best_entries) {
                let mut docs = matching_docs.clone();
                page.filter.apply(segment, &self.fields, &self.filter_cache, &mut docs)?;
                best.total += docs.len();
                docs.for_each_descending(|doc| {
                    let key = match &newest {
                        // Scores are not negative, so their bits sort in the same order.
                        None => u64::from(scores.get(doc as usize).copied().unwrap_or(0.0).to_bits()),
                        Some(created) => created.first(doc).unwrap_or(i64::MIN).cast_unsigned() ^ (1 << 63),
                    };
                    best.add_if_best((key, number as u32, doc), page.candidates_wanted());
                });
            }
        }
        Ok(best_entries)
    }

    fn facets_in(
        &self,
        searcher: &Searcher,
        query: &str,
        filter: &IndexFilter,
        field: FacetField,
    ) -> IndexResult<BTreeMap<String, u32>> {
        let field = match field {
            FacetField::Kind => self.fields.kind,
            FacetField::Platform => self.fields.platform,
            FacetField::RecordType => self.fields.record_type,
            FacetField::Tag => self.fields.tag,
            FacetField::Status => self.fields.status,
        };
        let parsed = ParsedQuery::parse(query, filter.typing);
        let ranking = Ranking::new(searcher, &self.fields, parsed.positive_tokens())?;
        let mut out: BTreeMap<String, u32> = BTreeMap::new();
        for (number, segment) in searcher.segment_readers().iter().enumerate() {
            let mut docs = with_scores(|scores| self.matching_docs(&ranking, &parsed, number, segment, scores))?;
            filter.apply(segment, &self.fields, &self.filter_cache, &mut docs)?;
            let terms = segment.inverted_index(field)?;
            let mut stream = terms.terms().stream()?;
            while stream.advance() {
                let mut postings = terms.read_block_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)?;
                let mut count = 0;
                while !postings.docs().is_empty() {
                    count += postings.docs().iter().filter(|d| docs.contains(**d)).count() as u32;
                    postings.advance();
                }
                if count > 0 {
                    *out.entry(String::from_utf8_lossy(stream.key()).into_owned()).or_default() += count;
                }
            }
        }
        Ok(out)
    }

    /// The documents of a segment that match the query. Writes to `scores` the scores from the words that produce
    /// candidates.
    fn matching_docs(
        &self,
        ranking: &Ranking<'_>,
        parsed: &ParsedQuery,
        number: usize,
        segment: &SegmentReader,
        scores: &mut Vec<f32>,
    ) -> IndexResult<SegmentDocs> {
        let mut docs = if parsed.has_positive_term() {
            let mut matching_docs = ranking.score(number, scores)?;
            if !parsed.required.is_empty() {
                matching_docs = SegmentDocs::all_live(segment);
            }
            matching_docs.drop_deleted(segment);
            matching_docs
        } else {
            SegmentDocs::all_live(segment)
        };
        // If a prefix cannot be expanded, the token itself is used. The error is not lost: the lookup that follows
        // fails in the same way and reports it.
        let expand = |part: &QueryToken| ranking.expand(part).unwrap_or_else(|_| vec![part.token.clone()]);
        for required in &parsed.required {
            docs.intersect(&docs_with_phrase(segment, &self.fields, required, &expand)?);
        }
        for forbidden in &parsed.forbidden {
            docs.subtract(&docs_with_phrase(segment, &self.fields, forbidden, &expand)?);
        }
        Ok(docs)
    }
}

impl SearchPage<'_> {
    /// Number of candidates to collect.
    fn candidates_wanted(&self) -> usize {
        self.offset.saturating_add(self.limit).max(RESCORED_CANDIDATES)
    }
}

/// Builds the requested page from the best entries.
fn build_page(
    searcher: &Searcher,
    ranking: &Ranking<'_>,
    parsed: &ParsedQuery,
    best: BestEntries,
    page: &SearchPage<'_>,
) -> IndexResult<SearchOutcome> {
    let words = parsed.has_positive_term();
    let mut hits: Vec<Candidate> = best
        .heap
        .into_sorted_vec()
        .into_iter()
        .map(|Reverse((key, segment, doc))| Candidate {
            segment,
            doc,
            score: if words { f32::from_bits(key as u32) } else { 0.0 },
        })
        .collect();
    if words {
        let rescored_count = hits.len().min(RESCORED_CANDIDATES);
        let (rescored, rest) = hits.split_at_mut(rescored_count);
        ranking.rescore(rescored)?;
        rescored.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.segment.cmp(&a.segment)).then(b.doc.cmp(&a.doc)));
        let lowest_score = rescored.last().map_or(0.0, |c| c.score);
        rest.iter_mut().for_each(|c| c.score = c.score.min(lowest_score));
    }
    let mut page_hits = Vec::new();
    for hit in hits.into_iter().skip(page.offset).take(page.limit) {
        let rows = searcher.segment_reader(hit.segment).fast_fields().u64("row")?;
        page_hits.push((rows.first(hit.doc).unwrap_or_default(), hit.score));
    }
    Ok(SearchOutcome { total: best.total, hits: page_hits, terms: ranking.tokens() })
}

impl ParsedQuery {
    /// The tokens of all words and phrases that are not forbidden.
    fn positive_tokens(&self) -> impl Iterator<Item = &QueryToken> {
        self.words.iter().chain(self.required.iter().flatten())
    }

    fn has_positive_term(&self) -> bool {
        self.positive_tokens().next().is_some()
    }
}
