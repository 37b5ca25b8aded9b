//! Tests of writing, validating and applying deltas (spec §10.4). After all deltas are applied, the archive must equal
//! a full export. If a delta cannot be applied, nothing is changed.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::super::testing::*;
use super::{AlfDelta, ApplyError, apply, apply::check_base};
use crate::detect;
use mementory_format::testkit::FakeCipher;
use mementory_format::{Catalog, Format, FormatError, Passphrase, ReadContext, WriteOptions};
use mementory_model::{Limits, Record, RecordKey, Timestamp, Verbatim};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const AGENT_ID: &str = "0197f2a0-1111-7000-8000-00000000000a";

fn read_lossless_fixture(path: &Path) -> MemorySource {
    pack_folder(&repo().join("fixtures/alf/lossless/input"), path);
    read(path).unwrap()
}

/// Returns the record that the reader creates for a memory of the agent.
fn memory(id: &str, created: &str, content: &str) -> Record {
    let line = format!(
        r#"{{"id":"{id}","agent_id":"{AGENT_ID}","content":"{content}","memory_type":"semantic","source":{{"runtime":"r"}},"temporal":{{"created_at":"{created}"}},"status":"active","namespace":"n"}}"#
    );
    let scope = format!("alf:{AGENT_ID}");
    let mut record = super::super::wire::read_line(&line, true, |_, _| scope.clone()).unwrap().record;
    record.origin.format = "alf".into();
    record.origin.pointer = "line 1".into();
    record
}

fn write_delta(vault: &mut MemorySource, base: &Path, out: &Path) -> mementory_format::WriteReport {
    let options = WriteOptions { everything: true, base: Some(base.to_path_buf()), ..WriteOptions::default() };
    plan_and_write(&AlfDelta, vault, out, &options)
}

fn write_bundle(path: &Path, base: u64, new: u64, agent: &str, lines: &str) {
    let manifest = format!(
        r#"{{"alf_version":"1.0.0","created_at":"2026-11-20T12:00:00Z","agent":{{"id":"{agent}"}},"sync":{{"base_sequence":{base},"new_sequence":{new}}},"changes":{{"memory":{{"file":"memory/delta.jsonl","record_count":{}}}}}}}"#,
        lines.lines().count()
    );
    pack(path, &[("manifest.json", manifest.as_bytes()), ("memory/delta.jsonl", lines.as_bytes())]);
}

fn line(operation: &str, id: &str, content: &str) -> String {
    super::operation::add_operation(
        &memory(id, "2026-10-05T00:00:00Z", content).verbatim.unwrap().text,
        parse_operation(operation),
    )
}

fn parse_operation(operation: &str) -> super::operation::Operation {
    use super::operation::Operation::{Create, Delete, Update};
    [Create, Update, Delete].into_iter().find(|o| o.as_str() == operation).unwrap()
}

fn read_delta(path: &Path) -> MemorySource {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, None).unwrap();
    assert_eq!(detection.sources[0].format, "alf_delta", "detected among all formats");
    let mut vault = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    AlfDelta.read(&catalog, &detection.sources[0], &context, &mut vault).unwrap();
    vault
}

fn validate_delta(path: &Path) -> mementory_format::Validation {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, Some("alf_delta")).unwrap();
    AlfDelta.validate(&catalog, &detection.sources[0], &limits, &[]).unwrap()
}

fn contents(path: &Path) -> BTreeMap<String, String> {
    let records = read(path).unwrap().records;
    records.into_iter().filter(|r| r.kind == mementory_model::Kind::Memory).map(|r| (r.key.value, r.text)).collect()
}

#[test]
fn spec_10_4_an_archive_with_its_deltas_equals_a_full_export() {
    let scratch = Scratch::new("delta");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("original.alf"));
    let mut vault = read(&path("original.alf")).unwrap();
    write(&mut vault, &path("s0.alf"));

    // Step 2: add, change and remove memories; change the identity, a principal and a credential.
    let new_memory = memory("0197f2a0-2222-7000-8000-0000000000f1", "2026-11-02T00:00:00Z", "Moved to Graz.");
    let backdated_memory = memory("0197f2a0-2222-7000-8000-0000000000f2", "2026-01-02T00:00:00Z", "Found later.");
    vault.records.push(new_memory.clone());
    vault.records.push(backdated_memory);
    let removed_index =
        vault.records.iter().position(|r| r.origin.pointer.starts_with("line") && !r.text.starts_with("Runs"));
    let removed_memory = vault.records.remove(removed_index.unwrap());
    let mut removed_credential = String::new();
    for i in 0..vault.records.len() {
        let record = &mut vault.records[i];
        if record.text.starts_with("Runs on Saturdays") {
            record.text = "Runs on Sundays.".into();
        } else if record.record_type.as_deref() == Some("identity") {
            record.text = record.text.replace("Calm and exact.", "Lively.");
        } else if record.title.as_deref() == Some("Mara") {
            record.text = "Mara likes long answers.".into();
        } else if record.kind == mementory_model::Kind::Credential && removed_credential.is_empty() {
            record.text = format!("{} rotated", record.text);
            removed_credential = record.text.clone();
        } else {
            continue;
        }
        vault.edited.insert(i);
    }
    let report = write_delta(&mut vault, &path("s0.alf"), &path("d1.alf-delta"));
    assert_eq!(report.by_kind["memory"], 3, "two new and one changed");
    assert_eq!(validate_delta(&path("d1.alf-delta")).errors.iter().filter(|e| e.code == "missing_field").count(), 0);
    let parts = entries(&path("d1.alf-delta"));
    assert_eq!(parts["manifest.json"], parts["delta-manifest.json"], "the manifest has both names");
    let manifest: Value = serde_json::from_slice(&parts["manifest.json"]).unwrap();
    let manifest_before: Value = serde_json::from_slice(&entries(&path("s0.alf"))["manifest.json"]).unwrap();
    let sequence = manifest_before["sync"]["last_sequence"].as_u64().unwrap_or(0);
    assert_eq!(manifest["sync"]["base_sequence"], sequence);
    assert_eq!(manifest["sync"]["new_sequence"], sequence + 1);
    assert_eq!(manifest["changes"]["memory"]["record_count"], 4);
    assert_eq!(manifest["changes"]["principals"]["changed_ids"].as_array().unwrap().len(), 1);
    let delta_lines = String::from_utf8(parts["memory/delta.jsonl"].clone()).unwrap();
    assert!(!delta_lines.contains(&removed_memory.text), "a deletion does not contain the deleted text");

    // Steps 4 and 5 of the specification's procedure: the result equals a full export.
    let applied = apply(&path("s0.alf"), &[path("d1.alf-delta")], &path("applied.alf"), &Limits::default()).unwrap();
    assert_eq!((applied.created, applied.updated, applied.deleted), (2, 1, 1));
    assert_eq!(applied.documents, ["credentials", "identity", "principals"]);
    assert_eq!(applied.findings, []);
    write(&mut vault, &path("s1.alf"));
    let (full_entries, merged_entries) = (entries(&path("s1.alf")), entries(&path("applied.alf")));
    assert_eq!(full_entries.keys().collect::<Vec<_>>(), merged_entries.keys().collect::<Vec<_>>());
    for (name, bytes) in full_entries.iter().filter(|(name, _)| *name != "manifest.json") {
        assert_eq!(String::from_utf8_lossy(bytes), String::from_utf8_lossy(&merged_entries[name]), "{name}");
    }
    let [full_manifest, merged_manifest]: [Value; 2] =
        [&full_entries, &merged_entries].map(|e| serde_json::from_slice(&e["manifest.json"]).unwrap());
    for key in ["layers", "agent", "checksum", "alf_version", "created_at"] {
        assert_eq!(full_manifest[key], merged_manifest[key], "{key}");
    }
    assert_eq!(merged_manifest["sync"]["last_sequence"], sequence + 1);

    // Step 6: the second delta, whose base is the archive after the first delta, contains only the new changes.
    vault.records.push(memory("0197f2a0-2222-7000-8000-0000000000f3", "2026-11-03T00:00:00Z", "Third."));
    write_delta(&mut vault, &path("applied.alf"), &path("d2.alf-delta"));
    let second_manifest: Value = serde_json::from_slice(&entries(&path("d2.alf-delta"))["manifest.json"]).unwrap();
    assert_eq!(second_manifest["sync"]["new_sequence"], sequence + 2);
    assert_eq!(second_manifest["changes"].as_object().unwrap().keys().collect::<Vec<_>>(), ["memory"]);
    assert_eq!(second_manifest["changes"]["memory"]["record_count"], 1);
    let deltas = [path("d1.alf-delta"), path("d2.alf-delta")];
    assert_eq!(apply(&path("s0.alf"), &deltas, &path("s2.alf"), &Limits::default()).unwrap().sequence, sequence + 2);
    assert_eq!(
        validate(&path("s2.alf"))
            .errors
            .iter()
            .filter(|e| e.code.contains("checksum") && !e.place.contains("attachments"))
            .count(),
        0
    );

    // An imported delta produces the same record as the agent's archive.
    let read_in = read_delta(&path("d2.alf-delta"));
    assert_eq!(read_in.records.len(), 1);
    assert_eq!(
        read_in.records[0].key,
        RecordKey::new(format!("alf:{AGENT_ID}"), "0197f2a0-2222-7000-8000-0000000000f3")
    );
    let agent_record = memory("0197f2a0-2222-7000-8000-0000000000f3", "2026-11-03T00:00:00Z", "Third.");
    assert_eq!(read_in.records[0].verbatim, agent_record.verbatim, "without the operation, byte for byte");
    assert!(
        read_in.parts.iter().all(|(p, _)| p.role != "manifest"),
        "the manifest of the bundle is not the manifest of the agent"
    );
}

#[test]
fn deltas_are_applied_in_order_or_not_at_all() {
    let scratch = Scratch::new("order");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("base.alf"));
    let start = {
        let manifest: Value = serde_json::from_slice(&entries(&path("base.alf"))["manifest.json"]).unwrap();
        manifest["sync"]["last_sequence"].as_u64().unwrap_or(0)
    };
    let id = "0197f2a0-2222-7000-8000-0000000000a1";
    write_bundle(&path("1"), start, start + 1, AGENT_ID, &line("create", id, "one"));
    write_bundle(&path("2"), start + 1, 0, AGENT_ID, &line("update", id, "two"));
    write_bundle(&path("3"), start + 2, start + 9, AGENT_ID, &line("update", id, "three"));
    write_bundle(&path("old"), start.saturating_sub(1), start + 5, AGENT_ID, &line("update", id, "x"));
    write_bundle(&path("back"), start, start, AGENT_ID, &line("update", id, "x"));
    write_bundle(&path("other"), start, start + 1, "0197f2a0-1111-7000-8000-00000000000b", &line("create", id, "x"));
    let run = |names: &[&str]| {
        let deltas: Vec<_> = names.iter().map(|n| path(n)).collect();
        let result = apply(&path("base.alf"), &deltas, &path("out.alf"), &Limits::default());
        let is_written = path("out.alf").exists();
        let has_partial_file = std::fs::read_dir(&scratch.0)
            .unwrap()
            .any(|e| e.unwrap().file_name().to_string_lossy().contains("partial"));
        assert!(!has_partial_file, "no partial file remains");
        assert_eq!(is_written, result.is_ok(), "{names:?}");
        if is_written {
            let texts = contents(&path("out.alf"));
            std::fs::remove_file(path("out.alf")).unwrap();
            return Ok((result.unwrap(), texts));
        }
        Err(result.unwrap_err())
    };
    let (applied, texts) = run(&["1", "2", "3"]).unwrap();
    assert_eq!((applied.sequence, texts[id].as_str()), (start + 9, "three"));
    assert!(matches!(run(&["other"]), Err(ApplyError::WrongAgent { .. })));
    assert!(matches!(run(&["1", "1"]), Err(ApplyError::AlreadyApplied { .. })));
    assert!(matches!(run(&["2"]), Err(ApplyError::Gap { .. })));
    assert!(matches!(run(&["1", "3"]), Err(ApplyError::Gap { .. })));
    assert!(matches!(run(&["back"]), Err(ApplyError::Order { .. })));
    assert!(matches!(run(&["1", "old"]), Err(ApplyError::WrongBase { .. })));
    write_bundle(&path("cut"), start + 1, start + 2, AGENT_ID, &line("create", id, "cut"));
    let mut bytes = std::fs::read(path("cut")).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(path("cut"), bytes).unwrap();
    assert!(matches!(run(&["1", "cut"]), Err(ApplyError::Format(_))));
    assert!(matches!(run(&["1", "base.alf"]), Err(ApplyError::Format(FormatError::Invalid { .. }))));
    std::fs::write(path("out.alf"), b"mine").unwrap();
    let refusal = apply(&path("base.alf"), &[path("1")], &path("out.alf"), &Limits::default());
    assert!(matches!(refusal, Err(ApplyError::Exists { .. })));
    assert_eq!(std::fs::read(path("out.alf")).unwrap(), b"mine");
    assert_eq!(
        check_base(&path("base.alf"), &path("2"), &Limits::default(), None).unwrap().errors[0].code,
        "delta_gap"
    );
    assert_eq!(check_base(&path("base.alf"), &path("1"), &Limits::default(), None).unwrap().errors, []);
}

#[test]
fn changes_in_one_bundle_are_applied_in_order() {
    let scratch = Scratch::new("lines");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("base.alf"));
    let manifest: Value = serde_json::from_slice(&entries(&path("base.alf"))["manifest.json"]).unwrap();
    let start = manifest["sync"]["last_sequence"].as_u64().unwrap_or(0);
    let ids = |n: u8| format!("0197f2a0-2222-7000-8000-0000000000b{n}");
    let known_id = contents(&path("base.alf")).into_keys().next().unwrap();
    let tombstone = |id: &str| format!(r#"{{"operation":"delete","id":"{id}","agent_id":"{AGENT_ID}"}}"#);
    let lines = [
        line("create", &ids(1), "a"),
        line("update", &ids(1), "b"),
        line("create", &ids(2), "c"),
        line("delete", &ids(2), "c"),
        line("update", &ids(3), "never made"),
        line("create", &known_id, "made again"),
        tombstone(&ids(4)),
    ]
    .join("\n");
    write_bundle(&path("d"), start, start + 1, AGENT_ID, &lines);
    let applied = apply(&path("base.alf"), &[path("d")], &path("out.alf"), &Limits::default()).unwrap();
    let codes: Vec<_> = applied.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["create_of_known", "delete_of_unknown", "delete_of_unknown", "update_of_unknown"]);
    let base_check = check_base(&path("base.alf"), &path("d"), &Limits::default(), None).unwrap();
    assert_eq!((base_check.errors, base_check.warnings), (vec![], applied.findings), "a check says the same before");
    let vault = read(&path("out.alf")).unwrap();
    let find = |id: &str| {
        vault.records.iter().find(|r| r.key.value == id).map(|r| (r.text.as_str(), r.status.as_deref().unwrap()))
    };
    assert_eq!(find(&ids(1)), Some(("b", "active")), "created and changed in one bundle");
    assert_eq!(find(&ids(2)), Some(("c", "deleted")), "the tombstone stays");
    assert_eq!(find(&ids(3)), Some(("never made", "active")), "the last write wins");
    assert_eq!(find(&known_id), Some(("made again", "active")));
    assert_eq!(find(&ids(4)), None);
    // A deletion that states only an id leaves the record in the archive as a tombstone.
    write_bundle(&path("e"), start + 1, start + 2, AGENT_ID, &tombstone(&ids(1)));
    apply(&path("out.alf"), &[path("e")], &path("last.alf"), &Limits::default()).unwrap();
    let vault = read(&path("last.alf")).unwrap();
    let deleted_record = vault.records.iter().find(|r| r.key.value == ids(1)).unwrap();
    assert_eq!((deleted_record.text.as_str(), deleted_record.status.as_deref()), ("b", Some("deleted")));
    let imported = read_delta(&path("e"));
    assert_eq!((imported.dropped.len(), imported.records.len()), (0, 0), "a deletion gives no record");
    assert_eq!(
        imported.tombstones.iter().map(|t| t.target_id.as_str()).collect::<Vec<_>>(),
        [ids(1)],
        "but one to take out"
    );
}

fn invalid_code(error: &ApplyError) -> &'static str {
    match error {
        ApplyError::Format(FormatError::Invalid { code, .. }) => code,
        other => panic!("{other}"),
    }
}

#[test]
fn a_delta_with_an_error_is_not_applied_at_all() {
    let scratch = Scratch::new("all-or-nothing");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("base.alf"));
    let manifest: Value = serde_json::from_slice(&entries(&path("base.alf"))["manifest.json"]).unwrap();
    let start = manifest["sync"]["last_sequence"].as_u64().unwrap_or(0);
    let valid_line = line("create", "0197f2a0-2222-7000-8000-0000000000c1", "a");
    let of_another = line("create", "0197f2a0-2222-7000-8000-0000000000c2", "b").replace(AGENT_ID, "0197f2a0-9");
    let without_operation = valid_line.replace(",\"operation\":\"create\"", "");
    assert_ne!(without_operation, valid_line);
    let in_capitals = valid_line.replace("\"create\"}", "\"CREATE\"}");
    let with_null = valid_line.replace("\"create\"}", "null}");
    let with_two = valid_line.replacen('{', "{\"operation\":\"delete\",", 1);
    for (second, expected) in [
        ("{\"id\":", "not_json"),
        (&*without_operation, "no_operation"),
        (&*of_another, "wrong_agent"),
        (&*in_capitals, "unknown_operation"),
        (&*with_null, "unknown_operation"),
        (&*with_two, "unknown_operation"),
    ] {
        write_bundle(&path("d"), start, start + 1, AGENT_ID, &format!("{valid_line}\n{second}"));
        let refusal = apply(&path("base.alf"), &[path("d")], &path("out.alf"), &Limits::default()).unwrap_err();
        assert_eq!(invalid_code(&refusal), expected);
        assert!(!path("out.alf").exists());
    }
    let counted_lines = format!("{valid_line}\n");
    write_bundle(&path("d"), start, start + 1, AGENT_ID, &counted_lines);
    write_changed_copy(&path("d"), &path("e"), |name, bytes| match name {
        "memory/delta.jsonl" => [bytes.clone(), bytes].concat(),
        _ => bytes,
    });
    let refusal = apply(&path("base.alf"), &[path("e")], &path("out.alf"), &Limits::default()).unwrap_err();
    assert_eq!(invalid_code(&refusal), "count_differs");
    let long_line = line("create", "0197f2a0-2222-7000-8000-0000000000c3", &"x".repeat(5000));
    write_bundle(&path("f"), start, start + 1, AGENT_ID, &format!("{valid_line}\n{long_line}"));
    let limits = Limits { line_bytes: 3000, ..Limits::default() };
    let refusal = apply(&path("base.alf"), &[path("f")], &path("out.alf"), &limits).unwrap_err();
    assert_eq!(invalid_code(&refusal), "line_too_long");
    assert!(refusal.to_string().contains("#line 2"), "found before anything is applied: {refusal}");
}

#[test]
fn a_delta_whose_inventory_has_a_wrong_type_is_refused() {
    let scratch = Scratch::new("inventory-types");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("base.alf"));
    let base: Value = serde_json::from_slice(&entries(&path("base.alf"))["manifest.json"]).unwrap();
    let start = base["sync"]["last_sequence"].as_u64().unwrap_or(0);
    write_bundle(&path("d"), start, start + 1, AGENT_ID, &line("create", "0197f2a0-2222-7000-8000-0000000000c1", "a"));
    let apply_with = |key: &str, value: &Value| {
        write_changed_copy(&path("d"), &path("e"), |name, bytes| match name {
            "manifest.json" => {
                let mut manifest: Value = serde_json::from_slice(&bytes).unwrap();
                manifest["changes"]["memory"][key] = value.clone();
                manifest.to_string().into_bytes()
            }
            _ => bytes,
        });
        apply(&path("base.alf"), &[path("e")], &path("out.alf"), &Limits::default())
    };
    for (key, value) in [("record_count", Value::Null), ("record_count", "1".into()), ("file", Value::Null)] {
        assert_eq!(invalid_code(&apply_with(key, &value).unwrap_err()), "manifest_invalid", "{key} {value}");
        assert!(!path("out.alf").exists());
    }
    apply_with("record_count", &1.0.into()).unwrap();
}

/// The specification and the reference tool use different names for the manifest of a delta. If a bundle contains two
/// different manifests, programs would apply different changes.
#[test]
fn a_delta_with_two_different_manifests_is_refused() {
    let scratch = Scratch::new("two-manifests");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("base.alf"));
    let base: Value = serde_json::from_slice(&entries(&path("base.alf"))["manifest.json"]).unwrap();
    let start = base["sync"]["last_sequence"].as_u64().unwrap_or(0);
    write_bundle(&path("d"), start, start + 1, AGENT_ID, &line("create", "0197f2a0-2222-7000-8000-0000000000c1", "a"));
    let bundle = entries(&path("d"));
    let manifest = String::from_utf8(bundle["manifest.json"].clone()).unwrap();
    let of_another = manifest.replace(AGENT_ID, "0197f2a0-1111-7000-8000-00000000000b");
    assert_ne!(of_another, manifest);
    for (other, is_accepted) in [(format!(" {manifest}\n"), true), (of_another, false), ("{".into(), false)] {
        let parts = [("manifest.json", &*manifest), ("delta-manifest.json", &*other)].map(|(n, t)| (n, t.as_bytes()));
        pack(&path("e"), &[parts[0], parts[1], ("memory/delta.jsonl", bundle["memory/delta.jsonl"].as_slice())]);
        match apply(&path("base.alf"), &[path("e")], &path("out.alf"), &Limits::default()) {
            Ok(_) => {
                assert!(is_accepted, "{other}");
                std::fs::remove_file(path("out.alf")).unwrap();
            }
            Err(error) => {
                assert!(!is_accepted, "{error}");
                assert_eq!(invalid_code(&error), "manifest_invalid");
            }
        }
    }
}

#[test]
fn delta_of_a_selection_has_no_deletions_and_every_delta_needs_a_base() {
    let scratch = Scratch::new("selection");
    let path = |name: &str| scratch.0.join(name);
    let mut vault = read_lossless_fixture(&path("base.alf"));
    vault.records.retain(|r| r.kind == mementory_model::Kind::Memory && r.text.starts_with("Runs"));
    let options = WriteOptions { base: Some(path("base.alf")), ..WriteOptions::default() };
    AlfDelta.write(&mut vault, &path("d"), &options).unwrap();
    assert!(!entries(&path("d")).contains_key("memory/delta.jsonl"), "nothing changed, nothing deleted");
    let refusal = AlfDelta.write(&mut vault, &path("e"), &WriteOptions::default());
    assert!(matches!(refusal, Err(FormatError::Invalid { code: "base_required", .. })));
    let mut foreign_vault = MemorySource {
        records: vec![Record::new(mementory_model::Kind::Memory, RecordKey::new("x", "1"), "a")],
        ..MemorySource::default()
    };
    let refusal = AlfDelta.write(&mut foreign_vault, &path("f"), &options);
    assert!(matches!(refusal, Err(FormatError::Invalid { code: "base_of_another_agent", .. })));
    assert!(!path("f").exists() && !path("e").exists());
}

#[test]
fn removing_the_operation_changes_no_other_byte() {
    let record = r#"{"id":"a", "content":"b" ,"n":1.0}"#;
    let with_operation = super::operation::add_operation(record, parse_operation("update"));
    assert_eq!(with_operation, r#"{"id":"a", "content":"b" ,"n":1.0,"operation":"update"}"#);
    for text in [
        with_operation.as_str(),
        r#"{"operation" : "update", "id":"a", "content":"b" ,"n":1.0}"#,
        r#"{"id":"a", "operation":"update", "content":"b" ,"n":1.0}"#,
    ] {
        let change = super::operation::parse(text).unwrap();
        let line = change.line.unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&line).unwrap(),
            serde_json::from_str::<Value>(record).unwrap(),
            "{text}"
        );
        assert!(line.contains("1.0") && !line.contains("operation"));
    }
    assert_eq!(super::operation::parse(&with_operation).unwrap().line.as_deref(), Some(record), "ours: byte for byte");
    let _ = Verbatim::json(record);
}

#[test]
fn spec_10_10_a_delta_of_fifty_thousand_records_is_small() {
    let scratch = Scratch::new("scale");
    let path = |name: &str| scratch.0.join(name);
    let numbered_memory = |n: u32| {
        memory(
            &format!("0197f2a0-3333-7000-8000-{n:012x}"),
            &format!("202{}-0{}-01T00:00:00Z", n % 6, n % 9 + 1),
            &format!("Fact number {n}."),
        )
    };
    let mut vault = MemorySource { records: (0..50_000).map(numbered_memory).collect(), ..MemorySource::default() };
    let manifest = format!(
        r#"{{"alf_version":"1.0.0","created_at":"2026-01-01T00:00:00Z","agent":{{"id":"{AGENT_ID}","name":"A","source_runtime":"r"}},"layers":{{}}}}"#
    );
    let item = mementory_format::PassthroughItem {
        format: "alf".into(),
        group: AGENT_ID.into(),
        name: "manifest.json".into(),
        role: "manifest".into(),
        place: String::new(),
    };
    vault.parts.push((item, manifest.into_bytes()));
    write(&mut vault, &path("base.alf"));
    assert!(std::fs::metadata(path("base.alf")).unwrap().len() < 50 << 20, "spec §8.1");
    vault.records.push(numbered_memory(60_000));
    write_delta(&mut vault, &path("base.alf"), &path("d"));
    assert!(std::fs::metadata(path("d")).unwrap().len() < 100 << 10, "spec §8.1");
    assert_eq!(apply(&path("base.alf"), &[path("d")], &path("out.alf"), &Limits::default()).unwrap().created, 1);
    assert_eq!(read(&path("out.alf")).unwrap().records.len(), 50_001);
}

#[test]
fn a_token_in_the_identity_is_only_in_encrypted_deltas() {
    let scratch = Scratch::new("token-in-delta");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("base.alf"));
    let with_token = |name: &str, bytes: Vec<u8>| match name {
        "identity.json" => {
            String::from_utf8(bytes).unwrap().replace("Calm and exact.", &format!("Use {TOKEN}.")).into_bytes()
        }
        _ => bytes,
    };
    write_changed_copy(&path("base.alf"), &path("edited.alf"), with_token);
    let mut vault = read(&path("edited.alf")).unwrap();
    let report = write_delta(&mut vault, &path("base.alf"), &path("d.alf-delta"));
    assert_eq!(report.losses.count("secret", mementory_model::LossKind::LeftOut), 1);
    let written_entries = entries(&path("d.alf-delta"));
    assert!(written_entries.values().all(|bytes| !String::from_utf8_lossy(bytes).contains(TOKEN)));
    assert!(String::from_utf8_lossy(&written_entries["identity.json"]).contains("Use <redacted>."));

    let passphrase: Arc<dyn Passphrase> = Arc::new(FakeCipher("open"));
    let options = WriteOptions {
        everything: true,
        base: Some(path("base.alf")),
        passphrase: Some(passphrase),
        ..WriteOptions::default()
    };
    let report = plan_and_write(&AlfDelta, &mut vault, &path("sealed.alf-delta"), &options);
    assert_eq!(report.losses.count("secret", mementory_model::LossKind::LeftOut), 0);
}

#[test]
fn a_delta_of_the_reference_tool_is_validated_and_applied() {
    let folder = repo().join("fixtures/alf/delta");
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let scratch = Scratch::new("fixture");
    let path = |name: &str| scratch.0.join(name);
    pack_folder(&folder.join("base"), &path("base.alf"));
    pack_folder(&folder.join("input"), &path("d.alf-delta"));
    assert_eq!(validate_delta(&path("d.alf-delta")).errors, []);
    let applied = apply(&path("base.alf"), &[path("d.alf-delta")], &path("out.alf"), &Limits::default()).unwrap();
    assert_eq!(applied.sequence, expected["sequence"].as_u64().unwrap());
    let counts =
        serde_json::json!({"created": applied.created, "updated": applied.updated, "deleted": applied.deleted});
    assert_eq!(counts, expected["applied"]);
    let vault = read(&path("out.alf")).unwrap();
    for (text, status) in expected["status"].as_object().unwrap() {
        let record = vault.records.iter().find(|r| r.text == *text).unwrap();
        assert_eq!(record.status.as_deref(), status.as_str(), "{text}");
    }
    let manifest: Value = serde_json::from_slice(&entries(&path("out.alf"))["manifest.json"]).unwrap();
    assert_eq!(manifest["x_kept"], 1.0);
    let rows = manifest["layers"]["memory"]["partitions"].as_array().unwrap();
    let rows: Vec<Value> =
        rows.iter().map(|r| serde_json::json!([r["file"], r["record_count"], r["sealed"]])).collect();
    assert_eq!(Value::from(rows), expected["partitions"]);
    assert_eq!(validate(&path("out.alf")).errors, []);
}

/// A sequence number that exceeds 64 bits must not be read as 0, which is the state before the first delta.
#[test]
fn a_sequence_number_that_does_not_fit_is_refused() {
    let scratch = Scratch::new("large-sequence");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("whole.alf"));
    write_bundle(&path("d"), 0, 1, AGENT_ID, &line("create", "0197f2a0-2222-7000-8000-0000000000b1", "a"));
    let with_sequence = |sequence: &str| {
        write_changed_copy(&path("whole.alf"), &path("base.alf"), |name, bytes| {
            let mut manifest: Value = match name {
                "manifest.json" => serde_json::from_slice(&bytes).unwrap(),
                _ => return bytes,
            };
            manifest["sync"] = serde_json::json!({"last_sequence": "here"});
            manifest.to_string().replace("\"here\"", sequence).into_bytes()
        });
        apply(&path("base.alf"), &[path("d")], &path("out.alf"), &Limits::default())
    };
    for sequence in ["18446744073709551616", "1e30", "-1", "\"0\""] {
        assert_eq!(invalid_code(&with_sequence(sequence).unwrap_err()), "manifest_invalid", "{sequence}");
        assert!(validate(&path("base.alf")).warnings.iter().any(|f| f.code == "sequence_not_usable"), "{sequence}");
        assert!(!path("out.alf").exists());
    }
    // No delta can follow the largest sequence number.
    assert!(matches!(with_sequence("18446744073709551615"), Err(ApplyError::AlreadyApplied { .. })));
    let mut vault = read(&path("base.alf")).unwrap();
    let options = WriteOptions { everything: true, base: Some(path("base.alf")), ..WriteOptions::default() };
    let refusal = AlfDelta.write(&mut vault, &path("next.alf-delta"), &options);
    assert!(matches!(refusal, Err(FormatError::Invalid { code: "manifest_invalid", .. })));
    assert_eq!(with_sequence("0").unwrap().sequence, 1);
}

/// An import also refuses a file with such a fault, because other programs may read other changes from the file.
#[test]
fn a_delta_or_base_whose_container_has_a_fault_is_not_applied() {
    let scratch = Scratch::new("container-faults");
    let path = |name: &str| scratch.0.join(name);
    read_lossless_fixture(&path("base.alf"));
    let manifest: Value = serde_json::from_slice(&entries(&path("base.alf"))["manifest.json"]).unwrap();
    let start = manifest["sync"]["last_sequence"].as_u64().unwrap_or(0);
    let new_memory = line("create", "0197f2a0-2222-7000-8000-0000000000b1", "a");
    write_bundle(&path("delta"), start, start + 1, AGENT_ID, &new_memory);
    let with_entries = |from: &str, to: &str, more: &[(&str, &[u8])]| {
        let all_entries = entries(&path(from));
        let all_entries = all_entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        pack(&path(to), &all_entries.chain(more.iter().copied()).collect::<Vec<_>>());
    };
    // Flips bits of the last entry, which neither the delta nor the archive lists.
    let damage = |name: &str| {
        let mut bytes = std::fs::read(path(name)).unwrap();
        let end = memchr::memmem::rfind(&bytes, b"PK\x05\x06").unwrap();
        let directory = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) as usize;
        bytes[directory - 4] ^= 0xff;
        std::fs::write(path(name), bytes).unwrap();
    };
    let similar_entries: [(&str, &[u8]); 2] = [("zeta.txt", b"one"), ("Zeta.txt", b"two")];
    for (from, to) in [("base.alf", "bad.alf"), ("delta", "bad")] {
        let applied = || match from {
            "delta" => apply(&path("base.alf"), &[path("bad")], &path("out.alf"), &Limits::default()),
            _ => apply(&path("bad.alf"), &[path("delta")], &path("out.alf"), &Limits::default()),
        };
        with_entries(from, to, &similar_entries);
        assert_eq!(invalid_code(&applied().unwrap_err()), "container_similar_names", "{from}");
        with_entries(from, to, &[("zeta.txt", b"nothing that anybody reads")]);
        assert!(applied().is_ok(), "{from}");
        std::fs::remove_file(path("out.alf")).unwrap();
        damage(to);
        assert_eq!(invalid_code(&applied().unwrap_err()), "damaged_entry", "{from}");
        assert!(!path("out.alf").exists());
    }
}
