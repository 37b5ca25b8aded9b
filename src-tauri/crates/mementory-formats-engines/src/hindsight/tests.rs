//! Tests with the cases in `fixtures/hindsight`.
#![allow(clippy::unwrap_used)]
use super::Hindsight;
use crate::cases::{check_cases_under_any_name, claiming};
use crate::testing::read;
use mementory_format::testkit::{Scratch, repo};

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Hindsight);
}

#[test]
fn a_fact_is_in_no_other_verbatim() {
    let imported = read(&repo().join("fixtures/hindsight/archive/input"), &Hindsight);
    let facts: Vec<_> = imported.records.iter().filter(|r| r.origin.pointer.contains("/facts/")).collect();
    assert_eq!(facts.len(), 3);
    for fact in facts {
        let others = imported.records.iter().filter(|other| other.key != fact.key);
        for verbatim in others.filter_map(|other| other.verbatim.as_ref()) {
            assert!(!verbatim.text.contains(&fact.text), "{}", fact.text);
        }
    }
}

#[test]
fn a_fact_is_in_no_passthrough_file() {
    let imported = read(&repo().join("fixtures/hindsight/banks/input"), &Hindsight);
    let stored: Vec<_> = imported.parts.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
    assert!(stored.iter().any(|text| text.contains("barn talk")));
    assert!(stored.iter().all(|text| !text.contains("Hay is in the barn")));
}

#[test]
fn lists_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("hindsight");
    for (name, text) in [
        ("a.json", r#"{"results":[{"id":"1","text":"x","type":"note","score":0.5}]}"#),
        ("b.json", r#"{"items":[{"id":"1","bank_id":"b","name":"n","content":"c"}]}"#),
        ("c.json", r#"{"id":"1","original_text":"x","label":"spam"}"#),
        ("d.json", r#"{"schema_version":1,"source_bank_id":"b","fact_count":0}"#),
    ] {
        let path = scratch.put(name, text);
        assert!(!claiming(&path).contains(&"hindsight"), "{text}");
    }
}
