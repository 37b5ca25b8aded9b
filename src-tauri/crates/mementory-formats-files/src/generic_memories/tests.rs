//! Every folder of `fixtures/generic_memories` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::GenericMemories;
use crate::cases::{check_cases, claiming};
use mementory_format::testkit::Scratch;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&GenericMemories);
}

#[test]
fn lists_of_other_things_are_not_memories() {
    let scratch = Scratch::new("lists");
    for (name, text) in [
        ("words", r#"["red", "green", "blue"]"#),
        ("facts", r#"{"facts": ["red", "green", "blue"]}"#),
        ("servers", r#"[{"id": 1, "memory": "16 GB", "cpu": "8 cores", "created_at": "2026-03-01T00:00:00Z"}]"#),
        ("tasks", r#"[{"id": 1, "text": "Buy milk", "done": false, "created_at": "2026-03-01T00:00:00Z"}]"#),
        ("colours", r#"[{"id": 1, "text": "dark red"}, {"id": 2, "text": "light blue"}]"#),
        ("numbers", "[1, 2, 3]"),
        ("empty", "[]"),
        ("settings", r#"{"name": "a program", "description": "does many useful things"}"#),
        ("people", r#"[{"name": "Mo", "email": "mo@example.org"}]"#),
        (
            "tickets",
            r#"[{"title": "It does not start", "body": "Nothing happens at all", "summary": "A long story again"}]"#,
        ),
    ] {
        let path = scratch.put(&format!("{name}.json"), text);
        let formats = claiming(&path);
        assert!(!formats.contains(&"generic_memories"), "{name}: {formats:?}");
    }
}
