#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with files of other programs.
use super::GeminiCli;
use crate::cases;
use crate::testing::{detect, read};
use mementory_format::Catalog;
use mementory_format::testkit::Scratch;
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&GeminiCli) >= 4);
}

#[test]
fn the_name_of_a_file_does_not_matter() {
    for (case, name) in [
        ("lines/input.jsonl", "a.txt"),
        ("mangled/input.json", "b"),
        ("truncated/input.jsonl", "c.json"),
        ("qwen/input.jsonl", "d"),
    ] {
        let file = mementory_format::testkit::repo().join("fixtures/gemini_cli").join(case);
        let renamed = cases::read_renamed(&file, name, &GeminiCli);
        assert_eq!(cases::keys(&renamed), cases::keys(&read(&file, &GeminiCli)));
    }
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("gemini-cli-none");
    for text in [
        r#"{"sessionId":"x","type":"user","uuid":"y","parentUuid":null,"message":{"role":"user","content":"Claude"}}"#,
        r#"{"header":"Gemini Apps","title":"Prompted x","time":"2026-01-01T00:00:00Z"}"#,
        r#"{"runSettings":{},"chunkedPrompt":{"chunks":[{"role":"user","text":"x"}]}}"#,
        r#"[{"role":"user","parts":[{"text":"x"}]}]"#,
        r#"{"id":"1","type":"user","content":"x"}"#,
        r#"{"messages":[{"type":"user","content":"x","id":"1"}]}"#,
    ] {
        folder.put("x.json", text);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let found = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(found.sources.iter().all(|s| s.format != "gemini_cli"), "{text}");
    }
}
