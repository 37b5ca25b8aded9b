//! Tests that exports in the shapes that Claude has used since the autumn of 2026 are read.
#![allow(clippy::unwrap_used)]
use super::Claude;
use crate::cases::{check_case, import};
use mementory_format::testkit::{Scratch, repo};
use mementory_model::Kind;

#[test]
fn fixtures_of_newer_shapes_are_read_as_their_cases_say() {
    check_case(&repo().join("fixtures/claude/newer-shapes"), &Claude);
}

#[test]
fn damaged_and_small_exports_are_read_as_their_cases_say() {
    for case in ["damaged-entries", "design-unanswered", "empty-account"] {
        check_case(&repo().join("fixtures/claude").join(case), &Claude);
    }
}

#[test]
fn keys_beside_the_conversations_are_not_stored() {
    let (_, imported) = import(&repo().join("fixtures/claude/members_beside/input.json"), &Claude);
    let stored = String::from_utf8_lossy(&imported.parts[0].1);
    assert!(stored.contains("keep me") && !stored.contains("invented-key-1"), "{stored}");
}

#[test]
fn the_message_of_a_result_without_content_is_shown() {
    let scratch = Scratch::new("claude-result-message");
    let chats = r#"[{"uuid":"c1","name":"n","chat_messages":[{"uuid":"m1","sender":"assistant","text":"","content":[
        {"type":"tool_result","name":"web_search","content":[],"message":"Searched for boats","is_error":false},
        {"type":"tool_result","name":"web_fetch","content":null,"display_content":null,"message":{"text":"Read a page"}},
        {"type":"tool_result","name":"repl","content":[{"type":"text","text":"42"}],"message":"Ran code"}]}]}]"#;
    let (_, imported) = import(&scratch.put("conversations.json", chats), &Claude);
    let message = imported.records.iter().find(|r| r.key.value == "c1/m1").unwrap();
    let texts: Vec<_> = message.fields["blocks"].as_array().unwrap().iter().map(|b| b["text"].clone()).collect();
    assert_eq!(texts, ["Searched for boats", "Read a page", "42"]);
}

#[test]
fn a_manifest_without_its_archives_is_reported_with_what_to_download() {
    let scratch = Scratch::new("claude-lone-manifest");
    let manifest = r#"{"instructions":"Download each file","total_files":1,"version":"1.0","data_files":[
        {"category":"conversations","part":0,"filename":"conversations-000.zip","export_url":"https://claude.ai/export/secret"}]}"#;
    let (detected, imported) = import(&scratch.put("manifest.json", manifest), &Claude);
    assert_eq!(detected.claim.missing_parts, ["conversations-000.zip"]);
    assert_eq!(imported.codes(), ["only_list_of_parts"]);
    assert!(imported.notes[0].message.contains("conversations-000.zip"));
    assert!(!String::from_utf8_lossy(&imported.parts[0].1).contains("secret"));
}

#[test]
fn documents_in_answers_are_readable() {
    let scratch = Scratch::new("claude-readable");
    let text = r#"<antThinking>A list.</antThinking>Here:\n<antArtifact identifier=\"p\" title=\"Beds\"># Leeks</antArtifact>"#;
    let content = r#"[{"type":"tool_use","name":"artifacts","input":{"id":"d","title":"Plan","command":"create","content":"Sow."}},
        {"type":"tool_use","name":"artifacts","input":{"id":"d","command":"update","old_str":"Sow","new_str":"Plant"}},
        {"type":"tool_result","name":"artifacts","content":[],"display_content":{"type":"text","text":"OK"}},
        {"type":"text","text":"Done.","citations":[{"url":"https://example.org"}]}]"#;
    let chats = format!(
        r#"[{{"uuid":"c1","name":"n","chat_messages":[
            {{"uuid":"m0","sender":"human","text":"What is <antArtifact title=\"x\">?"}},
            {{"uuid":"m1","sender":"assistant","text":"{text}"}},
            {{"uuid":"m2","sender":"assistant","text":"","content":{content}}}]}}]"#
    );
    let (_, imported) = import(&scratch.put("conversations.json", &chats), &Claude);
    let record = |key: &str| imported.records.iter().find(|r| r.key.value == key).unwrap();
    assert_eq!(record("c1/m0").text, "What is <antArtifact title=\"x\">?");
    assert_eq!(record("c1/m1").text, "Here:\nBeds\n\n# Leeks");
    assert_eq!(record("c1/m1").fields["blocks"][0]["text"], "A list.");
    assert_eq!(record("c1/artifact/p").text, "# Leeks");
    let blocks = &record("c1/m2").fields["blocks"];
    assert_eq!(blocks[0]["text"], "create: Plan\n\nSow.");
    assert_eq!(blocks[1]["text"], "update: d\n\n- Sow\n+ Plant");
    assert_eq!(blocks[2]["text"], "OK");
    assert_eq!(record("c1/m2").fields["citations"][0]["url"], "https://example.org");
    assert_eq!(record("c1/artifact/d").text, "Plant.");
}

#[test]
fn the_newest_state_of_a_memory_document_is_read() {
    let scratch = Scratch::new("claude-documents");
    let result = |date: &str, body: &str| {
        format!(
            r#"{{"type":"tool_result","name":"memory_read","content":[],"structured_content":{{"documents":[
            {{"path":"/profile.md","version":2,"updated_at":"{date}","parsed":{{"name":"profile","body":"{body}"}}}}]}}}}"#
        )
    };
    let message = |uuid: &str, block: String| {
        format!(r#"{{"uuid":"{uuid}","sender":"assistant","text":"","content":[{block}]}}"#)
    };
    let chats = format!(
        r#"[{{"uuid":"c1","name":"n","account":{{"uuid":"acc"}},"chat_messages":[{},{}]}}]"#,
        message("m1", result("2026-09-02T00:00:00Z", "newer")),
        message("m2", result("2026-09-01T00:00:00Z", "older"))
    );
    let path = scratch.put("conversations.json", &chats);
    let (_, imported) = import(&path, &Claude);
    let texts: Vec<_> = imported.records.iter().filter(|r| r.kind == Kind::Memory).map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["newer"]);
    // If a memory file and a document in a chat are equally new, the memory file takes precedence.
    let scratch = Scratch::new("claude-documents-file");
    scratch.put("conversations.json", &chats);
    scratch.put(
        "memories.json",
        r#"[{"account_uuid":"acc","memory_files":[{"path":"/profile.md","content":"file","updated_at":"2026-09-02T00:00:00Z"}]}]"#,
    );
    let (_, imported) = import(&scratch.0, &Claude);
    let texts: Vec<_> = imported.records.iter().filter(|r| r.kind == Kind::Memory).map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["file"]);
}
