#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with files of other programs.
use super::VsCodeChat;
use crate::cases;
use crate::testing::detect;
use mementory_format::testkit::{MemorySource, Scratch};
use mementory_format::{Catalog, Format, ReadContext};
use mementory_model::{DroppedAs, Limits, Timestamp};

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
        let detection = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(detection.sources.iter().all(|s| s.format != "vscode_chat"), "{text}");
    }
}

#[test]
fn a_log_whose_values_need_too_much_memory_is_dropped() {
    let folder = Scratch::new("vscode-chat-large");
    let first = r#"{"kind":0,"v":{"responderUsername":"GitHub Copilot","requests":[LIST]}}"#;
    let second = r#"{"kind":1,"k":["requests",0],"v":1}"#;
    let log = [first.replace("LIST", &format!("{}0", "0,".repeat(2000))), second.to_owned()].join("\n");
    folder.put("x.jsonl", log);
    let limits = Limits { tree_bytes: 100_000, ..Limits::default() };
    let catalog = Catalog::open(std::slice::from_ref(&folder.0), &limits, None).unwrap();
    let detection = detect(&catalog, &limits, Some("vscode_chat")).unwrap();
    let mut source = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    VsCodeChat.read(&catalog, &detection.sources[0], &context, &mut source).unwrap();
    assert!(source.records.is_empty());
    let [dropped] = source.dropped.as_slice() else { panic!("{:?}", source.dropped) };
    assert!(dropped.outcome == DroppedAs::Failed && dropped.reason.starts_with("too_large"), "{dropped:?}");
}
