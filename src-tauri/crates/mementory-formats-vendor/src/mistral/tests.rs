#![allow(clippy::unwrap_used)]
use super::Mistral;
use crate::cases::{check_cases_under_any_name, check_sample};
use crate::detect;
use mementory_format::Catalog;
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    check_cases_under_any_name(&Mistral);
}

#[test]
fn the_sample_is_read_completely() {
    let name = "12-mistral-chat-export-1787777208552.zip";
    let Some(imported) = check_sample(name, &Mistral) else { return };
    let (old, new) = (imported.find("En mai."), imported.find("En mai ou juin."));
    assert!(!old.message.as_ref().unwrap().active && new.message.as_ref().unwrap().active);
    assert_eq!(old.origin_id, new.origin_id);
    assert_eq!(old.fields["blocks"][0]["type"], "thinking");
    assert_eq!(imported.files[0].0.key, imported.find("Quand").attachments[0].key);
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    for text in [
        r#"[{"role":"user","content":"x","createdAt":"2026-01-01T00:00:00Z"}]"#,
        r#"{"chatId":"x","title":"y"}"#,
        r#"{"session_id":"x","start_time":"2026-01-01T00:00:00Z","messages":[{"role":"user","content":"x"}]}"#,
        "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\"}\n",
    ] {
        let limits = Limits::default();
        let catalog = Catalog::from_text(text, &limits);
        let detection = detect(&catalog, &limits, None).unwrap();
        assert!(detection.sources.iter().all(|source| source.format != "mistral"), "{text}");
    }
}
