//! Other records that say the same: found by their words in the index, or read, where the index has nothing (the Trash,
//! former versions). All sentences of what was erased are looked for.
use crate::{
    ErasureCheck, Evidence,
    sentence::{contains_sentence, normal_texts},
};
use mementory_model::{normal_sentences, normal_text};
use mementory_search::Needles;
use mementory_store::{RowView, StoreError, StoreResult};
use std::collections::{BTreeSet, HashSet};

/// Shorter sentences and single words, in bytes of their normal form, are said by chance.
const LEAST: usize = 12;
/// Longer texts are looked for by their sentences only.
const WHOLE: usize = 400;
/// Records looked at for one of them.
const FOUND: usize = 50;
/// Bytes of a sentence that are looked for before the whole is compared.
const HEAD: usize = 32;

impl ErasureCheck<'_> {
    /// How many records say one of the sentences now. `present`: the words of the evidence that the index still has.
    pub(crate) fn copies_left(&self, evidence: &Evidence, present: &HashSet<String>) -> StoreResult<u32> {
        let sentences = sentences(evidence);
        let mut rows = self.copies_in_index(&sentences, evidence, present)?;
        self.copies_outside_index(&sentences, evidence, &mut rows)?;
        Ok(rows.len() as u32)
    }

    /// A sentence with a word that the index does not have any more is in none of its records.
    fn copies_in_index(
        &self,
        sentences: &BTreeSet<String>,
        evidence: &Evidence,
        present: &HashSet<String>,
    ) -> StoreResult<BTreeSet<i64>> {
        let connection = self.store.extra_reader()?;
        let mut rows = BTreeSet::new();
        let gone = |word: &String| evidence.words.contains(word) && !present.contains(word);
        for sentence in sentences {
            if mementory_search::tokens(sentence).iter().any(gone) {
                continue;
            }
            for row in self.with_index(|i| i.rows_with_phrase(sentence, FOUND))? {
                let row = row as i64;
                if !rows.contains(&row)
                    && let Some(view) = RowView::by_row(&connection, row)?
                    // One that cannot be read may say it.
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
        let heads: Vec<&[u8]> = all.iter().map(|s| s.as_bytes().get(..HEAD).unwrap_or(s.as_bytes())).collect();
        let search = Needles::new(&heads).map_err(|e| StoreError::Usage(e.to_string()))?;
        let says = |text: &str| {
            search.each(text.as_bytes()).any(|(number, start)| {
                let rest = text.as_bytes().get(start..).unwrap_or_default();
                all.get(number).is_some_and(|sentence| rest.starts_with(sentence.as_bytes()))
            })
        };
        let connection = self.store.extra_reader()?;
        let sql = "SELECT row, pack, slot FROM records WHERE trashed IS NOT NULL \
                   UNION ALL SELECT row, pack, slot FROM versions ORDER BY pack, slot";
        let mut statement = connection.prepare(sql)?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let (row, pack, slot): (i64, i64, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
            // The history of a record that was redacted is cleaned by the redaction itself, and its index too.
            if rows.contains(&row) || evidence.gone_rows.contains(&row) {
                continue;
            }
            // One that cannot be read may say it.
            let record = self.store.packs.record(&connection, pack, slot);
            if record.map_or(true, |record| normal_texts(&record).any(|text| says(&text))) {
                rows.insert(row);
            }
        }
        Ok(())
    }
}

/// Every sentence of the erased texts, and the redacted words.
fn sentences(evidence: &Evidence) -> BTreeSet<String> {
    let mut out: BTreeSet<String> = evidence.sentences.iter().cloned().collect();
    if !evidence.gone_rows.is_empty() {
        let whole = evidence.texts.iter().map(|text| normal_text(text)).filter(|text| text.len() <= WHOLE);
        let each = evidence.texts.iter().flat_map(|text| normal_sentences(text));
        out.extend(whole.chain(each).filter(|text| text.len() >= LEAST && text.contains(' ')));
    }
    out.retain(|sentence| !sentence.is_empty());
    out
}
