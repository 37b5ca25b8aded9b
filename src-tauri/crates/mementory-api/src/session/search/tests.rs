#![allow(clippy::unwrap_used)]
use super::*;
use crate::{CreateOptions, Job, Session};
use std::path::Path;

fn sample_vault() -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let options = CreateOptions { kdf_floor: true };
    let passphrase = "harbour copper nineteen kite lantern";
    let (session, _) = Session::create(&folder.path().join("v"), passphrase, options).unwrap();
    let samples = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/samples");
    for name in ["chatgpt-export.zip", "claude-export.zip"] {
        let paths = vec![samples.join(name).display().to_string()];
        session.imports().import(&ImportRequest { paths, ..ImportRequest::default() }, false, &Job::silent()).unwrap();
    }
    (folder, session)
}

fn search_request(kind: &str, query: &str) -> SearchRequest {
    SearchRequest {
        query: query.into(),
        filter: Filter { kind: Some(kind.into()), ..Filter::default() },
        typing: true,
        limit: Some(1000),
        offset: None,
    }
}

/// All words of more than three letters in the conversations, messages and memories.
fn words_in(session: &Session) -> Vec<String> {
    let mut out = std::collections::BTreeSet::new();
    for kind in ["conversation", "message", "memory"] {
        let filter = search_request(kind, "").filter;
        let page =
            session.records().list(&ListRequest { filter, limit: Some(1000), ..ListRequest::default() }).unwrap();
        for item in page.items {
            let text = format!("{} {}", item.title.unwrap_or_default(), item.text);
            out.extend(text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 3).map(str::to_owned));
        }
    }
    out.into_iter().collect()
}

#[test]
fn thoughts_and_tool_calls_of_a_message_are_listed_besides_its_text() {
    let (_folder, session) = sample_vault();
    let filter = search_request("conversation", "").filter;
    let page = session.records().list(&ListRequest { filter, limit: Some(1000), ..ListRequest::default() }).unwrap();
    let messages: Vec<ThreadMessage> =
        page.items.iter().flat_map(|item| session.records().thread(&item.id).unwrap().messages).collect();
    let spoken = messages.iter().find(|message| message.text == "Here is the leaflet.").unwrap();
    let kinds: Vec<&str> = spoken.steps.iter().map(|step| step.content_type.as_str()).collect();
    assert_eq!(kinds, ["thinking", "tool_call", "tool_result"]);
    assert_eq!(spoken.steps[0].text, "They want kindness.");
    let without_text = messages.iter().find(|message| message.text.contains("plain string result")).unwrap();
    assert!(without_text.steps.is_empty(), "blocks that are already the text are not repeated");
}

#[test]
fn found_rows_match_search_hits_and_list_items() {
    let (_folder, session) = sample_vault();
    let (mut title_hits, mut message_hits, mut memory_hits) = (0, 0, 0);
    for word in words_in(&session) {
        let titles = session
            .search()
            .hits(&SearchRequest { limit: Some(MAX_TITLE_HITS), ..search_request("conversation", &word) })
            .unwrap();
        let messages = session.search().hits(&search_request("message", &word)).unwrap();
        let mut ids: Vec<String> = titles.hits.iter().map(|hit| hit.id.clone()).collect();
        ids.extend(messages.hits.iter().filter_map(|hit| hit.conversation_id.clone()));
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        let page = session.search().rows(&search_request("conversation", &word)).unwrap();
        assert_eq!(page.rows.iter().map(|row| row.item.id.clone()).collect::<Vec<_>>(), ids, "{word}");
        assert_eq!((page.total, page.next_offset), (messages.total, None), "{word}");
        for row in &page.rows {
            let hit = messages.hits.iter().find(|hit| hit.conversation_id.as_ref() == Some(&row.item.id));
            assert_eq!(row.message.as_ref(), hit.map(|hit| &hit.id), "the best message: {word}");
            assert_eq!(row.snippet.as_ref(), hit.map(|hit| &hit.snippet), "{word}");
        }
        title_hits += titles.hits.len();
        message_hits += messages.hits.len();

        let memories = session.search().hits(&search_request("memory", &word)).unwrap().hits;
        let rows = session.search().rows(&search_request("memory", &word)).unwrap().rows;
        let summary = |row: &FoundRow| (row.item.id.clone(), row.snippet.clone(), row.highlights.clone());
        assert_eq!(
            rows.iter().map(summary).collect::<Vec<_>>(),
            memories.iter().map(|h| (h.id.clone(), Some(h.snippet.clone()), h.highlights.clone())).collect::<Vec<_>>()
        );
        memory_hits += rows.len();
    }
    assert!(title_hits > 0 && message_hits > 20 && memory_hits > 0, "{title_hits} {message_hits} {memory_hits}");
}

#[test]
fn consecutive_pages_cover_all_results() {
    let (_folder, session) = sample_vault();
    let whole = session.search().rows(&search_request("message", "the")).unwrap();
    let mut rows = Vec::new();
    let mut offset = Some(0);
    while let Some(at) = offset {
        let page = session
            .search()
            .rows(&SearchRequest { limit: Some(2), offset: Some(at), ..search_request("message", "the") })
            .unwrap();
        assert_eq!(page.total, whole.total);
        rows.extend(page.rows);
        offset = page.next_offset;
    }
    assert!(whole.total > 2, "{}", whole.total);
    let ids: std::collections::HashSet<_> = rows.iter().map(|row| &row.item.id).collect();
    assert_eq!(ids, whole.rows.iter().map(|row| &row.item.id).collect());
    let past_the_end = SearchRequest { offset: Some(whole.total + 5), ..search_request("message", "the") };
    assert_eq!(session.search().rows(&past_the_end).unwrap().next_offset, None);
}

#[test]
fn a_misspelt_word_leads_to_a_suggestion() {
    let (_folder, session) = sample_vault();
    let suggest = |kind, query| session.search().suggest_query(&search_request(kind, query)).unwrap();
    assert_eq!(suggest("message", "grenhouse sensor").as_deref(), Some("greenhouse sensor"));
    assert_eq!(suggest("message", "humdiity").as_deref(), Some("humidity"), "two letters in the wrong order");
    assert_eq!(suggest("message", "+grenhouse").as_deref(), Some("+greenhouse"), "still required");
    assert_eq!(suggest("message", "\"humdiity\"").as_deref(), Some("\"humidity\""), "still a phrase");
    assert_eq!(suggest("message", "humidity"), None, "the word exists");
    assert_eq!(suggest("message", "grenhouse xylophonist"), None, "no similar word exists");
    assert_eq!(suggest("memory", "humdiity"), None, "no memory contains it");
}

#[test]
fn records_of_one_import_are_listed_counted_and_searched_by_its_batch() {
    let (_folder, session) = sample_vault();
    let batches = session.imports().list().unwrap().batches;
    let total =
        |filter: Filter| session.records().list(&ListRequest { filter, ..ListRequest::default() }).unwrap().total;
    let ids_of = |batch: &[&BatchInfo]| Some(batch.iter().map(|b| b.batch.clone()).collect::<Vec<_>>());
    for batch in &batches {
        let report = session.imports().report(&batch.batch).unwrap();
        for (kind, counts) in &report.by_kind {
            let filter = Filter { kind: Some(kind.clone()), batch: ids_of(&[batch]), ..Filter::default() };
            if kind != "other" {
                assert_eq!(total(filter), counts.added, "{kind}");
            }
        }
        let filter = Filter { batch: ids_of(&[batch]), kind: Some("message".into()), ..Filter::default() };
        let facets = session.records().facets(&filter, None, false).unwrap();
        assert_eq!(facets.sources.keys().collect::<Vec<_>>(), [batch.format.as_ref().unwrap()]);
        let page = session.search().rows(&SearchRequest { filter, ..search_request("message", "the") }).unwrap();
        assert!(page.rows.iter().all(|row| Some(&row.item.source) == batch.format.as_ref()));
    }
    let all_batches: Vec<&BatchInfo> = batches.iter().collect();
    assert_eq!(total(Filter { batch: ids_of(&all_batches), ..Filter::default() }), total(Filter::default()));
    let unknown = Filter { batch: Some(vec!["none".into()]), ..Filter::default() };
    let refused = session.records().list(&ListRequest { filter: unknown, ..ListRequest::default() });
    assert_eq!(refused.unwrap_err().code, "not_found");
}

#[test]
fn counts_by_type_add_up_and_match_their_lists() {
    let (_folder, session) = sample_vault();
    let memory = || Filter { kind: Some("memory".into()), ..Filter::default() };
    let total =
        |filter: Filter| session.records().list(&ListRequest { filter, ..ListRequest::default() }).unwrap().total;
    session.changes().add(&AddRequest { text: "Likes lanterns".into(), ..AddRequest::default() }).unwrap();
    let types = session.records().facets(&memory(), None, false).unwrap().types;
    assert!(types.get("").is_some_and(|n| *n > 0) && types.len() > 1, "some have a type, others none: {types:?}");
    assert_eq!(types.values().sum::<u32>(), total(memory()));
    for (record_type, n) in types {
        let of_type = Filter { record_type: Some(record_type.clone()), ..memory() };
        assert_eq!(total(of_type.clone()), n, "{record_type}");
        let page = session
            .search()
            .rows(&SearchRequest { filter: of_type, limit: Some(200), ..search_request("memory", "") })
            .unwrap();
        assert_eq!(page.total, n, "{record_type}, searched");
    }
}

#[test]
fn records_in_the_trash_are_not_found() {
    let (_folder, session) = sample_vault();
    let page = session.search().rows(&search_request("conversation", "sensor")).unwrap();
    let id = page.rows[0].item.id.clone();
    session.changes().delete(std::slice::from_ref(&id)).unwrap();
    let left = session.search().rows(&search_request("conversation", "sensor")).unwrap();
    assert!(left.rows.iter().all(|row| row.item.id != id));
    assert!(left.rows.len() < page.rows.len());
}
