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
fn detection_does_not_depend_on_file_names() {
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
fn a_shortened_transcript_is_recognised_by_its_steps() {
    let folder = Scratch::new("gemini-cli-transcripts");
    let line = |time: &str, words: &str| {
        let about = r#""step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT""#;
        format!(r#"{{{about},"created_at":"{time}","content":"{words}"}}"#)
    };
    let (first, second) = ("2026-06-07T08:09:10Z", "2026-06-07T09:09:10Z");
    folder.put("a.jsonl", line(first, "Find the old"));
    folder.put("b.jsonl", line(first, "Find the oldest sail."));
    folder.put("c.jsonl", line(second, "Sew it."));
    let imported = read(&folder.0, &GeminiCli);
    let texts: std::collections::BTreeSet<&str> = imported.records.iter().map(|r| r.text.as_str()).collect();
    assert_eq!(texts.into_iter().collect::<Vec<_>>(), ["", "Find the oldest sail.", "Sew it."]);
    assert_eq!(imported.parts.iter().map(|(part, _)| part.name.as_str()).collect::<Vec<_>>(), ["a.jsonl"]);
}

/// Reads a folder with these files. Returns the texts of the records other than conversations, and the passthrough
/// files.
fn texts_and_parts(files: &[(&str, String)]) -> (Vec<String>, Vec<String>) {
    let folder = Scratch::new("gemini-cli-copies");
    for (name, text) in files {
        folder.put(name, text);
    }
    let imported = read(&folder.0, &GeminiCli);
    let mut texts: Vec<String> =
        imported.records.iter().map(|r| r.text.clone()).filter(|text| !text.is_empty()).collect();
    texts.sort();
    (texts, imported.parts.iter().map(|(part, _)| part.name.clone()).collect())
}

/// The first step of a transcript: a prompt by the person.
fn prompt(time: &str, words: &str) -> String {
    let about = r#""step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT""#;
    format!(r#"{{{about},{time}"content":"{words}"}}"#)
}

#[test]
fn a_transcript_with_a_long_first_step_is_read_instead_of_its_copy() {
    let time = r#""created_at":"2026-06-07T08:09:10Z","#;
    let smile = "\\ud83d\\ude00";
    // In one of the last two cases, the head of the file ends inside a JSON escape.
    for (begin, words) in [("", "sail "), ("", smile), ("s", smile)] {
        let text = |count: usize| format!("{begin}{}", words.repeat(count));
        let (whole, copy) = (prompt(time, &text(20_000)), prompt(time, &text(30)));
        for names in [["transcript_full.jsonl", "transcript.jsonl"], ["b.jsonl", "a.jsonl"]] {
            let (texts, parts) = texts_and_parts(&[(names[0], whole.clone()), (names[1], copy.clone())]);
            assert_eq!(parts, [names[1]]);
            assert!(texts.len() == 1 && texts[0].chars().count() > 19_000, "{} texts", texts.len());
        }
    }
}

#[test]
fn transcripts_in_one_folder_are_distinguished_by_how_their_text_begins() {
    let (time, none) = (r#""created_at":"2026-06-07T08:09:10Z","#, "");
    let files = [("a.jsonl", prompt(time, "Sew the sail.")), ("b.jsonl", prompt(time, "Tar the boat."))];
    assert_eq!(texts_and_parts(&files), (vec!["Sew the sail.".to_owned(), "Tar the boat.".to_owned()], vec![]));
    let files = [("a.jsonl", prompt(none, "Sew")), ("b.jsonl", prompt(none, "Sew the sail."))];
    assert_eq!(texts_and_parts(&files).1.len(), 0);
    // A shortened copy without times.
    let long = "Sew the sail of 1931. ".repeat(20).trim_end().to_owned();
    let short = format!("{} <shortened>", &long[..150]);
    let files = [("a.jsonl", prompt(none, &short)), ("b.jsonl", prompt(none, &long))];
    assert_eq!(texts_and_parts(&files), (vec![long], vec!["a.jsonl".to_owned()]));
    // Antigravity's file names take precedence over the texts.
    let files = [("transcript.jsonl", prompt(none, "Sew")), ("transcript_full.jsonl", prompt(none, "Sew the sail."))];
    assert_eq!(texts_and_parts(&files), (vec!["Sew the sail.".to_owned()], vec!["transcript.jsonl".to_owned()]));
}

#[test]
fn a_transcript_without_content_is_not_a_conversation() {
    let folder = Scratch::new("gemini-cli-empty");
    folder.put("a.jsonl", r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","content":""}"#);
    let imported = read(&folder.0, &GeminiCli);
    assert!(imported.records.is_empty(), "{:?}", imported.records);
    let reasons: Vec<&str> = imported.dropped.iter().map(|dropped| dropped.reason.as_str()).collect();
    assert_eq!(reasons, ["no_messages: this transcript has no step with content"]);
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
        let detection = detect(&catalog, &Limits::default(), None).unwrap();
        assert!(detection.sources.iter().all(|s| s.format != "gemini_cli"), "{text}");
    }
}
