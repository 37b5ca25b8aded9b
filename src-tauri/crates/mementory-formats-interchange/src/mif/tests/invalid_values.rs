//! Tests that values that the format forbids are reported and imported with their exact text, and that an export
//! replaces them.
use super::super::{Mif, testing::*};
use mementory_format::{Format, WriteReport};
use mementory_model::Record;
use serde_json::{Value, json};
use std::path::Path;

const VERSION_1: &str = "v1/input.mif.json";
const VERSION_2: &str = "v2/input.json";
const FIRST: &str = "mem_5f0c1d2e-0001-4a00-8a00-000000000001";

fn fixture(name: &str) -> String {
    std::fs::read_to_string(repo().join("fixtures/mif").join(name)).unwrap()
}

/// The fixture with one value replaced, or removed if the new value is null.
fn document_with(name: &str, pointer: &str, value: &Value) -> Value {
    let mut root: Value = serde_json::from_str(&fixture(name)).unwrap();
    let (object, member) = pointer.rsplit_once('/').unwrap();
    match root.pointer_mut(object).unwrap() {
        Value::Object(members) if value.is_null() => drop(members.remove(member)),
        object => object[member] = value.clone(),
    }
    root
}

/// The records without their origins and verbatims, because an export changes these even if nothing else changes.
fn contents(store: &MemorySource) -> Vec<Value> {
    let content = |record: &Record| {
        let mut content = serde_json::to_value(record).unwrap();
        let members = content.as_object_mut().unwrap();
        ["origin", "verbatim"].iter().for_each(|name| drop(members.remove(*name)));
        content
    };
    let mut all: Vec<Value> = store.records.iter().map(content).collect();
    all.sort_by_key(|content| content["key"].to_string());
    all
}

/// Writes an export, replacing an existing file.
fn export(store: &mut MemorySource, out: &Path, encoding: &str, version: Option<&str>) -> WriteReport {
    let _ = std::fs::remove_file(out);
    write(store, out, &options(encoding, version))
}

/// Exports the records in each encoding, and checks that the exports are valid and complete. Returns true if losses are
/// reported.
fn assert_valid_exports(store: &mut MemorySource, folder: &Path, version: Option<&str>, what: &str) -> bool {
    let mut has_losses = false;
    for encoding in ["json", "yaml", "jsonl"] {
        let out = folder.join(format!("out.mif.{encoding}"));
        has_losses = !export(store, &out, encoding, version).losses.counts.is_empty();
        assert_eq!(validate(&out).errors, [], "{what} as {encoding}");
        let mut reread = read(&out).unwrap();
        assert_eq!(contents(&reread), contents(store), "{what} as {encoding}");
        let second_export = folder.join(format!("again.mif.{encoding}"));
        export(&mut reread, &second_export, encoding, version);
        assert_eq!(validate(&second_export).errors, [], "{what} as {encoding}, exported again");
        assert_eq!(contents(&read(&second_export).unwrap()), contents(store), "{what} as {encoding}, exported again");
    }
    has_losses
}

fn assert_cases(name: &str, cases: &[(&str, Value, &str)]) {
    for (i, (pointer, value, code)) in cases.iter().enumerate() {
        let value_json = value.to_string();
        let what = format!("{name}{pointer} = {value_json:.60}");
        let temp = Scratch::new(&format!("forbidden-{}-{i}", name.split('/').next().unwrap()));
        let input = temp.put("input.mif.json", document_with(name, pointer, value).to_string());
        assert!(codes(&validate(&input).errors).contains(&(*code).to_owned()), "{what}: {:?}", validate(&input).errors);
        let mut store = read(&input).unwrap();
        let has_losses = assert_valid_exports(&mut store, &temp.0, None, &what);
        assert!(has_losses || !store.dropped.is_empty(), "{what}: neither a loss nor a dropped record");
    }
}

#[test]
fn an_import_reports_what_the_validator_finds() {
    assert!(Mif.import_refuses().is_some_and(|codes| codes.is_empty()), "validates, and reports what it finds");
}

#[test]
fn an_invalid_value_of_version_1_is_not_written_again() {
    assert_cases(
        VERSION_1,
        &[
            ("/mif_version", json!("2.0"), "version_and_shape_differ"),
            ("/mif_version", json!(null), "missing_field"),
            ("/mif_version", json!(1.0), "wrong_type"),
            ("/$schema", json!("http://[::1"), "bad_value"),
            ("/export", json!(null), "missing_field"),
            ("/export/id", json!("exp_a-b"), "bad_value"),
            ("/export/user_id", json!(null), "missing_field"),
            ("/export/checksum", json!("sha256:abc"), "bad_value"),
            ("/generator/version", json!(null), "missing_field"),
            ("/memories", json!(null), "missing_field"),
            ("/memories", json!({}), "wrong_type"),
            ("/todos", json!(7), "wrong_type"),
            ("/graph", json!([]), "wrong_type"),
            ("/graph/format", json!("matrix"), "unknown_value"),
            ("/graph/hebbian_config/max_weight", json!("high"), "wrong_type"),
            ("/metadata", json!(5), "wrong_type"),
            ("/metadata/date_range/earliest", json!("then"), "bad_value"),
            ("/consent/retention_days", json!(-1), "bad_value"),
            ("/consent/timestamp", json!("then"), "bad_value"),
            ("/memories/0/id", json!("mem_first!"), "bad_value"),
            ("/memories/0/id", json!("5f0c1d2e-0001-4a00-8a00-000000000001"), "bad_value"),
            ("/memories/0/id", json!(7), "wrong_type"),
            ("/memories/0/id", json!(null), "missing_field"),
            ("/memories/1/id", json!(FIRST), "duplicate_id"),
            ("/memories/0/content", json!(""), "empty"),
            ("/memories/0/content", json!("x".repeat(100_001)), "too_long"),
            ("/memories/0/content", json!(5), "wrong_type"),
            ("/memories/0/type", json!("Hunch"), "unknown_value"),
            ("/memories/0/type", json!(null), "missing_field"),
            ("/memories/0/created_at", json!("yesterday"), "bad_value"),
            ("/memories/0/created_at", json!("2026-02-03T10:00:00"), "bad_value"),
            ("/memories/0/created_at", json!(1_767_225_600), "wrong_type"),
            ("/memories/0/updated_at", json!("99999-01-01T00:00:00Z"), "bad_value"),
            ("/memories/0/importance", json!(1.7), "bad_value"),
            ("/memories/0/importance", json!("0.5"), "wrong_type"),
            ("/memories/0/access_count", json!(-1), "bad_value"),
            ("/memories/0/decay_rate", json!(2), "bad_value"),
            ("/memories/0/tags", json!("garden"), "wrong_type"),
            ("/memories/0/tags", json!(["garden", 1]), "wrong_type"),
            ("/memories/0/source/type", json!("telepathy"), "unknown_value"),
            ("/memories/0/entities/0/confidence", json!(1.7), "bad_value"),
            ("/memories/0/entities/0/text", json!(null), "missing_field"),
            ("/memories/0/embedding/dimensions", json!(0), "bad_value"),
            ("/memories/0/embedding/vector", json!([0.1, "x", 3]), "wrong_type"),
            ("/memories/0/relations/related_memories", json!([5]), "wrong_type"),
            ("/memories/1/redactions/0/position", json!([25, 19]), "redaction_position"),
            ("/memories/1/redactions/0/position", json!([19]), "redaction_position"),
            ("/todos/0/id", json!("todo_first!"), "bad_value"),
            ("/todos/0/content", json!(""), "empty"),
            ("/todos/0/status", json!("someday"), "unknown_value"),
            ("/todos/0/priority", json!("highest"), "unknown_value"),
            ("/todos/0/short_id", json!("bed7"), "bad_value"),
            ("/todos/0/due_date", json!("soon"), "bad_value"),
            ("/todos/0/recurrence", json!("hourly"), "unknown_value"),
            ("/todos/0/comments/0/id", json!(5), "wrong_type"),
            ("/graph/nodes/0/type", json!("thing"), "unknown_value"),
            ("/graph/nodes/1/type", json!(7), "wrong_type"),
            ("/graph/nodes/1/entity_type", json!(7), "wrong_type"),
            ("/graph/nodes/1/id", json!(FIRST), "duplicate_id"),
            ("/graph/nodes/2/id", json!(FIRST), "duplicate_id"),
            ("/graph/edges/0/weight", json!(1.5), "bad_value"),
            ("/graph/edges/0/weight", json!(null), "missing_field"),
            ("/graph/edges/0/type", json!("rumour"), "unknown_value"),
            ("/graph/edges/1/created_at", json!("then"), "bad_value"),
        ],
    );
}

#[test]
fn an_invalid_value_of_version_2_is_not_written_again() {
    assert_cases(
        VERSION_2,
        &[
            ("/mif_version", json!("1.0"), "version_and_shape_differ"),
            ("/generator", json!(null), "missing_field"),
            ("/export_meta/checksum", json!(null), "missing_field"),
            ("/export_meta/privacy", json!(5), "wrong_type"),
            ("/projects", json!(5), "wrong_type"),
            ("/knowledge_graph", json!([]), "wrong_type"),
            ("/memories/0/id", json!("first"), "bad_value"),
            ("/memories/0/memory_type", json!(null), "missing_field"),
            ("/memories/0/metadata", json!({"a": 1}), "wrong_type"),
            ("/memories/0/embeddings/dimensions", json!("2"), "wrong_type"),
            ("/memories/0/parent_id", json!("nobody"), "bad_value"),
            ("/memories/0/related_memory_ids", json!(["nobody"]), "bad_value"),
            ("/memories/0/version", json!(-1), "bad_value"),
            ("/todos/0/status", json!(null), "missing_field"),
            ("/todos/0/updated_at", json!("then"), "bad_value"),
            ("/projects/0/id", json!("sleep"), "bad_value"),
            ("/projects/0/created_at", json!(null), "missing_field"),
            ("/reminders/0/id", json!(null), "missing_field"),
            ("/reminders/0/trigger/type", json!("moon"), "unknown_value"),
            ("/reminders/0/trigger/at", json!("later"), "bad_value"),
            ("/reminders/0/trigger", json!(null), "missing_field"),
            ("/reminders/0/status", json!(5), "wrong_type"),
            ("/reminders/0/priority", json!(-1), "bad_value"),
            ("/reminders/0/priority", json!(256), "bad_value"),
            ("/knowledge_graph/entities/0/id", json!("jonas"), "bad_value"),
            ("/knowledge_graph/entities/0/attributes", json!({"town": 5}), "wrong_type"),
            ("/knowledge_graph/entities/1/last_seen_at", json!("then"), "bad_value"),
            ("/knowledge_graph/relationships/0/id", json!(null), "missing_field"),
            ("/knowledge_graph/relationships/0/source_entity_id", json!("jonas"), "bad_value"),
            ("/knowledge_graph/relationships/0/confidence", json!("high"), "wrong_type"),
            ("/knowledge_graph/relationships/0/valid_at", json!("then"), "bad_value"),
            ("/knowledge_graph/episodes/0/created_at", json!("then"), "bad_value"),
        ],
    );
}

#[test]
fn a_frame_with_an_invalid_value_keeps_its_other_members() {
    let temp = Scratch::new("forbidden-frame");
    let input = temp.put("in.mif.json", document_with(VERSION_1, "/memories/0/importance", &json!(1.7)).to_string());
    let out = temp.0.join("out.mif.json");
    export(&mut read(&input).unwrap(), &out, "json", None);
    let (before, after) = (value(&input), value(&out));
    for name in ["consent", "generator", "x_unknown", "todos"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    let mut memory = after["memories"][0].clone();
    memory.as_object_mut().unwrap().remove("x_mementory").unwrap();
    let mut expected = before["memories"][0].clone();
    expected["importance"] = Value::Null;
    memory["importance"] = Value::Null;
    assert_eq!(memory, expected, "only the forbidden value is replaced");
    assert_eq!(after["memories"][1], before["memories"][1]);

    let input = temp.put("in2.mif.json", document_with(VERSION_1, "/consent/retention_days", &json!(-1)).to_string());
    let mut store = read(&input).unwrap();
    export(&mut store, &out, "json", None);
    let consent = &value(&out)["consent"];
    assert_eq!((&consent["retention_days"], &consent["purpose"]), (&Value::Null, &json!("backup")));
    let part = String::from_utf8(read(&out).unwrap().parts[0].1.clone()).unwrap();
    assert!(part.contains(r#""retention_days":-1"#), "the frame comes back: {part}");
}

#[test]
fn references_follow_an_id_that_is_replaced() {
    let temp = Scratch::new("forbidden-references");
    let entity = "7d000000-2222-4222-8222-0000000000e1";
    for (name, id, forbidden) in [(VERSION_1, FIRST, "mem_first!"), (VERSION_2, entity, "jonas")] {
        let input = temp.put("input.mif.json", fixture(name).replace(id, forbidden));
        let mut store = read(&input).unwrap();
        assert_valid_exports(&mut store, &temp.0, None, name);
        let out = temp.0.join("out.mif.json");
        let warnings = codes(&validate(&out).warnings);
        assert!(!warnings.iter().any(|code| code.starts_with("dangling")), "{name}: {warnings:?}");
        let (mut before, mut after) = (value(&input), value(&out));
        let graph = if name == VERSION_1 { "graph" } else { "knowledge_graph" };
        assert_eq!(before[graph].take().to_string().matches(forbidden).count(), if name == VERSION_1 { 3 } else { 2 });
        let written = after[graph].take();
        for (list, members) in
            [("nodes", ["id", "type"]), ("edges", ["source", "target"]), ("relationships", ["source_entity_id", "id"])]
        {
            for element in written[list].as_array().into_iter().flatten() {
                assert!(members.iter().all(|member| element[*member] != forbidden), "{list}: {element}");
            }
        }
    }
}

#[test]
fn an_edit_of_an_element_with_invalid_values_is_kept() {
    let temp = Scratch::new("forbidden-edit");
    for (pointer, forbidden) in [
        ("/memories/0/importance", json!(1.7)),
        ("/memories/0/created_at", json!("yesterday")),
        ("/memories/0/id", json!("mem_first!")),
    ] {
        let input = temp.put("input.mif.json", document_with(VERSION_1, pointer, &forbidden).to_string());
        let mut store = read(&input).unwrap();
        let at = store.records.iter().position(|record| record.text.starts_with("Ilse waters")).unwrap();
        let key = store.records[at].key.clone();
        store.records[at].text = "Ilse waters the beans at six.".into();
        store.edited.insert(at);
        let out = temp.0.join("out.mif.json");
        export(&mut store, &out, "json", None);
        assert_eq!(validate(&out).errors, [], "{pointer}");
        let mut reread = read(&out).unwrap();
        assert_eq!(reread.find("Ilse waters").key, key, "{pointer}");
        let second_export = temp.0.join("again.mif.json");
        export(&mut reread, &second_export, "json", None);
        assert_eq!(validate(&second_export).errors, [], "{pointer}");
        assert_eq!(
            read(&second_export).unwrap().find("Ilse waters").text,
            "Ilse waters the beans at six.",
            "{pointer}"
        );
    }
}

#[test]
fn every_fixture_is_valid_after_an_export() {
    let temp = Scratch::new("forbidden-fixtures");
    for folder in std::fs::read_dir(repo().join("fixtures/mif")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = file.unwrap().path();
            let what = file.display().to_string();
            if what.ends_with("case.json") {
                continue;
            }
            let Ok(mut store) = read(&file) else { continue };
            for version in [None, Some("1.0"), Some("2.0")] {
                for encoding in ["json", "yaml", "jsonl"] {
                    let out = temp.0.join(format!("out.mif.{encoding}"));
                    export(&mut store, &out, encoding, version);
                    assert_eq!(validate(&out).errors, [], "{what} as {version:?} {encoding}");
                    let count = read(&out).unwrap().records.len();
                    assert_eq!(count, store.records.len(), "{what} as {version:?} {encoding}");
                }
            }
        }
    }
}

#[test]
fn an_invalid_value_of_an_interop_element_is_not_written_again() {
    let temp = Scratch::new("forbidden-interop");
    for (encoding, element) in [
        ("mem0", json!({"memory": "Tea at four.", "created_at": "yesterday", "metadata": [1]})),
        ("mem0", json!({"memory": "Tea at four.", "user_id": 5})),
        ("generic", json!({"content": "Tea at four.", "timestamp": "yesterday", "metadata": "none"})),
    ] {
        let input = temp.put("input.json", json!([element]).to_string());
        assert!(!validate(&input).errors.is_empty(), "{element}");
        let mut store = read(&input).unwrap();
        for encoding in [encoding, "json", "yaml", "jsonl"] {
            let is_document = ["yaml", "jsonl"].contains(&encoding);
            let out = temp.0.join(if is_document { format!("out.mif.{encoding}") } else { "out.json".to_owned() });
            export(&mut store, &out, encoding, None);
            assert_eq!(validate(&out).errors, [], "{element} as {encoding}");
            assert_eq!(read(&out).unwrap().find("Tea at four.").text, "Tea at four.", "{element} as {encoding}");
        }
    }
}
