//! Searching: from a query and a filter to ranked rows, a total and counts by facet.
use crate::{
    IndexFilter, IndexResult, SearchIndex,
    doc_set::Docs,
    index::unreadable,
    matching::phrase,
    query::{Parsed, Part, parts},
    rank::{Candidate, Ranking, with_scores},
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};
use tantivy::{Searcher, SegmentReader, schema::IndexRecordOption};

/// Candidates that are rescored; pages beyond keep the order of the first scoring.
const CLOSER: usize = 100;

/// A page of what passes a filter.
#[derive(Debug, Clone, Copy)]
pub struct SearchPage<'f> {
    /// What a hit must be.
    pub filter: &'f IndexFilter,
    /// Hits on the page.
    pub limit: usize,
    /// Hits before it.
    pub offset: usize,
}

/// The best so far, each with its key, segment and document, and how many there are.
#[derive(Default)]
struct Best {
    heap: BinaryHeap<Reverse<(u64, u32, u32)>>,
    total: u32,
}

impl Best {
    /// Takes one in if it is among the best `wanted`.
    fn take(&mut self, entry: (u64, u32, u32), wanted: usize) {
        if self.heap.len() < wanted {
            self.heap.push(Reverse(entry));
        } else if let Some(mut least) = self.heap.peek_mut().filter(|least| least.0 < entry) {
            *least = Reverse(entry);
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchOutcome {
    /// How many match. A document matches when it contains one of the query's selective words (those that are not in
    /// more than a fifth of all documents, if there are others; of very many, the rarest) and all that is required.
    pub total: u32,
    /// Row and score of the page asked for, best first. Without words the newest first, with score 0.
    pub hits: Vec<(u64, f32)>,
    /// The words looked for, folded, for [`crate::snippet()`].
    pub terms: Vec<String>,
}

/// A field to count by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FacetField {
    /// Kind.
    Kind,
    /// Platform.
    Platform,
    /// The record's own type.
    RecordType,
    /// Tag.
    Tag,
    /// Status.
    Status,
}

impl SearchIndex {
    /// Searches. Words are ranked and not all required; `"a phrase"` and `+word` are required, `-word` is forbidden.
    /// No query is an error; `Damaged` when a file fails its check on the way.
    pub fn search(&self, query: &str, filter: &IndexFilter, limit: usize, offset: usize) -> IndexResult<SearchOutcome> {
        Ok(self.search_each(query, &[SearchPage { filter, limit, offset }])?.pop().unwrap_or_default())
    }

    /// Several searches for the same words at once: what is said and what it is called, say. Finding the words is most
    /// of the work, and done once. Whether the last word is unfinished says the first one's filter.
    pub fn search_each(&self, query: &str, asks: &[SearchPage<'_>]) -> IndexResult<Vec<SearchOutcome>> {
        self.guarded(|searcher| self.search_in(searcher, query, asks))
    }

    /// Rows of at most `most` documents that hold these words one after the other, the last written ones. Not ranked, so
    /// much cheaper than [`search`](Self::search) for the same phrase.
    pub fn rows_with_phrase(&self, words: &str, most: usize) -> IndexResult<Vec<u64>> {
        self.guarded(|searcher| {
            let parts = parts(words, false);
            let ranking = Ranking::new(searcher, &self.fields, std::iter::empty())?;
            let expand = |part: &Part| ranking.expand(part).unwrap_or_else(|_| vec![part.token.clone()]);
            let mut out = Vec::new();
            for segment in searcher.segment_readers().iter().rev() {
                let mut docs = phrase(segment, &self.fields, &parts, &expand)?;
                docs.drop_deleted(segment);
                let rows = segment.fast_fields().u64("row")?;
                docs.each_from_end(|doc| {
                    if out.len() < most {
                        out.extend(rows.first(doc));
                    }
                });
                if out.len() >= most {
                    break;
                }
            }
            Ok(out)
        })
    }

    /// How many matching documents have each value of a field.
    pub fn facets(&self, query: &str, filter: &IndexFilter, field: FacetField) -> IndexResult<BTreeMap<String, u32>> {
        self.guarded(|searcher| self.facets_in(searcher, query, filter, field))
    }

    fn search_in(&self, searcher: &Searcher, query: &str, asks: &[SearchPage<'_>]) -> IndexResult<Vec<SearchOutcome>> {
        let parsed = Parsed::read(query, asks.first().is_some_and(|ask| ask.filter.typing));
        let ranking = Ranking::new(searcher, &self.fields, parsed.positive())?;
        let segments = searcher.segment_readers();
        let best = |numbers: Range<usize>| {
            let part = || with_scores(|scores| self.best_of(&ranking, &parsed, asks, segments, numbers, scores));
            // A panic is this thread's only, and told by `guarded` on the other.
            catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| Err(unreadable()))
        };
        // The last documents are the newest and, among equals, the ones wanted. Segments are of about one size.
        let half = segments.len() / 2;
        let (late, early) = std::thread::scope(|scope| {
            let early = (half > 0).then(|| scope.spawn(|| best(0..half)));
            let late = best(half..segments.len());
            (late, early.map_or_else(|| Ok(Vec::new()), |early| early.join().unwrap_or_else(|_| Err(unreadable()))))
        });
        let mut all = late?;
        for ((best, more), ask) in all.iter_mut().zip(early?).zip(asks) {
            best.total += more.total;
            more.heap.into_iter().for_each(|Reverse(entry)| best.take(entry, ask.wanted()));
        }
        all.into_iter().zip(asks).map(|(best, ask)| page(searcher, &ranking, &parsed, best, ask)).collect()
    }

    /// The best of some segments by each of the filters.
    fn best_of(
        &self,
        ranking: &Ranking<'_>,
        parsed: &Parsed,
        asks: &[SearchPage<'_>],
        segments: &[SegmentReader],
        numbers: Range<usize>,
        scores: &mut Vec<f32>,
    ) -> IndexResult<Vec<Best>> {
        let mut all: Vec<Best> = asks.iter().map(|_| Best::default()).collect();
        // From the end, few are put aside again.
        for number in numbers.rev() {
            let segment = &segments[number];
            let found = self.found(ranking, parsed, number, segment, scores)?;
            let newest = if parsed.has_positive() { None } else { Some(segment.fast_fields().i64("created")?) };
            for (ask, best) in asks.iter().zip(&mut all) {
                let mut docs = found.clone();
                ask.filter.apply(segment, &self.fields, &self.filter_cache, &mut docs)?;
                best.total += docs.len();
                docs.each_from_end(|doc| {
                    let key = match &newest {
                        // Scores are not negative, so their bits sort as they do.
                        None => u64::from(scores.get(doc as usize).copied().unwrap_or(0.0).to_bits()),
                        Some(created) => created.first(doc).unwrap_or(i64::MIN).cast_unsigned() ^ (1 << 63),
                    };
                    best.take((key, number as u32, doc), ask.wanted());
                });
            }
        }
        Ok(all)
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
        let parsed = Parsed::read(query, filter.typing);
        let ranking = Ranking::new(searcher, &self.fields, parsed.positive())?;
        let mut out: BTreeMap<String, u32> = BTreeMap::new();
        for (number, segment) in searcher.segment_readers().iter().enumerate() {
            let mut docs = with_scores(|scores| self.found(&ranking, &parsed, number, segment, scores))?;
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

    /// The documents of a segment that hold what is asked for; `scores` then holds what the finding words give them.
    fn found(
        &self,
        ranking: &Ranking<'_>,
        parsed: &Parsed,
        number: usize,
        segment: &SegmentReader,
        scores: &mut Vec<f32>,
    ) -> IndexResult<Docs> {
        let mut docs = if parsed.has_positive() {
            let mut found = ranking.score(number, scores)?;
            if !parsed.must.is_empty() {
                found = Docs::alive(segment);
            }
            found.drop_deleted(segment);
            found
        } else {
            Docs::alive(segment)
        };
        // A prefix that cannot be expanded is itself; the lookup fails again, and is reported, right after.
        let expand = |part: &Part| ranking.expand(part).unwrap_or_else(|_| vec![part.token.clone()]);
        for required in &parsed.must {
            docs.and(&phrase(segment, &self.fields, required, &expand)?);
        }
        for forbidden in &parsed.not {
            docs.and_not(&phrase(segment, &self.fields, forbidden, &expand)?);
        }
        Ok(docs)
    }
}

impl SearchPage<'_> {
    /// Candidates that are gathered.
    fn wanted(&self) -> usize {
        self.offset.saturating_add(self.limit).max(CLOSER)
    }
}

/// The page that was asked for, of the best.
fn page(
    searcher: &Searcher,
    ranking: &Ranking<'_>,
    parsed: &Parsed,
    best: Best,
    ask: &SearchPage<'_>,
) -> IndexResult<SearchOutcome> {
    let words = parsed.has_positive();
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
        let closer = hits.len().min(CLOSER);
        let (close, rest) = hits.split_at_mut(closer);
        ranking.rescore(close)?;
        close.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.segment.cmp(&a.segment)).then(b.doc.cmp(&a.doc)));
        let least = close.last().map_or(0.0, |c| c.score);
        rest.iter_mut().for_each(|c| c.score = c.score.min(least));
    }
    let mut page = Vec::new();
    for hit in hits.into_iter().skip(ask.offset).take(ask.limit) {
        let rows = searcher.segment_reader(hit.segment).fast_fields().u64("row")?;
        page.push((rows.first(hit.doc).unwrap_or_default(), hit.score));
    }
    Ok(SearchOutcome { total: best.total, hits: page, terms: ranking.tokens() })
}

impl Parsed {
    /// Words and phrases to find.
    fn positive(&self) -> impl Iterator<Item = &Part> {
        self.words.iter().chain(self.must.iter().flatten())
    }

    fn has_positive(&self) -> bool {
        self.positive().next().is_some()
    }
}
