//! Full-text search. It returns ranked hits, or rows of a list. Rows are found fast enough to search while the person
//! types.
#[cfg(test)]
mod tests;

use super::{context::Context, filter, view::RowViews};
use crate::{ApiResult, types::*};
use mementory_model::{Kind, Record, Timestamp};
use mementory_vault::{IndexFilter, ListQuery, RowView, SearchOutcome, SearchPage, in_halves, snippet};
use std::{collections::HashMap, sync::Arc};

/// Largest number of conversations that are listed first because their titles match. Further conversations are listed
/// only if their messages match.
const MAX_TITLE_HITS: u32 = 8;

/// Largest number of characters in a search snippet.
const MAX_SNIPPET_CHARS: usize = 240;
/// Largest number of hits that the store filters if the index itself cannot apply a filter.
pub(super) const MAX_FILTERED_HITS: usize = 10_000;

/// The rows found so far, and the position of each record in them.
#[derive(Default)]
struct Rows {
    rows: Vec<FoundRow>,
    positions: HashMap<i64, usize>,
}

/// Full-text search in the vault.
#[derive(Clone, Copy)]
pub struct Search<'s> {
    context: &'s Context,
}

impl<'s> Search<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Search<'_> {
    /// Returns one page of search results, best first. In a list of conversations, those with a matching title come
    /// first, then those with matching messages. Each conversation is listed once, at its first hit. `limit` and
    /// `offset` count hits, so a page may have fewer rows, and a conversation may appear again on a later page.
    ///
    /// # Errors
    /// `usage` for an unknown kind or export status, or a malformed time.
    pub fn rows(&self, request: &SearchRequest) -> ApiResult<Found> {
        let mut found = Rows::default();
        let offset = request.offset.unwrap_or(0);
        let hits = if request.filter.kind.as_deref() == Some(Kind::Conversation.as_str()) {
            let filter = Filter { kind: Some(Kind::Message.as_str().into()), ..request.filter.clone() };
            let messages = SearchRequest { filter, ..request.clone() };
            if offset == 0 {
                let titles = SearchRequest { limit: Some(MAX_TITLE_HITS), ..request.clone() };
                let [titles, hits] = self.search_index_twice([&titles, &messages])?;
                self.add_rows(&titles, request, &mut found)?;
                hits
            } else {
                self.search_index(&messages)?
            }
        } else {
            self.search_index(request)?
        };
        self.add_rows(&hits, request, &mut found)?;
        let next = offset.saturating_add(hits.hits.len() as u32);
        let at_end = hits.hits.is_empty();
        Ok(Found {
            rows: found.rows,
            total: if at_end { hits.total.min(offset) } else { hits.total },
            next_offset: (!at_end && next < hits.total).then_some(next),
        })
    }

    /// Suggests a spelling for a query without hits: the query with similar words that occur in the vault. None unless
    /// the suggested query has hits with the same filter.
    ///
    /// # Errors
    /// As for [`rows`](Self::rows).
    pub fn suggest_query(&self, request: &SearchRequest) -> ApiResult<Option<String>> {
        let Some(query) = self.context.vault.search().spell_suggest(&request.query)? else { return Ok(None) };
        let suggested = SearchRequest { query, limit: Some(1), offset: None, ..request.clone() };
        Ok((!self.rows(&suggested)?.rows.is_empty()).then_some(suggested.query))
    }

    /// Reads the search index into memory (at most 160 MiB), so that the first search is as fast as later ones. Useful
    /// only for callers that search several times.
    pub fn warm(&self) -> ApiResult<()> {
        Ok(self.context.vault.search().warm_search()?)
    }

    /// Returns ranked hits of a full-text search.
    pub fn hits(&self, request: &SearchRequest) -> ApiResult<SearchResult> {
        let started = std::time::Instant::now();
        let outcome = self.search_index(request)?;
        let took_ms = started.elapsed().as_secs_f64() * 1000.0;
        let hits = self.hits_of(&outcome)?.into_iter().map(|(_, hit)| hit).collect();
        Ok(SearchResult { query: request.query.clone(), total: outcome.total, took_ms, hits })
    }

    /// Converts the hits of a search, each with the row number of its record.
    pub(super) fn hits_of(&self, outcome: &SearchOutcome) -> ApiResult<Vec<(u64, Hit)>> {
        let mut hits = Vec::with_capacity(outcome.hits.len());
        for (view, record, score) in self.context.vault.search().hits(&outcome.hits)? {
            let (text, ranges) = snippet(&searchable_text(&record), &outcome.terms, MAX_SNIPPET_CHARS);
            let conversation = view.owner.map(|o| self.context.vault.reader().view_by_row(o)).transpose()?.flatten();
            let hit = Hit {
                id: view.id_text(),
                origin_id: record.origin_id,
                kind: view.kind.as_str().into(),
                record_type: record.record_type,
                conversation_id: conversation.as_ref().map(RowView::id_text),
                title: record.title.or_else(|| conversation.and_then(|c| c.title)),
                snippet: text,
                highlights: ranges,
                score: f64::from(score),
                created_at: record.times.created.map(Timestamp::to_rfc3339),
                source: view.source,
            };
            hits.push((view.row as u64, hit));
        }
        Ok(hits)
    }

    /// Searches the index and returns the row numbers of the hits, best first.
    pub(super) fn search_index(&self, request: &SearchRequest) -> ApiResult<SearchOutcome> {
        let (filter, (limit, offset)) = (filter_of(request)?, page_of(request));
        if filter::needs_store_filter(&request.filter) {
            let mut outcome = self.search_with_store_filter(&request.query, &request.filter, &filter)?;
            outcome.hits = outcome.hits.into_iter().skip(offset).take(limit).collect();
            return Ok(outcome);
        }
        Ok(self.context.vault.search().search(&request.query, &filter, limit, offset)?)
    }

    /// Searches for two requests that have the same query, in one pass over the index.
    fn search_index_twice(&self, requests: [&SearchRequest; 2]) -> ApiResult<[SearchOutcome; 2]> {
        let [first, second] = requests;
        if !filter::needs_store_filter(&first.filter) && !filter::needs_store_filter(&second.filter) {
            let filters = [filter_of(first)?, filter_of(second)?];
            let pages = [(first, &filters[0]), (second, &filters[1])].map(|(request, filter)| {
                let (limit, offset) = page_of(request);
                SearchPage { filter, limit, offset }
            });
            if let Ok(both) = self.context.vault.search().search_pages(&first.query, &pages)?.try_into() {
                return Ok(both);
            }
        }
        Ok([self.search_index(first)?, self.search_index(second)?])
    }

    /// Searches with filters that only the store can check (export status, kind of file, batch, and the subject and
    /// special category of memories). Returns the hits of the index that pass these filters, at most the best
    /// [`MAX_FILTERED_HITS`].
    pub(super) fn search_with_store_filter(
        &self,
        words: &str,
        filter: &Filter,
        index: &IndexFilter,
    ) -> ApiResult<SearchOutcome> {
        // Only the index compares times, because the store uses a different date for conversations.
        let mut query = ListQuery { since: None, until: None, ..filter::query(&self.context.vault, filter)? };
        let mut outcome = self.context.vault.search().search(words, index, MAX_FILTERED_HITS, 0)?;
        if outcome.total as usize > outcome.hits.len() {
            // The store's filter may exclude all of the best hits, so the search is repeated over only the rows that
            // pass the filter.
            let rows = Some(Arc::new(self.context.vault.queries().rows(&query)?));
            return Ok(self.context.vault.search().search(
                words,
                &IndexFilter { rows, ..index.clone() },
                MAX_FILTERED_HITS,
                0,
            )?);
        }
        query.rows = Some(outcome.hits.iter().map(|(row, _)| *row as i64).collect());
        let matching_rows = self.context.vault.queries().rows(&query)?;
        outcome.hits.retain(|(row, _)| matching_rows.contains(&(*row as i64)));
        outcome.total = u32::try_from(outcome.hits.len()).unwrap_or(u32::MAX);
        Ok(outcome)
    }

    fn add_rows(&self, outcome: &SearchOutcome, request: &SearchRequest, found: &mut Rows) -> ApiResult<()> {
        let is_shown = |view: &RowView| view.trashed.is_some() == request.filter.trash;
        let hits = self.context.vault.search().hits(&outcome.hits)?;
        let mut owners: Vec<i64> =
            hits.iter().filter(|(view, ..)| view.kind == Kind::Message).filter_map(|(view, ..)| view.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.retain(|owner| !found.positions.contains_key(owner));
        let mut owners: HashMap<i64, ListItem> =
            in_halves(&owners, |owners| self.conversations(owners, &is_shown))?.into_iter().collect();
        for (view, record, _) in hits {
            match view.kind {
                Kind::Message => {
                    let Some(owner) = view.owner else { continue };
                    let position = match (found.positions.get(&owner), owners.remove(&owner)) {
                        (Some(position), _) => *position,
                        (None, Some(item)) => found.push(owner, item),
                        (None, None) => continue,
                    };
                    let row = &mut found.rows[position];
                    if row.message.is_none() {
                        row.message = Some(view.id_text());
                        row.set_snippet(&record, outcome);
                    }
                }
                kind if is_shown(&view) && !found.positions.contains_key(&view.row) => {
                    let position = found.push(view.row, RowViews::new(&self.context.vault).item_of(&view, &record)?);
                    // The row of a conversation shows its title, so a conversation that was found by its title needs no
                    // snippet.
                    if kind != Kind::Conversation {
                        found.rows[position].set_snippet(&record, outcome);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes list items of the conversations in these rows for which `is_shown` returns true.
    fn conversations(&self, rows: &[i64], is_shown: &impl Fn(&RowView) -> bool) -> ApiResult<Vec<(i64, ListItem)>> {
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(view) = self.context.vault.reader().view_by_row(*row)?.filter(is_shown) {
                let record = self.context.vault.reader().content(&view)?;
                out.push((*row, RowViews::new(&self.context.vault).item_of(&view, &record)?));
            }
        }
        Ok(out)
    }
}

impl Rows {
    fn push(&mut self, row: i64, item: ListItem) -> usize {
        self.rows.push(FoundRow { item, snippet: None, highlights: Vec::new(), message: None });
        let position = self.rows.len() - 1;
        self.positions.insert(row, position);
        position
    }
}

impl FoundRow {
    fn set_snippet(&mut self, record: &Record, outcome: &SearchOutcome) {
        let (text, ranges) = snippet(&searchable_text(record), &outcome.terms, MAX_SNIPPET_CHARS);
        (self.snippet, self.highlights) = (Some(text), ranges);
    }
}

fn filter_of(request: &SearchRequest) -> ApiResult<IndexFilter> {
    Ok(IndexFilter { typing: request.typing, ..filter::index_filter(&request.filter)? })
}

/// Limit and offset of the requested page.
pub(super) fn page_of(request: &SearchRequest) -> (usize, usize) {
    (request.limit.unwrap_or(20).clamp(1, 1000) as usize, request.offset.unwrap_or(0) as usize)
}

pub(super) fn searchable_text(record: &mementory_model::Record) -> String {
    let mut out = record.text.clone();
    if let Some(blocks) = record.fields.get("blocks").and_then(|b| b.as_array()) {
        for text in blocks.iter().filter_map(|b| b.get("text")?.as_str()) {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            out.push_str(text);
        }
    }
    for text in record.attachments.iter().filter_map(|a| a.text.as_deref()) {
        out.push_str("\n\n");
        out.push_str(text);
    }
    if out.trim().is_empty() {
        out = record.title.clone().unwrap_or_default();
    }
    out
}
