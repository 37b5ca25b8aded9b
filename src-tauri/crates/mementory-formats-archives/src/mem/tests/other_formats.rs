//! Tests of round trips of other formats' records through a bundle.
use super::harness::{MemorySink, TempDir, now, read, repo, validate, vault_id, write};
use crate::mem::tombstones::{add_derived, wire_target};
use mementory_model::{
    AttachmentRef, Derived, Embedding, EntityRef, Kind, Link, LossKind, MessagePart, Origin, Record, RecordKey, Source,
    Times, Timestamp, Tombstone, TombstoneOp, Verbatim,
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

/// One record of every kind, with all fields that a record can have.
pub(super) fn records_of_every_kind() -> MemorySink {
    let mut sink = MemorySink::default();
    for kind in Kind::ALL {
        let mut bare = record(kind, &format!("bare-{}", kind.as_str()), "Short text.");
        bare.times = Times::default();
        sink.records.push(bare);
        let mut full_record =
            record(kind, &format!("full-{}", kind.as_str()), &"A long text, with ünïcödé. ".repeat(20));
        full_record.title = Some(format!("A title for {}", kind.as_str()));
        let time = |s: &str| Timestamp::parse(s);
        full_record.times = Times {
            created: time("2024-03-01T10:00:00.123456Z"),
            updated: time("2024-03-02T10:00:00Z"),
            observed: time("2024-02-28T23:59:59.999Z"),
            valid_from: time("2024-01-01T00:00:00Z"),
            valid_to: time("2030-01-01T00:00:00Z"),
            last_accessed: None,
        };
        full_record.record_type = Some("preference".into());
        full_record.status = Some("superseded".into());
        full_record.tags = vec!["b".into(), "a".into()];
        full_record.confidence = Some(1.0);
        full_record.importance = Some(0.25);
        full_record.sensitivity = Some("high".into());
        full_record.namespace = Some("space".into());
        full_record.entities = vec![EntityRef { name: "Ada".into(), entity_type: Some("person".into()), role: None }];
        full_record.links = vec![Link {
            relation: "derived_from".into(),
            kind: Kind::Memory,
            target: RecordKey::new("chatgpt", "full-memory"),
        }];
        full_record.embeddings = vec![Embedding { model: "m".into(), json: "[0.1, 2e-7]".into() }];
        full_record.attachments = vec![AttachmentRef {
            key: RecordKey::new("chatgpt", "file-1"),
            origin_id: None,
            name: "a.png".into(),
            media_type: Some("image/png".into()),
            size: Some(12),
            text: None,
        }];
        full_record.fields = serde_json::from_value(json!({"n": 1.0, "deep": {"list": [1, 2.5, null, "x"]}})).unwrap();
        full_record.verbatim = Some(Verbatim::json("{ \"b\" : 1.0, \"a\": \"\\u00e9\" }"));
        sink.records.push(full_record);
    }
    for record in &mut sink.records {
        if record.kind == Kind::Message {
            record.parent = Some(RecordKey::new("chatgpt", "full-conversation"));
            record.message = Some(MessagePart {
                role: "assistant".into(),
                parent: Some(RecordKey::new("chatgpt", "m0")),
                position: 3,
                hidden: false,
                active: true,
                model: Some("gpt".into()),
                content_type: "text".into(),
            });
        }
    }
    sink
}

#[test]
fn every_kind_round_trips_unchanged() {
    let sink = records_of_every_kind();
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    let report = write(&sink, &[], &out);
    let validation = validate(&out, &[]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    let reread = read(&out);
    assert_eq!(reread.records.len(), sink.records.len());
    for record in &sink.records {
        let read_back = reread.records.iter().find(|r| r.key == record.key).unwrap();
        assert_eq!(read_back, record, "{}", record.key.value);
    }
    assert!(reread.notes.is_empty(), "{:?}", reread.notes);
    assert!(report.losses.items.iter().any(|l| l.kind == LossKind::Narrowed && l.field == "times.created"));
    // Writing the records again yields the same bytes.
    let second_out = temp.join("again.mem");
    assert_eq!(write(&reread, &[], &second_out).digest, report.digest);
}

#[test]
fn messages_belong_to_their_conversation() {
    let sink = records_of_every_kind();
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    write(&sink, &[], &out);
    let episodes = std::fs::read_to_string(out.join("items/episode.jsonl")).unwrap();
    let context = format!("ctx_{}", vault_id(&RecordKey::new("chatgpt", "full-conversation")));
    let message = format!("\"id\":\"ep_{}\"", vault_id(&RecordKey::new("chatgpt", "full-message")));
    let line = episodes.lines().find(|l| l.contains(&message)).unwrap();
    assert!(line.contains("\"speaker\":\"assistant\""));
    assert!(line.contains(&format!("\"contextID\":\"{context}\"")), "{line}");
    // The member names are those of the reference SDK, so other programs find the conversation without our extension
    // slot.
    let adapter_metadata =
        "\"metadata\":{\"openai_conversation_id\":\"c1\",\"openai_model\":\"gpt\",\"openai_role\":\"assistant\"}";
    assert!(line.contains(adapter_metadata), "{line}");
    let contexts = std::fs::read_to_string(out.join("items/context.jsonl")).unwrap();
    assert!(contexts.contains(&context));
}

#[test]
fn changes_by_another_program_win_over_the_extension() {
    let sink = records_of_every_kind();
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    write(&sink, &[], &out);
    let path = out.join("items/episode.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let id = format!("\"id\":\"ep_{}\"", vault_id(&RecordKey::new("chatgpt", "bare-memory")));
    let changed_text: String = text
        .lines()
        .map(|l| {
            if l.contains(&id) {
                l.replace("\"details\":\"Short text.\"", "\"details\":\"Other text.\"")
            } else {
                l.into()
            }
        })
        .map(|l: String| l + "\n")
        .collect();
    assert_ne!(text, changed_text);
    let second_bundle = temp.join("second.mem");
    super::harness::bundle(&second_bundle, &[("items/episode.jsonl", &changed_text)]);
    let reread = read(&second_bundle);
    let record = reread.records.iter().find(|r| r.key.value == "bare-memory").unwrap();
    assert_eq!(record.text, "Other text.");
    assert_eq!(record.key.scope, "chatgpt");
    assert_eq!(record.origin.format, "mem");
    assert!(reread.notes.iter().any(|n| n.code == "changed_elsewhere"));
    // The next export writes the line exactly as the other program wrote it.
    let third_bundle = temp.join("third.mem");
    write(&reread, &[], &third_bundle);
    let line = std::fs::read_to_string(third_bundle.join("items/episode.jsonl")).unwrap();
    assert!(line.contains("Other text."));
}

pub(super) fn tombstone(scope: &str, kind: &str, target: &str) -> Tombstone {
    Tombstone {
        id: format!("tomb_{target}"),
        op: TombstoneOp::Delete,
        target_kind: kind.into(),
        target_id: target.into(),
        scope: scope.into(),
        at: now(),
        actor: "owner".into(),
        reason: String::new(),
        derived: Derived { fact_ids: vec!["ab".repeat(16)], ..Derived::default() },
        signature: None,
        verbatim: None,
    }
}

#[test]
fn our_tombstones_use_the_ids_of_our_bundles() {
    let mut sink = records_of_every_kind();
    let deleted_id = vault_id(&RecordKey::new("chatgpt", "bare-memory"));
    sink.tombstones = vec![tombstone("keepsake", "memory", &deleted_id), tombstone("mem", "memory", "ep_theirs")];
    sink.tombstones.push(sink.tombstones[0].clone());
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    write(&sink, &[], &out);
    let lines = std::fs::read_to_string(out.join("audit/tombstones.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2, "one line per tombstone id");
    assert!(lines.contains(&format!("\"targetID\":\"ep_{deleted_id}\",\"targetKind\":\"episode\"")), "{lines}");
    assert!(lines.contains("\"targetID\":\"ep_theirs\""));
    assert!(lines.contains(&format!("\"factIDs\":[\"fact_{}\"]", "ab".repeat(16))));
    for name in ["sentenceIDs", "edgeIDs", "entityIDs", "chunkIDs", "embeddingCacheKeys", "episodeLinkCount"] {
        assert!(lines.contains(name), "{name}");
    }
    // The same bundle still contains the deleted record, which is not imported.
    let reread = read(&out);
    assert!(reread.records.iter().all(|r| r.key.value != "bare-memory"));
    assert!(reread.dropped.iter().any(|d| d.reason.starts_with("tombstoned")));
    assert_eq!(reread.tombstones.len(), 2);
}

/// A tombstone of any record has a target that other programs can find, even if the kind has no id field.
#[test]
fn every_record_of_a_bundle_has_a_wire_target() {
    let bundle = repo().join("fixtures/mem/all-kinds/input.mem");
    let sink = read(&bundle);
    let mut derived = Derived::default();
    let mut bundle_id = std::collections::BTreeSet::new();
    for record in sink.records.iter().filter(|r| r.kind != Kind::Audit) {
        let (kind, id) = wire_target(record).unwrap();
        let path = bundle.join(format!("items/{kind}.jsonl"));
        let lines = std::fs::read_to_string(path).unwrap();
        let parts = id.split('|').all(|part| lines.contains(&format!("\"{part}\"")));
        assert!(parts || id.starts_with("line:"), "{kind} {id}");
        add_derived(&mut derived, record, "0");
        // A vault's tombstone for this record has the same target.
        let line = super::super::tombstones::to_line(&tombstone("mem", &kind, &id), 64);
        let tree: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((tree["targetKind"].as_str(), tree["targetID"].as_str()), (Some(kind.as_str()), Some(id.as_str())));
        bundle_id.insert(kind);
    }
    for kind in ["factLink", "episodeLink", "preference", "category", "context", "core", "acmeNote"] {
        assert!(bundle_id.contains(kind), "{kind}");
    }
    let count = |kind: &str| sink.records.iter().filter(|r| r.key.value.starts_with(&format!("{kind}/"))).count();
    assert_eq!(derived.fact_ids.len(), count("fact"));
    assert_eq!(derived.edge_ids.len(), count("edge"));
    assert_eq!(derived.episode_link_count as usize, count("episodeLink"));

    let foreign_record = Record::new(Kind::Memory, RecordKey::new("chatgpt", "memory/1"), "x");
    assert_eq!(wire_target(&foreign_record), None);
    let fact = Record::new(Kind::Fact, RecordKey::new("claude", "f"), "x");
    let mut derived = Derived::default();
    add_derived(&mut derived, &fact, &"ab".repeat(16));
    assert_eq!(derived.fact_ids, vec!["ab".repeat(16)]);
}
