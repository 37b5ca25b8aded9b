//! Tests that an id names the same record in upper and in lower case, as UUIDs do (RFC 9562).
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::delta::apply;
use super::testing::*;
use mementory_model::Limits;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const AGENT_ID: &str = "0197f2a0-1111-7000-8000-00000000000a";

fn id(n: u32) -> String {
    format!("0197f2a0-2222-7000-8000-0000000000{n:02x}")
}

fn record(id: &str, content: &str) -> Value {
    json!({"id": id, "agent_id": AGENT_ID, "content": content, "memory_type": "semantic",
        "source": {"runtime": "r"}, "temporal": {"created_at": "2026-01-05T00:00:00Z"}, "status": "active",
        "namespace": "default"})
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Writes an archive with these records and one file in the attachment index. The row of the file refers to the record
/// with id 10 in capitals.
fn write_archive(path: &Path, records: &[Value]) {
    let manifest = json!({"alf_version": "1.0.0", "created_at": "2026-02-01T00:00:00Z",
        "agent": {"id": AGENT_ID, "name": "a", "source_runtime": "r"}, "sync": {"last_sequence": 4},
        "layers": {
            "attachments": {"count": 1, "file": "attachments.json"},
            "memory": {"record_count": records.len(), "index_file": "memory/index.json", "partitions": [
                {"file": "memory/all.jsonl", "from": "2026-01-01", "record_count": records.len(), "sealed": false}]}}});
    let index = json!({"attachments": [{"id": "0197f2a0-6666-7000-8000-000000000001", "filename": "a.txt",
        "media_type": "text/plain", "size_bytes": 3, "hash": {"algorithm": "sha256", "value": "0"},
        "source_path": "a.txt", "archive_path": null, "remote_ref": null,
        "referenced_by": [id(10).to_uppercase()]}]});
    pack(
        path,
        &[
            ("manifest.json", manifest.to_string().as_bytes()),
            ("attachments.json", index.to_string().as_bytes()),
            ("memory/all.jsonl", lines(records).as_bytes()),
        ],
    );
}

#[test]
fn references_in_capitals_are_those_to_the_same_record() {
    let scratch = Scratch::new("id-case");
    let path = scratch.0.join("a.alf");
    let mut newer = record(&id(11), "Newer.");
    newer["supersedes"] = json!(id(10).to_uppercase());
    newer["related_records"] = json!([{"id": id(10).to_uppercase(), "relation": "elaborates_on"}]);
    write_archive(&path, &[record(&id(10), "Older."), newer]);
    let vault = read(&path).unwrap();
    let find = |text: &str| vault.records.iter().find(|record| record.text == text).unwrap();
    let (older, newer) = (find("Older."), find("Newer."));
    assert_eq!(older.status.as_deref(), Some("superseded"));
    assert_eq!(older.attachments.len(), 1);
    assert!(newer.links.iter().all(|link| link.target == older.key) && newer.links.len() == 2);
}

#[test]
fn a_delta_in_capitals_changes_the_records_of_its_base() {
    let scratch = Scratch::new("id-case-delta");
    let [base, delta, out] = ["base.alf", "one.alf-delta", "out.alf"].map(|name| scratch.0.join(name));
    write_archive(&base, &[record(&id(10), "Old text."), record(&id(11), "To be deleted.")]);
    let change = |n: u32, content: &str, operation: &str| {
        let mut line = record(&id(n).to_uppercase(), content);
        line["operation"] = json!(operation);
        line
    };
    let changes = [change(10, "New text.", "update"), change(11, "To be deleted.", "delete")];
    let manifest = json!({"alf_version": "1.0.0", "created_at": "2026-02-02T00:00:00Z", "agent": {"id": AGENT_ID},
        "sync": {"base_sequence": 4, "new_sequence": 5},
        "changes": {"memory": {"file": "memory/delta.jsonl", "record_count": 2}}});
    pack(
        &delta,
        &[("manifest.json", manifest.to_string().as_bytes()), ("memory/delta.jsonl", lines(&changes).as_bytes())],
    );
    let applied = apply(&base, &[delta], &out, &Limits::default()).unwrap();
    assert_eq!((applied.updated, applied.deleted, applied.created), (1, 1, 0));
    assert_eq!(applied.findings, []);
    let vault = read(&out).unwrap();
    let memories = vault.records.iter().filter(|record| record.kind == mementory_model::Kind::Memory);
    let by_key: BTreeMap<String, (&str, Option<&str>)> =
        memories.map(|r| (r.key.value.clone(), (r.text.as_str(), r.status.as_deref()))).collect();
    let expected = [(id(10), ("New text.", Some("active"))), (id(11), ("To be deleted.", Some("deleted")))];
    assert_eq!(by_key, BTreeMap::from(expected));
}
