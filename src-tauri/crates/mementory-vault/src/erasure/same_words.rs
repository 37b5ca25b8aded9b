//! Other records that contain a sentence of the text that is to be erased. Candidates come from the index by phrase;
//! each is then compared in normal form, so the answer does not depend on the index's tokens.
use crate::{VaultError, VaultResult, context::Context};
use mementory_model::{Record, normal_sentences, normal_text};
use mementory_store::RowView;
use std::{
    collections::HashSet,
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// Shortest sentence (normal form, bytes) that counts as "the same words".
const LEAST: usize = 12;
/// Sentences looked up for one record.
const SENTENCES: usize = 24;
/// Records compared for one sentence.
const CANDIDATES: usize = 200;
/// Records read between two checks for cancellation.
const BETWEEN: usize = 50;

/// Sentences of a record that are long enough to be searched for.
pub(crate) fn distinctive_sentences(record: &Record) -> Vec<String> {
    let mut sentences = normal_sentences(&record.text);
    // A memory is often quoted inside a longer sentence, so its whole text is searched for too.
    let whole = normal_text(&record.text);
    if whole.len() <= 400 {
        sentences.push(whole);
    }
    sentences.retain(|s| s.len() >= LEAST && s.contains(' '));
    sentences.sort();
    sentences.dedup();
    sentences.truncate(SENTENCES);
    sentences
}

/// Other records that contain the same sentences.
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
    /// Live records outside `except` that contain one of the sentences; at most [`CANDIDATES`] are compared for each.
    pub(crate) fn same_words(&self, sentences: &[String], except: &HashSet<i64>) -> VaultResult<Vec<RowView>> {
        let mut found = Vec::new();
        let mut seen = except.clone();
        for sentence in sentences {
            let rows = self.context.with_index(|i| i.rows_with_phrase(sentence, CANDIDATES))?;
            self.read_candidates(sentence, &rows, &mut seen, &mut found)?;
        }
        Ok(found)
    }

    /// As [`Self::same_words`], but without that limit.
    ///
    /// # Errors
    /// `TooMany` when there are more than `most`, or may be for one of the sentences; `Cancelled`.
    pub(crate) fn all_with(
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
            for some in rows.chunks(BETWEEN) {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                self.read_candidates(sentence, some, &mut seen, &mut found)?;
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
                Ok(says(&record, sentence).then_some(view))
            })?;
            if let Some(view) = hit {
                seen.insert(row);
                found.push(view);
            }
        }
        Ok(())
    }
}

/// Whether a record contains a sentence, given in normal form.
fn says(record: &Record, sentence: &str) -> bool {
    normal_text(&record.text).contains(sentence)
        || record.title.as_deref().is_some_and(|t| normal_text(t).contains(sentence))
        || record.fields.values().any(|v| normal_text(&v.to_string()).contains(sentence))
        || record.attachments.iter().filter_map(|a| a.text.as_deref()).any(|t| normal_text(t).contains(sentence))
}
