//! Tests with the cases in `fixtures/supermemory`.
#![allow(clippy::unwrap_used)]
use super::Supermemory;
use crate::cases::{check_cases_under_any_name, claiming};
use crate::testing::read;
use mementory_format::testkit::{Scratch, repo};

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Supermemory);
}

#[test]
fn a_version_is_not_in_the_verbatim_of_another_one() {
    for case in ["full", "documents"] {
        let imported = read(&repo().join(format!("fixtures/supermemory/{case}/input.json")), &Supermemory);
        for record in &imported.records {
            let others = imported.records.iter().filter(|other| other.key != record.key);
            for verbatim in others.filter_map(|other| other.verbatim.as_ref()) {
                assert!(!verbatim.text.contains(&record.text), "{case}: {}", record.text);
            }
        }
    }
}

#[test]
fn documents_and_memories_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("supermemory");
    for (name, text) in [
        ("a.json", r#"{"results":[{"id":"1","memory":"x","user_id":"u","hash":"h"}]}"#),
        ("b.json", r#"{"documents":[{"id":"1","title":"x","createdAt":"2026-01-01"}]}"#),
        ("d.json", r#"{"profile":{"static":[{"id":1}],"dynamic":[]},"name":"a page"}"#),
        ("e.json", r#"{"profile":{"static":true,"dynamic":false}}"#),
        ("f.json", r#"{"results":[{"id":"1","memory":"x","score":0.5}],"timing":1,"total":1}"#),
        ("c.json", r#"{"memories":[{"id":"1","content":"x","createdAt":"2026-01-01"}]}"#),
    ] {
        let path = scratch.put(name, text);
        assert!(!claiming(&path).contains(&"supermemory"), "{text}");
    }
}
