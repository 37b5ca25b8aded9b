#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
//! Tests with the shared samples, of which only the counts are checked, and with small texts, whose content is checked.
use super::*;
use crate::detect;
use mementory_format::testkit::MemorySource;
use mementory_model::{Kind, Record, Timestamp};
use std::path::PathBuf;

fn read_all(catalog: &Catalog, only_format: Option<&str>) -> (Vec<Detected>, MemorySource) {
    let limits = Limits::default();
    let sources = detect(catalog, &limits, only_format).unwrap().sources;
    let sources: Vec<_> = sources.into_iter().filter(|s| s.format == "transfer_text").collect();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut seen = MemorySource::default();
    for source in &sources {
        TransferText.read(catalog, source, &context, &mut seen).unwrap();
    }
    (sources, seen)
}

fn paste(text: &str) -> (Vec<Detected>, MemorySource) {
    read_all(&Catalog::from_text(text, &Limits::default()), None)
}

fn texts(seen: &MemorySource) -> Vec<&str> {
    seen.records.iter().map(|r| r.text.as_str()).collect()
}

fn shared_exports_folder() -> Option<PathBuf> {
    mementory_format::testkit::shared("exports")
}

#[test]
fn sample_texts_have_the_expected_counts() {
    let Some(exports) = shared_exports_folder() else { return };
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(exports.join("expected.json")).unwrap()).unwrap();
    let by_hand = &expected["samples"]["18-pasted-text"]["by_hand"];
    let catalog = Catalog::open(&[exports.join("18-pasted-text")], &Limits::default(), None).unwrap();
    let (sources, seen) = read_all(&catalog, None);
    assert_eq!(sources.len(), 3);
    let memories = |platform: &str| {
        seen.records.iter().filter(|r| r.kind == Kind::Memory && r.source.platform == platform).count()
    };
    assert_eq!(by_hand["claude_prompt_entries"], memories("claude"));
    assert_eq!(by_hand["chatgpt_saved_memories"], memories("chatgpt"));
    assert_eq!(by_hand["transcript_turns"], seen.records.iter().filter(|r| r.kind == Kind::Message).count());
    assert_eq!(seen.parts.len(), 3);
    // The same texts, pasted instead of opened from a file.
    for name in ["claude-import-prompt-answer.md", "chatgpt-saved-memories.txt", "role-transcript.txt"] {
        let text = std::fs::read_to_string(exports.join("18-pasted-text").join(name)).unwrap();
        let (sources, pasted) = paste(&text);
        assert_eq!(sources.len(), 1, "{name}");
        assert!(pasted.records.iter().all(|r| seen.records.iter().any(|s| s.key == r.key)), "{name}");
    }
}

#[test]
fn conversations_in_markdown_are_read_as_their_cases_say() {
    for case in [
        "specstory",
        "markdown",
        "aider",
        "aider_without_title",
        "cascade",
        "claude_terminal",
        "duck_ai",
        "front_matter",
        "spoken",
        "memory_page",
        "ai_chat_exporter",
        "kagi",
        "callouts",
        "callouts_nexus",
        "claude_exporter",
        "gemini_voyager",
        "save_my_chatbot",
        "save_my_chatbot_broken",
        "save_my_chatbot_search",
        "chatbox_export",
        "chatbox_text",
        "llm_log",
        "gemini_cli_share",
        "opencode_export",
        "copilot_cli_share",
        "kimi_export",
        "cherry_studio",
        "cursor_export",
    ] {
        let case = mementory_format::testkit::repo().join("fixtures/transfer_text").join(case);
        crate::cases::check_case(&case, &TransferText);
    }
}

#[test]
fn exports_of_other_formats_are_not_claimed() {
    let Some(exports) = shared_exports_folder() else { return };
    for entry in std::fs::read_dir(exports).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "18-pasted-text" || name == "edge" || !(path.is_dir() || name.ends_with(".zip")) {
            continue;
        }
        let catalog = Catalog::open(&[path], &Limits::default(), None).unwrap();
        let (sources, _) = read_all(&catalog, None);
        assert!(sources.is_empty(), "{name}: {:?}", sources);
    }
}

#[test]
fn every_form_of_an_import_answer_is_read() {
    let (sources, seen) = paste(
        "Here is everything:\r\n\r\n**Identity**\r\n- [2025-05-02] - Name: Ines\r\n  Lives in Ghent\r\n- 2025-06 is not in brackets\r\n[May 3rd, 2025] – Likes tea\r\n\r\nCAREER\r\n2025-07-01: Nurse\r\n[someday] - Nights\r\n[2025-07-01] - Nurse\r\n",
    );
    assert_eq!(sources[0].claim.version.as_deref(), Some("import_answer"));
    assert_eq!(
        texts(&seen),
        vec!["Name: Ines\nLives in Ghent", "2025-06 is not in brackets", "Likes tea", "Nurse", "Nights"]
    );
    let days: Vec<_> = seen.records.iter().map(|r| r.times.created.map(|t| t.to_rfc3339()[..10].to_owned())).collect();
    let some = |d: &str| Some(d.to_owned());
    assert_eq!(days, vec![some("2025-05-02"), None, some("2025-05-03"), some("2025-07-01"), None]);
    assert_eq!(seen.records[0].tags, vec!["Identity"]);
    assert_eq!(seen.records[4].fields["date_raw"], "someday");
    assert_eq!(seen.dropped.len(), 1);
    assert!(seen.dropped[0].reason.starts_with("duplicate"));
}

#[test]
fn ids_are_the_hash_of_day_and_content() {
    let (_, seen) = paste("[2025-04-01] - Always use metric units.\n[unknown] - Never use emoji.");
    // The expected ids come from: printf '2025-04-01\nAlways use metric units.' | sha256sum
    assert_eq!(seen.records[0].origin_id.as_deref(), Some("tx_6490be233365d38ca45705fd"));
    assert_eq!(seen.records[1].origin_id.as_deref(), Some("tx_12caa27a5e26b87a4d2301df"));
    assert_eq!(seen.records[0].key.scope, "transfer_text");
}

#[test]
fn conversations_are_read_with_their_turns_in_order() {
    let (sources, seen) = paste("## Prompt:\nWhat eats slugs?\n\n## Response:\nHedgehogs.\n\nAnd frogs.\n");
    assert_eq!(sources[0].claim.version.as_deref(), Some("transcript"));
    assert_eq!(texts(&seen), vec!["", "What eats slugs?", "Hedgehogs.\n\nAnd frogs."]);
    let part = seen.records[2].message.as_ref().unwrap();
    assert_eq!((part.role.as_str(), part.parent.as_ref()), ("assistant", Some(&seen.records[1].key)));
}

#[test]
fn pasted_plain_text_is_read_by_paragraph_and_a_plain_file_is_not_claimed() {
    let text = "I keep bees\nand hens\n\nMy sister is Rui";
    let (sources, seen) = paste(text);
    assert_eq!(sources[0].claim.version.as_deref(), Some("plain"));
    assert_eq!(texts(&seen), vec!["I keep bees\nand hens", "My sister is Rui"]);

    let dir = std::env::temp_dir().join(format!("mementory-text-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("README.md");
    std::fs::write(&file, "# Tool\n\nRun it.\nUser: the account\n\n- a\n- b\n").unwrap();
    let catalog = Catalog::open(&[file], &Limits::default(), None).unwrap();
    assert!(read_all(&catalog, None).0.is_empty());
    let (asked, seen) = read_all(&catalog, Some("transfer_text"));
    assert_eq!(asked.len(), 1);
    assert_eq!(texts(&seen), vec!["Run it.\nUser: the account", "a", "b"]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn json_and_binary_are_not_claimed() {
    assert!(paste(r#"{"a":1}"#).0.is_empty());
    assert!(paste(r#"[{"a":1}]"#).0.is_empty());
    assert!(decode(b"a\0b", true).is_none());
    assert_eq!(decode(b"caf\xe9", true).unwrap(), ("café".to_owned(), true));
    assert_eq!(decode(b"\xff\xfea\0", true).unwrap().0, "a");
}

/// Compares ids and texts.
#[test]
fn entries_of_the_reference_text_equal_those_of_the_reference_sdks() {
    let Some(exports) = shared_exports_folder() else { return };
    let folder = exports.join("../reference/mem/fixtures/transfer");
    let Ok(text) = std::fs::read_to_string(folder.join("sample-export.txt")) else {
        mementory_format::testkit::skipped("the reference's transfer text is not there");
        return;
    };
    let expected = std::fs::read_to_string(folder.join("expected-episode.jsonl")).unwrap();
    let mut expected: Vec<(String, String, Option<String>)> = expected
        .lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let word = |v: &serde_json::Value| v.as_str().map(str::to_owned);
            (word(&row["id"]).unwrap(), word(&row["details"]).unwrap(), word(&row["categories"][0]))
        })
        .collect();
    expected.sort();
    let (sources, seen) = paste(&text);
    assert_eq!(sources[0].claim.version.as_deref(), Some("import_answer"));
    let mut got: Vec<_> =
        seen.records.iter().map(|r| (r.origin_id.clone().unwrap(), r.text.clone(), r.tags.first().cloned())).collect();
    got.sort();
    assert_eq!(got, expected);
    assert_eq!(seen.dropped.len(), 1);
}

#[test]
fn entries_without_a_date_among_dated_ones_are_read() {
    let lines = "## Instructions\nAlways use metric units.\nNever use emoji.\n[2025-04-01] - Answer in Dutch.\nKeep it short.\n\nLikes tea.";
    let expected = ["Always use metric units.", "Never use emoji.", "Answer in Dutch.", "Keep it short.", "Likes tea."];
    let (sources, seen) = paste(&format!("Here you are.\n```\n{lines}\n```\nThat is all I have stored."));
    assert_eq!(sources[0].claim.version.as_deref(), Some("import_answer"));
    assert_eq!(texts(&seen), expected);
    assert!(seen.notes.is_empty());
    // If the list is not in a code fence, the lines before and after it count as words of the assistant.
    let (_, seen) = paste(&format!("Sure. Here you are.\n\n{lines}\n[unknown] - Has a dog.\n\nThat is all."));
    assert_eq!(texts(&seen), [&expected[..], &["Has a dog."]].concat());
    assert_eq!(seen.notes[0].code, "line_not_an_entry");
}

#[test]
fn memories_that_name_the_user_are_recognised_in_many_languages() {
    for text in [
        "Nutzer mag Tee.\nDer Nutzer lebt in Gent.",
        "El usuario prefiere el té.\nUsuario vive en Gante.",
        "L’utilisateur aime le thé.\nL'utilisateur vit à Gand.",
        "用户喜欢茶。\n用户住在根特。",
        "ユーザーはお茶が好き。\nユーザーはゲントに住んでいる。",
    ] {
        assert_eq!(paste(text).0[0].claim.version.as_deref(), Some("memory_lines"), "{text}");
    }
    assert_eq!(paste("Der Tee ist alt.\nDie Kanne ist neu.").0[0].claim.version.as_deref(), Some("plain"));
}

#[test]
fn the_full_stop_after_a_date_of_chatgpt_is_not_part_of_a_memory() {
    let (_, seen) =
        paste("Model Set Context:\n1. [2025-05-02]. User likes tea.\n\n2. [2025-06-02]. User lives in Ghent.");
    assert_eq!(texts(&seen), ["User likes tea.", "User lives in Ghent."]);
    assert!(seen.records.iter().all(|r| r.source.platform == "chatgpt" && r.times.created.is_some()));
}

#[test]
fn a_text_that_begins_with_a_bracket_is_not_json() {
    for (text, expected, version) in [
        (
            "[2025-04-01] Always use metric units.\n[2025-05-02] Lives in Ghent.",
            vec!["Always use metric units.", "Lives in Ghent."],
            "import_answer",
        ),
        (
            "[2025年4月1日] - 犬を飼っている。\n[不明] - 紅茶が好き。",
            vec!["犬を飼っている。", "紅茶が好き。"],
            "import_answer",
        ),
        ("[sconosciuto] - Ama il tè.", vec!["Ama il tè."], "plain"),
        (
            "[tuntematon] - Pitää teestä.\n[tuntematon] – Asuu Turussa.",
            vec!["Pitää teestä.", "Asuu Turussa."],
            "import_answer",
        ),
        ("[Sept 2025] Likes tea.", vec!["Likes tea."], "plain"),
        ("[2025] - Likes tea.", vec!["Likes tea."], "plain"),
        ("{name} likes tea.", vec!["{name} likes tea."], "plain"),
    ] {
        let (sources, seen) = paste(text);
        assert_eq!(sources.first().and_then(|s| s.claim.version.as_deref()), Some(version), "{text}");
        assert_eq!(texts(&seen), expected, "{text}");
    }
    for text in ["[]", "[1, 2]", "[[1], [2", r#"["a", "b"#, "[{\"a\":NaN}]", "{ \"a\": ", "{}", "[true,\n false]"] {
        assert!(paste(text).0.is_empty(), "{text}");
    }
    let (_, seen) = paste("[docs](https://example.org)\n[x] done\n[2025-04-01](2025-04-01.md)");
    assert_eq!(seen.records.len(), 1);
}

#[test]
fn a_line_is_a_heading_only_if_all_letters_are_capitals() {
    let (_, seen) = paste("ABC社で働いている。\n犬を飼っている。");
    assert_eq!(texts(&seen), vec!["ABC社で働いている。", "犬を飼っている。"]);
    let (_, seen) = paste("WORK\nIs a nurse.\nHas night shifts.");
    assert_eq!(texts(&seen), vec!["Is a nurse.", "Has night shifts."]);
    assert_eq!(seen.records[0].tags, vec!["WORK"]);
}

#[test]
fn a_missing_full_stop_does_not_merge_the_list() {
    let (sources, seen) = paste("Is allergic to sesame.\nHas a tortoise called Rui\nPrefers short answers.");
    assert_eq!(sources[0].claim.version.as_deref(), Some("memory_lines"));
    assert_eq!(texts(&seen), vec!["Is allergic to sesame.", "Has a tortoise called Rui", "Prefers short answers."]);
    let (_, seen) = paste("## Identity\nName: Ines\nLives in Ghent");
    assert_eq!(texts(&seen), vec!["Name: Ines", "Lives in Ghent"]);
    // A sentence that spans several lines is one entry, even under a heading.
    let (_, seen) = paste("# Bees\nI keep bees in the\ngarden behind the house\nand two hens.");
    assert_eq!(texts(&seen), vec!["I keep bees in the\ngarden behind the house\nand two hens."]);
    let (_, seen) = paste("Has a tortoise called\nlittle Rui.\nLikes tea.\nIs a nurse.");
    assert_eq!(texts(&seen), vec!["Has a tortoise called\nlittle Rui.", "Likes tea.", "Is a nurse."]);
}

mod written_texts {
    use super::*;
    use mementory_format::WriteOptions;
    use mementory_model::{Link, LossKind, RecordKey};

    fn source(records: Vec<Record>) -> MemorySource {
        MemorySource { records, ..MemorySource::default() }
    }

    fn memory(text: &str, kind: Option<&str>, created: Option<&str>) -> Record {
        let mut record = Record::new(Kind::Memory, RecordKey::new("test", text), text);
        record.record_type = kind.map(Into::into);
        record.times.created = created.and_then(Timestamp::parse);
        record
    }

    #[test]
    fn memories_are_written_under_headings_by_day() {
        let mut titled = memory("First line.\n\n- second\n[2024-01-01] third", Some("project"), None);
        titled.title = Some("Plan".into());
        let records = vec![
            memory("Prefers trains.", Some("preference"), Some("2025-03-02T10:00:00Z")),
            memory("Prefers tea.", Some("Preference"), Some("2025-03-01")),
            memory("Something else.", None, None),
            titled,
        ];
        let (text, report) = TransferText.text(&mut source(records)).unwrap();
        let wanted = "## Projects\n\n[unknown] - Plan\n  First line.\n  - second\n  [2024-01-01] third\n\n\
                      ## Preferences\n\n[2025-03-01] - Prefers tea.\n[2025-03-02] - Prefers trains.\n\n\
                      ## Other\n\n[unknown] - Something else.\n";
        assert_eq!(text, wanted);
        assert_eq!(report.by_kind["memory"], 4);
        assert_eq!(report.losses.count("times", LossKind::Narrowed), 1);
        assert_eq!(report.losses.count("text", LossKind::Narrowed), 1);
    }

    #[test]
    fn only_current_memories_are_written() {
        let changed = |with: fn(&mut Record)| {
            let mut record = memory("Left out.", None, None);
            with(&mut record);
            record
        };
        let records = vec![
            changed(|r| r.kind = Kind::Message),
            changed(|r| r.status = Some("superseded".into())),
            changed(|r| r.times.valid_to = Timestamp::parse("2025-01-01")),
            changed(|r| r.text = " \n".into()),
            changed(|r| drop(r.fields.insert("access".into(), serde_json::json!({"exportable": false})))),
            changed(|r| {
                r.kind = Kind::Fact;
                let target = RecordKey::new("test", "whole");
                r.links.push(Link { relation: "derived_from".into(), kind: Kind::Memory, target });
            }),
        ];
        let (text, report) = TransferText.text(&mut source(records.clone())).unwrap();
        assert_eq!(text, "");
        let reasons = ["no_longer_true", "no_text", "not_a_memory", "not_exportable", "said_elsewhere"];
        assert!(report.withheld.keys().eq(reasons), "{:?}", report.withheld);
        assert_eq!(report.withheld["no_longer_true"], 2);
        let out = tempfile::tempdir().unwrap();
        let refused = TransferText.write(&mut source(records), &out.path().join("x.md"), &WriteOptions::default());
        assert!(matches!(refused, Err(FormatError::Invalid { code: "nothing_to_write", .. })));
    }

    #[test]
    fn what_a_text_changes_or_leaves_out_is_reported() {
        let mut titled = memory("Rows.", Some("identity"), None);
        titled.title = Some("Sport".into());
        let mut ends_later = memory("Has a visa.", None, None);
        ends_later.times.valid_to = Timestamp::parse("2100-01-01");
        let records = vec![
            memory("One\rtwo\r\nthree", None, None),
            memory("  spaces  ", None, None),
            memory("first\n[2024-01-01] - second", None, None),
            titled,
            ends_later,
        ];
        let (text, report) = TransferText.text(&mut source(records)).unwrap();
        assert_eq!(report.losses.count("text", LossKind::Narrowed), 4);
        assert_eq!(report.losses.count("title", LossKind::Narrowed), 1);
        assert_eq!(report.losses.count("type", LossKind::LeftOut), 1);
        assert_eq!(report.losses.count("times", LossKind::Narrowed), 1);
        let (_, seen) = paste(&text);
        for words in ["One\ntwo\nthree", "spaces", "Sport: Rows.", "Has a visa."] {
            assert!(texts(&seen).contains(&words), "{words}: {text}");
        }
    }

    #[test]
    fn memories_without_letters_are_written_and_equal_ones_are_counted() {
        let mut again = memory("Prefers tea.", Some("preference"), Some("2025-03-01T18:00:00Z"));
        again.key = RecordKey::new("test", "again");
        let records = vec![
            memory("Prefers tea.", None, Some("2025-03-01")),
            again,
            memory("Prefers tea.", None, Some("2025-03-02")),
            memory("\u{1f44d}", None, None),
            memory(":-)\n\u{2014}", None, Some("2025-03-03")),
        ];
        let (text, report) = TransferText.text(&mut source(records)).unwrap();
        assert_eq!((report.by_kind["memory"], report.withheld["said_elsewhere"]), (4, 1));
        assert_eq!(report.losses.count("text", LossKind::Narrowed) + report.losses.count("text", LossKind::LeftOut), 0);
        let (_, seen) = paste(&text);
        let mut words = texts(&seen);
        words.sort_unstable();
        assert_eq!(words, [":-)\n\u{2014}", "Prefers tea.", "Prefers tea.", "\u{1f44d}"]);
        assert!(seen.dropped.is_empty());
        // Without a date such a line is an ornament.
        assert_eq!(texts(&paste("Likes tea.\nIs a nurse.\n***\n").1), ["Likes tea.", "Is a nurse."]);
    }

    #[test]
    fn a_written_text_is_read_back_with_the_same_texts_and_days() {
        let records = vec![
            memory("Lives in Bergen.", Some("identity"), Some("2024-05-06")),
            memory("Has two lines.\nThe second one.", Some("fact"), Some("2024-05-07")),
            memory("```\nlet x = 1;\n```", Some("skill"), Some("2024-05-08")),
            memory("[2020-01-01] - is a date", Some("other"), Some("2024-05-09")),
        ];
        let (text, report) = TransferText.text(&mut source(records)).unwrap();
        assert_eq!(
            report.losses.count("text", LossKind::Narrowed),
            1,
            "a fence that ends a code block gets a backslash"
        );
        let fence = text.lines().find(|line| line.trim().starts_with("```"));
        assert_eq!(fence, None, "readers that trim lines would read only the code");
        let (sources, seen) = paste(&text);
        assert_eq!(sources[0].claim.version.as_deref(), Some("import_answer"));
        let read_back: Vec<_> =
            seen.records.iter().map(|r| (r.text.as_str(), r.times.created.unwrap().to_rfc3339())).collect();
        let wanted = [
            ("Lives in Bergen.", "2024-05-06T00:00:00Z"),
            ("Has two lines.\nThe second one.", "2024-05-07T00:00:00Z"),
            ("```\nlet x = 1;\n\\```", "2024-05-08T00:00:00Z"),
            ("[2020-01-01] - is a date", "2024-05-09T00:00:00Z"),
        ];
        assert_eq!(read_back, wanted.map(|(text, time)| (text, time.to_owned())));
    }
}
