#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with files of other programs.
use super::Codex;
use crate::cases;
use crate::testing::{detect, read};
use mementory_format::Catalog;
use mementory_format::testkit::{Scratch, repo};
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&Codex) >= 11);
}

#[test]
fn detection_does_not_depend_on_file_names() {
    for (case, name) in
        [("truncated/input.jsonl", "a.txt"), ("oldest/input.json", "b"), ("events/input.jsonl", "c.json")]
    {
        let file = repo().join("fixtures/codex").join(case);
        let renamed = cases::read_renamed(&file, name, &Codex);
        assert_eq!(cases::keys(&renamed), cases::keys(&read(&file, &Codex)));
    }
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("codex-none");
    for text in [
        r#"{"type":"session_meta","model":"x","name":"cloud"}"#,
        r#"{"id":"1","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"session_id":"x","text":"y"}"#,
        r#"{"session":{"id":"1"},"items":[{"title":"x"}]}"#,
        r#"{"type":"message","role":"user","content":"x"}"#,
        r#"{"timestamp":"x","type":"response_item"}"#,
    ] {
        folder.put("x.jsonl", text);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let detection = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(detection.sources.iter().all(|s| s.format != "codex"), "{text}");
    }
}
