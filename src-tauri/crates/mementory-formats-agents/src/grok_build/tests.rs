#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, and with lines of other programs.
use super::GrokBuild;
use crate::cases;
use crate::testing::detect;
use mementory_format::Catalog;
use mementory_format::testkit::Scratch;
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&GrokBuild) >= 3);
}

#[test]
fn lines_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("grok-build-none");
    for text in [
        r#"{"role":"user","content":"x"}"#,
        r#"{"type":"user","content":"x"}"#,
        r#"{"type":"entity","content":"x","model_id":"y"}"#,
        r#"{"type":"assistant","model_id":"y","uuid":"1","content":"x"}"#,
    ] {
        folder.put("chat_history.jsonl", text);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let detection = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(detection.sources.iter().all(|s| s.format != "grok_build"), "{text}");
    }
}
