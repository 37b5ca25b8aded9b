//! Scores documents. The first score is BM25 over text, title and file names. The best candidates are then scored
//! again.
//!
//! Function words ("of", "the") produce no candidates if the query has another word that occurs.
//!
//! To limit the work for a query, only its rarest words produce candidates, until a budget of postings is spent. A word
//! that more than a fifth of all documents contain produces no candidates if the query has a word below this limit,
//! except in a small index. The best hundred candidates are then scored again with all words: by how many of the words
//! they contain, and by how close together these words are.
use crate::{IndexResult, doc_set::SegmentDocs, function_words::is_function_word, query::QueryToken, schema::Fields};
use std::{cell::RefCell, collections::HashMap, sync::Arc};
use tantivy::{
    DocSet, InvertedIndexReader, Searcher, SegmentReader, TERMINATED, Term,
    fieldnorm::FieldNormReader,
    postings::{Postings, TermInfo},
    schema::IndexRecordOption,
};

const K1: f32 = 1.2;
/// Strength of the length normalisation in BM25. It is lower than the usual 0.75, so that a rare phrase in a long
/// message counts about as much as in a short one.
const B: f32 = 0.4;
const FIELD_COUNT: usize = 3;
/// Number of postings that may be read to find candidates. The rarest word is used even if it has more postings.
const MAX_CANDIDATE_POSTINGS: u64 = 400_000;
/// Number of postings after which no further words are used for the second score. The rarest words are used first.
const MAX_RESCORE_POSTINGS: u64 = 1_500_000;
/// In an index with fewer documents than this, frequent words produce candidates too.
const SMALL_INDEX_DOCS: u64 = 1000;
/// Largest distance, in words, at which two query words in a document raise its score.
const MAX_NEAR_DISTANCE: u32 = 8;
/// Maximum number of words that a prefix is expanded to.
const MAX_EXPANSIONS: usize = 24;
/// Largest number of words beginning with a prefix that are read from each dictionary.
const MAX_DICTIONARY_WORDS: usize = 400;

/// A query word with its statistics.
struct QueryWord {
    forms: Vec<WordForm>,
    df: u64,
    idf: f32,
    /// True if the word produces candidates.
    finds_candidates: bool,
    /// True if the word counts when the best candidates are scored again.
    counts_in_rescore: bool,
}

impl QueryWord {
    /// True if the word is a function word. An unfinished word does not count, because it may become another word.
    fn is_function_word(&self) -> bool {
        matches!(self.forms.as_slice(), [form] if is_function_word(&form.token))
    }
}

struct WordForm {
    token: String,
    weight: f32,
    /// Dictionary entries by segment, then by field.
    term_infos: Vec<[Option<TermInfo>; FIELD_COUNT]>,
}

struct Segment<'s> {
    reader: &'s SegmentReader,
    terms: [Arc<InvertedIndexReader>; FIELD_COUNT],
    norms: [FieldNormReader; FIELD_COUNT],
}

/// The words of a query, looked up in all segments of a searcher.
pub(crate) struct Ranking<'s> {
    segments: Vec<Segment<'s>>,
    query_words: Vec<QueryWord>,
    /// For each field and each length code, the part of the BM25 denominator that depends on the length.
    length_norms: [[f32; 256]; FIELD_COUNT],
    boosts: [f32; FIELD_COUNT],
}

/// A document that may become a hit, with its score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) segment: u32,
    pub(crate) doc: u32,
    pub(crate) score: f32,
}

impl<'s> Ranking<'s> {
    /// Looks up the words. A repeated word counts only once.
    pub(crate) fn new<'p>(
        searcher: &'s Searcher,
        fields: &Fields,
        words: impl Iterator<Item = &'p QueryToken>,
    ) -> IndexResult<Self> {
        let mut segments = Vec::new();
        let searched = fields.searched_fields();
        for reader in searcher.segment_readers() {
            let [a, b, c] = searched.map(|(f, _)| reader.inverted_index(f));
            let [d, e, f] = searched.map(|(f, _)| reader.get_fieldnorms_reader(f));
            segments.push(Segment { reader, terms: [a?, b?, c?], norms: [d?, e?, f?] });
        }
        let documents = searcher.num_docs().max(1);
        let mut length_norms = [[0.0; 256]; FIELD_COUNT];
        for (i, table) in length_norms.iter_mut().enumerate() {
            let tokens: u64 = segments.iter().map(|s| s.terms[i].total_num_tokens()).sum();
            let average = (tokens as f32 / documents as f32).max(1.0);
            for (id, norm) in (0..=u8::MAX).zip(table.iter_mut()) {
                *norm = K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(id) as f32 / average);
            }
        }
        let mut ranking = Self { segments, query_words: Vec::new(), length_norms, boosts: searched.map(|(_, b)| b) };
        for part in words {
            let is_known = ranking.query_words.iter().any(|c| c.forms.first().is_some_and(|f| f.token == part.token));
            if !is_known {
                let query_word = ranking.query_word(fields, part, documents)?;
                ranking.query_words.push(query_word);
            }
        }
        ranking.choose_candidate_words(documents);
        Ok(ranking)
    }

    fn query_word(&self, fields: &Fields, part: &QueryToken, documents: u64) -> IndexResult<QueryWord> {
        let mut forms = Vec::new();
        for token in self.expand(part)? {
            let weight = if token == part.token { 1.0 } else { 0.6 };
            let mut term_infos = Vec::with_capacity(self.segments.len());
            for segment in &self.segments {
                let mut field_infos = [None, None, None];
                for (i, (field, _)) in fields.searched_fields().into_iter().enumerate() {
                    field_infos[i] = segment.terms[i].get_term_info(&Term::from_field_text(field, &token))?;
                }
                term_infos.push(field_infos);
            }
            forms.push(WordForm { token, weight, term_infos });
        }
        let infos = forms.iter().flat_map(|f| &f.term_infos).flatten().flatten();
        let df = infos.map(|i| u64::from(i.doc_freq)).sum::<u64>();
        let matching_docs = df.min(documents) as f32;
        let idf = (1.0 + (documents as f32 - matching_docs + 0.5) / (matching_docs + 0.5)).ln();
        Ok(QueryWord { forms, df, idf, finds_candidates: false, counts_in_rescore: false })
    }

    /// The word itself and, if it is a prefix, the most frequent words that begin with it.
    pub(crate) fn expand(&self, part: &QueryToken) -> IndexResult<Vec<String>> {
        let mut out = vec![part.token.clone()];
        // A single ASCII letter has too many expansions to be useful.
        if part.is_prefix && part.token.len() > 1 {
            let mut counts_by_word: HashMap<String, u64> = HashMap::new();
            for terms in self.segments.iter().flat_map(|s| &s.terms) {
                let mut stream = terms.terms().range().ge(part.token.as_bytes()).into_stream()?;
                for _ in 0..MAX_DICTIONARY_WORDS {
                    if !stream.advance() || !stream.key().starts_with(part.token.as_bytes()) {
                        break;
                    }
                    if let Ok(token) = std::str::from_utf8(stream.key()) {
                        *counts_by_word.entry(token.to_owned()).or_default() += u64::from(stream.value().doc_freq);
                    }
                }
            }
            counts_by_word.remove(&part.token);
            let mut counts_by_word: Vec<(String, u64)> = counts_by_word.into_iter().collect();
            counts_by_word.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            out.extend(counts_by_word.into_iter().take(MAX_EXPANSIONS).map(|(t, _)| t));
        }
        Ok(out)
    }

    fn choose_candidate_words(&mut self, documents: u64) {
        let mut order: Vec<usize> = (0..self.query_words.len()).filter(|i| self.query_words[*i].df > 0).collect();
        order.sort_by_key(|i| self.query_words[*i].df);
        let has_content_word = order.iter().any(|i| !self.query_words[*i].is_function_word());
        let (mut spent_postings, mut has_rare) = (0, false);
        let mut spent_on_function_words = 0;
        for i in order {
            let query_word = &mut self.query_words[i];
            let is_common = documents >= SMALL_INDEX_DOCS && query_word.df * 5 > documents;
            if has_content_word && query_word.is_function_word() {
                // A function word counts only in the second score, where the order of words matters.
                spent_on_function_words += query_word.df;
                query_word.counts_in_rescore = spent_postings + spent_on_function_words <= MAX_RESCORE_POSTINGS;
                continue;
            }
            query_word.finds_candidates = spent_postings == 0
                || (!(is_common && has_rare) && spent_postings + query_word.df <= MAX_CANDIDATE_POSTINGS);
            spent_postings += query_word.df;
            query_word.counts_in_rescore = query_word.finds_candidates || spent_postings <= MAX_RESCORE_POSTINGS;
            has_rare |= !is_common;
        }
    }

    /// The words as they were looked up, including the expansions of prefixes.
    pub(crate) fn tokens(&self) -> Vec<String> {
        self.query_words.iter().flat_map(|c| c.forms.iter().map(|f| f.token.clone())).collect()
    }

    /// The documents of a segment that contain at least one word that produces candidates. Their scores are written to
    /// `scores`, indexed by document number.
    pub(crate) fn score(&self, number: usize, scores: &mut Vec<f32>) -> IndexResult<SegmentDocs> {
        let segment = &self.segments[number];
        scores.clear();
        scores.resize(segment.reader.max_doc() as usize, 0.0);
        let mut scored_docs = SegmentDocs::empty(segment.reader.max_doc());
        for query_word in self.query_words.iter().filter(|c| c.finds_candidates) {
            for form in &query_word.forms {
                for (i, info) in form.term_infos[number].iter().enumerate() {
                    let Some(info) = info else { continue };
                    let mut postings =
                        segment.terms[i].read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
                    let (norms, length_norms) = (&segment.norms[i], &self.length_norms[i]);
                    let weight = query_word.idf * form.weight * self.boosts[i] * (K1 + 1.0);
                    while !postings.docs().is_empty() {
                        for (doc, freq) in postings.docs().iter().zip(postings.freqs()) {
                            let tf = *freq as f32;
                            let norm = length_norms[usize::from(norms.fieldnorm_id(*doc))];
                            if let Some(score) = scores.get_mut(*doc as usize) {
                                *score += weight * tf / (tf + norm);
                                scored_docs.insert(*doc);
                            }
                        }
                        postings.advance();
                    }
                }
            }
        }
        Ok(scored_docs)
    }

    /// Scores the candidates again, using all words.
    pub(crate) fn rescore(&self, candidates: &mut [Candidate]) -> IndexResult<()> {
        candidates.sort_by_key(|c| (c.segment, c.doc));
        let total_idf: f32 = self.query_words.iter().filter(|c| c.counts_in_rescore).map(|c| c.idf).sum();
        let finding_words = self.query_words.iter().filter(|c| c.finds_candidates).count();
        for group in candidates.chunk_by_mut(|a, b| a.segment == b.segment) {
            let number = group.first().map_or(0, |c| c.segment as usize);
            let matches = self.match_candidates(number, group)?;
            for (candidate, matches) in group.iter_mut().zip(matches) {
                // The share of the query's words that the document contains, half by weight and half by number. Without
                // this factor, a document with a single rare word could outrank one with all words.
                let weight = if total_idf > 0.0 { matches.idf / total_idf } else { 1.0 };
                let share = 0.5 * weight + 0.5 * matches.finding_words as f32 / finding_words.max(1) as f32;
                candidate.score = share * share * matches.score + self.closeness(&matches.positions);
            }
        }
        Ok(())
    }

    fn match_candidates(&self, number: usize, group: &[Candidate]) -> IndexResult<Vec<CandidateMatch>> {
        let segment = &self.segments[number];
        let mut out: Vec<CandidateMatch> = group.iter().map(|_| CandidateMatch::default()).collect();
        for (index, query_word) in self.query_words.iter().enumerate().filter(|(_, c)| c.counts_in_rescore) {
            let mut has_word = vec![false; group.len()];
            for form in &query_word.forms {
                for (i, info) in form.term_infos[number].iter().enumerate() {
                    let Some(info) = info else { continue };
                    // Reading positions is expensive, so they are read only in the text field, and only for words that
                    // produce candidates, which are rare.
                    let option = if i == 0 && query_word.finds_candidates && form.weight == 1.0 {
                        IndexRecordOption::WithFreqsAndPositions
                    } else {
                        IndexRecordOption::WithFreqs
                    };
                    let mut postings = segment.terms[i].read_postings_from_terminfo(info, option)?;
                    let weight = query_word.idf * form.weight * self.boosts[i] * (K1 + 1.0);
                    for (position, candidate) in group.iter().enumerate() {
                        if postings.doc() < candidate.doc {
                            postings.seek(candidate.doc);
                        }
                        if postings.doc() == TERMINATED {
                            break;
                        }
                        if postings.doc() != candidate.doc {
                            continue;
                        }
                        let tf = postings.term_freq() as f32;
                        let norm = self.length_norms[i][usize::from(segment.norms[i].fieldnorm_id(candidate.doc))];
                        out[position].score += weight * tf / (tf + norm);
                        has_word[position] = true;
                        if option.has_positions() {
                            let mut positions = Vec::new();
                            postings.positions(&mut positions);
                            out[position].positions.push((index, positions));
                        }
                    }
                }
            }
            for (candidate_match, _) in out.iter_mut().zip(has_word).filter(|(_, has_word)| *has_word) {
                candidate_match.idf += query_word.idf;
                candidate_match.finding_words += u32::from(query_word.finds_candidates);
            }
        }
        Ok(out)
    }

    /// Extra score for words that are next to each other in the query and close together in the text.
    fn closeness(&self, positions: &[(usize, Vec<u32>)]) -> f32 {
        let pairs = positions.windows(2).filter_map(|pair| {
            let [(a, at_a), (b, at_b)] = pair else { return None };
            let distance = min_distance(at_a, at_b)?;
            let pair_weight = self.query_words[*a].idf.min(self.query_words[*b].idf);
            (distance <= MAX_NEAR_DISTANCE).then(|| pair_weight * 0.5 / distance as f32)
        });
        pairs.sum()
    }
}

#[derive(Default)]
struct CandidateMatch {
    score: f32,
    /// Sum of the inverse document frequencies of the query words that the document contains.
    idf: f32,
    /// Number of query words that the document contains and that produce candidates.
    finding_words: u32,
    /// Positions of the words in the text, in query order.
    positions: Vec<(usize, Vec<u32>)>,
}

/// Smallest distance between two sorted lists of positions, at least 1.
fn min_distance(a: &[u32], b: &[u32]) -> Option<u32> {
    let (mut i, mut j, mut smallest) = (0, 0, None);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let distance = x.abs_diff(*y).max(1);
        smallest = Some(smallest.map_or(distance, |b: u32| b.min(distance)));
        if x < y { i += 1 } else { j += 1 }
    }
    smallest
}

thread_local! {
    /// Buffer for scores, with one entry for each document of a segment. It is reused for all segments.
    static SCORES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Runs `body` with this thread's score buffer.
pub(crate) fn with_scores<T>(body: impl FnOnce(&mut Vec<f32>) -> T) -> T {
    SCORES.with_borrow_mut(body)
}
