//! Tests with the fixtures, and with files of other programs.
#![allow(clippy::unwrap_used)]
use super::AiStudio;
use crate::cases::{check_cases, formats_claiming, import};
use mementory_format::testkit::{Scratch, repo};

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases(&AiStudio);
}

#[test]
fn a_renamed_file_keeps_its_record_keys() {
    let scratch = Scratch::new("ai-studio-names");
    let path = repo().join("fixtures/gemini_aistudio/full/input/Google AI Studio/Hedge 2.0 survey");
    let renamed = scratch.put("x.json", std::fs::read(&path).unwrap());
    let keys = |path| -> Vec<_> { import(path, &AiStudio).1.records.into_iter().map(|r| r.key).collect() };
    assert_eq!(keys(&path), keys(&renamed));
}

#[test]
fn a_file_with_a_further_message_keeps_its_record_keys() {
    let scratch = Scratch::new("ai-studio-longer");
    let first = r#"{"role":"user","text":"a","createTime":"2026-06-01T10:00:00Z"},{"role":"model","text":"b"}"#;
    let file = |chunks: &str| format!(r#"{{"runSettings":{{}},"chunkedPrompt":{{"chunks":[{chunks}]}}}}"#);
    let short = import(&scratch.put("a", file(first)), &AiStudio).1;
    let long = import(&scratch.put("a", file(&format!(r#"{first},{{"role":"user","text":"c"}}"#))), &AiStudio).1;
    assert_eq!(short.records.len() + 1, long.records.len());
    for (before, after) in short.records.iter().zip(&long.records) {
        assert_eq!(before.key, after.key);
    }
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("ai-studio-none");
    for (n, text) in [
        r#"[{"role":"user","text":"x"}]"#,
        r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#,
        r#"{"runSettings":{"workspaceRoot":"/"},"tasks":[]}"#,
        "[]",
        "runSettings",
    ]
    .into_iter()
    .enumerate()
    {
        let path = scratch.put(&format!("{n}.json"), text);
        assert!(!formats_claiming(&path).contains(&"gemini_aistudio"), "{text}");
    }
}
