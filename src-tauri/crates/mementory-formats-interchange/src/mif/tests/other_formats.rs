//! Tests that records of other formats survive a round trip through MIF in every version and encoding.
use super::super::testing::*;
use mementory_format::WriteOptions;
use mementory_model::{
    AttachmentRef, Embedding, EntityRef, Kind, Link, LossKind, MessagePart, Origin, Record, RecordKey, Timestamp,
    Verbatim,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn record(kind: Kind, id: &str, text: &str) -> Record {
    let mut record = Record::new(kind, RecordKey::new("elsewhere", id), text);
    record.origin_id = Some(id.into());
    record.origin = Origin {
        format: "mem".into(),
        version: Some("1.1.0".into()),
        container: "b".into(),
        pointer: format!("x:{id}"),
    };
    record.source.platform = "chatgpt".into();
    record.times.created = Timestamp::parse("2026-01-02T03:04:05.123456Z");
    record.verbatim = Some(Verbatim::json(format!(r#"{{"id":"{id}","n":1.50e3,"s":"\u00e4\\"}}"#)));
    record
}

/// Records of every kind, with every field that a record of the kind can have.
fn vault() -> MemorySource {
    let mut memory = record(Kind::Memory, "m1", "Likes \"tea\"\n\twith milk \u{85}\u{2028}\u{feff}\u{7f} 🌱");
    memory.title = Some("Tea".into());
    memory.record_type = Some("preference".into());
    memory.status = Some("superseded".into());
    memory.tags = vec!["drink".into(), "no".into(), "2024".into()];
    memory.importance = Some(0.1 + 0.2);
    memory.confidence = Some(1.0);
    memory.sensitivity = Some("high".into());
    memory.namespace = Some("home".into());
    memory.times.updated = Timestamp::parse("2026-01-03T00:00:00Z");
    memory.times.valid_to = Timestamp::parse("9999-12-31T23:59:59Z");
    memory.source.account = Some("acc-1".into());
    memory.source.conversation = Some("conv-1".into());
    memory.entities = vec![EntityRef { name: "Tea".into(), entity_type: None, role: Some("object".into()) }];
    memory.embeddings = vec![
        Embedding { model: "own".into(), json: r#"{"model":"own","dimensions":1,"vector":[0]}"#.into() },
        Embedding { model: "voyage-3".into(), json: r#"{"model":"voyage-3","dimensions":2,"vector":[1e-7,2]}"#.into() },
        Embedding { model: "odd".into(), json: r#"{"v":"AAA="}"#.into() },
    ];
    memory.fields =
        json!({"a": {"b": [1, 2.5, 1e300, null, "x"]}, "id": 5, "big": u64::MAX}).as_object().unwrap().clone();
    memory.links.push(Link {
        relation: "derived_from".into(),
        kind: Kind::Message,
        target: RecordKey::new("elsewhere", "msg"),
    });
    let mut conversation = record(Kind::Conversation, "conv", "");
    conversation.title = Some("A talk".into());
    let mut message = record(Kind::Message, "msg", "Tea, please");
    message.parent = Some(conversation.key.clone());
    message.message = Some(MessagePart { role: "user".into(), position: 3, active: true, ..MessagePart::default() });
    let mut empty = record(Kind::Foreign, "f1", "");
    empty.times.created = None;
    empty.verbatim = Some(Verbatim { media_type: "text/plain".into(), text: "---\nraw: 1\n...".into() });
    let mut todo = record(Kind::Todo, "t1", "Buy tea");
    todo.status = Some("completed".into());
    todo.fields = json!({"priority": "high", "notes": 5}).as_object().unwrap().clone();
    let mut tea = record(Kind::Entity, "e1", "A drink");
    tea.title = Some("Tea".into());
    tea.record_type = Some("drink".into());
    let mut tea_again = record(Kind::Entity, "e2", "A town");
    tea_again.title = Some("Tea".into());
    let mut relation = record(Kind::Relation, "r1", "one in the other");
    relation.record_type = Some("located_in".into());
    relation.links = [&tea, &tea_again]
        .into_iter()
        .map(|e| Link { relation: "end".into(), kind: Kind::Entity, target: e.key.clone() })
        .collect();
    let mut dangling_relation = record(Kind::Relation, "r2", "ends that are not there");
    dangling_relation.links =
        vec![Link { relation: "end".into(), kind: Kind::Entity, target: RecordKey::new("elsewhere", "nobody") }];
    let mut file = record(Kind::Attachment, "a1", "");
    file.title = Some("tea.png".into());
    file.attachments = vec![AttachmentRef {
        key: file.key.clone(),
        origin_id: None,
        name: "tea.png".into(),
        media_type: Some("image/png".into()),
        size: Some(7),
        text: None,
    }];
    let long = record(Kind::Memory, "long", &"ä".repeat(100_001));
    let plain =
        [Kind::Profile, Kind::Fact, Kind::Resource, Kind::Chunk, Kind::Procedure, Kind::Credential, Kind::Audit]
            .map(|kind| record(kind, &format!("p-{}", kind.as_str()), &format!("A {}", kind.as_str())));
    let mut records =
        vec![memory, conversation, message, empty, todo, tea, tea_again, relation, dangling_relation, file, long];
    records.extend(plain);
    MemorySource { records, ..MemorySource::default() }
}

fn sorted(store: &MemorySource) -> Vec<Value> {
    let mut out: Vec<Value> = store.records.iter().map(|r| serde_json::to_value(r).unwrap()).collect();
    out.sort_by_key(|r| r["key"]["value"].to_string());
    out
}

#[test]
fn every_kind_round_trips_unchanged() {
    let mut store = vault();
    let temp = Scratch::new("carry");
    for version in ["1.0", "2.0"] {
        let mut trees = Vec::new();
        for encoding in ["json", "yaml", "jsonl"] {
            let out = temp.0.join(format!("{version}.mif.{encoding}"));
            let report = write(&mut store, &out, &options(encoding, Some(version)));
            assert_eq!(report.by_kind.values().sum::<u64>(), store.records.len() as u64);
            trees.push(match encoding {
                "json" => value(&out),
                "yaml" => yaml_value(&out),
                _ => lines_value(&out),
            });
            let validation = validate(&out);
            assert!(validation.errors.is_empty(), "{version} {encoding}: {:?}", validation.errors);
            assert!(validation.warnings.is_empty(), "{:?}", validation.warnings);
            assert_eq!(detected(&out, false).unwrap().0, "mif");
            let reread = read(&out).unwrap();
            assert_eq!(sorted(&reread), sorted(&store), "{version} {encoding}");
            assert!(reread.parts.is_empty() && reread.dropped.is_empty());
            assert_eq!(report.losses.count("kind", LossKind::Narrowed), 12);
        }
        assert_eq!(trees[0], trees[1], "JSON and YAML hold the same tree");
        assert_eq!(trees[0], trees[2], "JSON and JSON lines hold the same tree");
    }
}

#[test]
fn json_lines_with_a_long_header_are_detected() {
    let mut store = vault();
    store.records.extend((0..1500).map(|n| {
        let mut entity = record(Kind::Entity, &format!("e-{n}"), "A thing with a name that takes its room");
        entity.title = Some(format!("A thing with a name that takes its room, number {n}"));
        entity
    }));
    let temp = Scratch::new("long-header");
    for (name, passphrase) in
        [("plain", None), ("sealed", Some(Arc::new(FakeCipher("tea")) as Arc<dyn mementory_format::Passphrase>))]
    {
        let out = temp.0.join(format!("{name}.jsonl"));
        let options = WriteOptions { passphrase: passphrase.clone(), ..options("jsonl", Some("1.0")) };
        write(&mut store, &out, &options);
        assert_eq!(detected(&out, false).unwrap().0, "mif", "{name}");
        assert!(validate(&out).errors.is_empty(), "{name}: {:?}", validate(&out).errors);
        let reread = read_with(&out, passphrase).unwrap();
        assert_eq!(sorted(&reread), sorted(&store), "{name}");
    }
}

#[test]
fn other_programs_see_plain_memories() {
    let mut store = vault();
    let temp = Scratch::new("seen");
    let out = temp.0.join("out.mif.json");
    let report = write(&mut store, &out, &options("json", Some("1.0")));
    let written = value(&out);
    let memories = written["memories"].as_array().unwrap();
    let tea = memories.iter().find(|m| m["content"].as_str().unwrap().starts_with("Likes")).unwrap();
    assert_eq!((&tea["type"], &tea["created_at"]), (&json!("Observation"), &json!("2026-01-02T03:04:05.123456Z")));
    assert_eq!(tea["source"], json!({"type": "conversation", "session_id": "conv-1", "agent": "chatgpt"}));
    assert_eq!(tea["embedding"]["model"], "voyage-3", "the schema lists models");
    let message = memories.iter().find(|m| m["content"] == "Tea, please").unwrap();
    assert_eq!(tea["relations"]["related_memories"], json!([message["id"]]));
    assert_eq!(message["type"], "Conversation");
    let todo = &written["todos"][0];
    assert_eq!((&todo["status"], &todo["priority"]), (&json!("done"), &json!("high")));
    let nodes = written["graph"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 2);
    assert_ne!(nodes[0]["id"], nodes[1]["id"]);
    let edge = &written["graph"]["edges"][0];
    assert!(nodes.iter().any(|n| n["id"] == edge["source"]) && nodes.iter().any(|n| n["id"] == edge["target"]));
    assert_eq!(written["metadata"]["total_memories"], memories.len() as f64);
    let long = memories.iter().find(|m| m["content"].as_str().unwrap().starts_with('ä')).unwrap();
    assert_eq!(long["content"].as_str().unwrap().chars().count(), 100_000);
    assert_eq!(report.losses.count("text", LossKind::MovedToExtension), 7, "one long, three empty, three of the graph");
    assert_eq!(report.losses.count("bytes", LossKind::LeftOut), 0, "its bytes were never there");
}

#[test]
fn changes_by_another_program_win_over_the_extension() {
    let mut store = vault();
    let temp = Scratch::new("elsewhere");
    let out = temp.0.join("out.mif.json");
    write(&mut store, &out, &options("json", Some("1.0")));
    let mut tree: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    let at = tree["memories"].as_array().unwrap().iter().position(|m| m["content"] == "Tea, please").unwrap();
    tree["memories"][at]["content"] = "Coffee, please".into();
    tree["export"]["checksum_method"] = "by hand".into();
    let changed = temp.put("changed.mif.json", tree.to_string());
    let reread = read(&changed).unwrap();
    let record = reread.find("Coffee");
    assert_eq!((record.kind, &record.key), (Kind::Message, &RecordKey::new("elsewhere", "msg")));
    assert_eq!(record.origin.format, "mif");
    assert!(reread.codes().contains(&"changed_elsewhere".to_owned()));
}

#[test]
fn identifiers_can_be_left_out() {
    let mut store = vault();
    let temp = Scratch::new("strip");
    let out = temp.0.join("out.mif.json");
    let options = WriteOptions { strip_identifiers: true, ..options("json", None) };
    let report = write(&mut store, &out, &options);
    let text = std::fs::read_to_string(&out).unwrap();
    for word in ["acc-1", "conv-1", "chatgpt", "elsewhere", "\"m1\"", "0191b2c3"] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(text.contains("Likes") && text.contains("preference"));
    assert!(validate(&out).errors.is_empty());
    assert_eq!(report.losses.count("identifiers", LossKind::LeftOut), store.records.len() as u64);
    assert_eq!(read(&out).unwrap().records.len(), store.records.len());
}

#[test]
fn an_imported_document_is_preserved_among_other_records() {
    let temp = Scratch::new("mixed");
    let input = repo().join("fixtures/mif/v1/input.mif.json");
    let mut store = read(&input).unwrap();
    store.records.extend(vault().records);
    let mixed = temp.0.join("mixed.mif.json");
    write(&mut store, &mixed, &options("json", None));
    assert!(validate(&mixed).errors.is_empty(), "{:?}", validate(&mixed).errors);
    let (before, after) = (value(&input), value(&mixed));
    for memory in before["memories"].as_array().unwrap() {
        assert!(after["memories"].as_array().unwrap().contains(memory), "untouched");
    }
    // An export of only the records of the imported document restores the original document.
    let mut reread = read(&mixed).unwrap();
    assert_eq!(reread.parts.len(), 1);
    reread.records.retain(|r| r.key.scope == "mif");
    let home = temp.0.join("home.mif.json");
    write(&mut reread, &home, &options("json", None));
    assert_eq!(value(&home), before);
}
