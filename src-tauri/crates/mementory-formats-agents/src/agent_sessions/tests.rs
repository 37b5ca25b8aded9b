#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with lines of other programs.
use super::AgentSessions;
use crate::cases;
use crate::testing::{detect, read};
use mementory_format::testkit::{MemorySource, Scratch, repo};
use mementory_format::{Catalog, Format, ReadContext};
use mementory_model::{Kind, Limits, Timestamp};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&AgentSessions) >= 10);
}

#[test]
fn lines_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("agent-sessions-none");
    for text in [
        r#"{"type":"session_meta","payload":{"id":"x"}}"#,
        r#"{"type":"session","name":"x"}"#,
        r#"{"type":"session_start","id":"x","cwd":"/x","model":"m"}"#,
        r#"{"type":"message","role":"user","content":"hi"}"#,
        r#"{"type":"user.message","text":"x"}"#,
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"x"}}"#,
    ] {
        folder.put("x.jsonl", text);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let detection = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(detection.sources.iter().all(|s| s.format != "agent_sessions"), "{text}");
    }
}

#[test]
fn a_session_is_read_without_a_title_if_its_title_file_is_unreadable() {
    let folder = repo().join("fixtures/agent_sessions/full/input");
    let limits = Limits { side_file_bytes: 8, ..Limits::default() };
    let catalog = Catalog::open(&[folder], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, Some("agent_sessions")).unwrap();
    let mut source = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    AgentSessions.read(&catalog, &detection.sources[0], &context, &mut source).unwrap();
    assert_eq!(source.records.iter().filter(|record| record.kind == Kind::Message).count(), 5);
    assert!(source.notes.iter().any(|note| note.code == "unreadable" && note.place.ends_with("workspace.yaml")));
}

#[test]
fn the_headers_of_a_request_are_not_stored() {
    let log = repo().join("fixtures/agent_sessions/atof_history/input.jsonl");
    // The second log begins with a request that has no messages.
    let text = std::fs::read_to_string(&log).unwrap();
    let scratch = Scratch::new("atof-headers");
    let unread = scratch.put("log.jsonl", text.replacen("\"prompt\":", "\"vector\":", 1));
    for log in [log, unread] {
        let imported = read(&log, &AgentSessions);
        assert!(imported.records.iter().any(|record| format!("{record:?}").contains("Count the ducks.")));
        assert!(imported.records.iter().all(|record| !format!("{record:?}").contains("authorization")));
    }
}
