#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with lines of other programs.
use super::AgentSessions;
use crate::cases;
use crate::testing::detect;
use mementory_format::Catalog;
use mementory_format::testkit::Scratch;
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&AgentSessions) >= 4);
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
        let found = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(found.sources.iter().all(|s| s.format != "agent_sessions"), "{text}");
    }
}
