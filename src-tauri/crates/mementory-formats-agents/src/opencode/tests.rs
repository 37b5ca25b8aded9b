#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, with the same session in each layout, and with files of other programs.
use super::OpenCode;
use crate::cases;
use crate::testing::{detect, read};
use mementory_format::Catalog;
use mementory_format::testkit::{Scratch, repo};
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&OpenCode) >= 5);
}

#[test]
fn a_session_has_the_same_keys_in_each_layout() {
    let keys = |input: &str| cases::keys(&read(&repo().join("fixtures/opencode").join(input), &OpenCode));
    let export = keys("full/input.json");
    assert!(export.is_subset(&keys("storage/input")) && export.is_subset(&keys("database/input")));
    let renamed = cases::read_renamed(&repo().join("fixtures/opencode/full/input.json"), "x", &OpenCode);
    assert_eq!(cases::keys(&renamed), export);
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("opencode-none");
    for text in [
        r#"{"info":{"title":"an API"},"paths":{}}"#,
        r#"{"id":"1","title":"x","messages":[{"role":"user","content":"x"}]}"#,
        r#"{"id":"1","session_id":"s","role":"user","time":1}"#,
        r#"{"id":"1","title":"x","version":1}"#,
    ] {
        folder.put("x.json", text);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let detection = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(detection.sources.iter().all(|s| s.format != "opencode"), "{text}");
    }
}
