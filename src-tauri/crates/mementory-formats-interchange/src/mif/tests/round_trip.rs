//! Tests of round trips of documents, of edits and of deletions.
use super::super::testing::*;
use mementory_model::{Kind, LossKind, RecordKey, Timestamp};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn case(name: &str) -> (Value, PathBuf) {
    let folder = repo().join("fixtures/mif").join(name);
    let text = std::fs::read_to_string(folder.join("case.json")).unwrap();
    let mut files = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path());
    let input = files.find(|f| f.file_stem().unwrap().to_string_lossy().starts_with("input")).unwrap();
    (serde_json::from_str(&text).unwrap(), input)
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

/// Reads and validates a fixture, and compares the results with its case file.
fn read_checked_case(name: &str) -> (MemorySource, PathBuf) {
    let (expected, input) = case(name);
    assert_eq!(detected(&input, false).map(|d| d.0), Some("mif"), "{name}");
    let store = read(&input).unwrap();
    assert_eq!(json!(store.kinds()), expected["records"], "{name}");
    assert_eq!(store.codes(), strings(&expected["notes"]), "{name}");
    let mut dropped: Vec<_> = store.dropped.iter().map(|d| d.reason.split(':').next().unwrap().to_owned()).collect();
    dropped.sort();
    assert_eq!(dropped, strings(&expected["dropped"]), "{name}");
    let validation = validate(&input);
    assert_eq!(codes(&validation.errors), strings(&expected["errors"]), "{name}: {:?}", validation.errors);
    assert_eq!(codes(&validation.warnings), strings(&expected["warnings"]), "{name}: {:?}", validation.warnings);
    (store, input)
}

/// Reads a document, writes it without a requested version and compares the whole documents.
fn assert_round_trip(input: &Path, expected: &Value) {
    let name = input.file_name().unwrap().to_string_lossy().into_owned();
    let temp = Scratch::new(&format!("back-{name}"));
    let mut store = read(input).unwrap();
    let report = write(&mut store, &temp.0.join("out.mif.json"), &options("json", None));
    assert_eq!(value(&temp.0.join("out.mif.json")), *expected, "{name}");
    assert!(report.losses.items.is_empty(), "{name}: {:?}", report.losses.items);
    write(&mut store, &temp.0.join("out.mif.yaml"), &options("yaml", None));
    assert_eq!(yaml_value(&temp.0.join("out.mif.yaml")), *expected, "{name} as YAML");
    write(&mut store, &temp.0.join("out.mif.jsonl"), &options("jsonl", None));
    assert_eq!(lines_value(&temp.0.join("out.mif.jsonl")), *expected, "{name} as JSON lines");
    for encoding in ["json", "yaml", "jsonl"] {
        let reread = read(&temp.0.join(format!("out.mif.{encoding}"))).unwrap();
        let strip = |store: &MemorySource| {
            let mut out: Vec<_> = store.records.iter().map(|r| (r.key.value.clone(), r.text.clone())).collect();
            out.sort();
            out
        };
        assert_eq!(strip(&reread), strip(&store), "{name} as {encoding}");
        assert!(reread.dropped.is_empty(), "{:?}", reread.dropped);
    }
    // The round trip preserves each verbatim.
    let reread = read(&temp.0.join("out.mif.json")).unwrap();
    for record in &store.records {
        let same = reread.records.iter().find(|r| r.key == record.key).unwrap();
        assert_eq!(same.verbatim, record.verbatim, "{name}");
    }
}

#[test]
fn fixtures_round_trip() {
    for name in ["v1", "v2", "covered", "interop"] {
        let (_, input) = read_checked_case(name);
        assert_round_trip(&input, &value(&input));
    }
}

#[test]
fn only_invalid_records_are_dropped() {
    let (store, _) = read_checked_case("hostile");
    assert_eq!(store.find("Another under").key.value, "memory/mem_1#2");
    let without = store.find("Without an id");
    assert!(without.key.value.starts_with("memory/content:"));
    assert_eq!((without.tags.as_slice(), without.times.created), (["one".to_owned()].as_slice(), None));
}

#[test]
fn handwritten_yaml_is_read() {
    let (store, _) = read_checked_case("yaml");
    let first = store.find("yes");
    assert_eq!(first.tags, ["no", "2024", "1e3", "~x"]);
    assert_eq!((first.importance, first.record_type.as_deref()), (Some(0.5), Some("Decision")));
    assert_eq!(store.find("Two lines").text, "Two lines,\nkept as two.\n");
    let copy = &store.find("Two lines").fields["x_copy"];
    assert_eq!(
        (&copy["tags"][1], &copy["content"]),
        (&json!(2024), &json!("yes")),
        "only members of the format are text"
    );
    assert_eq!(first.origin.version.as_deref(), Some("1.0"));
}

#[test]
fn samples_of_the_reference_round_trip() {
    for name in ["example.mif.json", "sample.v2.mif.json", "example.reference-converted.v2.json"] {
        let Some(path) = shared(name) else { continue };
        assert_eq!(detected(&path, false).map(|d| d.0), Some("mif"), "{name}");
        assert_round_trip(&path, &value(&path));
        let validation = validate(&path);
        assert!(validation.errors.is_empty(), "{name}: {:?}", validation.errors);
    }
    if let Some(path) = shared("example.sep002-shape.mif.jsonl") {
        assert_round_trip(&path, &lines_value(&path));
        let validation = validate(&path);
        assert!(validation.errors.is_empty(), "{:?}", validation.errors);
    }
}

#[test]
fn interop_samples_of_the_reference_are_read() {
    for (name, version) in [("as-mem0.json", "mem0"), ("as-generic.json", "generic"), ("as-markdown.md", "markdown")] {
        let Some(path) = shared(&format!("sample.v2.{name}")) else { continue };
        assert_eq!(detected(&path, true), Some(("mif", Some(version.to_owned()))));
        let store = read(&path).unwrap();
        assert_eq!(store.records.len(), 1);
        let record = store.find("Waters tomatoes");
        assert_eq!(record.times.created, Timestamp::parse("2026-02-01T08:00:00Z"), "{name}");
        if version != "markdown" {
            // The key is derived from the id, so a memory has the same key in documents of both versions.
            assert_eq!(record.key, RecordKey::new("mif", "memory/00000002-2222-4222-8222-000000000002"));
        }
    }
}

#[test]
fn every_list_is_mapped() {
    let (_, input) = case("v1");
    let store = read(&input).unwrap();
    let memory = store.find("Ilse waters");
    assert_eq!(memory.key, RecordKey::new("mif", "memory/5f0c1d2e-0001-4a00-8a00-000000000001"));
    assert_eq!((memory.importance, memory.record_type.as_deref()), (Some(0.8), Some("Pattern")));
    assert_eq!(memory.times.last_accessed, Timestamp::parse("2026-04-01T04:00:00Z"));
    assert_eq!((memory.source.platform.as_str(), memory.source.conversation.as_deref()), ("gartenheft", Some("s-77")));
    assert!(memory.embeddings[0].json.contains("[0.10,-2.50e-1,3]"), "{}", memory.embeddings[0].json);
    assert_eq!(memory.links.len(), 2);
    assert_eq!(memory.fields["x_weather"]["degrees"], 21.5);
    let todo = store.find("Buy bean poles");
    assert_eq!((todo.status.as_deref(), todo.source.project.as_deref()), (Some("blocked"), Some("Bed")));
    assert_eq!(todo.links.len(), 1, "what is waited for may be words");
    let beans = store.records.iter().find(|r| r.kind == Kind::Entity).unwrap();
    assert_eq!((beans.text.as_str(), beans.record_type.as_deref()), ("Beans", Some("PLANT")));
    let edge = store.records.iter().find(|r| r.record_type.as_deref() == Some("entity_mention")).unwrap();
    assert_eq!(edge.links[1].target, beans.key);

    let (_, input) = case("v2");
    let store = read(&input).unwrap();
    let memory = store.find("Works the early");
    assert_eq!((memory.importance, memory.record_type.as_deref()), (Some(0.625), Some("observation")));
    let relation = store.find("Jonas runs");
    assert_eq!((relation.confidence, relation.record_type.as_deref()), (Some(0.75), Some("works_at")));
    assert_eq!(relation.times.valid_from, Timestamp::parse("2025-12-01T00:00:00Z"));
    assert_eq!(store.find("Sleep better").title.as_deref(), Some("Sleep"));
    assert_eq!(store.find("Lights out").record_type.as_deref(), Some("reminder"));
    let part = String::from_utf8(store.parts[0].1.clone()).unwrap();
    assert!(!part.contains("0.625") && part.contains("0000000000ff"), "what is a record's is not in the part: {part}");
}

#[test]
fn an_edit_changes_only_the_edited_members() {
    let (_, input) = case("v1");
    let mut store = read(&input).unwrap();
    let at = store.records.iter().position(|r| r.text.starts_with("Ilse waters")).unwrap();
    store.records[at].text = "Ilse waters the beans at six.".into();
    store.records[at].tags = vec!["garden".into()];
    store.records[at].title = Some("Watering".into());
    store.records[at].record_type = Some("habit".into());
    store.edited.insert(at);
    let temp = Scratch::new("edit");
    let out = temp.0.join("out.mif.json");
    let report = write(&mut store, &out, &options("json", None));
    let (before, after) = (value(&input), value(&out));
    let mut expected = before["memories"][0].clone();
    expected["content"] = "Ilse waters the beans at six.".into();
    expected["tags"] = json!(["garden"]);
    let mut memory = after["memories"][0].clone();
    let our_slot = memory.as_object_mut().unwrap().remove("x_mementory").unwrap();
    assert_eq!(memory, expected);
    assert_eq!((&our_slot["title"], &our_slot["type"]), (&json!("Watering"), &json!("habit")));
    assert_eq!(report.losses.count("title", LossKind::MovedToExtension), 1);
    assert_eq!(after["memories"][1], before["memories"][1]);
    assert_eq!((&after["consent"], &after["x_unknown"]), (&before["consent"], &before["x_unknown"]));
    assert_eq!(after["export"]["id"], before["export"]["id"]);
    assert!(after["export"]["checksum"].as_str().unwrap().starts_with("sha256:"));
    let validation = validate(&out);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    let reread = read(&out).unwrap();
    let edited = reread.find("Ilse waters");
    assert_eq!(edited.key, store.records[at].key);
    assert_eq!((edited.title.as_deref(), edited.record_type.as_deref()), (Some("Watering"), Some("habit")));
}

#[test]
fn a_changed_document_fails_its_checksum() {
    let (_, input) = case("v1");
    let mut store = read(&input).unwrap();
    store.records.retain(|r| !r.text.starts_with("The shed"));
    let temp = Scratch::new("changed");
    for encoding in ["json", "yaml", "jsonl"] {
        let out = temp.0.join(format!("out.mif.{encoding}"));
        write(&mut store, &out, &options(encoding, None));
        assert!(validate(&out).errors.is_empty(), "{encoding}: {:?}", validate(&out).errors);
        let text = std::fs::read_to_string(&out).unwrap();
        assert!(text.contains("Buy bean poles"));
        let changed = temp.put(&format!("changed.mif.{encoding}"), text.replace("Buy bean poles", "Buy bean holes"));
        assert_eq!(codes(&validate(&changed).errors), ["checksum_mismatch"], "{encoding}");
        assert!(read(&changed).is_err(), "{encoding}");
    }
}

#[test]
fn deleted_records_are_removed_from_graph_and_metadata() {
    let temp = Scratch::new("gone");
    let (_, input) = case("v1");
    let mut store = read(&input).unwrap();
    store.records.retain(|r| !r.text.contains("Buy bean") && !r.text.contains("todo_"));
    let out = temp.0.join("v1.mif.json");
    write(&mut store, &out, &options("json", None));
    let after = value(&out);
    assert!(!after["graph"].to_string().contains("todo_5f0c"), "{}", after["graph"]);
    assert_eq!(after["metadata"]["total_todos"], 0.0);
    assert_eq!(after["graph"]["node_count"], 2.0);
    let (_, input) = case("v2");
    let mut store = read(&input).unwrap();
    store.records.retain(|r| !r.text.starts_with("Works the early"));
    let out = temp.0.join("v2.json");
    write(&mut store, &out, &options("json", None));
    let after = value(&out);
    let metadata = &after["vendor_extensions"]["shodh-memory"]["memory_metadata"];
    assert_eq!(metadata.as_object().unwrap().len(), 1, "{metadata}");
    assert_eq!(after["vendor_extensions"]["shodh-memory"]["x"], 1.0);
}

#[test]
fn a_document_converts_to_the_other_version_and_back() {
    for (name, other, from) in [("v1", "2.0", "1.0"), ("v2", "1.0", "2.0")] {
        let (_, input) = case(name);
        let temp = Scratch::new(&format!("across-{name}"));
        let mut store = read(&input).unwrap();
        let converted = temp.0.join("there.mif.json");
        let report = write(&mut store, &converted, &options("json", Some(other)));
        assert_eq!(report.version, other);
        let validation = validate(&converted);
        assert!(validation.errors.is_empty(), "{name}: {:?}", validation.errors);
        assert_eq!(value(&converted)["mif_version"], other);
        let mut store = read(&converted).unwrap();
        let back = temp.0.join("back.mif.json");
        write(&mut store, &back, &options("json", Some(from)));
        assert_eq!(value(&back), value(&input), "{name}");
    }
}
