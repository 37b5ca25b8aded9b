//! Tests of round trips of other formats' records through a bundle.
use super::harness::{MemorySource, Scratch, TestKey, copy_for_interop, empty, read, validate, write};
use mementory_model::{
    AttachmentRef, Embedding, EntityRef, Kind, Link, LossKind, MessagePart, Origin, Record, RecordKey, Source, Times,
    Timestamp, Verbatim,
};
use serde_json::json;

fn record(kind: Kind, id: &str, text: &str) -> Record {
    let mut record = Record::new(kind, RecordKey::new("chatgpt", id), text);
    record.origin_id = Some(id.into());
    record.origin =
        Origin { format: "chatgpt".into(), version: None, container: "export.zip".into(), pointer: format!("/{id}") };
    record.source = Source { platform: "chatgpt".into(), conversation: Some("c1".into()), ..Source::default() };
    record
}

/// Two records of every kind: one without optional fields, and one with every field that a record of the kind can have.
pub(super) fn records_of_every_kind() -> MemorySource {
    let mut memory = empty();
    for kind in Kind::ALL {
        let mut bare = Record::new(kind, RecordKey::new("hand", format!("bare-{}", kind.as_str())), "");
        bare.origin_id = None;
        memory.records.push(bare);
        let mut full = record(kind, &format!("full-{}", kind.as_str()), "A text, with ünïcödé, \u{2028} and 🎻.");
        full.title = Some(format!("A title for {}", kind.as_str()));
        let time = |s: &str| Timestamp::parse(s);
        full.times = Times {
            created: time("2024-03-01T10:00:00.123456Z"),
            updated: time("2024-03-02T10:00:00Z"),
            observed: time("2024-02-28T23:59:59.999Z"),
            valid_from: time("2024-01-01T00:00:00Z"),
            valid_to: time("2030-01-01T00:00:00Z"),
            last_accessed: time("2024-04-01T00:00:00Z"),
        };
        full.record_type = Some("preference".into());
        full.status = Some("superseded".into());
        full.tags = vec!["b".into(), "a".into()];
        full.confidence = Some(1.0);
        full.importance = Some(0.25);
        full.sensitivity = Some("high".into());
        full.namespace = Some("space".into());
        full.entities = vec![EntityRef { name: "Ada".into(), entity_type: Some("person".into()), role: None }];
        let to = |kind: Kind, id: &str| Link { relation: "about".into(), kind, target: RecordKey::new("chatgpt", id) };
        full.links =
            vec![to(Kind::Memory, "full-memory"), to(Kind::Entity, "full-entity"), to(Kind::Entity, "full-entity")];
        full.embeddings = vec![Embedding { model: "m".into(), json: "[0.1, 2e-7]".into() }];
        full.attachments = vec![AttachmentRef {
            key: RecordKey::new("chatgpt", "file-1"),
            origin_id: None,
            name: "a.png".into(),
            media_type: Some("image/png".into()),
            size: Some(12),
            text: None,
        }];
        full.fields = serde_json::from_value(json!({"n": 1.0, "e": 1e-7, "deep": {"l": [1, 2.5, null, "x"]}})).unwrap();
        full.verbatim = Some(Verbatim::json("{ \"b\" : 1.0, \"a\": \"\\u00e9\" }"));
        full.repeats = kind == Kind::Memory;
        memory.records.push(full);
    }
    for record in &mut memory.records {
        if record.kind == Kind::Message {
            record.parent = Some(RecordKey::new("chatgpt", "full-conversation"));
            record.message = Some(MessagePart {
                role: "assistant".into(),
                parent: Some(RecordKey::new("chatgpt", "m0")),
                position: 3,
                active: true,
                content_type: "text".into(),
                ..MessagePart::default()
            });
        }
    }
    memory
}

#[test]
fn every_kind_round_trips_unchanged() {
    for key in [None, Some(TestKey::BOTH[0])] {
        let mut memory = records_of_every_kind();
        let temp = Scratch::new("zaxy");
        let out = temp.at("out.json");
        let report = write(&mut memory, &out, key);
        let found = validate(&out).unwrap();
        assert!(found.errors.is_empty(), "{:?}", found.errors);
        assert!(found.warnings.iter().all(|w| w.code == "experimental_signature"), "{:?}", found.warnings);
        assert_eq!(found.records as usize, memory.records.len());
        let mut reread = read(&out);
        assert_eq!(reread.records.len(), memory.records.len());
        for record in &memory.records {
            let found = reread.records.iter().find(|r| r.key == record.key).unwrap();
            assert_eq!(serde_json::to_value(found).unwrap(), serde_json::to_value(record).unwrap());
        }
        assert!(reread.notes.iter().all(|n| n.code == "experimental_signature"), "{:?}", reread.notes);
        assert_eq!(report.losses.count("bytes", LossKind::LeftOut), 0, "their bytes were never there");
        assert!(report.losses.count("embeddings", LossKind::MovedToExtension) >= 15);
        assert_eq!(report.losses.count("title", LossKind::MovedToExtension), 1, "the relation's");
        // Writing the records again yields the same entries, so that even the signature stays valid.
        let second_out = temp.at("again.json");
        let second = write(&mut reread, &second_out, None);
        assert_eq!(second.by_kind, report.by_kind);
        if key.is_none() {
            copy_for_interop(&out, "unsigned.json");
        }
    }
}

#[test]
fn a_bare_memory_loses_nothing() {
    let mut plain = Record::new(Kind::Memory, RecordKey::new("hand", "1"), "Drinks no coffee after noon.");
    plain.times.created = Timestamp::parse("2026-01-01T00:00:00Z");
    plain.tags = vec!["coffee".into()];
    plain.source.platform = "me".into();
    let mut memory = MemorySource { records: vec![plain], ..empty() };
    let temp = Scratch::new("zaxy");
    let out = temp.at("out.json");
    let report = write(&mut memory, &out, None);
    assert!(report.losses.counts.is_empty(), "{:?}", report.losses);
    let bundle: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    let entry = &bundle["entries"][0];
    assert_eq!((entry["kind"].as_str(), entry["seq"].as_u64()), (Some("memory.recorded"), Some(1)));
    assert_eq!(entry["valid_from"], "2026-01-01T00:00:00Z");
    assert_eq!(bundle["session_id"], "mementory-0191b2c3-0000");
    let payload = &entry["content"]["payload"];
    assert_eq!(
        (payload["text"].as_str(), payload["tags"][0].as_str()),
        (Some("Drinks no coffee after noon."), Some("coffee"))
    );
}

#[test]
fn changes_by_another_program_win_over_the_extension() {
    let mut memory = records_of_every_kind();
    let temp = Scratch::new("zaxy");
    let out = temp.at("out.json");
    write(&mut memory, &out, None);
    let text = std::fs::read_to_string(&out).unwrap();
    let mut bundle: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entries = bundle["entries"].as_array_mut().unwrap();
    let entry = entries
        .iter_mut()
        .find(|e| e["kind"] == "memory.recorded" && e["content"]["payload"]["title"].is_string())
        .unwrap();
    entry["content"]["payload"]["text"] = "Other text.".into();
    entry["seq"] = 4000.into();
    std::fs::write(&out, bundle.to_string()).unwrap();
    let mut reread = read(&out);
    let record = reread.records.iter().find(|r| r.key.value == "full-memory").unwrap();
    assert_eq!((record.text.as_str(), record.origin.format.as_str()), ("Other text.", "zaxy"));
    assert_eq!((record.key.scope.as_str(), record.embeddings.len()), ("chatgpt", 1));
    assert!(reread.notes.iter().any(|n| n.code == "changed_elsewhere"));
    let second_out = temp.at("again.json");
    write(&mut reread, &second_out, None);
    assert!(std::fs::read_to_string(&second_out).unwrap().contains("Other text."));
    // After an edit of the changed record in the vault, the entry is composed again and still yields the same record.
    let at = reread.records.iter().position(|r| r.key.value == "full-memory").unwrap();
    reread.records[at].text = "Third text.".into();
    reread.edited.insert(at);
    let third = temp.at("third.json");
    write(&mut reread, &third, None);
    let record = read(&third).records.into_iter().find(|r| r.key.value == "full-memory").unwrap();
    assert_eq!((record.text.as_str(), record.embeddings.len()), ("Third text.", 1));
    assert!(!std::fs::read_to_string(&third).unwrap().contains("\"text\": \"Other text.\""));
}
