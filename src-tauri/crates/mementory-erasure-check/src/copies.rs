//! Counts other records that contain a sentence of an erased text. The index finds current records. Records in the
//! Trash and earlier versions, which are not in the index, are all read.
use crate::{ErasureCheck, Evidence, internal::search_for};
use mementory_model::{Record, normal_sentences, normal_text, word_count};
use mementory_search::Needles;
use mementory_store::{StoreResult, in_halves};
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeSet, HashSet};

/// Shortest text, in bytes of its normal form, that is searched for. Shorter texts and single words occur by chance.
const MIN_TEXT_BYTES: usize = 12;
/// Largest text, in bytes of its normal form, that is also searched for as a whole. For a longer text, only its
/// sentences are searched for.
const MAX_WHOLE_TEXT_BYTES: usize = 400;
/// Largest number of records that the index returns for one sentence.
const MAX_RECORDS_PER_SENTENCE: usize = 50;
/// Length in bytes of the beginning of a sentence that is searched for. Where it is found, the whole sentence is
/// compared.
const HEAD_BYTES: usize = 32;

/// Finds sentences in records. A sentence is first searched for by its beginning, so that the search needs little
/// memory for many long sentences.
struct SentenceSearch<'s> {
    sentences: Vec<&'s str>,
    beginnings: Needles,
}

impl<'s> SentenceSearch<'s> {
    fn new(sentences: &'s BTreeSet<String>) -> StoreResult<Self> {
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        let beginnings: Vec<&[u8]> =
            sentences.iter().map(|s| s.as_bytes().get(..HEAD_BYTES).unwrap_or(s.as_bytes())).collect();
        let beginnings = search_for(&beginnings)?;
        Ok(Self { sentences, beginnings })
    }

    /// True if a text of the record contains one of the sentences.
    fn is_in(&self, record: &Record) -> bool {
        normal_texts(record).any(|text| {
            self.beginnings.occurrences(text.as_bytes()).any(|(number, start)| {
                let rest = text.as_bytes().get(start..).unwrap_or_default();
                self.sentences.get(number).is_some_and(|sentence| rest.starts_with(sentence.as_bytes()))
            })
        })
    }
}

impl ErasureCheck<'_> {
    /// Number of records that contain one of the sentences now. `present_words` are those words of the evidence that the
    /// index still contains.
    pub(crate) fn copies_left(&self, evidence: &Evidence, present_words: &HashSet<String>) -> StoreResult<u32> {
        let sentences = phrases_to_search(evidence);
        if sentences.is_empty() {
            return Ok(0);
        }
        let search = SentenceSearch::new(&sentences)?;
        let find = |sentences: &[&str]| self.indexed_candidates(sentences, evidence, present_words);
        let candidates = in_halves(&search.sentences, find)?;
        let connection = self.store.new_reader()?;
        let mut places = places_of(&connection, candidates.into_iter().collect())?;
        places.extend(unindexed_places(&connection, evidence)?);
        drop(connection);
        let places: Vec<Place> = places.into_iter().collect();
        let rows = in_halves(&places, |places| self.copies_at(places, &search))?;
        Ok(rows.into_iter().collect::<BTreeSet<_>>().len() as u32)
    }

    /// Rows of records in which the index finds the words of one of the sentences. A sentence is skipped if the index
    /// no longer has one of its words.
    fn indexed_candidates(
        &self,
        sentences: &[&str],
        evidence: &Evidence,
        present_words: &HashSet<String>,
    ) -> StoreResult<Vec<i64>> {
        let mut rows = Vec::new();
        // Single characters are ignored. In scripts without spaces, the last character of a run is a separate token.
        // This token is missing if a record contains the run as a part of a longer run.
        let is_no_longer_indexed = |word: &String| {
            word.chars().nth(1).is_some() && evidence.words.contains(word) && !present_words.contains(word)
        };
        for sentence in sentences {
            if !mementory_search::tokens(sentence).iter().any(is_no_longer_indexed) {
                let found = self.with_index(|i| i.rows_with_phrase(sentence, MAX_RECORDS_PER_SENTENCE))?;
                rows.extend(found.into_iter().map(|row| row as i64));
            }
        }
        Ok(rows)
    }

    /// The rows of those records at `places` that contain one of the sentences. A record that cannot be read may
    /// contain one, so its row is returned too.
    fn copies_at(&self, places: &[Place], search: &SentenceSearch<'_>) -> StoreResult<Vec<i64>> {
        let connection = self.store.new_reader()?;
        let is_copy = |Place { pack, slot, .. }: &&Place| {
            self.store.packs.record(&connection, *pack, *slot).map_or(true, |record| search.is_in(&record))
        };
        Ok(places.iter().filter(is_copy).map(|place| place.row).collect())
    }
}

/// The pack and slot in which a version of a record is stored. Places are sorted by pack, so that each pack is unpacked
/// once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    pack: i64,
    slot: u32,
    row: i64,
}

/// Places of the current versions of these rows. Rows that no longer exist are left out.
fn places_of(connection: &Connection, rows: BTreeSet<i64>) -> StoreResult<BTreeSet<Place>> {
    let mut places = BTreeSet::new();
    let mut statement = connection.prepare("SELECT pack, slot FROM records WHERE row = ?1")?;
    for row in rows {
        let place = statement.query_row([row], |r| Ok(Place { pack: r.get(0)?, slot: r.get(1)?, row })).optional()?;
        places.extend(place);
    }
    Ok(places)
}

/// Places of the records in the Trash and of earlier versions, which are not in the index. Erased records are left out.
fn unindexed_places(connection: &Connection, evidence: &Evidence) -> StoreResult<BTreeSet<Place>> {
    let erased_row_set: HashSet<i64> = evidence.erased_rows.iter().copied().collect();
    let mut statement = connection.prepare(
        "SELECT pack, slot, row FROM records WHERE trashed IS NOT NULL UNION ALL SELECT pack, slot, row FROM versions",
    )?;
    let places = statement.query_map([], |r| Ok(Place { pack: r.get(0)?, slot: r.get(1)?, row: r.get(2)? }))?;
    let remaining_places =
        places.filter(|place| place.as_ref().map_or(true, |place| !erased_row_set.contains(&place.row)));
    Ok(remaining_places.collect::<Result<_, _>>()?)
}

/// The phrases to search for: the redacted words and, after an erasure, also each sentence of the erased texts, and the
/// short ones of these texts as a whole.
fn phrases_to_search(evidence: &Evidence) -> BTreeSet<String> {
    let mut out: BTreeSet<String> = evidence.sentences.iter().cloned().collect();
    if !evidence.erased_rows.is_empty() {
        let whole_texts =
            evidence.texts.iter().map(|text| normal_text(text)).filter(|text| text.len() <= MAX_WHOLE_TEXT_BYTES);
        let single_sentences = evidence.texts.iter().flat_map(|text| normal_sentences(text));
        out.extend(
            whole_texts.chain(single_sentences).filter(|text| text.len() >= MIN_TEXT_BYTES && word_count(text) > 1),
        );
    }
    out.retain(|sentence| !sentence.is_empty());
    out
}

/// The texts of a record in normal form. The deletion has its own function for this; both use `normal_text`.
fn normal_texts(record: &Record) -> impl Iterator<Item = String> {
    std::iter::once(normal_text(&record.text))
        .chain(record.title.as_deref().map(normal_text))
        .chain(record.fields.values().map(|value| normal_text(&value.to_string())))
        .chain(record.attachments.iter().filter_map(|file| file.text.as_deref()).map(normal_text))
}
