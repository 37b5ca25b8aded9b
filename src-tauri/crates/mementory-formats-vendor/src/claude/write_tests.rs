#![allow(clippy::unwrap_used)]
use super::Claude;
use crate::cases::{
    check_nothing_to_write, check_stripped, conversations, fixture, foreign_source, id_of, write_and_read,
};
use crate::chatgpt::ChatGpt;
use mementory_format::Catalog;
use mementory_format::testkit::{Scratch, write};
use mementory_formats_shared::testkit::cases_of;
use mementory_model::{Kind, Limits, Record, Times, Timestamp};

#[test]
fn records_from_claude_are_read_back_unchanged() {
    for (case, _) in cases_of(&Claude) {
        let case = case.file_name().unwrap().to_string_lossy().into_owned();
        let mut source = fixture(&Claude, &case);
        // An account without conversations and memories has no records, and so cannot be exported.
        if source.records.is_empty() {
            continue;
        }
        let written = write_and_read(&mut source, &Claude);
        let ids_with_losses = written.ids_with_losses();
        let (mut checked_count, mut missing_count) = (0, 0);
        for record in source.records.iter().filter(|r| !ids_with_losses.contains(id_of(r).as_str())) {
            let Some(reread) = written.found(record) else {
                missing_count += 1;
                continue;
            };
            let mut expected = Record { origin: reread.origin.clone(), ..record.clone() };
            if let (Some(part), Some(now)) = (&mut expected.message, &reread.message) {
                part.position = now.position;
            }
            assert_eq!(*reread, expected, "{case}");
            checked_count += 1;
        }
        assert_eq!(
            missing_count,
            written.report.withheld.values().sum::<u64>(),
            "{case}: {:?}",
            written.report.withheld
        );
        assert!(checked_count * 2 >= source.records.len(), "{case}: {:#?}", written.report.losses.items);
    }
}

#[test]
fn records_of_other_programs_are_restored_from_extension_slots() {
    let sources = ["content-types", "memories", "odd-values"].map(|case| fixture(&ChatGpt, case));
    for mut source in [foreign_source()].into_iter().chain(sources) {
        let written = write_and_read(&mut source, &Claude);
        let expected: Vec<&Record> = source
            .records
            .iter()
            .filter(|r| {
                matches!(r.kind, Kind::Conversation | Kind::Message | Kind::Memory | Kind::Profile | Kind::Fact)
            })
            .filter(|r| !matches!(r.kind, Kind::Memory | Kind::Profile | Kind::Fact) || !r.text.trim().is_empty())
            .collect();
        for record in &expected {
            assert_eq!(written.found(record), Some(*record));
        }
        assert_eq!(written.reread.records.len(), expected.len());
        let other_count = source.records.len() - expected.len();
        assert_eq!(written.report.withheld.values().sum::<u64>(), other_count as u64);
    }
}

#[test]
fn an_edited_message_is_written_with_its_new_text() {
    let mut source = fixture(&Claude, "export");
    let message = source.records.iter().find(|r| r.kind == Kind::Message && r.text.len() > 5).unwrap();
    let (key, before) = (message.key.value.clone(), message.text.clone());
    source.edit(&key, |record| record.text = "mine is [REDACTED:email]".into());
    let at = source.position(&key);
    let written = write_and_read(&mut source, &Claude);
    let reread = written.found(&source.records[at]).unwrap();
    assert_eq!(reread.text, "mine is [REDACTED:email]");
    assert!(!reread.verbatim.as_ref().unwrap().text.contains(&before));
}

#[test]
fn outdated_memories_and_credentials_are_withheld() {
    let mut source = foreign_source();
    let at = source.position("memory/1");
    source.records[at].status = Some("superseded".into());
    let withheld = write_and_read(&mut source, &Claude).report.withheld;
    assert_eq!(withheld["no_longer_true"], 1);
    assert_eq!(withheld["secret"], 1);
}

#[test]
fn an_export_without_records_is_refused() {
    check_nothing_to_write(&Claude);
}

#[test]
fn many_conversations_and_messages_without_a_conversation_are_written() {
    let mut source = conversations(150);
    assert_eq!(write_and_read(&mut source, &Claude).reread.records.len(), 450);
    source.records.retain(|r| r.kind == Kind::Message);
    let reread = write_and_read(&mut source, &Claude).reread;
    assert_eq!(reread.kinds(), source.kinds());
}

#[test]
fn messages_without_a_time_are_written_with_the_time_of_those_before_them() {
    let mut source = conversations(1);
    source.records[1].times.created = Timestamp::parse("2026-05-06T07:08:09Z");
    let written = write_and_read(&mut source, &Claude);
    let catalog = Catalog::open(std::slice::from_ref(&written.path), &Limits::default(), None).unwrap();
    let member = catalog.members().iter().find(|member| member.name == "conversations.json").unwrap();
    let list: serde_json::Value = serde_json::from_slice(&catalog.bytes(member, 1 << 20).unwrap()).unwrap();
    let messages = list[0]["chat_messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    for message in messages {
        assert_eq!(message["created_at"], "2026-05-06T07:08:09Z");
        assert_eq!(message["updated_at"], "2026-05-06T07:08:09Z");
    }
    assert_eq!(written.found(&source.records[2]), Some(&source.records[2]));
    assert!(written.report.losses.items.iter().all(|loss| loss.field != "times"), "{:?}", written.report.losses.items);
}

#[test]
fn nothing_names_the_source_when_identifiers_are_left_out() {
    check_stripped(&Claude);
}

#[test]
fn records_without_a_time_of_change_are_written_with_the_time_of_their_creation() {
    let mut source = fixture(&ChatGpt, "content-types");
    source.records.extend(foreign_source().records);
    for record in &mut source.records {
        record.times = Times { created: Timestamp::parse("2026-05-06T07:08:09Z"), ..Times::default() };
    }
    let scratch = Scratch::new("times");
    let out = scratch.at("out.zip");
    let report = write(&mut source, &out, &Claude);
    assert!(report.losses.items.iter().all(|loss| loss.field != "times"), "{:?}", report.losses.items);
    let catalog = Catalog::open(&[out], &Limits::default(), None).unwrap();
    for name in ["conversations.json", "memories.json"] {
        let member = catalog.members().iter().find(|member| member.name == name).unwrap();
        let text = String::from_utf8(catalog.bytes(member, 1_000_000).unwrap()).unwrap();
        assert!(text.contains("\"updated_at\":\"2026-05-06T07:08:09Z\""), "{text}");
        assert!(!text.contains("\"updated_at\":null"), "{text}");
    }
}
