//! Finds other records that contain a sentence of the text to erase. The index finds candidates by phrase. Each
//! candidate is then compared in normal form, so that the result does not depend on the index's tokens.
use crate::{VaultError, VaultResult, cancel, context::Context, word_removal::is_distinctive_sentence};
use mementory_model::{Record, normal_sentences, normal_text};
use mementory_store::RowView;
use std::{
    collections::{HashMap, HashSet},
    sync::atomic::AtomicBool,
};

/// Maximum number of sentences of one record that are searched for.
const MAX_SENTENCES: usize = 24;
/// Maximum number of candidates that are compared with one sentence.
const MAX_CANDIDATES: usize = 200;
/// Number of records that are read between two checks for cancellation.
const RECORDS_PER_CANCEL_CHECK: usize = 50;

/// Returns the sentences of a record that are long enough to be searched for.
pub(crate) fn distinctive_sentences(record: &Record) -> Vec<String> {
    let mut sentences = normal_sentences(&record.text);
    // A memory is often quoted inside a longer sentence, so its whole text is searched for too.
    let whole_text = normal_text(&record.text);
    if whole_text.len() <= 400 && !sentences.is_empty() {
        sentences.push(whole_text);
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
    /// Returns live records outside `except` that contain one of the sentences. Compares at most [`MAX_CANDIDATES`]
    /// records with each sentence.
    pub(crate) fn same_words(&self, sentences: &[String], except: &HashSet<i64>) -> VaultResult<Vec<RowView>> {
        let mut candidates = Candidates::new(except);
        for sentence in sentences {
            candidates.add(sentence, self.context.with_index(|i| i.rows_with_phrase(sentence, MAX_CANDIDATES))?);
        }
        self.read_candidates(candidates, &AtomicBool::new(false))
    }

    /// Returns all live records outside `except` that contain one of the sentences.
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
        let mut candidates = Candidates::new(except);
        for sentence in sentences {
            cancel::check(cancelled)?;
            let rows = self.context.with_index(|i| i.rows_with_phrase(sentence, most + 1))?;
            if rows.len() > most {
                return Err(VaultError::TooMany { most });
            }
            candidates.add(sentence, rows);
        }
        let found = self.read_candidates(candidates, cancelled)?;
        if found.len() > most {
            return Err(VaultError::TooMany { most });
        }
        Ok(found)
    }

    /// Returns the candidates that contain one of their sentences, in the order in which the index found them. Reads
    /// the records in the order of the packs, so that each pack is unpacked once.
    fn read_candidates(&self, candidates: Candidates<'_>, cancelled: &AtomicBool) -> VaultResult<Vec<RowView>> {
        let mut found = Vec::new();
        self.context.store.read(|c| {
            let mut views = Vec::with_capacity(candidates.by_row.len());
            for (row, candidate) in &candidates.by_row {
                views.extend(RowView::by_row(c, *row)?.map(|view| (view, candidate)));
            }
            views.sort_unstable_by_key(|(view, _)| (view.pack, view.slot));
            for (number, (view, candidate)) in views.into_iter().enumerate() {
                if number % RECORDS_PER_CANCEL_CHECK == 0 {
                    cancel::check(cancelled)?;
                }
                let record = self.context.store.packs.record(c, view.pack, view.slot)?;
                let texts: Vec<String> = normal_texts(&record).collect();
                if candidate.sentences.iter().any(|sentence| texts.iter().any(|text| text.contains(sentence))) {
                    found.push((candidate.position, view));
                }
            }
            Ok(())
        })?;
        found.sort_unstable_by_key(|(position, _)| *position);
        Ok(found.into_iter().map(|(_, view)| view).collect())
    }
}

/// The rows in which the index found words of the searched sentences. The rows in `except` are left out.
struct Candidates<'s> {
    except: &'s HashSet<i64>,
    by_row: HashMap<i64, Candidate<'s>>,
}

/// One row in which the index found words of the searched sentences.
struct Candidate<'s> {
    /// Number of rows that were found before this one.
    position: usize,
    sentences: Vec<&'s str>,
}

impl<'s> Candidates<'s> {
    fn new(except: &'s HashSet<i64>) -> Self {
        Self { except, by_row: HashMap::new() }
    }

    fn add(&mut self, sentence: &'s str, rows: Vec<u64>) {
        for row in rows.into_iter().map(|row| row as i64).filter(|row| !self.except.contains(row)) {
            let position = self.by_row.len();
            let candidate = self.by_row.entry(row).or_insert(Candidate { position, sentences: Vec::new() });
            candidate.sentences.push(sentence);
        }
    }
}

/// Returns the texts of a record in normal form.
fn normal_texts(record: &Record) -> impl Iterator<Item = String> {
    std::iter::once(normal_text(&record.text))
        .chain(record.title.as_deref().map(normal_text))
        .chain(record.fields.values().map(|value| normal_text(&value.to_string())))
        .chain(record.attachments.iter().filter_map(|file| file.text.as_deref()).map(normal_text))
}
