//! Tests with the cases in `fixtures/memobase`.
#![allow(clippy::unwrap_used)]
use super::Memobase;
use crate::cases::{check_cases_under_any_name, claiming};
use mementory_format::testkit::Scratch;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Memobase);
}

#[test]
fn profiles_and_events_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("memobase");
    for (name, text) in [
        ("a.json", r#"{"profiles":[{"id":"1","content":"x","attributes":{"color":"red"}}]}"#),
        ("b.json", r#"{"events":[{"id":"1","event":"login","created_at":"2026-01-01"}]}"#),
        ("c.json", r#"{"profiles":[{"id":"1","name":"Default"}]}"#),
    ] {
        let path = scratch.put(name, text);
        assert!(!claiming(&path).contains(&"memobase"), "{text}");
    }
}
