#![allow(clippy::unwrap_used)]
use super::Grok;
use crate::cases::{check_cases_under_any_name, check_sample};
use crate::detect;
use mementory_format::Catalog;
use mementory_model::{Kind, Limits};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    check_cases_under_any_name(&Grok);
}

#[test]
fn the_sample_is_read_completely() {
    let Some(imported) = check_sample("10-grok.zip", &Grok) else { return };
    let memory = imported.records.iter().find(|record| record.kind == Kind::Memory).unwrap();
    assert_eq!(memory.source.method.as_deref(), Some("project_instructions"));
    let stored: Vec<&str> = imported.parts.iter().map(|(item, _)| item.name.as_str()).collect();
    assert_eq!(stored, [""; 0], "sign-in and payment data are not stored");
    assert_eq!(imported.dropped.iter().filter(|d| d.reason.starts_with("not_imported")).count(), 2);
    let active_count = imported.records.iter().filter(|r| r.message.as_ref().is_some_and(|m| m.active)).count();
    assert_eq!(active_count, 3, "the branch of leaf_response_id");
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    for text in [
        r#"{"conversations":[{"id":"c","title":"x","messages":[{"role":"user","content":"y"}]}]}"#,
        r#"[{"responses":[{"id":1,"answer":"y"}],"survey":"x"}]"#,
        r#"{"projects":[{"name":"x","tasks":[]}]}"#,
        r#"{"conversation":"a talk","responses":3}"#,
    ] {
        let limits = Limits::default();
        let catalog = Catalog::from_text(text, &limits);
        let detection = detect(&catalog, &limits, None).unwrap();
        assert!(detection.sources.iter().all(|source| source.format != "grok"), "{text}");
    }
}
