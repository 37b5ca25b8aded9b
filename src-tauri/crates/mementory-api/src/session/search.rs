//! Search within a list: hits and their list rows in one answer, fast enough for search while typing.
use super::{
    Session,
    records::{SNIPPET, searchable},
};
use crate::{ApiResult, types::*};
use mementory_model::{Kind, Record};
use mementory_vault::{RowView, SearchOutcome, in_halves, snippet};
use std::collections::HashMap;

/// At most this many conversations whose title matches come first; the others follow by their messages.
const MAX_TITLE_HITS: u32 = 8;

/// Rows found so far, and the position of each record among them.
#[derive(Default)]
struct Rows {
    rows: Vec<FoundRow>,
    positions: HashMap<i64, usize>,
}

impl Session {
    /// One page of a searched list, best first. For conversations, those whose title matches come first, then those with
    /// matching messages; a conversation that is found several times is listed at its first hit. `limit` and `offset` count
    /// hits: a page may hold fewer rows, and a conversation may be on a later page again.
    ///
    /// # Errors
    /// `usage` for an unknown kind or export status, or a malformed time.
    pub fn find(&self, request: &SearchRequest) -> ApiResult<Found> {
        let mut found = Rows::default();
        let offset = request.offset.unwrap_or(0);
        let hits = if request.filter.kind.as_deref() == Some(Kind::Conversation.as_str()) {
            let filter = Filter { kind: Some(Kind::Message.as_str().into()), ..request.filter.clone() };
            let messages = SearchRequest { filter, ..request.clone() };
            if offset == 0 {
                let titles = SearchRequest { limit: Some(MAX_TITLE_HITS), ..request.clone() };
                let [titles, hits] = self.outcomes([&titles, &messages])?;
                self.add_rows(&titles, request, &mut found)?;
                hits
            } else {
                self.outcome(&messages)?
            }
        } else {
            self.outcome(request)?
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

    /// A spelling suggestion for a query that found nothing: the query with similar words that exist in the vault. None unless
    /// the suggestion finds something with the same filter.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn suggest_query(&self, request: &SearchRequest) -> ApiResult<Option<String>> {
        let Some(query) = self.vault.search().spell_suggest(&request.query)? else { return Ok(None) };
        let suggested = SearchRequest { query, limit: Some(1), offset: None, ..request.clone() };
        Ok((!self.find(&suggested)?.rows.is_empty()).then_some(suggested.query))
    }

    fn add_rows(&self, outcome: &SearchOutcome, request: &SearchRequest, found: &mut Rows) -> ApiResult<()> {
        let shown = |view: &RowView| view.trashed.is_some() == request.filter.trash;
        let hits = self.vault.search().hits(&outcome.hits)?;
        let mut owners: Vec<i64> =
            hits.iter().filter(|(view, ..)| view.kind == Kind::Message).filter_map(|(view, ..)| view.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.retain(|owner| !found.positions.contains_key(owner));
        let mut owners: HashMap<i64, ListItem> =
            in_halves(&owners, |owners| self.conversations(owners, &shown))?.into_iter().collect();
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
                kind if shown(&view) && !found.positions.contains_key(&view.row) => {
                    let position = found.push(view.row, self.item_of(&view, &record)?);
                    // The row shows the title anyway.
                    if kind != Kind::Conversation {
                        found.rows[position].set_snippet(&record, outcome);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// List items of the conversations in these rows that pass `shown`.
    fn conversations(&self, rows: &[i64], shown: &impl Fn(&RowView) -> bool) -> ApiResult<Vec<(i64, ListItem)>> {
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(view) = self.vault.reader().view_by_row(*row)?.filter(shown) {
                let record = self.vault.reader().content(&view)?;
                out.push((*row, self.item_of(&view, &record)?));
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
        let (text, ranges) = snippet(&searchable(record), &outcome.terms, SNIPPET);
        (self.snippet, self.highlights) = (Some(text), ranges);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{CreateOptions, Job};
    use std::path::Path;

    fn filled() -> (tempfile::TempDir, Session) {
        let folder = tempfile::tempdir().unwrap();
        let options = CreateOptions { kdf_floor: true };
        let words = "harbour copper nineteen kite lantern";
        let (session, _) = Session::create(&folder.path().join("v"), words, options).unwrap();
        let samples = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/samples");
        for name in ["chatgpt-export.zip", "claude-export.zip"] {
            let paths = vec![samples.join(name).display().to_string()];
            session.import(&ImportRequest { paths, ..ImportRequest::default() }, false, &Job::silent()).unwrap();
        }
        (folder, session)
    }

    fn ask(kind: &str, query: &str) -> SearchRequest {
        SearchRequest {
            query: query.into(),
            filter: Filter { kind: Some(kind.into()), ..Filter::default() },
            typing: true,
            limit: Some(1000),
            offset: None,
        }
    }

    /// Every word of the conversations, messages and memories.
    fn words(session: &Session) -> Vec<String> {
        let mut out = std::collections::BTreeSet::new();
        for kind in ["conversation", "message", "memory"] {
            let filter = ask(kind, "").filter;
            let page = session.list(&ListRequest { filter, limit: Some(1000), ..ListRequest::default() }).unwrap();
            for item in page.items {
                let text = format!("{} {}", item.title.unwrap_or_default(), item.text);
                out.extend(text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 3).map(str::to_owned));
            }
        }
        out.into_iter().collect()
    }

    #[test]
    fn steps_of_a_message_are_listed_beside_its_text() {
        let (_folder, session) = filled();
        let filter = ask("conversation", "").filter;
        let page = session.list(&ListRequest { filter, limit: Some(1000), ..ListRequest::default() }).unwrap();
        let messages: Vec<ThreadMessage> =
            page.items.iter().flat_map(|item| session.thread(&item.id).unwrap().messages).collect();
        let spoken = messages.iter().find(|message| message.text == "Here is the leaflet.").unwrap();
        let kinds: Vec<&str> = spoken.steps.iter().map(|step| step.content_type.as_str()).collect();
        assert_eq!(kinds, ["thinking", "tool_call", "tool_result"]);
        assert_eq!(spoken.steps[0].text, "They want kindness.");
        let silent = messages.iter().find(|message| message.text.contains("plain string result")).unwrap();
        assert!(silent.steps.is_empty(), "blocks that are already the text are not repeated");
    }

    #[test]
    fn found_rows_match_search_hits_and_list_items() {
        let (_folder, session) = filled();
        let (mut title_hits, mut message_hits, mut memory_hits) = (0, 0, 0);
        for word in words(&session) {
            let titles =
                session.search(&SearchRequest { limit: Some(MAX_TITLE_HITS), ..ask("conversation", &word) }).unwrap();
            let messages = session.search(&ask("message", &word)).unwrap();
            let mut ids: Vec<String> = titles.hits.iter().map(|hit| hit.id.clone()).collect();
            ids.extend(messages.hits.iter().filter_map(|hit| hit.conversation_id.clone()));
            let mut seen = std::collections::HashSet::new();
            ids.retain(|id| seen.insert(id.clone()));
            let found = session.find(&ask("conversation", &word)).unwrap();
            assert_eq!(found.rows.iter().map(|row| row.item.id.clone()).collect::<Vec<_>>(), ids, "{word}");
            assert_eq!((found.total, found.next_offset), (messages.total, None), "{word}");
            for row in &found.rows {
                let hit = messages.hits.iter().find(|hit| hit.conversation_id.as_ref() == Some(&row.item.id));
                assert_eq!(row.message.as_ref(), hit.map(|hit| &hit.id), "the best message: {word}");
                assert_eq!(row.snippet.as_ref(), hit.map(|hit| &hit.snippet), "{word}");
            }
            title_hits += titles.hits.len();
            message_hits += messages.hits.len();

            let memories = session.search(&ask("memory", &word)).unwrap().hits;
            let rows = session.find(&ask("memory", &word)).unwrap().rows;
            let summary = |row: &FoundRow| (row.item.id.clone(), row.snippet.clone(), row.highlights.clone());
            assert_eq!(
                rows.iter().map(summary).collect::<Vec<_>>(),
                memories
                    .iter()
                    .map(|h| (h.id.clone(), Some(h.snippet.clone()), h.highlights.clone()))
                    .collect::<Vec<_>>()
            );
            memory_hits += rows.len();
        }
        assert!(title_hits > 0 && message_hits > 20 && memory_hits > 0, "{title_hits} {message_hits} {memory_hits}");
    }

    #[test]
    fn pages_follow_one_another_to_the_end() {
        let (_folder, session) = filled();
        let whole = session.find(&ask("message", "the")).unwrap();
        let mut rows = Vec::new();
        let mut offset = Some(0);
        while let Some(at) = offset {
            let page =
                session.find(&SearchRequest { limit: Some(2), offset: Some(at), ..ask("message", "the") }).unwrap();
            assert_eq!(page.total, whole.total);
            rows.extend(page.rows);
            offset = page.next_offset;
        }
        assert!(whole.total > 2, "{}", whole.total);
        let ids: std::collections::HashSet<_> = rows.iter().map(|row| &row.item.id).collect();
        assert_eq!(ids, whole.rows.iter().map(|row| &row.item.id).collect());
        let beyond = SearchRequest { offset: Some(whole.total + 5), ..ask("message", "the") };
        assert_eq!(session.find(&beyond).unwrap().next_offset, None);
    }

    #[test]
    fn a_misspelt_word_leads_to_a_suggestion() {
        let (_folder, session) = filled();
        let suggest = |kind, query| session.suggest_query(&ask(kind, query)).unwrap();
        assert_eq!(suggest("message", "grenhouse sensor").as_deref(), Some("greenhouse sensor"));
        assert_eq!(suggest("message", "humdiity").as_deref(), Some("humidity"), "two letters in the wrong order");
        assert_eq!(suggest("message", "humidity"), None, "the word exists");
        assert_eq!(suggest("message", "grenhouse xylophonist"), None, "no similar word exists");
        assert_eq!(suggest("memory", "humdiity"), None, "no memory contains it");
    }

    #[test]
    fn records_of_one_import_are_listed_counted_and_searched_by_its_batch() {
        let (_folder, session) = filled();
        let batches = session.imports().unwrap().batches;
        let total = |filter: Filter| session.list(&ListRequest { filter, ..ListRequest::default() }).unwrap().total;
        let of = |batch: &[&BatchInfo]| Some(batch.iter().map(|b| b.batch.clone()).collect::<Vec<_>>());
        for batch in &batches {
            let report = session.import_report(&batch.batch).unwrap();
            for (kind, counts) in &report.by_kind {
                let filter = Filter { kind: Some(kind.clone()), batch: of(&[batch]), ..Filter::default() };
                if kind != "other" {
                    assert_eq!(total(filter), counts.added, "{kind}");
                }
            }
            let filter = Filter { batch: of(&[batch]), kind: Some("message".into()), ..Filter::default() };
            let facets = session.facets(&filter, None, false).unwrap();
            assert_eq!(facets.sources.keys().collect::<Vec<_>>(), [batch.format.as_ref().unwrap()]);
            let found = session.find(&SearchRequest { filter, ..ask("message", "the") }).unwrap();
            assert!(found.rows.iter().all(|row| Some(&row.item.source) == batch.format.as_ref()));
        }
        let both: Vec<&BatchInfo> = batches.iter().collect();
        assert_eq!(total(Filter { batch: of(&both), ..Filter::default() }), total(Filter::default()));
        let unknown = Filter { batch: Some(vec!["none".into()]), ..Filter::default() };
        let refused = session.list(&ListRequest { filter: unknown, ..ListRequest::default() });
        assert_eq!(refused.unwrap_err().code, "not_found");
    }

    #[test]
    fn counts_by_type_add_up_and_match_their_lists() {
        let (_folder, session) = filled();
        let memory = || Filter { kind: Some("memory".into()), ..Filter::default() };
        let total = |filter: Filter| session.list(&ListRequest { filter, ..ListRequest::default() }).unwrap().total;
        session.add(&AddRequest { text: "Likes lanterns".into(), ..AddRequest::default() }).unwrap();
        let types = session.facets(&memory(), None, false).unwrap().types;
        assert!(types.get("").is_some_and(|n| *n > 0) && types.len() > 1, "some have a type, others none: {types:?}");
        assert_eq!(types.values().sum::<u32>(), total(memory()));
        for (record_type, n) in types {
            let of_type = Filter { record_type: Some(record_type.clone()), ..memory() };
            assert_eq!(total(of_type.clone()), n, "{record_type}");
            let found =
                session.find(&SearchRequest { filter: of_type, limit: Some(200), ..ask("memory", "") }).unwrap();
            assert_eq!(found.total, n, "{record_type}, searched");
        }
    }

    #[test]
    fn records_in_the_trash_are_not_found() {
        let (_folder, session) = filled();
        let found = session.find(&ask("conversation", "sensor")).unwrap();
        let id = found.rows[0].item.id.clone();
        session.delete(std::slice::from_ref(&id)).unwrap();
        let left = session.find(&ask("conversation", "sensor")).unwrap();
        assert!(left.rows.iter().all(|row| row.item.id != id));
        assert!(left.rows.len() < found.rows.len());
    }
}
