//! Every folder of `fixtures/kept_file` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::KeptFile;
use crate::FORMATS;
use mementory_format::{Catalog, Format, testkit};
use mementory_model::Limits;
use serde_json::{Value, json};

#[test]
fn every_fixture_is_kept_whole_and_a_text_can_be_searched() {
    for case in
        std::fs::read_dir(testkit::repo().join("fixtures/kept_file")).unwrap().map(|entry| entry.unwrap().path())
    {
        let expected: Value = serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
        let input = std::fs::read_dir(&case)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.file_stem().is_some_and(|stem| stem == "input"))
            .unwrap();
        let imported = testkit::read(FORMATS, &input, &KeptFile);
        let texts: Vec<&str> = imported.records.iter().map(|record| record.text.as_str()).collect();
        assert_eq!(json!(texts), expected["texts"], "{}", case.display());
        let stored_bytes: Vec<&[u8]> = imported.files.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        assert_eq!(stored_bytes, [std::fs::read(&input).unwrap()], "{}", case.display());
    }
}

#[test]
fn no_file_is_claimed_unless_the_person_chose_to_keep_it() {
    let catalog = Catalog::from_text("neither an export nor a memory", &Limits::default());
    assert!(KeptFile.detect(&catalog, &Limits::default()).unwrap().is_empty());
    assert_eq!(KeptFile.detect_selected(&catalog, &Limits::default()).unwrap().len(), 1);
}

#[test]
fn the_claim_of_a_document_for_printing_says_why_it_is_only_stored() {
    let scratch = testkit::Scratch::new("documents");
    for (name, content, says) in [
        ("a.pdf", b"%PDF-1.4\nx".as_slice(), "A PDF document"),
        ("a.docx", b"no archive".as_slice(), "A Word document"),
        ("a.bin", b"\x00\x01".as_slice(), "without being understood"),
        ("snapchat_ai.json", b"{}".as_slice(), "a download of Snapchat"),
        ("summaries.json", br#"{"trajectorySummaries":{}}"#.as_slice(), "Antigravity"),
        ("history_item.json", br#"{"id":"t","task":"Sow","tokensIn":1}"#.as_slice(), "ui_messages.json"),
        ("browser_history_item.json", b"{}".as_slice(), "without being understood"),
        ("list.json", br#"{"version":1,"entries":[{"task":"Sow","tokensIn":1}]}"#.as_slice(), "ui_messages.json"),
        ("manifest.json", br#"{"files":[{"url":"https://example.org/1.zip"}]}"#.as_slice(), "addresses of files"),
        ("renamed.json", br#"{"My AI Content":[]}"#.as_slice(), "a download of Snapchat"),
        ("result.json", br#"{"messages":[{"from_id":"u","text_entities":[]}]}"#.as_slice(), "Telegram"),
        (
            "MyActivity.json",
            br#"[{"header":"YouTube","title":"Watched boats","time":"2026-01-01T10:00:00Z","products":["YouTube"]}]"#
                .as_slice(),
            "other products of Google",
        ),
        (
            "activities.html",
            br#"<html><div class="outer-cell"><p class="mdl-typography--title">Search</p></div></html>"#.as_slice(),
            "other products of Google",
        ),
        ("conversations.json", b"\n<!DOCTYPE html><html>Sign in</html>".as_slice(), "may have expired"),
    ] {
        let path = scratch.put(name, content);
        let catalog = Catalog::open(&[path], &Limits::default(), None).unwrap();
        let claims = KeptFile.detect_selected(&catalog, &Limits::default()).unwrap();
        assert!(claims.iter().any(|claim| claim.reason.contains(says)), "{name}: {claims:?}");
    }
}
