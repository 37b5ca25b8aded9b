//! Counts other records that contain a sentence of an erased text. The index finds current records. Records in the
//! Trash and earlier versions, which are not in the index, are read one by one.
use crate::{
    ErasureCheck, Evidence,
    sentence::{contains_sentence, normal_texts},
};
use mementory_model::{normal_sentences, normal_text, word_count};
use mementory_search::Needles;
use mementory_store::{RowView, StoreError, StoreResult};
use std::collections::{BTreeSet, HashSet};

/// Shortest text, in bytes of its normal form, that is searched for. Shorter texts and single words occur by chance.
const MIN_TEXT_BYTES: usize = 12;
/// Largest text, in bytes of its normal form, that is also searched for as a whole. For a longer text, only its
/// sentences are searched for.
const MAX_WHOLE_TEXT_BYTES: usize = 400;
/// Upper limit for the records that are compared for one sentence.
const MAX_RECORDS_PER_SENTENCE: usize = 50;
/// Length in bytes of the beginning of a sentence that is searched for. Where it is found, the whole sentence is
/// compared.
const HEAD_BYTES: usize = 32;

impl ErasureCheck<'_> {
    /// Number of records that contain one of the sentences now. `present` holds those words of the evidence that the
    /// index still contains.
    pub(crate) fn copies_left(&self, evidence: &Evidence, present: &HashSet<String>) -> StoreResult<u32> {
        let sentences = sentences(evidence);
        let mut rows = self.copies_in_index(&sentences, evidence, present)?;
        self.copies_outside_index(&sentences, evidence, &mut rows)?;
        Ok(rows.len() as u32)
    }

    /// Rows of indexed records that contain one of the sentences. A sentence is skipped if the index no longer has
    /// one of its words.
    fn copies_in_index(
        &self,
        sentences: &BTreeSet<String>,
        evidence: &Evidence,
        present: &HashSet<String>,
    ) -> StoreResult<BTreeSet<i64>> {
        let connection = self.store.new_reader()?;
        let mut rows = BTreeSet::new();
        // Single characters are ignored: in scripts without spaces, the last one of a run is a token that longer runs
        // do not have.
        let is_no_longer_indexed =
            |word: &String| word.chars().nth(1).is_some() && evidence.words.contains(word) && !present.contains(word);
        for sentence in sentences {
            if mementory_search::tokens(sentence).iter().any(is_no_longer_indexed) {
                continue;
            }
            for row in self.with_index(|i| i.rows_with_phrase(sentence, MAX_RECORDS_PER_SENTENCE))? {
                let row = row as i64;
                if !rows.contains(&row)
                    && let Some(view) = RowView::by_row(&connection, row)?
                    // A record that cannot be read may contain the sentence, so it counts.
                    && self
                        .store
                        .packs
                        .record(&connection, view.pack, view.slot)
                        .map_or(true, |record| contains_sentence(&record, sentence))
                {
                    rows.insert(row);
                }
            }
        }
        Ok(rows)
    }

    fn copies_outside_index(
        &self,
        sentences: &BTreeSet<String>,
        evidence: &Evidence,
        rows: &mut BTreeSet<i64>,
    ) -> StoreResult<()> {
        if sentences.is_empty() {
            return Ok(());
        }
        let all: Vec<&str> = sentences.iter().map(String::as_str).collect();
        let heads: Vec<&[u8]> = all.iter().map(|s| s.as_bytes().get(..HEAD_BYTES).unwrap_or(s.as_bytes())).collect();
        let search = Needles::new(&heads).map_err(|e| StoreError::Usage(e.to_string()))?;
        let contains_any = |text: &str| {
            search.occurrences(text.as_bytes()).any(|(number, start)| {
                let rest = text.as_bytes().get(start..).unwrap_or_default();
                all.get(number).is_some_and(|sentence| rest.starts_with(sentence.as_bytes()))
            })
        };
        let connection = self.store.new_reader()?;
        let sql = "SELECT row, pack, slot FROM records WHERE trashed IS NOT NULL \
                   UNION ALL SELECT row, pack, slot FROM versions ORDER BY pack, slot";
        let mut statement = connection.prepare(sql)?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let (row, pack, slot): (i64, i64, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
            // Rows that are already counted, and those of erased records, are skipped.
            if rows.contains(&row) || evidence.erased_rows.contains(&row) {
                continue;
            }
            // A record that cannot be read may contain the sentence, so it counts.
            let record = self.store.packs.record(&connection, pack, slot);
            if record.map_or(true, |record| normal_texts(&record).any(|text| contains_any(&text))) {
                rows.insert(row);
            }
        }
        Ok(())
    }
}

/// The sentences to search for. They are the redacted words and, after an erasure, also the sentences of the erased
/// texts and each erased text as a whole if it is short.
fn sentences(evidence: &Evidence) -> BTreeSet<String> {
    let mut out: BTreeSet<String> = evidence.sentences.iter().cloned().collect();
    if !evidence.erased_rows.is_empty() {
        let whole =
            evidence.texts.iter().map(|text| normal_text(text)).filter(|text| text.len() <= MAX_WHOLE_TEXT_BYTES);
        let each = evidence.texts.iter().flat_map(|text| normal_sentences(text));
        out.extend(whole.chain(each).filter(|text| text.len() >= MIN_TEXT_BYTES && word_count(text) > 1));
    }
    out.retain(|sentence| !sentence.is_empty());
    out
}
