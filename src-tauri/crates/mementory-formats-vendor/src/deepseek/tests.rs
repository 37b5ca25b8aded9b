#![allow(clippy::unwrap_used)]
use super::DeepSeek;
use crate::cases::{check_cases_under_any_name, check_sample};
use crate::detect;
use mementory_format::Catalog;
use mementory_model::Limits;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    check_cases_under_any_name(&DeepSeek);
}

#[test]
fn the_sample_is_read_completely() {
    let Some(imported) = check_sample("11-deepseek_data-2026-09-16.zip", &DeepSeek) else { return };
    assert_eq!(imported.parts.len(), 1, "user.json");
    let last = imported.find("青蛙。");
    assert_eq!(last.message.as_ref().unwrap().model.as_deref(), Some("deepseek-reasoner"));
    assert_eq!(last.fields["blocks"].as_array().unwrap().len(), 2, "thoughts and search results");
    assert_eq!(last.source.account.as_deref(), Some("u1"));
}

#[test]
fn trees_of_deepseek_and_chatgpt_are_distinguished() {
    let node = r#""parent":"root","children":[]"#;
    for (text, format) in [
        (
            format!(
                r#"[{{"id":"a","title":"x","inserted_at":"2026-01-01T00:00:00+08:00","mapping":{{"1":{{"id":"1",{node},"message":{{"role":"USER","content":"x","author":"y"}}}}}}}}]"#
            ),
            "deepseek",
        ),
        (
            format!(
                r#"{{"conversations":[{{"id":"a","inserted_at":"2026-01-01T00:00:00+08:00","mapping":{{"1":{{"id":"1",{node},"message":{{"fragments":[{{"type":"REQUEST","content":"\"author\" \"content_type\""}}]}}}}}}}}]}}"#
            ),
            "deepseek",
        ),
        (r#"[{"id":"a","title":"x","inserted_at":"2026-01-01T00:00:00+08:00","mapping":{}}]"#.into(), "deepseek"),
        (
            format!(
                r#"[{{"title":"x","create_time":1.0,"mapping":{{"1":{{"id":"1",{node},"message":{{"author":{{"role":"user"}},"content":{{"content_type":"text","parts":["fragments inserted_at"]}}}}}}}},"current_node":"1"}}]"#
            ),
            "chatgpt",
        ),
        (
            r#"[{"uuid":"a","name":"x","chat_messages":[{"uuid":"m","sender":"human","text":"inserted_at mapping"}]}]"#
                .into(),
            "claude",
        ),
    ] {
        let limits = Limits::default();
        let catalog = Catalog::from_text(&text, &limits);
        let detection = detect(&catalog, &limits, None).unwrap();
        assert!(detection.ties.is_empty(), "{text}");
        assert_eq!(detection.sources.iter().map(|s| s.format).collect::<Vec<_>>(), [format], "{text}");
    }
}
