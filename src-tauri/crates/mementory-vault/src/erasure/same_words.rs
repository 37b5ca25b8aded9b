//! Finds other records that contain a sentence of the text to erase. The index finds candidates by phrase. Each is then
//! compared in normal form, so that the result does not depend on the index's tokens.
use crate::{VaultError, VaultResult, context::Context, word_removal::is_distinctive_sentence};
use mementory_model::{Record, normal_sentences, normal_text};
use mementory_store::RowView;
use std::{
    collections::HashSet,
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// Upper limit for the sentences that are searched for one record.
const MAX_SENTENCES: usize = 24;
/// Upper limit for the records that are compared for one sentence.
const MAX_CANDIDATES: usize = 200;
/// Number of records that are read between two checks for cancellation.
const RECORDS_PER_CANCEL_CHECK: usize = 50;

/// Sentences of a record that are long enough to be searched for.
pub(crate) fn distinctive_sentences(record: &Record) -> Vec<String> {
    let mut sentences = normal_sentences(&record.text);
    // A memory is often quoted inside a longer sentence, so its whole text is searched for too.
    let whole = normal_text(&record.text);
    if whole.len() <= 400 && !sentences.is_empty() {
        sentences.push(whole);
    }
    sentences.retain(|sentence| is_distinctive_sentence(sentence));
    sentences.sort();
    sentences.dedup();
    sentences.truncate(MAX_SENTENCES);
    sentences
}

/// Finds other records that contain the same sentences.
#[derive(Clone, Copy)]
pub(crate) struct SameWords<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> SameWords<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl SameWords<'_> {
    /// Live records outside `except` that contain one of the sentences; at most [`MAX_CANDIDATES`] records are compared
    /// for each sentence.
    pub(crate) fn same_words(&self, sentences: &[String], except: &HashSet<i64>) -> VaultResult<Vec<RowView>> {
        let mut found = Vec::new();
        let mut seen = except.clone();
        for sentence in sentences {
            let rows = self.context.with_index(|i| i.rows_with_phrase(sentence, MAX_CANDIDATES))?;
            self.read_candidates(sentence, &rows, &mut seen, &mut found)?;
        }
        Ok(found)
    }

    /// All live records outside `except` that contain one of the sentences.
    ///
    /// # Errors
    /// `TooMany` if more than `most` records contain one of the sentences, or if the index finds more than `most`
    /// candidates for one sentence; `Cancelled`.
    pub(crate) fn all_with_sentences(
        &self,
        sentences: &[String],
        except: &HashSet<i64>,
        most: usize,
        cancelled: &AtomicBool,
    ) -> VaultResult<Vec<RowView>> {
        let mut found = Vec::new();
        let mut seen = except.clone();
        for sentence in sentences {
            let rows = self.context.with_index(|i| i.rows_with_phrase(sentence, most + 1))?;
            if rows.len() > most {
                return Err(VaultError::TooMany { most });
            }
            for chunk in rows.chunks(RECORDS_PER_CANCEL_CHECK) {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                self.read_candidates(sentence, chunk, &mut seen, &mut found)?;
            }
            if found.len() > most {
                return Err(VaultError::TooMany { most });
            }
        }
        Ok(found)
    }

    fn read_candidates(
        &self,
        sentence: &str,
        rows: &[u64],
        seen: &mut HashSet<i64>,
        found: &mut Vec<RowView>,
    ) -> VaultResult<()> {
        for row in rows {
            let row = *row as i64;
            if seen.contains(&row) {
                continue;
            }
            let hit = self.context.store.read(|c| {
                let Some(view) = RowView::by_row(c, row)? else { return Ok(None) };
                let record = self.context.store.packs.record(c, view.pack, view.slot)?;
                Ok(contains_sentence(&record, sentence).then_some(view))
            })?;
            if let Some(view) = hit {
                seen.insert(row);
                found.push(view);
            }
        }
        Ok(())
    }
}

/// True if a record contains a sentence, given in normal form.
fn contains_sentence(record: &Record, sentence: &str) -> bool {
    normal_text(&record.text).contains(sentence)
        || record.title.as_deref().is_some_and(|t| normal_text(t).contains(sentence))
        || record.fields.values().any(|v| normal_text(&v.to_string()).contains(sentence))
        || record.attachments.iter().filter_map(|a| a.text.as_deref()).any(|t| normal_text(t).contains(sentence))
}
