//! Searches the records that a grant makes visible.
//!
//! The index ranks by the words of all records. If it were given a word that the client cannot read, the hits for the
//! other words of the query, or their order, could reveal whether some record contains that word. So only words that
//! the client can read in a visible record are searched for.
use crate::{
    VaultResult,
    agents::{GrantedRecord, GrantedView},
};
use mementory_search::{IndexFilter, query_words, snippet};
use mementory_store::RowView;
use std::{collections::HashMap, ops::ControlFlow};

/// Number of index hits that are read in one step.
const HITS_PER_STEP: usize = 200;
/// Maximum number of steps in one search. After these steps the search ends, even if the index has more hits.
const MAX_STEPS: usize = 10;
/// Maximum number of visible records that are read to find one word of a query. If the word is masked in all of them,
/// the client cannot read it.
const MAX_RECORDS_PER_WORD: usize = 50;
/// Length of the text that a search returns for each hit, in characters.
const SNIPPET_CHARS: usize = 300;

impl GrantedView<'_> {
    /// Returns the visible records for a query, best first, each with the part of its text that contains the words of
    /// the query. Records with masked values come last, ordered by id. Operators in the query are treated as plain
    /// words, and words that the client can read in no visible record are ignored. A query without any word finds the
    /// newest records.
    ///
    /// A record with masked values is found only if its text contains a word of the query after masking. Otherwise a
    /// client could find out a masked value by searching for it.
    ///
    /// # Errors
    /// Errors of the store or the index.
    pub fn search(&mut self, query: &str, limit: u32) -> VaultResult<Vec<(GrantedRecord, String)>> {
        let (filter, limit) = (self.scope.index_filter(), limit as usize);
        if filter.kinds.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let words = query_words(query);
        let mut readable_words = Vec::new();
        for word in &words {
            if self.is_readable(word, &filter)? {
                readable_words.push(word.as_str());
            }
        }
        if readable_words.is_empty() && !words.is_empty() {
            return Ok(Vec::new());
        }
        let (mut found, mut with_masked) = (Vec::new(), Vec::new());
        self.for_each_hit(&readable_words.join(" "), &filter, |record, terms| {
            let (text, ranges) = snippet(searched_text(&record), terms, SNIPPET_CHARS);
            if !record.covered {
                found.push((record, text));
            } else if !ranges.is_empty() {
                with_masked.push((record, text));
            }
            match found.len() + with_masked.len() < limit {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        // The rank of a record with masked values would reveal whether a masked value matched. So these records come
        // last, ordered by id.
        with_masked.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        found.append(&mut with_masked);
        Ok(found)
    }

    /// True if the word occurs in the masked text or title of at least one visible record.
    fn is_readable(&mut self, word: &str, filter: &IndexFilter) -> VaultResult<bool> {
        let (mut is_readable, mut records) = (false, 0);
        self.for_each_hit(word, filter, |record, terms| {
            let contains_word = |text: &str| !snippet(text, terms, SNIPPET_CHARS).1.is_empty();
            is_readable = contains_word(&record.text) || record.title.as_deref().is_some_and(contains_word);
            records += 1;
            match is_readable || records >= MAX_RECORDS_PER_WORD {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(is_readable)
    }

    /// Calls `visit` with the visible records that the index finds, best first, and with the words that the index
    /// searched for. Ends when `visit` breaks.
    fn for_each_hit(
        &mut self,
        query: &str,
        filter: &IndexFilter,
        mut visit: impl FnMut(GrantedRecord, &[String]) -> ControlFlow<()>,
    ) -> VaultResult<()> {
        for step in 0..MAX_STEPS {
            let outcome = self.context.with_index(|i| i.search(query, filter, HITS_PER_STEP, step * HITS_PER_STEP))?;
            let rows: Vec<String> = outcome.hits.iter().map(|(row, _)| row.to_string()).collect();
            if rows.is_empty() {
                break;
            }
            let visible = self.select(&format!("r.row IN ({})", rows.join(",")), Vec::new(), "")?;
            let mut visible: HashMap<i64, RowView> = visible.into_iter().map(|view| (view.row, view)).collect();
            for (row, _) in &outcome.hits {
                let Some(view) = visible.remove(&row.cast_signed()) else { continue };
                let record = self.granted_record(&view)?;
                if visit(record, &outcome.terms).is_break() {
                    return Ok(());
                }
            }
            if outcome.hits.len() < HITS_PER_STEP {
                break;
            }
        }
        Ok(())
    }
}

fn searched_text(record: &GrantedRecord) -> &str {
    match record.text.trim().is_empty() {
        true => record.title.as_deref().unwrap_or_default(),
        false => &record.text,
    }
}
