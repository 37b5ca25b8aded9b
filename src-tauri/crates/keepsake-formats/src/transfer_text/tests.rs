#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
//! The shared samples by count, forms of our own by content.
use super::*;
use crate::{AttachmentFile, PassthroughItem, detect};
use keepsake_model::{Dropped, Issue, Kind, Record, Timestamp, Tombstone, Unit};
use std::{
    io::Read,
    path::{Path, PathBuf},
};

#[derive(Default)]
struct Seen {
    records: Vec<Record>,
    passthrough: Vec<(PassthroughItem, Vec<u8>)>,
    issues: Vec<Issue>,
    dropped: Vec<Dropped>,
}

impl Sink for Seen {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records);
        Ok(())
    }
    fn attachment(&mut self, _: AttachmentFile, _: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let mut out = Vec::new();
        bytes.read_to_end(&mut out).unwrap();
        self.passthrough.push((item, out));
        Ok(())
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, issue: Issue) {
        self.issues.push(issue);
    }
    fn dropped(&mut self, dropped: Dropped) {
        self.dropped.push(dropped);
    }
    fn progress(&mut self, _: u64) -> Result<(), FormatError> {
        Ok(())
    }
}

fn read_all(catalog: &Catalog, only: Option<&str>) -> (Vec<Detected>, Seen) {
    let limits = Limits::default();
    let sources = detect(catalog, &limits, only).unwrap().sources;
    let sources: Vec<_> = sources.into_iter().filter(|s| s.format == "transfer_text").collect();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap() };
    let mut seen = Seen::default();
    for source in &sources {
        TransferText.read(catalog, source, &context, &mut seen).unwrap();
    }
    (sources, seen)
}

fn paste(text: &str) -> (Vec<Detected>, Seen) {
    read_all(&Catalog::from_text(text, &Limits::default()), None)
}

fn texts(seen: &Seen) -> Vec<&str> {
    seen.records.iter().map(|r| r.text.as_str()).collect()
}

fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let shared = std::env::var_os("KEEPSAKE_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let there = shared.join("exports").is_dir();
    if !there {
        eprintln!("SKIPPED: the folder with sample exports is not there");
    }
    there.then_some(shared.join("exports"))
}

#[test]
fn sample_texts() {
    let Some(exports) = shared() else { return };
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
    assert_eq!(seen.passthrough.len(), 3);
    // The same texts, pasted.
    for name in ["claude-import-prompt-answer.md", "chatgpt-saved-memories.txt", "role-transcript.txt"] {
        let text = std::fs::read_to_string(exports.join("18-pasted-text").join(name)).unwrap();
        let (sources, pasted) = paste(&text);
        assert_eq!(sources.len(), 1, "{name}");
        assert!(pasted.records.iter().all(|r| seen.records.iter().any(|s| s.key == r.key)), "{name}");
    }
}

#[test]
fn nothing_else_is_claimed() {
    let Some(exports) = shared() else { return };
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
fn import_answers_as_models_write_them() {
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
    // printf '2025-04-01\nAlways use metric units.' | sha256sum
    assert_eq!(seen.records[0].origin_id.as_deref(), Some("tx_6490be233365d38ca45705fd"));
    assert_eq!(seen.records[1].origin_id.as_deref(), Some("tx_12caa27a5e26b87a4d2301df"));
    assert_eq!(seen.records[0].key.scope, "transfer_text");
}

#[test]
fn conversations_keep_their_turns_in_order() {
    let (sources, seen) = paste("## Prompt:\nWhat eats slugs?\n\n## Response:\nHedgehogs.\n\nAnd frogs.\n");
    assert_eq!(sources[0].claim.version.as_deref(), Some("transcript"));
    assert_eq!(texts(&seen), vec!["", "What eats slugs?", "Hedgehogs.\n\nAnd frogs."]);
    let part = seen.records[2].message.as_ref().unwrap();
    assert_eq!((part.role.as_str(), part.parent.as_ref()), ("assistant", Some(&seen.records[1].key)));
}

#[test]
fn a_plain_paste_is_taken_by_paragraph_and_a_lone_file_is_not() {
    let text = "I keep bees\nand hens\n\nMy sister is Rui";
    let (sources, seen) = paste(text);
    assert_eq!(sources[0].claim.version.as_deref(), Some("plain"));
    assert_eq!(texts(&seen), vec!["I keep bees\nand hens", "My sister is Rui"]);

    let dir = std::env::temp_dir().join(format!("keepsake-text-{}", std::process::id()));
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
fn json_and_binary_are_left_to_others() {
    assert!(paste(r#"{"a":1}"#).0.is_empty());
    assert!(paste(r#"[{"a":1}]"#).0.is_empty());
    assert!(decode(b"a\0b", true).is_none());
    assert_eq!(decode(b"caf\xe9", true).unwrap(), ("café".to_owned(), true));
    assert_eq!(decode(b"\xff\xfea\0", true).unwrap().0, "a");
}
