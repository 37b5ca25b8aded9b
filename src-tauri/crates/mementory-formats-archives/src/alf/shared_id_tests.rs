//! Tests that no record replaces another record with the same id. The schemas require only that an id is a UUID.
#![allow(clippy::unwrap_used)]
use super::testing::*;
use serde_json::json;
use std::collections::BTreeSet;

const AGENT_ID: &str = "0197f2a0-1111-7000-8000-00000000000a";
const ID: &str = "0197f2a0-2222-7000-8000-000000000001";

#[test]
fn elements_of_different_layers_may_have_one_id() {
    let at = "2026-01-05T00:00:00Z";
    let layer = |count: u32, file: &str| json!({"count": count, "file": file});
    let manifest = json!({"alf_version": "1.0.0", "created_at": "2026-07-01T00:00:00Z",
        "agent": {"id": AGENT_ID, "name": "a", "source_runtime": "r"},
        "layers": {
            "identity": {"version": 1, "file": "identity.json"},
            "principals": layer(1, "principals.json"),
            "credentials": layer(1, "credentials.json"),
            "attachments": layer(1, "attachments.json"),
            "memory": {"record_count": 1, "index_file": "memory/index.json", "partitions": [
                {"file": "memory/all.jsonl", "from": "2026-01-01", "to": "2026-03-31", "record_count": 1,
                    "sealed": true}]}}});
    let documents = [
        (
            "identity.json",
            json!({"id": ID, "agent_id": AGENT_ID, "version": 1, "updated_at": at, "prose": {"soul": "Be kind."}}),
        ),
        (
            "principals.json",
            json!({"principals": [{"id": ID, "principal_type": "human", "profile": {"id": ID, "agent_id": AGENT_ID,
                "principal_id": ID, "version": 1, "updated_at": at, "prose": {"user_profile": "Likes tea."}}}]}),
        ),
        (
            "credentials.json",
            json!({"credentials": [{"id": ID, "agent_id": AGENT_ID, "service": "mail", "credential_type": "api_key",
                "encrypted_payload": "A".repeat(32), "created_at": at,
                "encryption": {"algorithm": "xchacha20-poly1305", "nonce": "A".repeat(32)}}]}),
        ),
        (
            "attachments.json",
            json!({"attachments": [{"id": ID, "filename": "a.txt", "media_type": "text/plain", "size_bytes": 3,
                "hash": {"algorithm": "sha256", "value": "0".repeat(64)}, "source_path": "a.txt", "archive_path": null,
                "remote_ref": null, "referenced_by": [ID]}]}),
        ),
        (
            "memory/all.jsonl",
            json!({"id": ID, "agent_id": AGENT_ID, "content": "Has a boat.", "memory_type": "semantic",
                "source": {"runtime": "r"}, "temporal": {"created_at": at}, "status": "active",
                "namespace": "default"}),
        ),
    ];
    let texts: Vec<(&str, String)> = documents.iter().map(|(name, doc)| (*name, doc.to_string())).collect();
    let manifest = manifest.to_string();
    let mut files: Vec<(&str, &[u8])> = vec![("manifest.json", manifest.as_bytes())];
    files.extend(texts.iter().map(|(name, text)| (*name, text.as_bytes())));
    let scratch = Scratch::new("shared-id");
    let [path, out] = ["a.alf", "out.alf"].map(|name| scratch.0.join(name));
    pack(&path, &files);
    let validation = validate(&path);
    assert_eq!(validation.errors, []);
    assert_eq!(validation.warnings.iter().filter(|f| f.code == "id_of_a_memory").count(), 4);

    let mut vault = read(&path).unwrap();
    let keys: BTreeSet<String> = vault.records.iter().map(|r| r.key.value.clone()).collect();
    let of_documents = ["identity", "principals", "credentials", "attachments"].map(|layer| format!("{ID}#{layer}"));
    assert_eq!(keys, of_documents.into_iter().chain([ID.to_owned()]).collect());
    let memory = vault.records.iter().find(|r| r.text == "Has a boat.").unwrap();
    assert_eq!((memory.key.value.as_str(), memory.attachments.len()), (ID, 1), "deltas name the memory by its id");

    write(&mut vault, &out);
    let written_entries = entries(&out);
    for (name, text) in texts.iter().take(4) {
        assert_eq!(String::from_utf8_lossy(&written_entries[*name]), *text, "{name}");
    }
    let reread_keys: BTreeSet<String> = read(&out).unwrap().records.iter().map(|r| r.key.value.clone()).collect();
    assert_eq!(reread_keys, keys);
}

#[test]
fn the_key_of_a_repeated_id_is_not_the_id_of_another_line() {
    let scratch = Scratch::new("repeated-id");
    let line = |id: &str, content: &str| {
        json!({"id": id, "agent_id": AGENT_ID, "content": content, "memory_type": "semantic", "status": "active",
            "source": {"runtime": "r"}, "temporal": {"created_at": "2026-01-05T00:00:00Z"}, "namespace": "default"})
    };
    let other = format!("{ID}#2");
    for (n, ids) in [[ID, ID, other.as_str()], [other.as_str(), ID, ID]].iter().enumerate() {
        let path = scratch.0.join(format!("{n}.alf"));
        let lines: String = ids.iter().zip(["A", "B", "C"]).map(|(id, text)| format!("{}\n", line(id, text))).collect();
        let manifest = json!({"alf_version": "1.0.0", "created_at": "2026-07-01T00:00:00Z",
            "agent": {"id": AGENT_ID, "name": "a", "source_runtime": "r"},
            "layers": {"memory": {"record_count": 3, "index_file": "memory/index.json", "partitions": [
                {"file": "memory/all.jsonl", "from": "2026-01-01", "to": "2026-03-31", "record_count": 3,
                    "sealed": true}]}}});
        pack(&path, &[("manifest.json", manifest.to_string().as_bytes()), ("memory/all.jsonl", lines.as_bytes())]);
        let keys: BTreeSet<String> = read(&path).unwrap().records.into_iter().map(|r| r.key.value).collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
    }
}
