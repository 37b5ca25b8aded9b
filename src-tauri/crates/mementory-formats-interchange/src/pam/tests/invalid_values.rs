//! Tests that values which the schema forbids are reported, and that an export moves them out of their members.
use super::harness::*;
use mementory_model::Kind;
use serde_json::{Value, json};

/// Writes the fixture to the folder `in` with one value changed, or removed if the new value is null.
fn with_value(scratch: &Scratch, document: &str, pointer: &str, value: &Value) {
    for name in ["memory-store.json", "conversations/talk-1.json", "embeddings.json"] {
        let text = std::fs::read_to_string(repo().join("fixtures/pam/whole/input").join(name)).unwrap();
        let mut tree: Value = serde_json::from_str(&text).unwrap();
        if name == "memory-store.json" {
            tree.as_object_mut().unwrap().remove("integrity");
        }
        if name == document {
            let (block, member) = pointer.rsplit_once('/').unwrap();
            match tree.pointer_mut(block).unwrap() {
                Value::Object(members) if value.is_null() => drop(members.remove(member)),
                block => block[member] = value.clone(),
            }
        }
        scratch.put(&format!("in/{name}"), tree.to_string());
    }
}

#[test]
fn an_invalid_value_is_reported_and_never_written_into_its_member_again() {
    const STORE: &str = "memory-store.json";
    const TALK: &str = "conversations/talk-1.json";
    const VECTORS: &str = "embeddings.json";
    let other_hash = format!("sha256:{}", "0".repeat(64));
    let cases = [
        (STORE, "/memories/0/type", json!("opinion")),
        (STORE, "/memories/0/type", json!("")),
        (STORE, "/memories/0/custom_type", json!("drink")),
        (STORE, "/memories/0/content", json!("")),
        (STORE, "/memories/0/content_hash", json!("md5:00")),
        (STORE, "/memories/0/temporal/created_at", json!("yesterday")),
        (STORE, "/memories/0/provenance/platform", json!("Claude AI")),
        (STORE, "/memories/0/confidence/initial", json!(-1)),
        (STORE, "/memories/0/metadata", json!([])),
        (STORE, "/memories/0/content_hash", json!(other_hash)),
        (STORE, "/memories/0/content_hash", json!(null)),
        (STORE, "/memories/0/temporal", json!(null)),
        (STORE, "/memories/0/temporal/created_at", json!(null)),
        (STORE, "/memories/0/temporal/updated_at", json!("2001-01-01T00:00:00Z")),
        (STORE, "/memories/0/temporal/mood", json!(1)),
        (STORE, "/memories/0/provenance", json!(null)),
        (STORE, "/memories/0/x_more", json!(1)),
        (STORE, "/relations/0/x_more", json!(1)),
        (STORE, "/relations/0/created_at", json!(null)),
        (STORE, "/relations/0/id", json!("")),
        (STORE, "/owner", json!(null)),
        (STORE, "/owner/did", json!("nobody")),
        (STORE, "/owner/x_more", json!(1)),
        (STORE, "/x_more", json!(1)),
        (STORE, "/spec_uri", json!("no address")),
        (STORE, "/conversations_index/0/temporal", json!(null)),
        (STORE, "/conversations_index/0/storage/ref", json!("../talk-1.json")),
        (STORE, "/conversations_index/0/storage/x_more", json!(1)),
        (VECTORS, "/embeddings/0/dimensions", json!(99)),
        (VECTORS, "/embeddings/0/model", json!(null)),
        (VECTORS, "/embeddings/0/storage", json!({"type": "file", "ref": "../vectors.bin"})),
        (TALK, "/id", json!(null)),
        (TALK, "/temporal", json!(null)),
        (TALK, "/x_more", json!(1)),
        (TALK, "/messages/0/role", json!(null)),
        (TALK, "/messages/0/created_at", json!(null)),
        (TALK, "/messages/1/id", json!("m1")),
        (TALK, "/messages/0/x_more", json!(1)),
        (STORE, "/relations/0/type", json!("likes")),
        (STORE, "/relations/0/confidence", json!(1.7)),
        (STORE, "/relations/0/created_at", json!("soon")),
        (STORE, "/conversations_index/0/platform", json!("Claude AI")),
        (STORE, "/conversations_index/0/message_count", json!(-1)),
        (STORE, "/conversations_index/0/temporal/created_at", json!("never")),
        (STORE, "/conversations_index/0/storage/type", json!("tape")),
        (TALK, "/provider/name", json!("Claude AI")),
        (TALK, "/temporal/created_at", json!("never")),
        (TALK, "/tags", json!(["Warm Drinks"])),
        (TALK, "/participants/0/role", json!("host")),
        (TALK, "/messages/0/role", json!("human")),
        (TALK, "/messages/0/created_at", json!("then")),
        (TALK, "/messages/0/content/type", json!("html")),
        (TALK, "/messages/0/token_count", json!(-1)),
        (TALK, "/messages/0/content", json!([])),
        (TALK, "/messages/0/content", json!("Tea.")),
        (TALK, "/messages/0/content", json!([{"type": "text", "text": "Tea."}, "And milk.", {"type": "image"}])),
        (TALK, "/messages/0/id", json!(7)),
        (TALK, "/id", json!(7)),
        (STORE, "/owner/id", json!(7)),
        (TALK, "/content", json!("Tea.")),
        (STORE, "/relations/0/content", json!("Tea.")),
        (STORE, "/conversations_index/0/content", json!("Tea.")),
    ];
    for (i, (document, pointer, value)) in cases.iter().enumerate() {
        let scratch = Scratch::new(&format!("forbidden-{i}"));
        with_value(&scratch, document, pointer, value);
        let error_codes = errors(&scratch.at("in"));
        let code_of = |error_codes: &[String]| {
            let place = error_codes.iter().find(|finding| finding.contains(*pointer))?;
            place.split(' ').next().map(str::to_owned)
        };
        let code = code_of(&error_codes).unwrap_or_else(|| panic!("{pointer} {value}: not found: {error_codes:?}"));
        let mut source = read(&scratch.at("in")).unwrap();
        assert!(source.codes().contains(&code), "{pointer} {value}: an import does not report {code}");
        let report = write(&mut source, &scratch.at("out"), &full_export());
        assert!(report.losses.counts.values().sum::<u64>() > 0, "{pointer} {value}: no loss");
        let remaining_errors = errors(&scratch.at("out"));
        assert_eq!(remaining_errors, Vec::<String>::new(), "{pointer} {value}");
        let reread = read(&scratch.at("out")).unwrap();
        // Relations are not compared, because an export replaces an invalid type, which their text contains.
        let texts = |source: &MemorySource| {
            let records = source.records.iter().filter(|record| record.kind != Kind::Relation);
            let mut all: Vec<_> = records.map(|r| (r.key.value.clone(), r.text.clone())).collect();
            all.sort();
            all
        };
        assert_eq!(texts(&reread), texts(&source), "{pointer} {value}: the texts stay");
    }
}

/// The file that an entry of the index names is a conversation (§14). If the entry names another document of the bundle,
/// an export writes the name of the conversation's file.
#[test]
fn an_entry_of_the_index_never_names_another_document_again() {
    for (i, name) in ["memory-store.json", "./embeddings.json"].into_iter().enumerate() {
        let scratch = Scratch::new(&format!("forbidden-document-{i}"));
        with_value(&scratch, "memory-store.json", "/conversations_index/0/storage/ref", &json!(name));
        assert!(errors(&scratch.at("in")).iter().any(|finding| finding.starts_with("wrong_schema ")), "{name}");
        let mut source = read(&scratch.at("in")).unwrap();
        write(&mut source, &scratch.at("out"), &full_export());
        assert_eq!(errors(&scratch.at("out")), Vec::<String>::new(), "{name}");
        let store = json(&scratch.at("out/memory-store.json"));
        assert_eq!(store["conversations_index"][0]["storage"]["ref"], "conversations/talk-1.json", "{name}");
    }
}

/// RFC 8785 §3.1 requires unique keys, also in the objects whose members the schema does not list.
#[test]
fn a_repeated_key_in_metadata_is_reported_and_written_once() {
    let scratch = Scratch::new("forbidden-key");
    with_value(&scratch, "memory-store.json", "/memories/0/metadata", &json!({"boat": {"length": 7, "x_length": 8}}));
    let path = scratch.at("in/memory-store.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("x_length", "length");
    std::fs::write(&path, text).unwrap();
    let is_reported = |finding: &String| finding.starts_with("duplicate_key ") && finding.contains("/metadata/boat");
    assert!(errors(&scratch.at("in")).iter().any(is_reported), "{:?}", errors(&scratch.at("in")));
    let mut source = read(&scratch.at("in")).unwrap();
    write(&mut source, &scratch.at("out"), &full_export());
    assert_eq!(errors(&scratch.at("out")), Vec::<String>::new());
    assert_eq!(json(&scratch.at("out/memory-store.json"))["memories"][0]["metadata"]["boat"], json!({"length": 8}));
}

#[test]
fn a_record_with_a_repeated_id_gets_a_new_id() {
    let scratch = Scratch::new("forbidden-ids");
    let memory = |text: &str| {
        json!({"id": "m", "type": "fact", "content": text, "content_hash": crate::pam::hash::content_hash(text),
            "temporal": {"created_at": "2026-01-01T00:00:00Z"}, "provenance": {"platform": "claude"}})
    };
    let relation =
        |kind: &str| json!({"id": "r", "from": "m", "to": "m", "type": kind, "created_at": "2026-01-01T00:00:00Z"});
    let store = json!({"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "o"},
        "memories": [memory("Likes tea."), memory("Likes coffee.")],
        "relations": [relation("supports"), relation("extends")]});
    scratch.put("in/memory-store.json", store.to_string());
    let mut source = read(&scratch.at("in")).unwrap();
    assert!(source.codes().contains(&"duplicate_id".to_owned()));
    let report = write(&mut source, &scratch.at("out"), &full_export());
    assert_eq!(report.losses.count("id", mementory_model::LossKind::Narrowed), 2);
    assert_eq!(errors(&scratch.at("out")), Vec::<String>::new());
    let mut reread = read(&scratch.at("out")).unwrap();
    for (key, text) in [("memory/m", "Likes tea."), ("memory/m#2", "Likes coffee.")] {
        assert_eq!(reread.record(key).text, text);
    }
    write(&mut reread, &scratch.at("again"), &full_export());
    assert_eq!(errors(&scratch.at("again")), Vec::<String>::new());
    assert_eq!(
        json(&scratch.at("again/memory-store.json"))["memories"],
        json(&scratch.at("out/memory-store.json"))["memories"]
    );
}

#[test]
fn a_store_without_embeddings_has_no_references_to_embeddings() {
    let scratch = Scratch::new("forbidden-reference");
    with_value(&scratch, "", "", &json!(null));
    std::fs::remove_file(scratch.at("in/embeddings.json")).unwrap();
    let mut source = read(&scratch.at("in")).unwrap();
    assert!(source.codes().contains(&"embedding_missing".to_owned()), "only a warning");
    let report = write(&mut source, &scratch.at("out"), &full_export());
    assert!(report.losses.count("embedding_ref", mementory_model::LossKind::LeftOut) > 0);
    let validation = validate(&scratch.at("out"));
    assert!(
        !validation.warnings.iter().any(|finding| finding.code == "embedding_missing"),
        "{:?}",
        validation.warnings
    );
}
