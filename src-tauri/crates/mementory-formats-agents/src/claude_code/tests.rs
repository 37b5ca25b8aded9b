#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, the shared sample, and single lines.
use super::ClaudeCode;
use crate::cases;
use crate::testing::{detect, read};
use mementory_format::Catalog;
use mementory_format::testkit::{Scratch, shared};
use mementory_model::{Kind, Limits};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&ClaudeCode) >= 5);
}

#[test]
fn the_shared_sample_is_read_completely() {
    let Some(folder) = shared("exports/13-claude-code") else { return };
    let imported = read(&folder.join(".claude/projects"), &ClaudeCode);
    let of_kind = |kind| imported.records.iter().filter(move |r| r.kind == kind);
    assert_eq!(
        (of_kind(Kind::Conversation).count(), of_kind(Kind::Message).count(), of_kind(Kind::Memory).count()),
        (1, 6, 3)
    );
    assert_eq!(of_kind(Kind::Conversation).next().unwrap().title.as_deref(), Some("Plot planner"));
    let roles: Vec<&str> = of_kind(Kind::Message).map(|m| m.message.as_ref().unwrap().role.as_str()).collect();
    let count = |role| roles.iter().filter(|r| **r == role).count();
    assert_eq!((count("user"), count("assistant"), count("tool"), count("system")), (1, 3, 1, 1));
    let reasons: Vec<&str> = imported.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
    assert_eq!(reasons, ["malformed"]);
    let log = folder.join(".claude/projects/-Users-ines-src-plot12/732d109a-7572-4715-833b-e592ae9c6427.jsonl");
    let renamed = cases::read_renamed(&log, "x.dat", &ClaudeCode);
    let non_memory_keys = |f: &mementory_format::testkit::MemorySource| {
        cases::keys(f).into_iter().filter(|(kind, _)| *kind != "memory").collect::<Vec<_>>()
    };
    assert_eq!(non_memory_keys(&renamed), non_memory_keys(&imported));
}

#[test]
fn a_session_that_continues_another_has_only_its_own_messages() {
    let folder = Scratch::new("claude-code-two");
    let line = |uuid: &str, parent: &str, session: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let old = line("a", "null", "one", "first words");
    let new = line("b", "\"a\"", "two", "second words");
    folder.put("one.jsonl", format!("{old}\n"));
    folder.put("two.jsonl", format!("{old}\n{new}\n"));
    let imported = read(&folder.0, &ClaudeCode);
    let messages: Vec<&str> =
        imported.records.iter().filter(|r| r.kind == Kind::Message).map(|r| r.key.value.as_str()).collect();
    assert_eq!(messages, ["one/a", "two/b"]);
    let second = imported.records.iter().find(|r| r.key.value == "two").unwrap();
    assert_eq!((second.links[0].relation.as_str(), second.links[0].target.value.as_str()), ("continues", "one"));
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn logs_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("claude-code-none");
    for text in [
        r#"{"type":"session_meta","payload":{"id":"x"}}"#,
        r#"{"role":"user","message":{"content":[{"type":"text","text":"x"}]}}"#,
        r#"{"type":"entity","name":"x","observations":[]}"#,
        r#"{"id":"1","type":"user","content":"hi"}"#,
        r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"hi"}}"#,
        r#"[{"type":"user","message":"x"}]"#,
        "---\nname: x\ndescription: a skill\n---\nbody",
    ] {
        folder.put("x.jsonl", text);
        folder.put("x.md", text);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let detection = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(detection.sources.iter().all(|s| s.format != "claude_code"), "{text}");
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_lines_is_read() {
    let folder = Scratch::new("claude-code-chain");
    let mut text = String::new();
    for n in 0..100_000 {
        let parent = if n == 0 { "null".to_owned() } else { format!("\"p{}\"", n - 1) };
        let kind = if n % 2 == 0 { "progress" } else { "user" };
        text.push_str(&format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"p{n}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"message\":{{\"content\":\"m{n}\"}}}}\n"
        ));
    }
    let file = folder.put("s.jsonl", text);
    let imported = read(&file, &ClaudeCode);
    assert_eq!(imported.records.len(), 50_001);
    assert!(imported.records.iter().skip(1).all(|r| r.message.as_ref().unwrap().active));
}
