#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
//! Tests that the shared samples and generated exports are read completely, and tests details with small inputs.
use super::{
    artifacts,
    wire::{ElementPlace, Object, ReadResult},
    *,
};
use crate::detect;
use mementory_format::{PassthroughItem, testkit::MemorySource};
use mementory_model::{Dropped, Issue, Kind, Record, RecordKey, Timestamp};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

/// All records and passthrough files of an import. Records with the same kind and key are merged, as in the vault.
struct Import {
    records: BTreeMap<(Kind, String), Record>,
    passthrough: Vec<(PassthroughItem, String)>,
    issues: Vec<Issue>,
    dropped: Vec<Dropped>,
}

impl From<MemorySource> for Import {
    fn from(read: MemorySource) -> Self {
        let text = |(item, bytes)| (item, String::from_utf8(bytes).unwrap());
        Self {
            records: read.records.into_iter().map(|r| ((r.kind, r.key.value.clone()), r)).collect(),
            passthrough: read.parts.into_iter().map(text).collect(),
            issues: read.notes,
            dropped: read.dropped,
        }
    }
}

impl Import {
    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.records.values().filter(move |r| r.kind == kind)
    }
    fn count(&self, kind: Kind) -> u64 {
        self.of_kind(kind).count() as u64
    }
    fn attachments(&self) -> u64 {
        self.records
            .values()
            .flat_map(|r| r.attachments.iter().map(|a| a.key.value.clone()))
            .collect::<BTreeSet<_>>()
            .len() as u64
    }
    fn methods(&self) -> BTreeMap<String, u64> {
        let mut out = BTreeMap::new();
        for record in self.of_kind(Kind::Memory) {
            *out.entry(record.source.method.clone().unwrap()).or_default() += 1;
        }
        out
    }
}

fn shared_data_folder() -> Option<PathBuf> {
    mementory_format::testkit::shared("exports").and_then(|exports| Some(exports.parent()?.to_path_buf()))
}

fn import(path: &Path) -> (Detected, Import) {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let mut detection = detect(&catalog, &limits, None).unwrap();
    assert_eq!(detection.sources.len(), 1, "{:?}", detection.sources);
    let detected = detection.sources.remove(0);
    assert_eq!(detected.format, "claude");
    let mut seen = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    Claude.read(&catalog, &detected, &context, &mut seen).unwrap();
    let seen = Import::from(seen);
    (detected, seen)
}

fn sample(name: &str) -> Option<(Detected, Import, serde_json::Value)> {
    let shared = shared_data_folder()?;
    let text = std::fs::read_to_string(shared.join("exports/expected.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (detected, seen) = import(&shared.join("exports").join(name));
    Some((detected, seen, expected["samples"][name].clone()))
}

fn check_sample(name: &str, version: &str) -> Option<(Detected, Import)> {
    let (detected, seen, expected) = sample(name)?;
    let kinds: BTreeMap<String, u64> = serde_json::from_value(expected["memory_kinds"].clone()).unwrap();
    let project_count = seen.of_kind(Kind::Profile).filter(|r| r.record_type.as_deref() == Some("project")).count();
    let doc_count = seen.of_kind(Kind::Resource).filter(|r| r.record_type.as_deref() == Some("project_doc")).count();
    assert_eq!(detected.claim.version.as_deref(), Some(version));
    assert_eq!(expected["conversations"], seen.count(Kind::Conversation));
    assert_eq!(expected["messages"], seen.count(Kind::Message));
    assert_eq!(expected["memories"], seen.count(Kind::Memory));
    assert_eq!(kinds, seen.methods());
    assert_eq!(expected["projects"], project_count);
    assert_eq!(expected["project_docs"], doc_count);
    assert_eq!(expected["attachments_referenced"], seen.attachments());
    assert!(seen.dropped.iter().all(|d| d.reason.starts_with("duplicate")), "{:?}", seen.dropped);
    // The sample's `active_path` counts only messages on the branch of the last element in the array. The reader also
    // marks an answer to this element (one message), and the messages of conversations without parent links (two
    // messages).
    let active = seen.of_kind(Kind::Message).filter(|m| m.namespace.is_none() && m.message.as_ref().unwrap().active);
    assert_eq!(expected["active_path"].as_u64().unwrap() + 3, active.count() as u64);
    Some((detected, seen))
}

#[test]
fn flat_sample_is_read_completely() {
    let Some((_, seen)) = check_sample("05-claude-flat-2025.zip", "flat") else { return };
    let artifact = seen.of_kind(Kind::Resource).find(|r| r.record_type.as_deref() == Some("artifact")).unwrap();
    assert_eq!(artifact.text, "# Slugs\nBe kind. Use copper.");
    assert_eq!(artifact.fields["versions"].as_array().unwrap().len(), 2);
    assert_eq!(artifact.links.len(), 2);
    let blocks: Vec<String> = seen
        .of_kind(Kind::Message)
        .filter_map(|m| m.fields.get("blocks"))
        .flat_map(|b| b.as_array().unwrap().iter().map(|b| b["text"].as_str().unwrap().to_owned()))
        .collect();
    for words in ["They want kindness.", "高尾山 コース", "六号路", "plain string result", "me"] {
        assert!(blocks.iter().any(|b| b.contains(words)), "{words}");
    }
    let doc = seen.of_kind(Kind::Message).flat_map(|m| &m.attachments).find(|a| a.name == "brief.docx").unwrap();
    assert!(doc.text.as_deref().unwrap().contains("Audience"));
    assert!(seen.of_kind(Kind::Fact).any(|f| f.title.as_deref() == Some("Top of mind")));
    assert!(seen.passthrough.iter().any(|(i, _)| i.name == "users.json" && i.role == "sidecar"));
}

#[test]
fn an_answer_stored_before_its_prompt_is_placed_after_it() {
    let Some((_, seen, _)) = sample("05-claude-flat-2025.zip") else { return };
    let answer = seen.of_kind(Kind::Message).find(|m| m.text == "3 routes found.").unwrap();
    let prompt = seen.of_kind(Kind::Message).find(|m| m.text.contains("高尾山")).unwrap();
    let (answer, prompt_part) = (answer.message.as_ref().unwrap(), prompt.message.as_ref().unwrap());
    assert!(prompt_part.position < answer.position);
    assert_eq!(answer.parent.as_ref(), Some(&prompt.key));
    assert!(answer.active && prompt_part.active);
}

#[test]
fn batch_sample_is_read_completely() {
    let Some((detected, seen)) = check_sample("06-claude-batches-2026", "batch") else { return };
    assert!(detected.claim.missing_parts.is_empty());
    let chat = seen.of_kind(Kind::Conversation).find(|c| c.namespace.as_deref() == Some("design")).unwrap();
    assert_eq!(chat.title.as_deref(), Some("Seed packet"));
    assert_eq!(chat.source.platform, "claude");
    let file = seen.of_kind(Kind::Memory).find(|m| m.title.as_deref() == Some("/profile.md")).unwrap();
    assert_eq!(file.key.value, "memory/0f0e0d0c-0b0a-4908-8706-050403020100/file//profile.md");
}

#[test]
fn parts_sample_is_read_without_links() {
    let Some((detected, seen)) = check_sample("07-claude-parts-2026-09", "parts") else { return };
    assert_eq!(detected.claim.missing_parts, vec!["feedback-000.zip"]);
    let (_, manifest) = seen.passthrough.iter().find(|(i, _)| i.role == "manifest").unwrap();
    assert!(manifest.contains("[not kept]") && !manifest.contains("://"));
    assert!(manifest.contains("conversations-001.zip"));
}

#[test]
fn generated_exports_have_the_expected_counts() {
    let Some(shared) = shared_data_folder() else { return };
    let dir = std::env::temp_dir().join(format!("mementory-claude-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    for (layout, batches) in [("flat", 1), ("batch", 1), ("batch", 3), ("parts", 1), ("parts", 2)] {
        let is_single = layout == "flat" || (layout == "batch" && batches == 1);
        let out = dir.join(format!("{layout}-{batches}{}", if is_single { ".zip" } else { "" }));
        let truth = dir.join(format!("{layout}-{batches}.truth.json"));
        let generator = Command::new("python3")
            .arg(shared.join("exports/gen_exports.py"))
            .args(["claude", "--conversations", "250", "--mb", "3", "--layout", layout])
            .args(["--batches", &batches.to_string(), "--out"])
            .arg(&out)
            .arg("--truth")
            .arg(&truth)
            .output();
        if !generator.is_ok_and(|m| m.status.success()) {
            mementory_format::testkit::skipped("the generator cannot be run here");
            break;
        }
        let truth: serde_json::Value = serde_json::from_slice(&std::fs::read(&truth).unwrap()).unwrap();
        let (detected, seen) = import(&out);
        let name = format!("{layout} {batches}");
        // An archive with a single batch differs from the flat layout only in having one file for each project.
        assert_eq!(detected.claim.version.as_deref(), Some(layout), "{name}");
        assert_eq!(truth["conversations"], seen.count(Kind::Conversation), "{name}");
        assert_eq!(truth["messages"], seen.count(Kind::Message), "{name}");
        assert_eq!(truth["attachments_referenced"], seen.attachments(), "{name}");
        assert_eq!(truth["projects"], seen.count(Kind::Profile), "{name}");
        let active_count = seen.of_kind(Kind::Message).filter(|m| m.message.as_ref().unwrap().active).count();
        assert_eq!(truth["active_path"], active_count, "{name}");
        let memories: BTreeMap<String, u64> = serde_json::from_value(truth["memories"].clone()).unwrap();
        let memories: BTreeMap<_, _> = memories.into_iter().filter(|(_, n)| *n > 0).collect();
        assert_eq!(memories, seen.methods(), "{name}");
        assert!(seen.dropped.is_empty(), "{name}: {:?}", seen.dropped);
        for needle in truth["needles"].as_array().unwrap() {
            let key =
                format!("{}/{}", needle["conversation_id"].as_str().unwrap(), needle["message_id"].as_str().unwrap());
            let message = &seen.records[&(Kind::Message, key)];
            assert!(message.text.contains(needle["text"].as_str().unwrap()), "{name}");
        }
        let (_, second_import) = import(&out);
        assert!(second_import.records == seen.records, "{name}: a second reading differs");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

fn place() -> ElementPlace<'static> {
    ElementPlace { container: "conversations.json", pointer: "/0", version: Some("flat") }
}

fn conversation(messages: &str) -> ReadResult {
    let text = format!(r#"{{"uuid":"c","name":"n","chat_messages":[{messages}], "x" : 1.50}}"#);
    super::conversation::read(&text, &Object::parse(&text).unwrap(), &place()).unwrap()
}

fn message(uuid: &str, parent: &str, sender: &str, rest: &str) -> String {
    format!(
        r#"{{"uuid":"{uuid}","parent_message_uuid":{parent},"sender":"{sender}","created_at":"2026-01-01T00:00:00Z"{rest}}}"#
    )
}

fn part<'r>(result: &'r ReadResult, uuid: &str) -> &'r mementory_model::MessagePart {
    let key = RecordKey::new("claude", format!("c/{uuid}"));
    result.units[0].records.iter().find(|r| r.key == key).unwrap().message.as_ref().unwrap()
}

#[test]
fn the_verbatim_of_a_conversation_has_no_messages() {
    let result = conversation(r#"{"uuid":"a","sender":"human","text":"x","n":1.0e3}"#);
    let records = &result.units[0].records;
    assert_eq!(records[0].verbatim.as_ref().unwrap().text, r#"{"uuid":"c","name":"n","chat_messages":[], "x" : 1.50}"#);
    assert_eq!(records[1].verbatim.as_ref().unwrap().text, r#"{"uuid":"a","sender":"human","text":"x","n":1.0e3}"#);
    assert_eq!(records[1].origin.pointer, "/0/chat_messages/0");
}

#[test]
fn one_bad_message_does_not_affect_the_others() {
    let result =
        conversation(r#"{"uuid":"a","sender":"human","text":"x"}, 7, {"uuid":"b","sender":"assistant","text":"y"}"#);
    assert_eq!(result.units[0].records.len(), 3);
    assert_eq!(result.dropped.len(), 1);
    assert_eq!(result.dropped[0].place, "conversations.json#/0/chat_messages/1");
}

#[test]
fn messages_without_parents_follow_each_other_and_the_prompt_comes_first() {
    let result = conversation(
        r#"{"uuid":"a","sender":"assistant","created_at":"2024-01-01T00:00:00Z","text":"answer"},
           {"uuid":"b","sender":"human","created_at":"2024-01-01T00:00:00Z","text":"prompt"},
           {"uuid":"d","sender":"human","created_at":"2024-01-01T00:01:00Z","text":"more"}"#,
    );
    assert_eq!(part(&result, "b").parent, None);
    assert_eq!(part(&result, "a").parent.as_ref().unwrap().value, "c/b");
    assert_eq!(part(&result, "d").parent.as_ref().unwrap().value, "c/a");
    assert!(["a", "b", "d"].iter().all(|m| part(&result, m).active));
}

#[test]
fn cycles_and_missing_parents_are_reported() {
    let messages = [
        message("a", r#""b""#, "human", ""),
        message("b", r#""a""#, "assistant", ""),
        message("d", r#""d""#, "human", ""),
        message("e", r#""gone""#, "assistant", ""),
    ];
    let result = conversation(&messages.join(","));
    assert_eq!(result.units[0].records.len(), 5);
    assert_eq!(part(&result, "a").parent, None);
    assert_eq!(part(&result, "e").parent.as_ref().unwrap().value, "c/d");
    let codes: Vec<_> = result.issues.iter().map(|i| i.code.as_str()).collect();
    assert_eq!(codes, vec!["parent_missing", "cycle"]);
}

#[test]
fn a_chain_of_fifty_thousand_messages_does_not_overflow_the_stack() {
    let mut messages = vec![message("0", "null", "human", "")];
    messages.extend((1..50_000).map(|i| message(&i.to_string(), &format!("\"{}\"", i - 1), "assistant", "")));
    let result = conversation(&messages.join(","));
    assert!(part(&result, "49999").active && part(&result, "0").active);
}

#[test]
fn artifacts_follow_their_branch() {
    let call =
        |input: &str| format!(r#","content":[{{"type":"tool_use","name":"artifacts","input":{{"id":"d",{input}}}}}]"#);
    let messages = [
        message("r", "null", "human", ""),
        message("a", r#""r""#, "assistant", &call(r#""command":"create","title":"T","content":"one two""#)),
        message("b", r#""a""#, "assistant", &call(r#""command":"update","old_str":"two","new_str":"three""#)),
        message("e", r#""a""#, "assistant", &call(r#""command":"update","old_str":"two","new_str":"four""#)),
        message("f", r#""e""#, "assistant", &call(r#""command":"update","old_str":"not there","new_str":"x""#)),
    ];
    let result = conversation(&messages.join(","));
    let artifact = result.units[0].records.iter().find(|r| r.kind == Kind::Resource).unwrap();
    assert_eq!(artifact.text, "one four");
    let texts: Vec<_> =
        artifact.fields["versions"].as_array().unwrap().iter().map(|v| v["text"].as_str().unwrap()).collect();
    assert_eq!(texts, vec!["one two", "one three", "one four", "one four"]);
    assert!(result.issues.iter().any(|i| i.code == "artifact_update_not_applied"));
}

#[test]
fn old_artifact_tags_become_documents() {
    let text =
        r#"Here: <antArtifact identifier=\"p\" type=\"text/html\" title=\"Page\">\n<p>hi</p>\n</antArtifact> done"#;
    let result = conversation(&message("a", "null", "assistant", &format!(r#","text":"{text}""#)));
    let artifact = result.units[0].records.iter().find(|r| r.kind == Kind::Resource).unwrap();
    assert_eq!((artifact.text.as_str(), artifact.title.as_deref()), ("<p>hi</p>", Some("Page")));
    assert!(artifacts::find_tag_commands("<antArtifact identifier=\"x\"").is_empty());
}

#[test]
fn lone_surrogates_and_duplicate_ids_are_imported_and_reported() {
    let messages = [
        message("a", "null", "human", r#","text":"half \ud83d here""#),
        message("a", "null", "human", r#","text":"other""#),
    ];
    let result = conversation(&messages.join(","));
    assert_eq!(result.units[0].records[1].text, "half \u{fffd} here");
    assert!(result.units[0].records[1].verbatim.as_ref().unwrap().text.contains(r"\ud83d"));
    assert_eq!(result.units[0].records.len(), 3);
    let codes: BTreeSet<_> = result.issues.iter().map(|i| i.code.as_str()).collect();
    assert_eq!(codes, BTreeSet::from(["lone_surrogate", "duplicate_id"]));
}

#[test]
fn truncated_files_give_their_complete_entries_and_are_reported() {
    let whole = r#"[{"uuid":"c1","chat_messages":[{"uuid":"a","sender":"human","text":"x"}]},{"uuid":"c2","chat_messages":[{"uu"#;
    let limits = Limits::default();
    let catalog = Catalog::from_text(whole, &limits);
    let detection = detect(&catalog, &limits, None).unwrap();
    assert_eq!(detection.sources[0].format, "claude");
    let mut seen = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    Claude.read(&catalog, &detection.sources[0], &context, &mut seen).unwrap();
    let seen = Import::from(seen);
    assert_eq!((seen.count(Kind::Conversation), seen.count(Kind::Message)), (1, 1));
    assert_eq!(seen.dropped.len(), 1);
    assert!(seen.dropped[0].reason.contains(&format!("byte {}", whole.len())), "{}", seen.dropped[0].reason);
}

#[test]
fn a_newer_memory_document_has_the_same_key() {
    let read = |words: &str| {
        let text = format!(r#"{{"conversations_memory":"{words}","account_uuid":"acc","new_key":1}}"#);
        super::memory::read(&text, &Object::parse(&text).unwrap(), None, &place()).unwrap()
    };
    let ((old, rest), (new, _)) = (read("**Work**\\n\\nNurse. Nights."), read("**Work**\\n\\nNurse. Days."));
    assert_eq!(rest.as_deref(), Some(r#"{"new_key":1}"#));
    let (old, new) = (&old.units[0].records, &new.units[0].records);
    assert_eq!(old[0].key.value, "memory/acc/conversations");
    assert_eq!(old[0].key, new[0].key);
    assert_eq!(old[1].key, new[1].key);
    assert_ne!(old[2].key, new[2].key);
}

#[test]
fn near_json_is_repaired_and_other_values_are_dropped() {
    let text = "[{\"uuid\":\"c\",\"score\":NaN,\"chat_messages\":[{\"uuid\":\"a\",\"sender\":\"human\",\"text\":\"x\ty\"}]}, 7, null]";
    let limits = Limits::default();
    let catalog = Catalog::from_text(text, &limits);
    let detection = detect(&catalog, &limits, Some("claude")).unwrap();
    let mut seen = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    Claude.read(&catalog, &detection.sources[0], &context, &mut seen).unwrap();
    let seen = Import::from(seen);
    assert_eq!(seen.of_kind(Kind::Message).map(|m| m.text.as_str()).collect::<Vec<_>>(), vec!["x\ty"]);
    let codes: Vec<_> = seen.issues.iter().map(|i| i.code.as_str()).collect();
    assert_eq!(codes, vec!["nan", "control_character"]);
    assert_eq!(seen.dropped.iter().filter(|d| d.reason.starts_with("not_an_object")).count(), 2);
}
