#![allow(clippy::unwrap_used)]
use super::CharacterAi;
use crate::cases::{check_cases_under_any_name, check_texts_are_in_one_verbatim};
use crate::detect;
use mementory_format::Catalog;
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    check_cases_under_any_name(&CharacterAi);
}

#[test]
fn an_alternative_is_not_in_the_verbatim_of_its_message() {
    check_texts_are_in_one_verbatim(&CharacterAi, &["tavern"]);
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    for text in [
        r#"{"histories":[{"text":"x"}]}"#,
        r#"{"msgs":[{"text":"x"}]}"#,
        "{\"name\":\"x\",\"is_user\":true}\n",
        r#"[{"mes":"x"}]"#,
        r#"{"spec":"x","data":{"name":"x","description":"y"}}"#,
        r#"{"name":"x","description":"y","personality":"z"}"#,
    ] {
        let limits = Limits::default();
        let catalog = Catalog::from_text(text, &limits);
        let detection = detect(&catalog, &limits, None).unwrap();
        assert!(detection.sources.iter().all(|source| source.format != "character_ai"), "{text}");
    }
}
