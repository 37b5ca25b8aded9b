#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with files of other programs.
use super::VsCodeChat;
use crate::cases;
use crate::testing::detect;
use mementory_format::Catalog;
use mementory_format::testkit::Scratch;
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&VsCodeChat) >= 4);
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("vscode-chat-none");
    for text in [
        r#"{"requests":[{"url":"https://example.org","message":"x"}]}"#,
        r#"{"kind":0,"v":{"name":"x"}}"#,
        r#"{"sessionId":"x","creationDate":1}"#,
        r#"{"messages":[{"role":"user","content":"x"}]}"#,
        r#"{"sessionId":"x","projectHash":"y","messages":[{"type":"user","content":"x","id":"1"}]}"#,
    ] {
        folder.put("x.json", text);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let found = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(found.sources.iter().all(|s| s.format != "vscode_chat"), "{text}");
    }
}
