//! Searches by meaning: finds memories that say nearly the same as a text or another record, in any words and
//! languages.
use super::{
    context::Context,
    filter,
    search::{Search, page_of},
    view::RowViews,
};
use crate::{ApiResult, Job, types::*, weights};
use mementory_model::Kind;
use mementory_vault::{Encoder, EncoderError, ListQuery, SearchOutcome, VaultError, Vector};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, PoisonError, atomic::Ordering},
};

/// Number of records that are encoded while one lock is held. Changes to the vault wait until the lock is released.
const BATCH_SIZE: usize = 64;
/// Lowest cosine similarity at which a record counts as similar to a text. A lower similarity is usually coincidence.
const MIN_COSINE_TO_TEXT: f32 = 0.1;
/// Lowest cosine similarity at which a record counts as similar to another record.
const MIN_COSINE_TO_RECORD: f32 = 0.35;
/// Smallest number of hits that each of the two searches, by words and by meaning, requests for the fused ranking.
const MIN_FUSED_HITS: usize = 50;
/// Added to each rank when two rankings are fused (reciprocal rank fusion), so that the top ranks dominate less.
const RANK_OFFSET: f32 = 10.0;

/// The reason why search by meaning has no encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WeightsProblem {
    Missing,
    Damaged,
}

/// Hits by words and by meaning in one ranking.
struct FusedRanking {
    outcome: SearchOutcome,
    /// The rows that were found only by meaning.
    by_meaning: HashSet<u64>,
}

/// Search by meaning.
#[derive(Clone, Copy)]
pub struct Meaning<'s> {
    context: &'s Context,
}

impl<'s> Meaning<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Meaning<'_> {
    /// Encodes new and changed memories, profile notes and facts. Interactive commands and changes can run meanwhile.
    /// If the job is cancelled, the vectors so far are stored.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn encode_pending(&self, job: &Job) -> ApiResult<Encoded> {
        self.encode_rows(&self.vectors().rows_to_encode()?, job)
    }

    /// Encodes the new and changed memories among those on the page, because the subject of a memory is suggested more
    /// reliably with a vector. The time depends on the length of the page, not on the size of an import.
    pub fn encode_listed(&self, page: &Page, job: &Job) -> ApiResult<Encoded> {
        let memories: Vec<&ListItem> = page.items.iter().filter(|item| item.kind == Kind::Memory.as_str()).collect();
        if memories.is_empty() {
            return Ok(Encoded::default());
        }
        let pending: HashSet<i64> = self.vectors().rows_to_encode()?.into_iter().collect();
        let rows = memories.iter().map(|item| Ok(self.context.vault.reader().view(&item.id)?.row));
        let rows: Vec<i64> = rows.collect::<ApiResult<_>>()?;
        self.encode_rows(&rows.into_iter().filter(|row| pending.contains(row)).collect::<Vec<_>>(), job)
    }

    fn encode_rows(&self, pending: &[i64], job: &Job) -> ApiResult<Encoded> {
        if pending.is_empty() {
            return Ok(Encoded { records: 0, weights: self.weights_problem() });
        }
        let encoder = match self.encoder() {
            Ok(encoder) => encoder,
            Err(problem) => return Ok(Encoded { records: 0, weights: Some(problem.name().into()) }),
        };
        let cancel = job.cancel_flag();
        let mut done = 0;
        for rows in pending.chunks(BATCH_SIZE) {
            job.yield_to_interactive();
            if cancel.load(Ordering::Relaxed) {
                return Err(VaultError::Cancelled.into());
            }
            {
                // The guard prevents a redaction between the reading of a text and the storing of its vector.
                let _guard = self.context.snapshot_guard();
                self.vectors().encode(&encoder, rows)?;
            }
            done += rows.len();
            job.report(Progress {
                stage: "encode".into(),
                done: done as u64,
                total: pending.len() as u64,
                unit: "records".into(),
                records: to_u32(done),
            });
        }
        Ok(Encoded { records: to_u32(done), weights: None })
    }

    /// Returns records that mean nearly the same as a text or a record, best first. The requested record itself is left
    /// out.
    ///
    /// # Errors
    /// `not_found`; `usage` for an invalid filter.
    pub fn similar(&self, request: &SimilarRequest) -> ApiResult<Similar> {
        let meaning = self.vectors();
        let left = to_u32(meaning.rows_to_encode()?.len());
        let limit = request.limit.unwrap_or(10).clamp(1, 100) as usize;
        let (vectors, min_cosine, excluded_rows) = match &request.id {
            // No encoder is needed, because the vectors of a record are already stored.
            Some(id) => {
                let row = self.context.vault.reader().view(id)?.row;
                (meaning.vectors_of_row(row)?, MIN_COSINE_TO_RECORD, vec![row])
            }
            None => match self.encoder() {
                Ok(encoder) => (encode_text(&encoder, &request.query), MIN_COSINE_TO_TEXT, Vec::new()),
                Err(problem) => {
                    return Ok(Similar { weights: Some(problem.name().into()), left, ..Similar::default() });
                }
            },
        };
        let weights = if vectors.is_empty() { self.weights_problem() } else { None };
        let nearest_rows =
            meaning.nearest(&vectors, &self.query(&request.filter)?, limit, min_cosine, &excluded_rows)?;
        let scores: HashMap<u64, f32> = nearest_rows.iter().copied().collect();
        let hits = self.context.vault.search().hits(&nearest_rows)?;
        let row = |(view, record, _): &(mementory_vault::RowView, mementory_model::Record, f32)| -> ApiResult<_> {
            let score = scores.get(&(view.row as u64)).copied().unwrap_or_default();
            let item = RowViews::new(&self.context.vault).item_of(view, record)?;
            Ok(SimilarRow { item, score: f64::from(score.clamp(0.0, 1.0)) })
        };
        Ok(Similar { rows: hits.iter().map(row).collect::<ApiResult<_>>()?, left, weights })
    }

    /// Searches by words and by meaning, and returns the hits in one ranking. If the encoder cannot be used, searches
    /// by words alone and adds a warning.
    ///
    /// # Errors
    /// `usage` for an invalid filter.
    pub fn search(&self, request: &SearchRequest) -> ApiResult<MeaningResult> {
        let started = std::time::Instant::now();
        let words = Search::new(self.context);
        let (outcome, by_meaning, warnings) = match self.fused_ranking(request)? {
            Ok(fused) => (fused.outcome, fused.by_meaning, Vec::new()),
            Err(problem) => (words.search_index(request)?, HashSet::new(), vec![problem.warning()]),
        };
        let took_ms = started.elapsed().as_secs_f64() * 1000.0;
        let how = |row| if by_meaning.contains(&row) { "meaning" } else { "words" };
        let hits = words.hits_of(&outcome)?;
        let hits = hits.into_iter().map(|(row, hit)| MeaningHit { hit, how: how(row).into() }).collect();
        Ok(MeaningResult { query: request.query.clone(), total: outcome.total, took_ms, hits, warnings })
    }

    /// Searches by words and by meaning, and fuses the rankings. The inner error is the reason why search by meaning is
    /// not possible.
    fn fused_ranking(&self, request: &SearchRequest) -> ApiResult<Result<FusedRanking, WeightsProblem>> {
        let encoder = match self.encoder() {
            Ok(encoder) => encoder,
            Err(problem) => return Ok(Err(problem)),
        };
        let (limit, offset) = page_of(request);
        let hit_count = (limit + offset).max(MIN_FUSED_HITS);
        let vectors = encode_text(&encoder, &request.query);
        let filter = self.query(&request.filter)?;
        let by_meaning_hits = self.vectors().nearest(&vectors, &filter, hit_count, MIN_COSINE_TO_TEXT, &[])?;
        let wider_request = SearchRequest { limit: Some(to_u32(hit_count)), offset: None, ..request.clone() };
        let by_words = Search::new(self.context).search_index(&wider_request)?;
        let rank_score = |place: usize| 1.0 / (RANK_OFFSET + place as f32);
        let mut scores: HashMap<u64, f32> = HashMap::new();
        for (place, (row, _)) in by_words.hits.iter().enumerate() {
            scores.insert(*row, rank_score(place));
        }
        let mut by_meaning = HashSet::new();
        for (place, (row, _)) in by_meaning_hits.iter().enumerate() {
            if !scores.contains_key(row) {
                by_meaning.insert(*row);
            }
            *scores.entry(*row).or_default() += rank_score(place);
        }
        let mut hits: Vec<(u64, f32)> = scores.into_iter().collect();
        hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let total = by_words.total.saturating_add(to_u32(by_meaning.len()));
        let hits = hits.into_iter().skip(offset).take(limit).collect();
        Ok(Ok(FusedRanking { outcome: SearchOutcome { hits, total, ..by_words }, by_meaning }))
    }

    fn vectors(&self) -> mementory_vault::Meaning<'_> {
        mementory_vault::Meaning::of(&self.context.vault)
    }

    fn query(&self, filter: &Filter) -> ApiResult<ListQuery> {
        filter::query(&self.context.vault, filter)
    }

    /// Returns the encoder, which the first call loads.
    fn encoder(&self) -> Result<Arc<Encoder>, WeightsProblem> {
        let mut loaded = self.context.encoder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encoder) = &*loaded {
            return Ok(encoder.clone());
        }
        let folder = weights::folder().ok_or(WeightsProblem::Missing)?;
        let encoder = Encoder::open(&folder).map(Arc::new).map_err(|error| match error {
            EncoderError::Missing(_) => WeightsProblem::Missing,
            _ => WeightsProblem::Damaged,
        })?;
        *loaded = Some(encoder.clone());
        Ok(encoder)
    }

    /// Returns the encoder, if its weights are installed and undamaged.
    pub(super) fn encoder_if_installed(&self) -> Option<Arc<Encoder>> {
        self.encoder().ok()
    }

    /// Returns `missing` if the weights are not installed. Damage cannot be detected before the weights are loaded.
    fn weights_problem(&self) -> Option<String> {
        weights::folder().is_none().then(|| WeightsProblem::Missing.name().into())
    }
}

impl WeightsProblem {
    fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Damaged => "damaged",
        }
    }

    /// Makes the warning about the problem, which is returned together with the hits by words.
    fn warning(self) -> Warning {
        let message = match self {
            Self::Missing => "only words were searched: search by meaning needs its weights, which are not installed",
            Self::Damaged => {
                "only words were searched: the weights for search by meaning are damaged or of another version"
            }
        };
        Warning { code: format!("weights_{}", self.name()), place: "weights".into(), message: message.into(), count: 1 }
    }
}

/// Encodes a search text. Returns no vectors if the text is empty.
fn encode_text(encoder: &Encoder, text: &str) -> Vec<Vector> {
    if text.trim().is_empty() { Vec::new() } else { encoder.encode(&[text]) }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
