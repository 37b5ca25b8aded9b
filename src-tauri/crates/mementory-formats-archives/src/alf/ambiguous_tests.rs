//! Tests of archives and deltas that are not what they seem: other programs read something else in them, or they name
//! what is not there.
#![allow(clippy::unwrap_used)]
use super::delta::{AlfDelta, ApplyError, apply};
use super::testing::*;
use mementory_format::{Catalog, Format, FormatError, Validation};
use mementory_model::{Limits, LossKind};
use serde_json::{Value, json};
use std::path::Path;

const AGENT_ID: &str = "0197f2a0-1111-7000-8000-00000000000a";
const OTHER_AGENT_ID: &str = "0197f2a0-1111-7000-8000-00000000000b";

fn id(n: u8) -> String {
    format!("0197f2a0-2222-7000-8000-0000000000{n:02x}")
}

fn memory(n: u8, members: &Value) -> Value {
    let mut line = json!({"id": id(n), "agent_id": AGENT_ID, "content": format!("Memory {n}."),
        "memory_type": "semantic", "source": {"runtime": "r"}, "temporal": {"created_at": "2026-01-05T00:00:00Z"},
        "status": "active", "namespace": "default"});
    for (name, value) in members.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

fn manifest(count: usize) -> Value {
    let rows = json!([{"file": "memory/all.jsonl", "from": "2026-01-01", "to": "2026-03-31", "record_count": count,
        "sealed": true}]);
    json!({"alf_version": "1.0.0", "created_at": "2026-07-01T00:00:00Z",
        "agent": {"id": AGENT_ID, "name": "a", "source_runtime": "r"}, "sync": {"last_sequence": 1},
        "layers": {"memory": {"record_count": count, "index_file": "memory/index.json", "partitions": rows}}})
}

fn write_archive(path: &Path, manifest: &Value, lines: &[String], more: &[(&str, &str)]) {
    let (manifest, lines) = (manifest.to_string(), lines.join("\n"));
    let mut files = vec![("manifest.json", manifest.as_bytes()), ("memory/all.jsonl", lines.as_bytes())];
    files.extend(more.iter().map(|(name, text)| (*name, text.as_bytes())));
    pack(path, &files);
}

fn warning_codes(validation: &Validation) -> Vec<&str> {
    let codes = validation.warnings.iter().map(|finding| finding.code.as_str());
    codes.filter(|code| *code != "index_missing").collect()
}

fn delta_manifest() -> Value {
    json!({"alf_version": "1.0.0", "created_at": "2026-07-02T00:00:00Z", "agent": {"id": AGENT_ID},
        "sync": {"base_sequence": 1, "new_sequence": 2},
        "changes": {"memory": {"file": "memory/delta.jsonl", "record_count": 1}}})
}

fn validate_delta(path: &Path) -> Validation {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = crate::detect(&catalog, &limits, Some("alf_delta")).unwrap();
    AlfDelta.validate(&catalog, &detection.sources[0], &limits, &[]).unwrap()
}

/// RFC 8259 §8.2: half of a surrogate pair is not a character.
#[test]
fn half_of_a_surrogate_pair_is_reported_and_never_written_again() {
    let scratch = Scratch::new("half-pair");
    let [path, out] = ["a.alf", "out.alf"].map(|name| scratch.0.join(name));
    let with_half = |n: u8, members: Value| memory(n, &members).to_string().replace("(half)", "\\ud83d");
    let lines = [
        with_half(1, json!({"content": "a (half) b"})),
        with_half(2, json!({"tags": ["(half)"]})),
        with_half(3, json!({"x_more": {"(half)": 1.50}})),
        with_half(4, json!({"raw_source_format": {"row": "(half)"}, "confidence": 1.7})),
        memory(5, &json!({})).to_string(),
    ];
    write_archive(&path, &manifest(lines.len()), &lines, &[]);
    let found = validate(&path).errors;
    assert_eq!(found.iter().filter(|finding| finding.code == "malformed").count(), 4, "{found:?}");
    let mut vault = read(&path).unwrap();
    assert_eq!(vault.records[0].text, "a \u{fffd} b");
    let report = write(&mut vault, &out);
    assert_eq!(report.losses.count("text", LossKind::Narrowed), 4);
    assert_eq!(validate(&out).errors, []);
    let texts = |vault: &MemorySource| vault.records.iter().map(|record| record.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&read(&out).unwrap()), texts(&vault));
}

#[test]
fn manifest_json_decides_what_an_archive_is_in_any_order() {
    let scratch = Scratch::new("both-manifests");
    let path = scratch.0.join("a.alf");
    let (manifest, delta_manifest) = (manifest(1).to_string(), delta_manifest().to_string());
    let line = memory(1, &json!({})).to_string();
    let mut files = vec![
        ("manifest.json", manifest.as_bytes()),
        ("delta-manifest.json", delta_manifest.as_bytes()),
        ("memory/all.jsonl", line.as_bytes()),
    ];
    for _ in 0..2 {
        pack(&path, &files);
        let (_, detection) = open(&path).unwrap();
        let versions: Vec<_> = detection.sources.iter().map(|source| source.claim.version.as_deref()).collect();
        assert_eq!(versions, [Some("1.0.0")]);
        assert_eq!(read(&path).unwrap().records.len(), 1);
        files.reverse();
    }
}

#[test]
fn rings_of_memories_that_supersede_each_other_are_warnings() {
    let scratch = Scratch::new("rings");
    let path = scratch.0.join("a.alf");
    let lines = [
        memory(1, &json!({"supersedes": id(2)})),
        memory(2, &json!({"supersedes": id(3).to_uppercase()})),
        memory(3, &json!({"supersedes": id(1)})),
        memory(4, &json!({"supersedes": id(1)})),
    ];
    write_archive(&path, &manifest(4), &lines.map(|line| line.to_string()), &[]);
    let validation = validate(&path);
    assert_eq!(validation.errors, []);
    assert_eq!(warning_codes(&validation), ["supersedes_cycle"]);
    assert_eq!(read(&path).unwrap().records.len(), 4);
}

/// §8.2: a later minor version may define more layers.
#[test]
fn the_missing_file_of_an_unknown_layer_is_a_warning() {
    let scratch = Scratch::new("unknown-layer");
    let path = scratch.0.join("a.alf");
    let mut manifest = manifest(1);
    manifest["layers"]["dreams"] = json!({"count": 1, "file": "dreams.json"});
    let lines = [memory(1, &json!({})).to_string()];
    write_archive(&path, &manifest, &lines, &[("dreams.json", "{}")]);
    assert_eq!(warning_codes(&validate(&path)), [""; 0]);
    write_archive(&path, &manifest, &lines, &[]);
    let validation = validate(&path);
    assert_eq!((validation.errors.len(), warning_codes(&validation)), (0, vec!["unknown_layer_missing"]));
}

/// §3.3.3: a profile names the agent to which it belongs.
#[test]
fn the_profile_of_another_agent_is_a_warning() {
    let scratch = Scratch::new("foreign-profile");
    let path = scratch.0.join("a.alf");
    let mut manifest = manifest(1);
    manifest["layers"]["principals"] = json!({"count": 1, "file": "principals.json"});
    for (agent, codes) in [(AGENT_ID, vec![]), (OTHER_AGENT_ID, vec!["foreign_agent_id"])] {
        let profile = json!({"id": id(8), "agent_id": agent, "principal_id": id(9), "version": 1,
            "updated_at": "2026-01-05T00:00:00Z"});
        let principals = json!({"principals": [{"id": id(9), "principal_type": "human", "profile": profile}]});
        let documents = [("principals.json", principals.to_string())];
        let documents = documents.each_ref().map(|(name, text)| (*name, text.as_str()));
        write_archive(&path, &manifest, &[memory(1, &json!({})).to_string()], &documents);
        let validation = validate(&path);
        assert_eq!((validation.errors.len(), warning_codes(&validation)), (0, codes));
    }
}

/// A row of the attachment index without the size or the digest of its file.
#[test]
fn a_row_gets_the_size_and_the_digest_of_its_file() {
    let scratch = Scratch::new("no-digest");
    let [path, out] = ["a.alf", "out.alf"].map(|name| scratch.0.join(name));
    let row = |n: u8, members: Value| {
        let mut row = json!({"id": id(n), "filename": "a.csv", "media_type": "text/csv", "source_path": "a.csv",
            "archive_path": null, "remote_ref": null, "size_bytes": 3,
            "hash": {"algorithm": "sha256", "value": "0".repeat(64)}});
        for (name, value) in members.as_object().unwrap() {
            row[name] = value.clone();
        }
        row
    };
    let mut without_digest = row(11, json!({"archive_path": "artifacts/a.csv"}));
    without_digest.as_object_mut().unwrap().remove("hash");
    let rows = [
        without_digest,
        row(12, json!({"archive_path": "artifacts/b.csv", "size_bytes": "3", "hash": "none"})),
        row(13, json!({"size_bytes": -3})),
    ];
    let mut manifest = manifest(1);
    manifest["layers"]["attachments"] = json!({"count": 3, "file": "attachments.json"});
    let index = json!({"attachments": rows}).to_string();
    let files = [("attachments.json", index.as_str()), ("artifacts/a.csv", "a,b"), ("artifacts/b.csv", "b,c")];
    write_archive(&path, &manifest, &[memory(1, &json!({})).to_string()], &files);
    assert_eq!(validate(&path).errors.len(), 4);
    let losses = write(&mut read(&path).unwrap(), &out).losses;
    assert_eq!([LossKind::Narrowed, LossKind::MovedToExtension].map(|kind| losses.count("hash", kind)), [1, 1]);
    assert_eq!(validate(&out).errors, []);
    let document: Value = serde_json::from_slice(&entries(&out)["attachments.json"]).unwrap();
    for (i, content) in ["a,b", "b,c"].into_iter().enumerate() {
        let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(content));
        assert_eq!(document["attachments"][i]["hash"], json!({"algorithm": "sha256", "value": digest}), "{content}");
        assert_eq!(document["attachments"][i]["size_bytes"], 3, "{content}");
    }
    assert_eq!(document["attachments"][1]["mementory_forbidden"], json!({"/size_bytes": "3", "/hash": "none"}));
    assert_eq!(document["attachments"][2]["mementory_forbidden"], json!({"/size_bytes": -3}));
}

/// Some programs use the first member of a name, and others the last.
#[test]
fn a_change_that_states_two_records_or_two_agents_is_refused() {
    let scratch = Scratch::new("two-members");
    let [base, delta, out] = ["base.alf", "d.alf-delta", "out.alf"].map(|name| scratch.0.join(name));
    write_archive(&base, &manifest(1), &[memory(1, &json!({})).to_string()], &[]);
    let line = memory(1, &json!({"operation": "update"})).to_string();
    let repeated_id = format!("{{\"id\":\"{}\",{}", id(2), &line[1..]);
    let repeated_agent = format!("{{\"agent_id\":\"{OTHER_AGENT_ID}\",{}", &line[1..]);
    for (line, expected) in [(repeated_id, "no_id"), (repeated_agent, "wrong_agent")] {
        pack(
            &delta,
            &[("manifest.json", delta_manifest().to_string().as_bytes()), ("memory/delta.jsonl", line.as_bytes())],
        );
        let codes: Vec<String> = validate_delta(&delta).errors.into_iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [expected]);
        match apply(&base, std::slice::from_ref(&delta), &out, &Limits::default()) {
            Err(ApplyError::Format(FormatError::Invalid { code, .. })) => assert_eq!(code, expected),
            _ => panic!("{expected}: applied"),
        }
    }
}

#[test]
fn a_deletion_names_a_record_by_a_uuid() {
    let scratch = Scratch::new("deleted-id");
    let path = scratch.0.join("d.alf-delta");
    for (id, codes) in [(id(1), vec![]), (id(1).to_uppercase(), vec![]), ("note-1".to_owned(), vec!["bad_value"])] {
        let line = json!({"operation": "delete", "id": id, "agent_id": AGENT_ID}).to_string();
        pack(
            &path,
            &[("manifest.json", delta_manifest().to_string().as_bytes()), ("memory/delta.jsonl", line.as_bytes())],
        );
        let errors = validate_delta(&path).errors;
        assert_eq!(errors.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(), codes, "{id}");
    }
}
