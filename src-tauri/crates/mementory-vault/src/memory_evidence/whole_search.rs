//! Determines whether a memory without evidence has no trace in the vault. That is the case if every conversation that
//! could contain the memory was compared with it and no sentence was similar. Otherwise the trace is unknown.
use crate::{
    VaultResult,
    context::Context,
    memory_evidence::{
        candidates::Candidate,
        meaning::{is_speech_record, parts_of_memory},
        time_span::{DAY, span_before},
    },
    query::Reader,
};
use mementory_evidence::{Sentence, sentences};
use mementory_meaning::{CachingEncoder, dot};
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::{RowView, kind_code};
use rusqlite::params;

/// Largest number of messages that are compared. If more messages could be the origin, the trace is unknown.
const MAX_MESSAGES: usize = 200;
/// Largest number of sentences in these messages that are compared.
const MAX_SENTENCES: usize = 240;
/// A sentence with at least this cosine may be the origin of the memory, said in other words.
const NEAR_COSINE: f32 = 0.22;
/// A sentence that has at least this share of the memory's words may be the origin of the memory.
const NEAR_WORD_SHARE: f32 = 0.4;

/// True if one of the candidates may be the origin of the memory, although it is not similar enough to count as
/// evidence. Each candidate comes with those of its sentences that contain words of the memory.
pub(super) fn has_near_candidate(read: &[(Vec<Sentence>, Candidate)]) -> bool {
    read.iter().filter(|(_, candidate)| is_speech_record(&candidate.record)).any(|(with_words, candidate)| {
        candidate.nearest_sentence.is_some_and(|nearest| nearest.cosine >= NEAR_COSINE)
            || with_words.iter().any(|sentence| sentence.score >= NEAR_WORD_SHARE)
    })
}

/// Searches all conversations that could contain a memory.
pub(super) struct ExhaustiveSearch<'s> {
    pub(super) context: &'s Context,
    pub(super) view: &'s RowView,
    pub(super) record: &'s Record,
    pub(super) encoder: &'s CachingEncoder<'s>,
}

impl ExhaustiveSearch<'_> {
    /// True if there are conversations that could contain the memory, all of them were compared, and no sentence is
    /// near to it.
    ///
    /// The conversations that could contain the memory are those with the same assistant from before the memory was
    /// made. If there are too many of them, only the conversations that were active when the memory was made or on the
    /// day before are compared. If there are none from that time, the export lacks the conversation in which the memory
    /// was made, and nothing can be concluded.
    pub(super) fn finds_nothing(&self) -> VaultResult<bool> {
        let made_at = self.record.times.created.or(self.record.times.updated);
        let rows_of_that_time = made_at.map(|made_at| self.rows_around(made_at)).transpose()?;
        if rows_of_that_time.as_ref().is_some_and(Vec::is_empty) {
            return Ok(false);
        }
        let before = made_at.map_or(i64::MAX, |made_at| span_before(made_at).1);
        for rows in [Some(self.rows_before(before)?), rows_of_that_time].into_iter().flatten() {
            if let Some(texts) = self.sentences_said_in(&rows)? {
                return Ok(!texts.is_empty() && self.none_is_near(&texts));
            }
        }
        Ok(false)
    }

    /// Returns rows of messages of the memory's assistant up to a time. Returns at most one more than can be compared;
    /// the extra row shows that there are too many.
    fn rows_before(&self, before: i64) -> VaultResult<Vec<i64>> {
        let sql = "SELECT row FROM records WHERE kind = ?1 AND trashed IS NULL AND sort <= ?2 \
                   AND platform = (SELECT id FROM platforms WHERE name = ?3) LIMIT ?4";
        self.rows(sql, params![kind_code(Kind::Message), before, self.view.source, MAX_MESSAGES as i64 + 1])
    }

    /// Returns the messages of the conversations that were active when the memory was made or on the day before.
    fn rows_around(&self, made_at: Timestamp) -> VaultResult<Vec<i64>> {
        let (from, to) = span_before(made_at);
        let sql = "SELECT row FROM records WHERE kind = ?1 AND trashed IS NULL AND sort <= ?3 AND owner IN \
                   (SELECT owner FROM records WHERE kind = ?1 AND trashed IS NULL AND sort BETWEEN ?2 AND ?3 \
                   AND platform = (SELECT id FROM platforms WHERE name = ?4)) LIMIT ?5";
        let max_rows = MAX_MESSAGES as i64 + 1;
        self.rows(sql, params![kind_code(Kind::Message), from - DAY, to, self.view.source, max_rows])
    }

    fn rows(&self, sql: &str, params: &[&dyn rusqlite::ToSql]) -> VaultResult<Vec<i64>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare_cached(sql)?;
            Ok(statement.query_map(params, |r| r.get(0))?.collect::<Result<Vec<i64>, _>>()?)
        })
    }

    /// Returns the sentences that somebody said in these messages. None if there are too many to compare.
    fn sentences_said_in(&self, rows: &[i64]) -> VaultResult<Option<Vec<String>>> {
        if rows.len() > MAX_MESSAGES {
            return Ok(None);
        }
        let mut out: Vec<String> = Vec::new();
        for row in rows {
            let Some(view) = Reader::new(self.context).view_by_row(*row)? else { continue };
            let record = Reader::new(self.context).content(&view)?;
            if is_speech_record(&record) {
                out.extend(sentences(&record.text).iter().map(|sentence| sentence.text.to_owned()));
            }
            if out.len() > MAX_SENTENCES {
                return Ok(None);
            }
        }
        Ok(Some(out))
    }

    fn none_is_near(&self, texts: &[String]) -> bool {
        let memory = self.encoder.encode(&parts_of_memory(&self.record.text));
        let sentence_vectors = self.encoder.encode(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        sentence_vectors.iter().all(|sentence| memory.iter().all(|part| dot(part, sentence) < NEAR_COSINE))
    }
}
