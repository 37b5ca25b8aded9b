#![allow(clippy::unwrap_used)]
use super::{ChatGpt, group_chat};
use crate::cases::{
    check_nothing_to_write, check_stripped, conversations, fixture, foreign_source, id_of, write_and_read,
};
use crate::claude::Claude;
use mementory_format::Catalog;
use mementory_format::testkit::MemorySource;
use mementory_formats_shared::testkit::cases_of;
use mementory_model::{Kind, Limits, MessagePart, Record, RecordKey};

fn members(path: &std::path::Path) -> Vec<String> {
    let catalog = Catalog::open(&[path.to_path_buf()], &Limits::default(), None).unwrap();
    catalog.members().iter().map(|m| m.name.clone()).collect()
}

#[test]
fn records_from_chatgpt_are_read_back_unchanged() {
    for (case, _) in cases_of(&ChatGpt) {
        let case = case.file_name().unwrap().to_string_lossy().into_owned();
        let mut source = fixture(&ChatGpt, &case);
        let written = write_and_read(&mut source, &ChatGpt);
        let ids_with_losses = written.ids_with_losses();
        let mut checked_count = 0;
        for record in source.records.iter().filter(|r| !ids_with_losses.contains(id_of(r).as_str())) {
            // The source contains the same memory several times, so several records have its key.
            let is_same = |reread: &&Record| {
                let mut expected = Record { origin: reread.origin.clone(), ..record.clone() };
                if let (Some(part), Some(now)) = (&mut expected.message, &reread.message) {
                    part.position = now.position;
                }
                // A saved page, whose verbatim is HTML, is written as JSON, and the list of a group chat is written as
                // a tree. So their verbatim texts differ.
                let is_html =
                    expected.verbatim.as_ref().is_none_or(|verbatim| verbatim.media_type != "application/json");
                if is_html || group_chat::is_group_chat_record(record) {
                    expected.verbatim.clone_from(&reread.verbatim);
                }
                **reread == expected
            };
            let read_back = written.reread.records.iter().find(is_same);
            assert!(read_back.is_some(), "{case}: {record:#?}\nis now\n{:#?}", written.found(record));
            checked_count += 1;
        }
        assert!(
            checked_count + 1 >= source.records.len(),
            "{case}: {checked_count} {:#?}",
            written.report.losses.counts
        );
        assert!(written.report.withheld.is_empty(), "{case}");
        assert_eq!(written.reread.kinds(), source.kinds(), "{case}");
    }
}

#[test]
fn records_of_other_programs_are_restored_from_extension_slots() {
    for mut source in [foreign_source(), fixture(&Claude, "export")] {
        let written = write_and_read(&mut source, &ChatGpt);
        let conversations: Vec<Record> =
            source.records.iter().filter(|r| matches!(r.kind, Kind::Conversation | Kind::Message)).cloned().collect();
        assert!(!conversations.is_empty());
        for record in &conversations {
            assert_eq!(written.found(record), Some(record));
        }
        assert_eq!(written.reread.records.len(), conversations.len());
        let other_count = source.records.len() - conversations.len();
        assert_eq!(written.report.withheld.values().sum::<u64>(), other_count as u64);
        let files: Vec<_> = written.reread.files.iter().map(|(file, bytes)| (&file.key, &file.name, bytes)).collect();
        let stored: Vec<_> = source.files.iter().map(|(file, bytes)| (&file.key, &file.name, bytes)).collect();
        assert_eq!(files, stored);
    }
}

#[test]
fn an_edited_message_is_written_with_its_new_text() {
    let mut source = fixture(&ChatGpt, "content-types");
    let at = source.records.iter().position(|r| r.kind == Kind::Message && !r.text.is_empty()).unwrap();
    let key = source.records[at].key.value.clone();
    let before = source.records[at].text.clone();
    source.edit(&key, |record| record.text = "mine is [REDACTED:email]".into());
    let written = write_and_read(&mut source, &ChatGpt);
    let reread = written.found(&source.records[at]).unwrap();
    assert_eq!(reread.text, "mine is [REDACTED:email]");
    assert!(!reread.verbatim.as_ref().unwrap().text.contains(&before));
    assert_eq!(reread.message, source.records[at].message);
}

#[test]
fn conversations_are_in_parts_of_a_hundred() {
    let written = write_and_read(&mut conversations(250), &ChatGpt);
    let names = members(&written.path);
    for part in ["conversations-000.json", "conversations-001.json", "conversations-002.json"] {
        assert!(names.iter().any(|name| name == part), "{names:?}");
    }
    assert!(!names.iter().any(|name| name == "conversations-003.json"));
    assert_eq!(written.reread.kinds()["conversation"], 250);
    assert_eq!(written.reread.kinds()["message"], 500);
    assert!(members(&write_and_read(&mut conversations(2), &ChatGpt).path).contains(&"conversations.json".to_owned()));
}

#[test]
fn an_export_without_records_is_refused() {
    check_nothing_to_write(&ChatGpt);
}

#[test]
fn a_message_without_its_conversation_is_written_alone() {
    let mut source = conversations(1);
    source.records.remove(0);
    let written = write_and_read(&mut source, &ChatGpt);
    assert_eq!(written.reread.records, source.records);
    let mut alone = Record::new(Kind::Message, RecordKey::new("x", "1"), "alone");
    alone.message =
        Some(MessagePart { role: "user".into(), active: true, content_type: "text".into(), ..Default::default() });
    let mut source = MemorySource { records: vec![alone.clone()], ..MemorySource::default() };
    assert_eq!(write_and_read(&mut source, &ChatGpt).reread.records, [alone]);
}

/// Returns the conversations in a written export.
fn written_conversations(path: &std::path::Path) -> Vec<serde_json::Value> {
    let catalog = Catalog::open(&[path.to_path_buf()], &Limits::default(), None).unwrap();
    let member = catalog.members().iter().find(|m| m.name.ends_with("conversations.json")).unwrap();
    serde_json::from_slice(&catalog.bytes(member, 1 << 20).unwrap()).unwrap()
}

#[test]
fn a_conversation_without_messages_has_its_current_node() {
    let mut sources = [fixture(&ChatGpt, "content-types"), conversations(1)];
    for source in &mut sources {
        source.records.retain(|r| r.kind == Kind::Conversation);
        let list = written_conversations(&write_and_read(source, &ChatGpt).path);
        assert_eq!(list.len(), source.records.len());
        for conversation in list {
            let node = &conversation["mapping"][conversation["current_node"].as_str().unwrap()];
            assert!(node.is_object() && node["message"].is_null(), "{conversation}");
        }
    }
}

#[test]
fn conversations_without_times_have_what_importers_need() {
    for mut source in [fixture(&ChatGpt, "odd-values"), fixture(&ChatGpt, "links"), conversations(1)] {
        let list = written_conversations(&write_and_read(&mut source, &ChatGpt).path);
        let list: Vec<_> = list.iter().filter(|conversation| conversation["mapping"].is_object()).collect();
        assert!(!list.is_empty());
        for conversation in list {
            for member in ["create_time", "update_time", "conversation_id"] {
                assert!(!conversation[member].is_null(), "{member}: {conversation}");
            }
        }
    }
    let mut source = conversations(1);
    let list = written_conversations(&write_and_read(&mut source, &ChatGpt).path);
    let nodes = list[0]["mapping"].as_object().unwrap().values();
    let times: Vec<_> =
        nodes.filter(|node| node["message"].is_object()).map(|n| &n["message"]["create_time"]).collect();
    assert!(times.len() == 2 && times.iter().all(|time| time.is_number()), "{times:?}");
}

#[test]
fn a_branch_whose_last_messages_are_not_exported_still_has_its_end() {
    for removed in [&["a"][..], &["a", "out"]] {
        let mut source = fixture(&ChatGpt, "tool-outputs");
        let is_removed = |r: &Record| removed.iter().any(|id| r.key.value.ends_with(&format!("/{id}")));
        let before = source.records.len();
        source.records.retain(|r| !is_removed(r));
        assert_eq!(source.records.len(), before - removed.len());
        let written = write_and_read(&mut source, &ChatGpt);
        let conversation = &written_conversations(&written.path)[0];
        let mapping = conversation["mapping"].as_object().unwrap();
        assert!(mapping[conversation["current_node"].as_str().unwrap()]["message"].is_null());
        for child in mapping.values().flat_map(|node| node["children"].as_array().unwrap()) {
            assert!(mapping.contains_key(child.as_str().unwrap()), "{child} of {conversation}");
        }
        for record in source.records.iter().filter(|r| r.kind == Kind::Message) {
            let is_active = |record: &Record| record.message.as_ref().unwrap().active;
            assert_eq!(is_active(written.found(record).unwrap()), is_active(record));
        }
    }
}

#[test]
fn nothing_names_the_source_when_identifiers_are_left_out() {
    check_stripped(&ChatGpt);
}

#[test]
fn memories_are_withheld_unless_their_message_is_written() {
    let mut source = fixture(&ChatGpt, "memories");
    let memory_count = source.kinds()["memory"];
    assert_eq!(write_and_read(&mut source, &ChatGpt).report.by_kind["memory"], memory_count);
    source.records.retain(|r| r.kind != Kind::Message);
    let report = write_and_read(&mut source, &ChatGpt).report;
    assert_eq!((report.withheld["not_a_conversation"], report.by_kind.get("memory")), (memory_count, None));
}
