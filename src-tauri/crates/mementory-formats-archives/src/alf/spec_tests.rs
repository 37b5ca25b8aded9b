//! The tests that the specification lists (§10), with their section numbers in their names. §10.4 is tested in `delta`,
//! §10.14 in `purge`. §10.12 and §10.13 are about online services, which Mementory does not have.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::testing::*;
use mementory_model::{Kind, RecordKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const AGENT_ID: &str = "0191b2c3-0000-7000-8000-00000000000a";

fn id(n: u32) -> String {
    format!("0191b2c3-0000-7000-8000-{n:012x}")
}

fn memory(n: u32, created: &str, members: Value) -> Value {
    let mut line = json!({"id": id(n), "agent_id": AGENT_ID, "content": format!("Fact {n}."), "memory_type": "semantic",
        "source": {"runtime": "openclaw"}, "temporal": {"created_at": created}, "status": "active", "namespace": "default"});
    merge(&mut line, members);
    line
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(a), Value::Object(b)) => {
            b.into_iter().for_each(|(k, v)| merge(a.entry(k).or_insert(Value::Null), v))
        }
        (a, b) => *a = b,
    }
}

/// Writes an archive with these documents and lines.
fn write_agent(path: &Path, lines: &[Value], documents: &[(&str, Value)]) {
    let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
    let mut layers = json!({"memory": {"record_count": lines.len(), "index_file": "memory/index.json", "partitions": [
        {"file": "memory/all.jsonl", "from": "2000-01-01", "to": null, "record_count": lines.len(), "sealed": false}]}});
    let mut files = vec![("memory/all.jsonl".to_owned(), text)];
    for (layer, document) in documents {
        let count = document.get(*layer).and_then(Value::as_array).map(Vec::len);
        layers[*layer] = match count {
            Some(count) => json!({"count": count, "file": format!("{layer}.json")}),
            None => json!({"version": document["version"], "file": format!("{layer}.json")}),
        };
        files.push((format!("{layer}.json"), document.to_string()));
    }
    let manifest = json!({"alf_version": "1.0.0", "created_at": "2026-01-01T00:00:00Z", "agent": {"id": AGENT_ID, "name": "A",
        "source_runtime": "openclaw"}, "layers": layers});
    files.push(("manifest.json".into(), manifest.to_string()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (n.as_str(), t.as_bytes())).collect();
    pack(path, &files);
}

fn lines_of(path: &Path) -> BTreeMap<String, Value> {
    let all_entries = entries(path);
    let manifest: Value = serde_json::from_slice(&all_entries["manifest.json"]).unwrap();
    let rows = manifest["layers"]["memory"]["partitions"].as_array().unwrap().clone();
    let texts = rows.iter().map(|r| String::from_utf8(all_entries[r["file"].as_str().unwrap()].clone()).unwrap());
    let lines: Vec<Value> =
        texts.flat_map(|t| t.lines().map(|l| serde_json::from_str(l).unwrap()).collect::<Vec<_>>()).collect();
    lines.into_iter().map(|l| (l["id"].as_str().unwrap().to_owned(), l)).collect()
}

/// Packs an archive with these lines and documents, imports it and exports it again.
fn round_trip(
    lines: &[Value],
    documents: &[(&str, Value)],
    name: &str,
) -> (Scratch, MemorySource, BTreeMap<String, Value>) {
    let scratch = Scratch::new(name);
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write_agent(&first_archive, lines, documents);
    let mut vault = read(&first_archive).unwrap();
    write(&mut vault, &second_archive);
    let reread = lines_of(&second_archive);
    (scratch, vault, reread)
}

fn document(scratch: &Scratch, name: &str) -> Value {
    serde_json::from_slice(&entries(&scratch.0.join("b.alf"))[name]).unwrap()
}

fn identity(structured: Value) -> Value {
    json!({"id": id(900), "agent_id": AGENT_ID, "version": 3, "updated_at": "2026-01-01T00:00:00Z", "structured": structured})
}

fn credential(n: u32, members: Value) -> Value {
    let mut row = json!({"id": id(n), "agent_id": AGENT_ID, "service": "mail", "credential_type": "api_key",
        "encrypted_payload": "q83vEjRWeJq83vEjRWeJq83vEjRW", "encryption": {"algorithm": "xchacha20-poly1305", "kdf": "argon2id",
        "kdf_params": {"memory_cost": 65536, "time_cost": 3, "parallelism": 4}, "nonce": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"},
        "created_at": "2026-01-01T00:00:00Z"});
    merge(&mut row, members);
    row
}

fn codes(vault: &MemorySource) -> Vec<&str> {
    vault.notes.iter().map(|n| n.code.as_str()).collect()
}

#[test]
fn spec_10_1_lines_that_violate_the_schema_are_reported() {
    let scratch = Scratch::new("10-1");
    let check = |line: Value| {
        let path = scratch.0.join("v.alf");
        write_agent(&path, &[line], &[]);
        let validation = validate(&path);
        (
            validation.errors.into_iter().map(|f| f.code).collect::<Vec<_>>(),
            validation.warnings.into_iter().map(|f| f.code).collect::<Vec<_>>(),
        )
    };
    let valid_line = memory(1, "2026-01-01T00:00:00Z", json!({"x_future": {"a": [1]}}));
    assert_eq!(check(valid_line.clone()), (vec![], vec!["index_missing".to_owned()]), "unknown fields are allowed");
    for field in ["id", "agent_id", "content", "memory_type", "source", "temporal", "status", "namespace"] {
        let mut line = valid_line.clone();
        line.as_object_mut().unwrap().remove(field);
        assert!(check(line).0.contains(&"missing_field".to_owned()), "{field}");
    }
    for (members, code) in [
        (json!({"content": 1}), "wrong_type"),
        (json!({"content": ""}), "empty"),
        (json!({"confidence": 1.5}), "bad_value"),
        (json!({"temporal": {"created_at": "yesterday"}}), "bad_value"),
        (
            json!({"embeddings": [{"model": "m", "dimensions": 2, "vector": [1.0], "computed_at": "2026-01-01T00:00:00Z", "source": "runtime"}]}),
            "embedding_dimensions",
        ),
    ] {
        let mut line = valid_line.clone();
        merge(&mut line, members.clone());
        assert!(check(line).0.contains(&code.to_owned()), "{members}");
    }
    // According to §8.2, a value that is not in a specified list is preserved and causes only a warning.
    let mut line = valid_line;
    merge(&mut line, json!({"memory_type": "dream", "status": "pending"}));
    assert_eq!(check(line), (vec![], vec!["unknown_value".into(), "unknown_value".into(), "index_missing".into()]));
}

#[test]
fn spec_10_1_invalid_values_of_a_line_are_not_written_again() {
    let created = "2026-01-01T00:00:00Z";
    for (i, (member, value)) in [
        ("memory_type", json!(5)),
        ("category", json!([])),
        ("confidence", json!(1.7)),
        ("source", json!("here")),
        ("source", json!({})),
        ("temporal", json!({"created_at": "2026-01-01"})),
        ("temporal", json!({"created_at": "yesterday"})),
        ("temporal", json!({"created_at": created, "updated_at": 5, "access_count": -1})),
        ("status", json!(null)),
        ("supersedes", json!("the first")),
        ("entities", json!([{"name": "Ada"}, {"type": "tool"}, {"name": "Bo", "type": "person", "role": 1}])),
        ("tags", json!(["a", 1])),
        ("tags", json!("a")),
        ("namespace", json!(1)),
        ("related_records", json!([{"id": "x", "relation": "r"}])),
        ("raw_source_format", json!("text")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut line = memory(1, created, json!({}));
        line[member] = value.clone();
        let (scratch, _, reread) = round_trip(std::slice::from_ref(&line), &[], &format!("forbidden-{i}"));
        let written = &reread[&id(1)];
        assert_eq!(written["content"], line["content"], "{member} {value}");
        assert_eq!(written["raw_source_format"]["mementory_forbidden"][format!("/{member}")], value, "{member}");
        assert_eq!(validate(&scratch.0.join("b.alf")).errors, [], "{member} {value}");
        match (member, i) {
            ("temporal", 5) => assert_eq!(written["temporal"]["created_at"], created, "the date has a meaning"),
            ("tags", 11) => assert_eq!(written["tags"], json!(["a"])),
            ("entities", _) => assert_eq!(
                written["entities"],
                json!([{"name": "Ada", "type": "other"}, {"name": "Bo", "type": "person"}])
            ),
            _ => {}
        }
    }
    for member in ["memory_type", "source", "temporal", "status", "namespace"] {
        let mut line = memory(1, created, json!({}));
        line.as_object_mut().unwrap().remove(member);
        let (scratch, _, reread) = round_trip(&[line], &[], &format!("missing-{member}"));
        assert!(!reread[&id(1)][member].is_null(), "{member}");
        assert_eq!(validate(&scratch.0.join("b.alf")).errors, [], "{member}");
    }
}

#[test]
fn spec_10_1_invalid_values_of_a_document_are_not_written_again() {
    let profile = |principal: u32| {
        json!({"id": id(51), "agent_id": AGENT_ID, "principal_id": id(principal), "version": 1,
            "updated_at": "2026-01-01T00:00:00Z"})
    };
    let principal = json!({"id": id(1), "principal_type": "human", "profile": profile(1)});
    let file = json!({"id": id(60), "filename": "a.csv", "media_type": "text/csv", "size_bytes": 5,
        "hash": {"algorithm": "sha256", "value": "0".repeat(64)}, "source_path": "a.csv", "archive_path": null,
        "remote_ref": null});
    let elements = [("principals", principal), ("credentials", credential(40, json!({}))), ("attachments", file)];
    let elements: BTreeMap<&str, Value> = elements.into_iter().chain([("identity", identity(json!({})))]).collect();
    for (i, (layer, member, value)) in [
        ("identity", "id", json!("me")),
        ("identity", "updated_at", json!("soon")),
        ("identity", "structured", json!({"psychology": {"neural_matrix": {"logic": 1.5, "empathy": 0.5}}})),
        ("identity", "prose", json!({"soul": 5, "operating_instructions": "Be brief."})),
        ("principals", "profile", profile(2)),
        ("credentials", "encryption", json!({"algorithm": "x", "nonce": "AAAA", "kdf_params": {"memory_cost": 0}})),
        ("attachments", "remote_ref", json!("not a uri")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut element = elements[layer].clone();
        element[member] = value.clone();
        let written = match layer {
            "identity" => element,
            _ => json!({layer: [element]}),
        };
        let lines = [memory(1, "2026-01-01T00:00:00Z", json!({}))];
        let (scratch, ..) = round_trip(&lines, &[(layer, written)], &format!("forbidden-document-{i}"));
        assert_eq!(validate(&scratch.0.join("b.alf")).errors, [], "{layer} {member} {value}");
        let document = document(&scratch, &format!("{layer}.json"));
        let element = if layer == "identity" { &document } else { &document[layer][0] };
        assert_eq!(element["mementory_forbidden"][format!("/{member}")], value, "{layer} {member}");
        match (layer, member) {
            ("identity", "structured") => assert_eq!(element[member]["psychology"]["neural_matrix"]["empathy"], 0.5),
            ("identity", "prose") => assert_eq!(element[member]["operating_instructions"], "Be brief."),
            ("principals", "profile") => assert_eq!(element[member]["principal_id"], id(1)),
            _ => {}
        }
    }
}

#[test]
fn spec_10_2_1_identity_versions_of_lines_survive_a_round_trip() {
    let memory_of_version = |n: u32, version: Option<u32>| {
        let source = version.map_or(json!({}), |v| json!({"source": {"identity_version": v}}));
        memory(n, "2026-01-01T00:00:00Z", source)
    };
    let lines = [memory_of_version(1, Some(1)), memory_of_version(2, Some(2)), memory_of_version(3, None)];
    let (_scratch, _, reread) = round_trip(&lines, &[("identity", identity(json!({})))], "10-2-1");
    assert_eq!(reread[&id(1)]["source"]["identity_version"], 1);
    assert_eq!(reread[&id(2)]["source"]["identity_version"], 2);
    assert_eq!(reread[&id(3)]["source"].get("identity_version"), None, "an unknown version is not guessed");
}

#[test]
fn spec_10_2_2_links_survive_a_round_trip_even_if_dangling() {
    let link = |to: u32, relation: &str| json!({"id": id(to), "relation": relation});
    let lines = [
        memory(
            1,
            "2026-01-01T00:00:00Z",
            json!({"related_records": [link(2, "contradicts"), link(3, "caused_by"), link(99, "elaborates_on")]}),
        ),
        memory(2, "2026-01-01T00:00:00Z", json!({"related_records": [link(1, "contradicts"), link(1, "x-own-word")]})),
        memory(3, "2026-01-01T00:00:00Z", json!({"related_records": []})),
    ];
    let (_scratch, vault, reread) = round_trip(&lines, &[], "10-2-2");
    for line in &lines {
        assert_eq!(reread[line["id"].as_str().unwrap()], *line);
    }
    let first_record = vault.records.iter().find(|r| r.key.value == id(1)).unwrap();
    let links: Vec<_> = first_record.links.iter().map(|l| (l.relation.as_str(), l.target.value.clone())).collect();
    assert_eq!(
        links,
        [("contradicts", id(2)), ("caused_by", id(3)), ("elaborates_on", id(99))],
        "dangling links as well"
    );
}

#[test]
fn spec_10_3_workspace_survives_a_round_trip_through_alf() {
    use crate::alf::testing::workspace;
    use mementory_formats_agents::openclaw::OpenClaw;
    let scratch = Scratch::new("10-3");
    let source = repo().join("fixtures/openclaw/workspace/input");
    let mut vault = workspace::read(&source, &OpenClaw);
    write(&mut vault, &scratch.0.join("a.alf"));
    assert_eq!(validate(&scratch.0.join("a.alf")).errors, []);
    let mut reread = read(&scratch.0.join("a.alf")).unwrap();
    let texts = |vault: &MemorySource| {
        vault.records.iter().map(|r| (r.key.value.clone(), r.text.clone())).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(texts(&reread), texts(&vault), "all memories and the identity");
    workspace::write(&mut reread, &scratch.0.join("w"), &OpenClaw);
    let (tree_before, tree_after) = (workspace::tree(&source), workspace::tree(&scratch.0.join("w")));
    for (name, bytes) in tree_before.iter().filter(|(name, _)| name.ends_with(".md") && **name != "HEARTBEAT.md") {
        assert_eq!(Some(bytes), tree_after.get(name), "{name}");
    }
}

#[test]
fn spec_10_5_credentials_stay_sealed() {
    let rows = [
        credential(1, json!({"x_future": 1.0, "encryption": {"x_salt": "AAAA", "algorithm": "made-up"}})),
        credential(2, json!({"encrypted_payload": "<not-exported>", "encryption": {"algorithm": "none", "nonce": ""}})),
        credential(3, json!({"encrypted_payload": "plain words", "encryption": {"algorithm": "none"}})),
    ];
    let (scratch, vault, _) = round_trip(&[], &[("credentials", json!({"credentials": rows}))], "10-5");
    assert_eq!(document(&scratch, "credentials.json")["credentials"], json!(rows), "unchanged");
    assert_eq!(codes(&vault), ["credential_looks_unencrypted"]);
    for record in vault.records.iter().filter(|r| r.kind == Kind::Credential) {
        let mut visible_members = record.clone();
        visible_members.verbatim = None;
        let visible_members = serde_json::to_string(&visible_members).unwrap();
        assert!(!visible_members.contains("q83vEjRW") && !visible_members.contains("plain words"), "{visible_members}");
    }
    let messages: String = vault.notes.iter().map(|n| n.message.clone()).collect();
    assert!(!messages.contains("plain words"));
}

#[test]
fn spec_10_5_secrets_in_settings_files_are_not_exported_in_the_clear() {
    let scratch = Scratch::new("10-5-raw");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write_agent(&first_archive, &[memory(1, "2026-01-01T00:00:00Z", json!({}))], &[]);
    let mut all_entries = entries(&first_archive);
    all_entries.insert("raw/zeroclaw/config.toml".into(), b"api_key = \"Zm9vYmFyYmF6cXV4\"\nmodel = \"m\"\n".to_vec());
    all_entries.insert("raw/zeroclaw/notes.md".into(), b"api_key = \"is how the key is called\"\n".to_vec());
    let files: Vec<(&str, &[u8])> = all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    pack(&first_archive, &files);
    let mut vault = read(&first_archive).unwrap();
    let report = write(&mut vault, &second_archive);
    let new_entries = entries(&second_archive);
    assert_eq!(new_entries["raw/zeroclaw/config.toml"], b"api_key = \"<redacted>\"\nmodel = \"m\"\n");
    assert_eq!(new_entries["raw/zeroclaw/notes.md"], all_entries["raw/zeroclaw/notes.md"]);
    assert_eq!(report.losses.count("secret", mementory_model::LossKind::LeftOut), 1);
    assert!(new_entries.values().all(|b| !String::from_utf8_lossy(b).contains("Zm9vYmFy")), "anywhere in the archive");
}

#[test]
fn spec_10_5_1_mismatched_credentials_and_capabilities_are_reported() {
    let abilities = json!({"capabilities": [
        {"name": "repo_reader", "portability": "intrinsic", "credential_ids": [id(1).to_uppercase()]},
        {"name": "mailer", "credential_ids": [id(7)]},
        {"name": "writing", "portability": "intrinsic"}]});
    let rows = json!({"credentials": [credential(1, json!({"capabilities_granted": ["repo_reader"]})), credential(2, json!({})),
        credential(3, json!({"capabilities_granted": ["flying"]}))]});
    let (scratch, vault, _) =
        round_trip(&[], &[("identity", identity(abilities.clone())), ("credentials", rows.clone())], "10-5-1");
    assert_eq!(document(&scratch, "identity.json")["structured"], abilities);
    assert_eq!(document(&scratch, "credentials.json"), rows);
    assert_eq!(
        codes(&vault),
        ["capability_credential_missing", "credential_capability_unknown"],
        "reported, not refused"
    );
    assert!(vault.notes[0].message.contains("mailer") && vault.notes[0].message.contains(&id(7)));
    assert_eq!(vault.dropped, []);
}

#[test]
fn spec_10_6_files_of_the_threshold_size_or_larger_are_only_listed() {
    let scratch = Scratch::new("10-6");
    let (_, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    let mut message = mementory_model::Record::new(Kind::Memory, RecordKey::new("chatgpt", "m"), "See the files.");
    let names = [
        ("a.csv", "text/csv", 4096usize),
        ("b.py", "text/x-python", 20_480),
        ("c.png", "image/png", 102_400),
        ("d.pdf", "application/pdf", 512_000),
    ];
    for (name, media, size) in names {
        message.attachments.push(mementory_model::AttachmentRef {
            key: RecordKey::new("chatgpt", name),
            origin_id: None,
            name: name.into(),
            media_type: Some(media.into()),
            size: Some(size as u64),
            text: None,
        });
    }
    let file = |name: &str, size: usize| {
        let file = mementory_format::AttachmentFile {
            key: RecordKey::new("chatgpt", name),
            origin_id: None,
            name: name.into(),
            media_type: None,
            place: String::new(),
        };
        (file, vec![7u8; size])
    };
    let mut vault = MemorySource {
        records: vec![message],
        files: names.iter().map(|(n, _, s)| file(n, *s)).collect(),
        ..MemorySource::default()
    };
    write(&mut vault, &second_archive);
    let index = document(&scratch, "attachments.json");
    assert_eq!(index["artifact_size_threshold"], 102_400);
    let rows = index["attachments"].as_array().unwrap();
    let all_entries = entries(&second_archive);
    for row in rows {
        use sha2::Digest;
        let size = usize::try_from(row["size_bytes"].as_u64().unwrap()).unwrap();
        let digest = hex::encode(sha2::Sha256::digest(vec![7u8; size]));
        assert_eq!(row["hash"], json!({"algorithm": "sha256", "value": digest}));
        assert_eq!(row["archive_path"].is_null(), size >= 102_400);
        assert!(row["remote_ref"].is_null() && row["referenced_by"].as_array().unwrap().len() == 1);
        if let Some(path) = row["archive_path"].as_str() {
            assert_eq!(all_entries[path], vec![7u8; size]);
        }
    }
    let layer = &document(&scratch, "manifest.json")["layers"]["attachments"];
    assert_eq!(
        (&layer["count"], &layer["included_count"], &layer["referenced_count"]),
        (&4.into(), &2.into(), &2.into())
    );
    assert_eq!((&layer["included_size_bytes"], &layer["referenced_size_bytes"]), (&24_576.into(), &614_400.into()));
    let reread = read(&second_archive).unwrap();
    assert_eq!(reread.files.len(), 2, "tier 2 comes back");
    let messages: Vec<_> =
        reread.notes.iter().filter(|n| n.code == "attachment_not_in_archive").map(|n| n.message.as_str()).collect();
    assert!(
        messages.len() == 2 && messages.iter().any(|m| m.contains("d.pdf (512000 bytes)")),
        "tier 3 is reported: {messages:?}"
    );
    assert!(reread.records.iter().any(|r| r.text == "See the files."));
}

#[test]
fn spec_10_7_principals_survive_a_round_trip() {
    let principal = |n: u32, kind: &str, agent: Value| {
        json!({"id": id(n), "principal_type": kind, "agent_id": agent,
        "profile": {"id": id(n + 50), "agent_id": AGENT_ID, "principal_id": id(n).to_uppercase(),
            "version": n, "updated_at": "2026-01-01T00:00:00Z", "structured": {"name": format!("P{n}")}}})
    };
    let rows = json!({"principals": [principal(1, "human", Value::Null), principal(2, "agent", json!(id(70))), principal(3, "agent", Value::Null)]});
    let space = format!("principal_context:{}", id(2));
    let lines = [memory(1, "2026-01-01T00:00:00Z", json!({"namespace": space}))];
    let (scratch, vault, reread) = round_trip(&lines, &[("principals", rows.clone())], "10-7");
    assert_eq!(document(&scratch, "principals.json"), rows);
    assert_eq!(reread[&id(1)]["namespace"], space.as_str());
    assert_eq!(vault.records.iter().filter(|r| r.record_type.as_deref() == Some("principal")).count(), 3);
    assert!(validate(&scratch.0.join("b.alf")).errors.is_empty());
    // The archive of a vault without principals contains a generated principal of the type `human`.
    let mut other = MemorySource {
        records: vec![mementory_model::Record::new(Kind::Memory, RecordKey::new("x", "1"), "a")],
        ..MemorySource::default()
    };
    write(&mut other, &scratch.0.join("c.alf"));
    let principals_document: Value =
        serde_json::from_slice(&entries(&scratch.0.join("c.alf"))["principals.json"]).unwrap();
    assert_eq!(
        (
            principals_document["principals"].as_array().unwrap().len(),
            &principals_document["principals"][0]["principal_type"]
        ),
        (1, &"human".into())
    );
}

#[test]
fn spec_10_8_and_10_9_sub_agents_and_capabilities_survive_a_round_trip() {
    let structured = json!({
        "capabilities": [
            {"name": "writing", "description": "prose", "priority": 1},
            {"name": "docker", "portability": "host_dependent", "host_requirements": "Docker Engine"},
            {"name": "odd", "portability": "sometimes"}],
        "sub_agents": [
            {"agent_id": null, "name": "Scout", "status": "active", "routing_hints": "for searches", "last_invoked_at": null,
             "model_hints": {"primary_model": "a/b", "last_model": "a/c"},
             "capabilities": [{"name": "browse", "priority": 1, "portability": "host_dependent", "host_requirements": "a browser"}]},
            {"agent_id": id(71), "name": "Clerk", "status": "resting", "capabilities": []}]});
    let (scratch, vault, _) = round_trip(&[], &[("identity", identity(structured.clone()))], "10-8");
    assert_eq!(document(&scratch, "identity.json")["structured"], structured, "the agent keeps all its fields");
    let messages: Vec<_> =
        vault.notes.iter().filter(|n| n.code == "capability_host_dependent").map(|n| n.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "an ability without portability is intrinsic");
    assert!(
        messages[0].contains("docker")
            && messages[0].contains("Docker Engine")
            && messages[1].contains("browse (Scout)")
    );
}

fn partitions(scratch: &Scratch, file: &str) -> (Vec<Value>, BTreeMap<String, Vec<u8>>) {
    let all_entries = entries(&scratch.0.join(file));
    let manifest: Value = serde_json::from_slice(&all_entries["manifest.json"]).unwrap();
    (manifest["layers"]["memory"]["partitions"].as_array().unwrap().clone(), all_entries)
}

#[test]
fn spec_10_11_a_new_memory_changes_only_the_current_partition() {
    // In this test, today is 2026-11-20.
    let days = [
        "2025-12-31T23:30:00Z",
        "2026-01-01T01:30:00+02:00",
        "2026-02-03T00:00:00Z",
        "2026-09-30T23:59:59.999Z",
        "2026-10-01T00:00:00Z",
    ];
    let lines: Vec<Value> = days.iter().zip(1..).map(|(day, n)| memory(n, day, json!({}))).collect();
    let (scratch, mut vault, _) = round_trip(&lines, &[], "10-11");
    let (rows, first_entries) = partitions(&scratch, "b.alf");
    let names: Vec<_> = rows
        .iter()
        .map(|r| (r["file"].as_str().unwrap(), r["record_count"].as_u64().unwrap(), r["sealed"].as_bool().unwrap()))
        .collect();
    assert_eq!(
        names,
        [
            ("memory/partitions/2025-Q4.jsonl", 2, true),
            ("memory/partitions/2026-Q1.jsonl", 1, true),
            ("memory/partitions/2026-Q3.jsonl", 1, true),
            ("memory/partitions/2026-Q4.jsonl", 1, false)
        ]
    );
    assert_eq!((&rows[2]["to"], &rows[3]["to"]), (&"2026-09-30".into(), &Value::Null));
    let validation = validate(&scratch.0.join("b.alf"));
    assert!(
        validation.errors.is_empty() && validation.warnings.is_empty(),
        "each record is in its range: {validation:?}"
    );
    // Adding a memory changes only the current partition.
    let mut new_memory = vault.records[0].clone();
    let line = memory(20, "2026-11-01T00:00:00Z", json!({})).to_string();
    new_memory.key.value = id(20);
    new_memory.origin_id = Some(id(20));
    new_memory.times.created = mementory_model::Timestamp::parse("2026-11-01T00:00:00Z");
    new_memory.verbatim = Some(mementory_model::Verbatim::json(line));
    vault.records.push(new_memory);
    write(&mut vault, &scratch.0.join("c.alf"));
    let (_, second_entries) = partitions(&scratch, "c.alf");
    for name in ["2025-Q4", "2026-Q1", "2026-Q3"].map(|q| format!("memory/partitions/{q}.jsonl")) {
        assert_eq!(first_entries[&name], second_entries[&name], "{name}");
    }
    assert_ne!(first_entries["memory/partitions/2026-Q4.jsonl"], second_entries["memory/partitions/2026-Q4.jsonl"]);
}

#[test]
fn spec_10_11_superseded_lines_in_sealed_partitions_stay() {
    let lines = [
        memory(1, "2025-08-01T00:00:00Z", json!({})),
        memory(2, "2026-11-01T00:00:00Z", json!({"supersedes": id(1)})),
        memory(3, "2025-08-02T00:00:00Z", json!({})),
        memory(4, "2026-11-02T00:00:00Z", json!({"supersedes": id(3), "status": "deleted"})),
    ];
    let (_scratch, vault, reread) = round_trip(&lines, &[], "10-11-5");
    let status = |n: u32| vault.records.iter().find(|r| r.key.value == id(n)).unwrap().status.clone().unwrap();
    assert_eq!((status(1), status(3)), ("superseded".into(), "deleted".into()), "the effective status");
    assert_eq!((&reread[&id(1)], &reread[&id(3)]), (&lines[0], &lines[2]), "sealed lines are unchanged");
}

#[test]
fn spec_10_11_busy_agents_get_monthly_partitions() {
    use super::first_pass::{ExportPlan, MAX_LINES_PER_QUARTER};
    use super::partitions::Period;
    let start_of = |day: &str| mementory_model::Timestamp::parse(&format!("{day}T00:00:00Z")).unwrap();
    let mut plan = ExportPlan::default();
    plan.periods.insert(Period::month(start_of("2024-01-05")), (MAX_LINES_PER_QUARTER, 1));
    plan.periods.insert(Period::month(start_of("2024-02-05")), (1, 1));
    plan.periods.insert(Period::month(start_of("2024-05-05")), (5, 1));
    plan.choose_periods(None);
    let names: Vec<_> = plan.periods.keys().map(|p| (p.name(), p.first_day(), p.last_day())).collect();
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(
        names,
        [
            row("2024-01", "2024-01-01", "2024-01-31"),
            row("2024-02", "2024-02-01", "2024-02-29"),
            row("2024-Q2", "2024-04-01", "2024-06-30")
        ]
    );
    // An agent with monthly partitions keeps them, so that its sealed partitions keep their bytes.
    let scratch = Scratch::new("10-11-months");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write_agent(
        &first_archive,
        &[memory(1, "2026-05-03T00:00:00Z", json!({})), memory(2, "2026-06-03T00:00:00Z", json!({}))],
        &[],
    );
    let mut all_entries = entries(&first_archive);
    let mut manifest: Value = serde_json::from_slice(&all_entries["manifest.json"]).unwrap();
    let lines = String::from_utf8(all_entries.remove("memory/all.jsonl").unwrap()).unwrap();
    let mut rows = vec![];
    for (line, (month, last)) in lines.lines().zip([("05", "31"), ("06", "30")]) {
        let file = format!("memory/partitions/2026-{month}.jsonl");
        rows.push(json!({"file": file, "from": format!("2026-{month}-01"), "to": format!("2026-{month}-{last}"), "record_count": 1, "sealed": true}));
        all_entries.insert(file, format!("{line}\n").into_bytes());
    }
    manifest["layers"]["memory"]["partitions"] = rows.into();
    all_entries.insert("manifest.json".into(), manifest.to_string().into_bytes());
    let files: Vec<(&str, &[u8])> = all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    pack(&first_archive, &files);
    write(&mut read(&first_archive).unwrap(), &second_archive);
    let new_entries = entries(&second_archive);
    for month in ["05", "06"] {
        let name = format!("memory/partitions/2026-{month}.jsonl");
        assert_eq!(all_entries[&name], new_entries[&name]);
    }
}
