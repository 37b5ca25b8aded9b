//! Scoring: BM25 over text, title and file names, then a second score for the best.
//!
//! The rarest words of a query find the candidates, until a budget of postings is spent; words that are in more than a
//! fifth of all documents find none while there are rarer ones. This bounds the work of any query. The best hundred are
//! then scored again with every word, with how many of the words they contain and how close together these are.
use crate::{IndexResult, doc_set::Docs, query::Part, schema::Fields};
use std::{cell::RefCell, collections::HashMap, sync::Arc};
use tantivy::{
    DocSet, InvertedIndexReader, Searcher, SegmentReader, TERMINATED, Term,
    fieldnorm::FieldNormReader,
    postings::{Postings, TermInfo},
    schema::IndexRecordOption,
};

const K1: f32 = 1.2;
/// Less than the usual 0.75: one rare phrase at the end of a long message is worth as much as a short message.
const B: f32 = 0.4;
const FIELDS: usize = 3;
/// Postings that finding candidates may touch.
const BUDGET: u64 = 400_000;
/// More postings that rescoring the best may open.
const RESCORE_BUDGET: u64 = 1_500_000;
/// Below this many documents every word counts.
const SMALL: u64 = 1000;
/// Words farther apart than this are not near.
const NEAR: u32 = 8;
/// Most words that a prefix is expanded to.
const EXPANDED: usize = 24;
/// Most words with the prefix that are read from one dictionary.
const MAX_DICTIONARY_WORDS: usize = 400;

/// A query word with where it is found.
struct Clause {
    forms: Vec<Form>,
    df: u64,
    idf: f32,
    /// Finds candidates.
    finds: bool,
    /// Counts when the best candidates are scored again.
    rescores: bool,
}

struct Form {
    token: String,
    weight: f32,
    /// By segment, then field.
    places: Vec<[Option<TermInfo>; FIELDS]>,
}

struct Segment<'s> {
    reader: &'s SegmentReader,
    terms: [Arc<InvertedIndexReader>; FIELDS],
    norms: [FieldNormReader; FIELDS],
}

/// The words of a query against the segments of a searcher.
pub(crate) struct Ranking<'s> {
    segments: Vec<Segment<'s>>,
    clauses: Vec<Clause>,
    /// By field: what a document's length makes of K1.
    lengths: [[f32; 256]; FIELDS],
    boosts: [f32; FIELDS],
}

/// A candidate: segment, document, score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) segment: u32,
    pub(crate) doc: u32,
    pub(crate) score: f32,
}

impl<'s> Ranking<'s> {
    /// Looks the words up. The same word twice counts once.
    pub(crate) fn new<'p>(
        searcher: &'s Searcher,
        fields: &Fields,
        words: impl Iterator<Item = &'p Part>,
    ) -> IndexResult<Self> {
        let mut segments = Vec::new();
        let searched = fields.searched();
        for reader in searcher.segment_readers() {
            let [a, b, c] = searched.map(|(f, _)| reader.inverted_index(f));
            let [d, e, f] = searched.map(|(f, _)| reader.get_fieldnorms_reader(f));
            segments.push(Segment { reader, terms: [a?, b?, c?], norms: [d?, e?, f?] });
        }
        let documents = searcher.num_docs().max(1);
        let mut lengths = [[0.0; 256]; FIELDS];
        for (i, table) in lengths.iter_mut().enumerate() {
            let tokens: u64 = segments.iter().map(|s| s.terms[i].total_num_tokens()).sum();
            let average = (tokens as f32 / documents as f32).max(1.0);
            for (id, norm) in (0..=u8::MAX).zip(table.iter_mut()) {
                *norm = K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(id) as f32 / average);
            }
        }
        let mut this = Self { segments, clauses: Vec::new(), lengths, boosts: searched.map(|(_, b)| b) };
        for part in words {
            let known = this.clauses.iter().any(|c| c.forms.first().is_some_and(|f| f.token == part.token));
            if !known {
                let clause = this.clause(fields, part, documents)?;
                this.clauses.push(clause);
            }
        }
        this.choose(documents);
        Ok(this)
    }

    fn clause(&self, fields: &Fields, part: &Part, documents: u64) -> IndexResult<Clause> {
        let mut forms = Vec::new();
        for token in self.expand(part)? {
            let weight = if token == part.token { 1.0 } else { 0.6 };
            let mut places = Vec::with_capacity(self.segments.len());
            for segment in &self.segments {
                let mut found = [None, None, None];
                for (i, (field, _)) in fields.searched().into_iter().enumerate() {
                    found[i] = segment.terms[i].get_term_info(&Term::from_field_text(field, &token))?;
                }
                places.push(found);
            }
            forms.push(Form { token, weight, places });
        }
        let infos = forms.iter().flat_map(|f| &f.places).flatten().flatten();
        let df = infos.map(|i| u64::from(i.doc_freq)).sum::<u64>();
        let seen = df.min(documents) as f32;
        let idf = (1.0 + (documents as f32 - seen + 0.5) / (seen + 0.5)).ln();
        Ok(Clause { forms, df, idf, finds: false, rescores: false })
    }

    /// The word, and what it stands for when it is a prefix: the most frequent first.
    pub(crate) fn expand(&self, part: &Part) -> IndexResult<Vec<String>> {
        let mut out = vec![part.token.clone()];
        // One Latin letter stands for too much to mean anything.
        if part.prefix && part.token.len() > 1 {
            let mut found: HashMap<String, u64> = HashMap::new();
            for terms in self.segments.iter().flat_map(|s| &s.terms) {
                let mut stream = terms.terms().range().ge(part.token.as_bytes()).into_stream()?;
                for _ in 0..MAX_DICTIONARY_WORDS {
                    if !stream.advance() || !stream.key().starts_with(part.token.as_bytes()) {
                        break;
                    }
                    if let Ok(token) = std::str::from_utf8(stream.key()) {
                        *found.entry(token.to_owned()).or_default() += u64::from(stream.value().doc_freq);
                    }
                }
            }
            found.remove(&part.token);
            let mut found: Vec<(String, u64)> = found.into_iter().collect();
            found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            out.extend(found.into_iter().take(EXPANDED).map(|(t, _)| t));
        }
        Ok(out)
    }

    fn choose(&mut self, documents: u64) {
        let mut order: Vec<usize> = (0..self.clauses.len()).filter(|i| self.clauses[*i].df > 0).collect();
        order.sort_by_key(|i| self.clauses[*i].df);
        let (mut spent, mut rare) = (0, false);
        for i in order {
            let clause = &mut self.clauses[i];
            let common = documents >= SMALL && clause.df * 5 > documents;
            clause.finds = spent == 0 || (!(common && rare) && spent + clause.df <= BUDGET);
            spent += clause.df;
            clause.rescores = clause.finds || spent <= RESCORE_BUDGET;
            rare |= !common;
        }
    }

    /// The words as they were looked up, those that a prefix stands for included.
    pub(crate) fn tokens(&self) -> Vec<String> {
        self.clauses.iter().flat_map(|c| c.forms.iter().map(|f| f.token.clone())).collect()
    }

    /// Scores of a segment's documents by the words that find, and which documents those are. `scores` is scratch.
    pub(crate) fn score(&self, number: usize, scores: &mut Vec<f32>) -> IndexResult<Docs> {
        let segment = &self.segments[number];
        scores.clear();
        scores.resize(segment.reader.max_doc() as usize, 0.0);
        let mut touched = Docs::none(segment.reader.max_doc());
        for clause in self.clauses.iter().filter(|c| c.finds) {
            for form in &clause.forms {
                for (i, info) in form.places[number].iter().enumerate() {
                    let Some(info) = info else { continue };
                    let mut postings =
                        segment.terms[i].read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
                    let (norms, lengths) = (&segment.norms[i], &self.lengths[i]);
                    let weight = clause.idf * form.weight * self.boosts[i] * (K1 + 1.0);
                    while !postings.docs().is_empty() {
                        for (doc, freq) in postings.docs().iter().zip(postings.freqs()) {
                            let tf = *freq as f32;
                            let norm = lengths[usize::from(norms.fieldnorm_id(*doc))];
                            if let Some(score) = scores.get_mut(*doc as usize) {
                                *score += weight * tf / (tf + norm);
                                touched.insert(*doc);
                            }
                        }
                        postings.advance();
                    }
                }
            }
        }
        Ok(touched)
    }

    /// Scores the candidates again, with every word.
    pub(crate) fn rescore(&self, candidates: &mut [Candidate]) -> IndexResult<()> {
        candidates.sort_by_key(|c| (c.segment, c.doc));
        let whole: f32 = self.clauses.iter().filter(|c| c.rescores).map(|c| c.idf).sum();
        let selective = self.clauses.iter().filter(|c| c.finds).count();
        for group in candidates.chunk_by_mut(|a, b| a.segment == b.segment) {
            let number = group.first().map_or(0, |c| c.segment as usize);
            let matched = self.matches(number, group)?;
            for (candidate, matched) in group.iter_mut().zip(matched) {
                // Share of the query that it contains, by weight and by number of words: otherwise one rare word would
                // outrank a document with all of them.
                let weight = if whole > 0.0 { matched.idf / whole } else { 1.0 };
                let share = 0.5 * weight + 0.5 * matched.selective as f32 / selective.max(1) as f32;
                candidate.score = share * share * matched.score + self.closeness(&matched.places);
            }
        }
        Ok(())
    }

    fn matches(&self, number: usize, group: &[Candidate]) -> IndexResult<Vec<Matches>> {
        let segment = &self.segments[number];
        let mut out: Vec<Matches> = group.iter().map(|_| Matches::default()).collect();
        for (index, clause) in self.clauses.iter().enumerate().filter(|(_, c)| c.rescores) {
            let mut seen = vec![false; group.len()];
            for form in &clause.forms {
                for (i, info) in form.places[number].iter().enumerate() {
                    let Some(info) = info else { continue };
                    // Places matter in texts, and only for words rare enough that reading them is cheap.
                    let option = if i == 0 && clause.finds && form.weight == 1.0 {
                        IndexRecordOption::WithFreqsAndPositions
                    } else {
                        IndexRecordOption::WithFreqs
                    };
                    let mut postings = segment.terms[i].read_postings_from_terminfo(info, option)?;
                    let weight = clause.idf * form.weight * self.boosts[i] * (K1 + 1.0);
                    for (at, candidate) in group.iter().enumerate() {
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
                        let norm = self.lengths[i][usize::from(segment.norms[i].fieldnorm_id(candidate.doc))];
                        out[at].score += weight * tf / (tf + norm);
                        seen[at] = true;
                        if option.has_positions() {
                            let mut places = Vec::new();
                            postings.positions(&mut places);
                            out[at].places.push((index, places));
                        }
                    }
                }
            }
            for (matched, _) in out.iter_mut().zip(seen).filter(|(_, seen)| *seen) {
                matched.idf += clause.idf;
                matched.selective += u32::from(clause.finds);
            }
        }
        Ok(out)
    }

    /// Score for words that are next to each other in the query and near each other in the text.
    fn closeness(&self, places: &[(usize, Vec<u32>)]) -> f32 {
        let pairs = places.windows(2).filter_map(|pair| {
            let [(a, at_a), (b, at_b)] = pair else { return None };
            let apart = nearest(at_a, at_b)?;
            let worth = self.clauses[*a].idf.min(self.clauses[*b].idf);
            (apart <= NEAR).then(|| worth * 0.5 / apart as f32)
        });
        pairs.sum()
    }
}

#[derive(Default)]
struct Matches {
    score: f32,
    /// Weights of the words that it contains.
    idf: f32,
    /// How many of the words that find candidates it contains.
    selective: u32,
    /// Where they are in the text, in the query's order.
    places: Vec<(usize, Vec<u32>)>,
}

/// Smallest distance between two sorted lists of places, at least 1.
fn nearest(a: &[u32], b: &[u32]) -> Option<u32> {
    let (mut i, mut j, mut best) = (0, 0, None);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let apart = x.abs_diff(*y).max(1);
        best = Some(best.map_or(apart, |b: u32| b.min(apart)));
        if x < y { i += 1 } else { j += 1 }
    }
    best
}

thread_local! {
    /// Scratch for scores, one entry per document of the largest segment.
    static SCORES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Runs `body` with the scratch buffer of this thread.
pub(crate) fn with_scores<T>(body: impl FnOnce(&mut Vec<f32>) -> T) -> T {
    SCORES.with_borrow_mut(body)
}
