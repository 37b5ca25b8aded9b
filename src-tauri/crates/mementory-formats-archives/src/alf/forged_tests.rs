//! Tests of archives that violate the specification: their content is preserved, the faults are reported, and an export
//! of them is valid.
#![allow(clippy::unwrap_used)]
use super::delta::{ApplyError, apply};
use super::testing::*;
use mementory_format::{FormatError, Validation};
use mementory_model::{Kind, Limits, LossKind};
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path};

const AGENT_ID: &str = "0197f2a0-1111-7000-8000-00000000000a";
const ID: &str = "0197f2a0-2222-7000-8000-000000000001";

fn memory(id: Option<&str>, content: Value) -> Value {
    let mut line = json!({"agent_id": AGENT_ID, "memory_type": "semantic", "source": {"runtime": "r"},
        "temporal": {"created_at": "2026-01-05T00:00:00Z"}, "status": "active", "namespace": "default"});
    if let Some(id) = id {
        line["id"] = json!(id);
    }
    if content != json!("(absent)") {
        line["content"] = content;
    }
    line
}

fn manifest(count: usize) -> Value {
    let rows = json!([{"file": "memory/all.jsonl", "from": "2026-01-01", "to": "2026-03-31", "record_count": count,
        "sealed": true}]);
    json!({"alf_version": "1.0.0", "created_at": "2026-07-01T00:00:00Z",
        "agent": {"id": AGENT_ID, "name": "a", "source_runtime": "r"},
        "layers": {"memory": {"record_count": count, "index_file": "memory/index.json", "partitions": rows}}})
}

fn write_archive(path: &Path, manifest: &Value, lines: &[Value], documents: &[(&str, Value)]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let mut files = vec![("manifest.json", manifest.to_string()), ("memory/all.jsonl", lines.join("\n"))];
    files.extend(documents.iter().map(|(name, document)| (*name, document.to_string())));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    pack(path, &files);
}

fn error_codes(validation: &Validation) -> BTreeSet<&str> {
    validation.errors.iter().map(|error| error.code.as_str()).collect()
}

/// Exports the records in `path`. Checks that the export is valid, and that it contains the same records.
fn export(path: &Path, out: &Path) -> MemorySource {
    let mut vault = read(path).unwrap();
    write(&mut vault, out);
    assert_eq!(error_codes(&validate(out)), BTreeSet::new(), "{}", out.display());
    let reread = read(out).unwrap();
    let outline = |vault: &MemorySource| {
        let records = vault
            .records
            .iter()
            .map(|record| (record.key.scope.clone(), record.key.value.clone(), record.text.clone()));
        records.collect::<BTreeSet<_>>()
    };
    assert_eq!(outline(&reread), outline(&vault));
    vault
}

#[test]
fn a_record_without_an_id_or_a_text_keeps_its_values() {
    let scratch = Scratch::new("no-id");
    let [path, out] = ["a.alf", "out.alf"].map(|name| scratch.0.join(name));
    let id = |n: u8| format!("0197f2a0-2222-7000-8000-00000000000{n}");
    let mut number_as_id = memory(None, json!("Plays chess."));
    number_as_id["id"] = json!(5);
    let lines = [
        memory(None, json!("Has a boat.")),
        memory(None, json!("Has a dog.")),
        memory(None, json!("Has a dog.")),
        memory(Some(""), json!("Has a cat.")),
        number_as_id,
        memory(Some(&id(1)), json!(["Likes", "tea"])),
        memory(Some(&id(2)), json!({"text": "Likes \u{fc}"})),
        memory(Some(&id(3)), json!(42)),
        memory(Some(&id(4)), Value::Null),
        memory(Some(&id(5)), json!("(absent)")),
        memory(None, json!("(absent)")),
    ];
    write_archive(&path, &manifest(lines.len()), &lines, &[]);
    let validation = validate(&path);
    assert!(error_codes(&validation).is_superset(&BTreeSet::from(["missing_field", "wrong_type"])), "{validation:?}");
    let vault = export(&path, &out);
    let texts: Vec<&str> = vault.records.iter().map(|record| record.text.as_str()).collect();
    let kept_texts = ["Has a boat.", "Has a dog.", "Has a cat.", "Plays chess.", r#"["Likes","tea"]"#];
    assert_eq!(texts, [&kept_texts[..], &[r#"{"text":"Likes ü"}"#, "42", "", "", ""]].concat());
    assert_eq!(vault.dropped.len(), 1, "only the line that occurs twice");
    let codes: BTreeSet<&str> = vault.notes.iter().map(|note| note.code.as_str()).collect();
    assert!(codes.is_superset(&BTreeSet::from(["no_id", "no_content", "unexpected_type"])), "{codes:?}");
}

#[test]
fn no_two_records_or_elements_of_an_export_have_one_id() {
    let scratch = Scratch::new("one-id");
    let [path, out, last] = ["a.alf", "out.alf", "last.alf"].map(|name| scratch.0.join(name));
    let principal = |text: &str| {
        json!({"id": ID, "principal_type": "human", "profile": {"id": ID, "agent_id": AGENT_ID, "principal_id": ID,
            "version": 1, "updated_at": "2026-01-05T00:00:00Z", "prose": {"user_profile": text}}})
    };
    let row = |name: &str| {
        json!({"id": ID, "filename": name, "media_type": "text/plain", "size_bytes": 3,
            "hash": {"algorithm": "sha256", "value": "0".repeat(64)}, "source_path": name, "archive_path": null,
            "remote_ref": null})
    };
    let mut manifest = manifest(3);
    manifest["layers"]["principals"] = json!({"count": 2, "file": "principals.json"});
    manifest["layers"]["attachments"] = json!({"count": 2, "file": "attachments.json"});
    let documents = [
        ("principals.json", json!({"principals": [principal("Likes tea."), principal("Likes coffee.")]})),
        ("attachments.json", json!({"attachments": [row("a.txt"), row("b.txt")]})),
    ];
    let id = ID.replace("000000000001", "00000000000a");
    let lines = [
        memory(Some(&id), json!("Has two boats.")),
        memory(Some(&id.to_uppercase()), json!("Has a boat.")),
        memory(Some(&id), json!("Has no boat.")),
    ];
    write_archive(&path, &manifest, &lines, &documents);
    assert_eq!(error_codes(&validate(&path)), BTreeSet::from(["duplicate_id"]));
    let vault = export(&path, &out);
    assert_eq!(vault.records.len(), 7);
    export(&out, &last);
    assert_eq!(entries(&last)["principals.json"], entries(&out)["principals.json"], "a second export changes nothing");
}

#[test]
fn memories_that_the_manifest_does_not_list_are_found_only_by_a_salvage() {
    let scratch = Scratch::new("unlisted");
    let path = scratch.0.join("a.alf");
    let lines = [memory(Some(ID), json!("Has a boat."))];
    for memory_layer in [Value::Null, json!({}), json!([]), json!({"partitions": null}), json!({"partitions": {}})] {
        let mut manifest = manifest(1);
        manifest["layers"]["memory"] = memory_layer.clone();
        write_archive(&path, &manifest, &lines, &[]);
        assert!(error_codes(&validate(&path)).contains("partitions_not_listed"), "{memory_layer}");
        let (catalog, detection) = open(&path).unwrap();
        let format: &dyn mementory_format::Format = &super::Alf;
        assert!(format.import_refuses().unwrap().contains(&"partitions_not_listed"));
        assert!(format.can_salvage(&catalog, &detection.sources[0], "partitions_not_listed", ""));
        let vault = read(&path).unwrap();
        assert_eq!(vault.records.iter().map(|record| record.text.as_str()).collect::<Vec<_>>(), ["Has a boat."]);
        assert!(vault.codes().contains(&"partitions_not_listed".to_owned()));
        let applied = apply(&path, &[], &scratch.0.join("out.alf"), &Limits::default());
        assert!(matches!(applied, Err(ApplyError::Format(FormatError::Invalid { code: "partitions_not_listed", .. }))));
    }
    // If the archive has no memories, a memory layer that is null is not reported as unlisted, because other programs
    // write null for an absent layer.
    let mut manifest = manifest(0);
    manifest["layers"]["memory"] = Value::Null;
    pack(&path, &[("manifest.json", manifest.to_string().as_bytes())]);
    assert!(!error_codes(&validate(&path)).contains("partitions_not_listed"));
}

#[test]
fn a_layer_without_a_file_name_is_refused() {
    let scratch = Scratch::new("unnamed-layer");
    let path = scratch.0.join("a.alf");
    let document = json!({"id": ID, "agent_id": AGENT_ID, "version": 1, "updated_at": "2026-01-05T00:00:00Z"});
    for layer in [Value::Null, json!("identity.json"), json!({"version": 1}), json!({"version": 1, "file": 7})] {
        let mut manifest = manifest(1);
        manifest["layers"]["identity"] = layer.clone();
        let documents = [("identity.json", document.clone())];
        write_archive(&path, &manifest, &[memory(Some(ID), json!("Has a boat."))], &documents);
        assert!(error_codes(&validate(&path)).contains("layer_missing"), "{layer}");
        assert_eq!(read(&path).unwrap().records.len(), 1, "{layer}");
    }
}

#[test]
fn a_confidence_is_compared_digit_by_digit() {
    let scratch = Scratch::new("confidence");
    let [path, out] = ["a.alf", "out.alf"].map(|name| scratch.0.join(name));
    let line = memory(Some(ID), json!("Has a boat.")).to_string();
    for (confidence, is_valid) in [("1.0", true), ("1.00000000000000000001", false), ("-1e-400", false)] {
        let line = line.replacen('{', &format!("{{\"confidence\":{confidence},"), 1);
        pack(&path, &[("manifest.json", manifest(1).to_string().as_bytes()), ("memory/all.jsonl", line.as_bytes())]);
        assert_eq!(validate(&path).errors.is_empty(), is_valid, "{confidence}");
        let vault = export(&path, &out);
        std::fs::remove_file(&out).unwrap();
        assert_eq!(vault.records[0].confidence.is_some(), is_valid, "{confidence}");
    }
}

/// Spec §3.4.1 and §8.3 allow no secret in the clear in an archive.
#[test]
fn a_secret_in_any_text_of_a_credential_is_reported_and_not_shown() {
    const TOKEN: &str = "ghp_0123456789abcdefghij";
    let credential = |n: u32, label: &str, algorithm: &str| {
        json!({"id": format!("0197f2a0-2222-7000-8000-00000000001{n}"), "agent_id": AGENT_ID, "service": "mail",
            "credential_type": "api_key", "label": label, "tags": [label],
            "encrypted_payload": "q83vEjRWeJq83vEjRWeJq83vEjRW", "created_at": "2026-01-01T00:00:00Z",
            "encryption": {"algorithm": algorithm, "nonce": format!("AAECAwQFBgcICQoLDA0ODxAREhMUFRY{n}")}})
    };
    let rows = [
        credential(1, "Key of the laptop", "xchacha20-poly1305"),
        credential(2, &format!("Old key {TOKEN}"), "xchacha20-poly1305"),
        credential(3, "Key of the phone", "plaintext"),
    ];
    let scratch = Scratch::new("credential-texts");
    let path = scratch.0.join("a.alf");
    let mut manifest = manifest(1);
    manifest["layers"]["credentials"] = json!({"count": 3, "file": "credentials.json"});
    let lines = [memory(Some(ID), json!("Likes rye bread."))];
    write_archive(&path, &manifest, &lines, &[("credentials.json", json!({"credentials": rows}))]);
    let findings = validate(&path).errors.into_iter().filter(|finding| finding.place.contains("credentials.json"));
    let findings: Vec<(String, String)> = findings.map(|finding| (finding.code, finding.place)).collect();
    assert_eq!(findings.len(), 2, "{findings:?}");
    for ((code, place), index) in findings.iter().zip([1, 2]) {
        assert_eq!(code, "credential_looks_unencrypted");
        assert!(place.contains(&format!("/credentials/{index}")), "{place}");
    }
    let vault = read(&path).unwrap();
    for record in vault.records.iter().filter(|record| record.kind == Kind::Credential) {
        let shown_members = (&record.title, &record.text, &record.tags, &record.fields);
        assert!(!serde_json::to_string(&shown_members).unwrap().contains(TOKEN));
        assert!(record.title.as_deref().is_some_and(|title| title.contains("key") || title.contains("Key")));
    }
}

/// §3.4.2: the nonce has the length that the cipher needs. §3.1.9: `archive_path` is a path inside the archive.
#[test]
fn ciphertexts_and_paths_of_no_use_are_not_written_in_their_members_again() {
    const CIPHERTEXT: &str = "q83vEjRWeJq83vEjRWeJq83vEjRW";
    const NONCE: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
    const PASSWORD: &str = "Lindwurm auf dem Dach";
    let credential = |payload: &str, nonce: &str| {
        json!({"id": ID.replace("000000000001", "00000000000c"), "agent_id": AGENT_ID, "service": "mail",
            "credential_type": "api_key", "encrypted_payload": payload, "created_at": "2026-01-01T00:00:00Z",
            "encryption": {"algorithm": "xchacha20-poly1305", "nonce": nonce}})
    };
    let attachment = |path: &str| {
        json!({"id": ID.replace("000000000001", "00000000000d"), "filename": "a.csv", "media_type": "text/csv",
            "size_bytes": 5, "hash": {"algorithm": "sha256", "value": "0".repeat(64)}, "source_path": "a.csv",
            "archive_path": path, "remote_ref": null})
    };
    let payload = "encrypted_payload";
    let cases = [
        ("credentials", credential(CIPHERTEXT, "not base64"), payload, json!("<not-exported>"), "credential_nonce"),
        ("credentials", credential(CIPHERTEXT, "AAAA"), payload, json!("<not-exported>"), "credential_nonce"),
        ("credentials", credential(CIPHERTEXT, ""), payload, json!("<not-exported>"), "credential_nonce"),
        ("credentials", credential("", NONCE), payload, json!("<not-exported>"), "credential_payload_empty"),
        ("attachments", attachment("../a.csv"), "archive_path", Value::Null, "unsafe_path"),
        ("attachments", attachment(""), "archive_path", Value::Null, "unsafe_path"),
    ];
    let scratch = Scratch::new("no-use");
    let archive_of = |name: &str, layer: &str, element: &Value| {
        let path = scratch.0.join(name);
        let file = format!("{layer}.json");
        let mut manifest = manifest(1);
        manifest["layers"][layer] = json!({"count": 1, "file": file});
        write_archive(
            &path,
            &manifest,
            &[memory(Some(ID), json!("Has a boat."))],
            &[(file.as_str(), json!({layer: [element]}))],
        );
        path
    };
    for (i, (layer, element, member, replacement, code)) in cases.into_iter().enumerate() {
        let path = archive_of(&format!("{i}.alf"), layer, &element);
        let codes: Vec<String> = validate(&path).errors.into_iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [code], "{layer} {i}");
        let out = scratch.0.join(format!("{i}-out.alf"));
        let report = write(&mut read(&path).unwrap(), &out);
        assert_eq!(validate(&out).errors, [], "{layer} {i}");
        assert_eq!(report.losses.count(member, LossKind::MovedToExtension), 1, "{layer} {i}");
        let document: Value = serde_json::from_slice(&entries(&out)[&format!("{layer}.json")]).unwrap();
        let mut expected = element.clone();
        expected["mementory_forbidden"] = json!({(format!("/{member}")): element[member]});
        expected[member] = replacement;
        assert_eq!(document[layer][0], expected, "{layer} {i}");
    }
    // A secret in the clear would not be recognised in another member. The vault replaces it before an export.
    let path = archive_of("clear.alf", "credentials", &credential(PASSWORD, "AAAA"));
    let out = scratch.0.join("clear-out.alf");
    write(&mut read(&path).unwrap(), &out);
    let document: Value = serde_json::from_slice(&entries(&out)["credentials.json"]).unwrap();
    assert!(document["credentials"][0].get("mementory_forbidden").is_none());
}

/// §3.3.1: `agent_id` is null for a human. §3.1.6: embeddings are keyed by model.
#[test]
fn an_agent_of_a_human_and_two_embeddings_of_one_model_are_warnings() {
    let scratch = Scratch::new("odd-values");
    let path = scratch.0.join("a.alf");
    let vector = json!({"model": "m", "dimensions": 1, "vector": [1.0], "computed_at": "2026-01-05T00:00:00Z",
        "source": "runtime"});
    let mut line = memory(Some(ID), json!("Has a boat."));
    line["embeddings"] = json!([vector.clone(), vector]);
    let id = ID.replace("000000000001", "00000000000b");
    let profile = json!({"id": id, "agent_id": AGENT_ID, "principal_id": id, "version": 1,
        "updated_at": "2026-01-05T00:00:00Z"});
    let principal = json!({"id": id, "principal_type": "human", "agent_id": AGENT_ID, "profile": profile});
    let mut manifest = manifest(1);
    manifest["layers"]["principals"] = json!({"count": 1, "file": "principals.json"});
    write_archive(&path, &manifest, &[line], &[("principals.json", json!({"principals": [principal]}))]);
    let validation = validate(&path);
    assert!(validation.errors.is_empty(), "{:?}", validation.errors);
    let codes: BTreeSet<&str> = validation.warnings.iter().map(|finding| finding.code.as_str()).collect();
    assert!(codes.is_superset(&BTreeSet::from(["agent_of_a_human", "embedding_model_repeated"])), "{codes:?}");
}

/// Otherwise a forged row could turn a document of the archive into an attachment, or take a file from `raw/`.
#[test]
fn a_row_that_names_a_file_of_a_layer_is_not_read_as_an_artifact() {
    let scratch = Scratch::new("no-artifact");
    let path = scratch.0.join("a.alf");
    let mut manifest = manifest(1);
    manifest["layers"]["principals"] = json!({"count": 0, "file": "principals.json"});
    manifest["layers"]["attachments"] = json!({"count": 1, "file": "attachments.json"});
    let files = [("raw/openclaw/SOUL.md", json!("# Nova")), ("principals.json", json!({"principals": []}))];
    for (n, (name, content)) in files.iter().enumerate() {
        let bytes = content.to_string();
        let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&bytes));
        let row = json!({"id": ID.replace("000000000001", "00000000000c"), "filename": "a.txt",
            "media_type": "text/plain", "size_bytes": bytes.len(), "hash": {"algorithm": "sha256", "value": digest},
            "source_path": "a.txt", "archive_path": name, "remote_ref": null});
        let documents = [files.as_slice(), &[("attachments.json", json!({"attachments": [row]}))]].concat();
        write_archive(&path, &manifest, &[memory(Some(ID), json!("Has a boat."))], &documents);
        let validation = validate(&path);
        assert!(validation.errors.is_empty(), "{:?}", validation.errors);
        assert!(validation.warnings.iter().any(|finding| finding.code == "not_an_artifact"), "{name}");
        let vault = export(&path, &scratch.0.join(format!("out-{n}.alf")));
        assert!(vault.notes.iter().any(|note| note.code == "not_an_artifact"), "{name}");
        assert!(vault.parts.iter().any(|(item, _)| item.name.ends_with("SOUL.md")), "{name}: the file stays in raw/");
    }
}
