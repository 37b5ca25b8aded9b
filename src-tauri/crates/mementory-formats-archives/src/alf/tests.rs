//! Tests of round trips of the fixtures, of the official sample, and of records of other formats.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::testing::*;
use mementory_format::FormatError;
use mementory_model::{
    AttachmentRef, EntityRef, Kind, Link, LossKind, MessagePart, Origin, Record, RecordKey, Timestamp, Verbatim,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn case(name: &str) -> (Value, std::path::PathBuf) {
    let folder = repo().join("fixtures/alf").join(name);
    let text = std::fs::read_to_string(folder.join("case.json")).unwrap();
    (serde_json::from_str(&text).unwrap(), folder.join("input"))
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

fn count_by<T>(items: &[T], by: impl Fn(&T) -> String) -> Value {
    let mut out = BTreeMap::<String, u64>::new();
    items.iter().for_each(|i| *out.entry(by(i)).or_default() += 1);
    serde_json::to_value(out).unwrap()
}

fn lines(entries: &BTreeMap<String, Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let manifest: Value = serde_json::from_slice(&entries["manifest.json"]).unwrap();
    let rows = manifest["layers"]["memory"]["partitions"].as_array().unwrap().clone();
    rows.iter()
        .filter_map(|row| entries.get(row["file"].as_str().unwrap()))
        .flat_map(|bytes| bytes.split(|b| *b == b'\n'))
        .map(|line| line.trim_ascii().to_vec())
        .filter(|line| !line.is_empty())
        .collect()
}

/// Asserts that both archives have the same lines (in any partitions) except for these numbers of lost and changed
/// lines, and that all other entries except the manifest and the index are byte-identical.
fn assert_same_archive(archive_before: &Path, archive_after: &Path, lost_lines: usize, changed_lines: usize) {
    let (old_entries, new_entries) = (entries(archive_before), entries(archive_after));
    let manifest: Value = serde_json::from_slice(&old_entries["manifest.json"]).unwrap();
    let listed_files: Vec<String> = manifest["layers"]["memory"]["partitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["file"].as_str().unwrap().to_owned())
        .collect();
    for (name, bytes) in &old_entries {
        if name == "manifest.json" || name == "memory/index.json" || listed_files.contains(name) {
            continue;
        }
        assert_eq!(Some(bytes), new_entries.get(name), "{name}");
    }
    let (old_lines, new_lines) = (lines(&old_entries), lines(&new_entries));
    assert_eq!(new_lines.difference(&old_lines).count(), changed_lines, "changed lines");
    assert_eq!(new_lines.len() + lost_lines, old_lines.len());
    let written_manifest: Value = serde_json::from_slice(&new_entries["manifest.json"]).unwrap();
    for key in ["agent", "alf_version", "runtime_hints", "sync", "raw_sources", "x_top"] {
        assert_eq!(manifest.get(key), written_manifest.get(key), "{key}");
    }
    for (layer, row) in manifest["layers"].as_object().unwrap() {
        for (key, value) in row.as_object().unwrap() {
            if !["partitions", "record_count"].contains(&key.as_str())
                && written_manifest["layers"].get(layer).is_some()
            {
                let is_count = key.starts_with("included") || key.starts_with("referenced");
                assert!(is_count || Some(value) == written_manifest["layers"][layer].get(key), "{layer}.{key}");
            }
        }
    }
}

#[test]
fn fixtures_round_trip() {
    for name in ["lossless", "lifecycle"] {
        let (expected, input) = case(name);
        let scratch = Scratch::new(name);
        let (first_archive, second_archive) = (scratch.0.join("first.alf"), scratch.0.join("second.alf"));
        pack_folder(&input, &first_archive);
        let mut vault = read(&first_archive).unwrap();
        assert_eq!(count_by(&vault.records, |r| r.kind.as_str().to_owned()), expected["records"], "{name}");
        assert_eq!(count_by(&vault.parts, |(p, _)| p.role.clone()), expected["parts"], "{name}");
        let mut notes: Vec<String> = vault.notes.iter().map(|n| n.code.clone()).collect();
        notes.sort();
        notes.dedup();
        assert_eq!(notes, strings(&expected["notes"]), "{name}");
        let mut dropped_codes: Vec<String> =
            vault.dropped.iter().map(|d| d.reason.split(':').next().unwrap().to_owned()).collect();
        dropped_codes.sort();
        assert_eq!(dropped_codes, strings(&expected["dropped"]), "{name}");
        assert_eq!(vault.files.len() as u64, expected["files"].as_u64().unwrap(), "{name}");
        for (text, status) in expected["status"].as_object().into_iter().flatten() {
            let record = vault.records.iter().find(|r| r.text == *text).unwrap();
            assert_eq!(record.status.as_deref(), status.as_str(), "{text}");
        }
        let keys: BTreeSet<_> = vault.records.iter().map(|r| (r.kind, r.key.value.clone())).collect();
        assert_eq!(keys.len(), vault.records.len(), "keys are unique");

        write(&mut vault, &second_archive);
        // Unreadable lines were dropped. Dropped duplicates do not matter, because sets of lines are compared.
        let unreadable_count = dropped_codes.iter().filter(|d| *d != "duplicate").count();
        // A line without an id, or with the id of another line, gets a new id.
        let changed_lines = expected["changed_lines"].as_u64().unwrap_or(0) as usize;
        assert_same_archive(&first_archive, &second_archive, unreadable_count, changed_lines);
        copy_for_interop(&second_archive, &format!("{name}.alf"));
        let partition_files: Vec<String> =
            entries(&second_archive).into_keys().filter(|n| n.starts_with("memory/partitions/")).collect();
        assert_eq!(partition_files, strings(&expected["partitions"]), "{name}");

        let reread = read(&second_archive).unwrap();
        let sorted_texts = |records: &[Record]| {
            let mut out: Vec<_> =
                records.iter().map(|r| (r.text.clone(), r.status.clone(), r.verbatim.clone())).collect();
            out.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
            out
        };
        let (texts_before, texts_after) = (sorted_texts(&vault.records), sorted_texts(&reread.records));
        let outline = |records: &[(String, Option<String>, Option<Verbatim>)]| {
            // The export adds the required status to a line to which it adds an id.
            let status = |status: &Option<String>| status.clone().or(Some("active".to_owned()));
            records.iter().map(|(text, of, _)| (text.clone(), status(of))).collect::<Vec<_>>()
        };
        assert_eq!(outline(&texts_before), outline(&texts_after), "{name}");
        let changed_count =
            texts_before.iter().zip(&texts_after).filter(|((_, _, old), (_, _, new))| old != new).count();
        assert_eq!(changed_count, changed_lines, "{name}");
        assert_eq!(reread.dropped, [], "{name}");
    }
}

#[test]
fn maps_each_field_of_a_memory_line() {
    let (_, input) = case("lossless");
    let scratch = Scratch::new("mapping");
    let file = scratch.0.join("a.alf");
    pack_folder(&input, &file);
    let vault = read(&file).unwrap();
    let find = |text: &str| vault.records.iter().find(|r| r.text.starts_with(text)).unwrap();
    let first_memory = find("Runs on Saturdays. été");
    assert_eq!(
        first_memory.key,
        RecordKey::new("alf:0197f2a0-1111-7000-8000-00000000000a", "0197f2a0-2222-7000-8000-000000000001")
    );
    assert_eq!(first_memory.confidence, Some(0.9));
    assert_eq!(first_memory.embeddings[0].model, "acme/mini");
    assert!(first_memory.embeddings[0].json.contains("[0.10,1e-3,-2.50]"), "numbers keep their text");
    assert_eq!(first_memory.attachments[0].name, "runs.csv");
    assert_eq!(first_memory.times.created, Timestamp::parse("2025-11-02T07:30:00.123456Z"));
    let second_memory = find("Line two");
    assert_eq!(second_memory.record_type.as_deref(), Some("hunch"));
    assert_eq!(second_memory.status.as_deref(), Some("dormant"), "an unknown status stays and counts as active");
    assert_eq!(second_memory.source.method.as_deref(), Some("dreamt"));
    assert_eq!(
        (second_memory.source.conversation.as_deref(), second_memory.source.message.as_deref()),
        (Some("s-1"), Some("m-9"))
    );
    assert_eq!(second_memory.links.len(), 2);
    assert_eq!(second_memory.fields["category"], "notes");
    assert_eq!(second_memory.entities[0].entity_type.as_deref(), Some("android"));
    let identity = find("## Soul");
    assert_eq!(identity.title.as_deref(), Some("Nova"));
    assert!(identity.text.contains("Use the calendar."));
    for credential in vault.records.iter().filter(|r| r.kind == Kind::Credential) {
        let verbatim = credential.verbatim.as_ref().unwrap();
        let mut without_verbatim = credential.clone();
        without_verbatim.verbatim = None;
        let visible_members = serde_json::to_string(&without_verbatim).unwrap();
        assert!(
            verbatim.text.contains("encrypted_payload") && !visible_members.contains("q83vEjRW"),
            "a payload is only in the verbatim"
        );
    }
    let skeleton = vault.parts.iter().find(|(p, _)| p.name == "credentials.json").unwrap();
    assert!(!String::from_utf8_lossy(&skeleton.1).contains("q83vEjRW"), "an element is stored once");
}

#[test]
fn edits_change_only_the_edited_fields() {
    let (_, input) = case("lossless");
    let scratch = Scratch::new("edits");
    let (first_archive, second_archive) = (scratch.0.join("first.alf"), scratch.0.join("second.alf"));
    pack_folder(&input, &first_archive);
    let mut vault = read(&first_archive).unwrap();
    for (i, record) in vault.records.iter_mut().enumerate() {
        if record.text.starts_with("Runs on Saturdays") {
            record.text = "Runs on Sundays.".into();
            record.tags = vec!["sport".into()];
            vault.edited.insert(i);
        } else if record.record_type.as_deref() == Some("identity") {
            record.text = record.text.replace("Calm and exact.", "Lively.");
            vault.edited.insert(i);
        } else if record.title.as_deref() == Some("Mara") {
            record.text = "Mara likes long answers.".into();
            vault.edited.insert(i);
        }
    }
    write(&mut vault, &second_archive);
    let new_entries = entries(&second_archive);
    let line = lines(&new_entries).into_iter().find(|l| String::from_utf8_lossy(l).contains("Sundays")).unwrap();
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains(r#""tags":["sport"]"#) && line.contains(r#""updated_at":null"#) && line.contains("0.90"));
    assert!(line.contains("1e400") && line.contains("12345678901234567890123") && line.contains(".123456789+02:00"));
    let identity = String::from_utf8(new_entries["identity.json"].clone()).unwrap();
    assert!(
        identity.contains(r#""soul":"Lively.""#)
            && identity.contains(r#""version":4"#)
            && identity.contains(r#""x_mood":1.0"#)
    );
    assert!(identity.contains("Ask before sending.") && identity.contains("Use the calendar."));
    let principals = String::from_utf8(new_entries["principals.json"].clone()).unwrap();
    assert!(
        principals.contains("long answers")
            && principals.contains(r#""version": 2.0"#)
            && principals.contains(r#""x_last": [ ]"#)
    );
    let errors = validate(&second_archive).errors;
    let fields: BTreeSet<_> =
        errors.iter().map(|e| (e.code.as_str(), &e.place[e.place.find('!').unwrap() + 2..])).collect();
    let in_fixture = [
        ("attachment_checksum_mismatch", "attachments.json#/attachments/2"),
        ("attachment_size_differs", "attachments.json#/attachments/2"),
        ("wrong_type", "identity.json#/structured/names/nickname"),
        ("wrong_type", "manifest.json#/agent/source_runtime_version"),
    ];
    assert_eq!(fields, BTreeSet::from(in_fixture), "only the defects of the fixture itself");
}

#[test]
fn official_sample_round_trips() {
    let Some(sample) = shared("reference/alf/synthetic-agent.alf") else { return };
    let scratch = Scratch::new("official");
    let second_archive = scratch.0.join("second.alf");
    let mut vault = read(&sample).unwrap();
    assert_eq!(
        count_by(&vault.records, |r| r.kind.as_str().to_owned()).to_string(),
        r#"{"attachment":3,"credential":4,"memory":10,"profile":4}"#
    );
    assert_eq!(vault.dropped, []);
    write(&mut vault, &second_archive);
    assert_same_archive(&sample, &second_archive, 0, 0);
    copy_for_interop(&second_archive, "official.alf");
    let validation = validate(&second_archive);
    assert_eq!(
        validation.errors.iter().filter(|e| e.code != "embedding_dimensions").collect::<Vec<_>>(),
        Vec::<&mementory_format::Finding>::new()
    );
    assert!(
        validation.warnings.iter().all(|w| w.code != "outside_partition"),
        "each record is in the partition of its time"
    );
}

fn chat() -> Vec<Record> {
    let origin = Origin {
        format: "chatgpt".into(),
        version: None,
        container: "x.zip!/conversations.json".into(),
        pointer: "/0".into(),
    };
    let conversation = RecordKey::new("chatgpt", "c1");
    let mut head = Record::new(Kind::Conversation, conversation.clone(), "");
    head.title = Some("Trip to Graz".into());
    head.times.created = Timestamp::parse("2025-05-05T10:00:00Z");
    head.origin = origin.clone();
    let message = |id: &str, text: &str, parent: Option<&str>| {
        let mut m = Record::new(Kind::Message, RecordKey::new("chatgpt", id), text);
        m.parent = Some(conversation.clone());
        m.message = Some(MessagePart {
            role: "user".into(),
            parent: parent.map(|p| RecordKey::new("chatgpt", p)),
            active: true,
            ..MessagePart::default()
        });
        m.origin = origin.clone();
        m.verbatim = Some(Verbatim::json("{\"id\": \"m\",\t\"n\": 1.0}"));
        m
    };
    let mut first_message = message("m1", "When is the \"fair\"?\n\u{1F3A1} \u{0000}", None);
    first_message.times.created = Timestamp::parse("2025-05-05T10:00:01.5Z");
    first_message.attachments = vec![
        AttachmentRef {
            key: RecordKey::new("chatgpt", "file-1"),
            origin_id: Some("file-1".into()),
            name: "../map.png".into(),
            media_type: Some("image/png".into()),
            size: Some(3),
            text: None,
        },
        AttachmentRef {
            key: RecordKey::new("chatgpt", "file-2"),
            origin_id: None,
            name: "big.bin".into(),
            media_type: None,
            size: None,
            text: None,
        },
    ];
    let empty_message = message("m2", "", Some("m1"));
    let mut fact = Record::new(Kind::Memory, RecordKey::new("chatgpt", "bio-1"), "Has two cats.");
    fact.links =
        vec![Link { relation: "derived_from".into(), kind: Kind::Message, target: RecordKey::new("chatgpt", "m1") }];
    fact.entities = vec![EntityRef { name: "cats".into(), entity_type: Some("animal".into()), role: None }];
    fact.tags = vec!["pets".into()];
    fact.confidence = Some(0.25);
    fact.source.method = Some("bio_write".into());
    fact.times.created = Timestamp::parse("2026-11-01T00:00:00Z");
    let mut credential = Record::new(Kind::Credential, RecordKey::new("x", "k"), "");
    credential.title = Some("Mail".into());
    let todo = Record::new(Kind::Todo, RecordKey::new("x", "t"), "Book a room");
    vec![head, first_message, empty_message, fact, credential, todo]
}

fn by_key(records: &[Record]) -> BTreeMap<(Kind, String, String), Record> {
    records.iter().map(|r| ((r.kind, r.key.scope.clone(), r.key.value.clone()), r.clone())).collect()
}

fn vault_of(records: Vec<Record>) -> MemorySource {
    let file = |key: &str, name: &str| mementory_format::AttachmentFile {
        key: RecordKey::new("chatgpt", key),
        origin_id: None,
        name: name.into(),
        media_type: None,
        place: String::new(),
    };
    MemorySource {
        records,
        files: vec![(file("file-1", "map.png"), vec![1, 2, 3]), (file("file-2", "big.bin"), vec![7; 102_400])],
        ..MemorySource::default()
    }
}

#[test]
fn records_of_other_formats_survive_a_round_trip() {
    let scratch = Scratch::new("foreign");
    let (first_archive, second_archive) = (scratch.0.join("first.alf"), scratch.0.join("second.alf"));
    let mut vault = vault_of(chat());
    let report = write(&mut vault, &first_archive);
    assert_eq!(report.losses.count("attachment", LossKind::LeftOut), 1);
    assert_eq!(report.losses.count("text", LossKind::Narrowed), 2);
    copy_for_interop(&first_archive, "foreign.alf");
    let validation = validate(&first_archive);
    assert_eq!(validation.errors, []);
    assert!(validation.warnings.iter().all(|w| w.code == "credential_without_encryption"), "{:?}", validation.warnings);
    let mut reread = read(&first_archive).unwrap();
    assert_eq!(by_key(&reread.records), by_key(&vault.records));
    assert_eq!(reread.files.len(), 1, "only files below 100 KB are in the archive");
    assert_eq!((&reread.files[0].0.key, &reread.files[0].1), (&RecordKey::new("chatgpt", "file-1"), &vec![1, 2, 3]));
    assert_eq!(reread.parts.len(), 0, "generated entries do not become passthrough files");
    assert_eq!(reread.dropped, []);
    reread.files = vault.files.clone();
    write(&mut reread, &second_archive);
    assert_eq!(
        std::fs::read(&first_archive).unwrap(),
        std::fs::read(&second_archive).unwrap(),
        "the same vault gives the same bytes"
    );
    let new_entries = entries(&first_archive);
    assert!(new_entries.contains_key("artifacts/map.png"), "names are made safe");
    let manifest: Value = serde_json::from_slice(&new_entries["manifest.json"]).unwrap();
    let rows = &manifest["layers"]["memory"]["partitions"];
    assert_eq!((&rows[1]["sealed"], &rows[1]["to"]), (&Value::Bool(true), &Value::from("2025-06-30")));
    assert_eq!((&rows[2]["sealed"], &rows[2]["to"]), (&Value::Bool(false), &Value::Null), "the current quarter");
}

#[test]
fn change_by_another_program_is_imported() {
    let scratch = Scratch::new("elsewhere");
    let (first_archive, second_archive) = (scratch.0.join("first.alf"), scratch.0.join("second.alf"));
    write(&mut vault_of(chat()), &first_archive);
    let mut all_entries = entries(&first_archive);
    for (name, bytes) in &mut all_entries {
        if name.ends_with(".jsonl") {
            *bytes = String::from_utf8(bytes.clone())
                .unwrap()
                .replace("\"content\":\"Has two cats.\"", "\"content\":\"Has three cats.\"")
                .into_bytes();
        }
    }
    let all_entries: Vec<(&str, &[u8])> = all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    pack(&second_archive, &all_entries);
    assert!(validate(&second_archive).errors.iter().any(|e| e.code == "checksum_mismatch"));
    let reread = read(&second_archive).unwrap();
    let memory = reread.records.iter().find(|r| r.kind == Kind::Memory).unwrap();
    assert_eq!((memory.text.as_str(), &memory.key), ("Has three cats.", &RecordKey::new("chatgpt", "bio-1")));
    assert_eq!(memory.origin.format, "alf");
}

#[test]
fn archive_of_several_sources_round_trips() {
    let (_, input) = case("lossless");
    let scratch = Scratch::new("several");
    let (first_archive, mixed_archive, last_archive) =
        (scratch.0.join("first.alf"), scratch.0.join("mixed.alf"), scratch.0.join("last.alf"));
    pack_folder(&input, &first_archive);
    let agent = read(&first_archive).unwrap();
    let mut vault = vault_of(chat());
    vault.records.extend(agent.records.iter().cloned());
    vault.files.extend(agent.files.iter().cloned());
    vault.parts.extend(agent.parts.iter().cloned());
    write(&mut vault, &mixed_archive);
    copy_for_interop(&mixed_archive, "mixed.alf");
    let mut reread = read(&mixed_archive).unwrap();
    let without_origins = |records: &[Record]| {
        let mut records_by_key = by_key(records);
        records_by_key.values_mut().for_each(|r| r.origin = Origin::default());
        records_by_key
    };
    assert_eq!(without_origins(&reread.records), without_origins(&vault.records));
    let parts = |vault: &MemorySource| {
        let mut sorted_parts: Vec<_> =
            vault.parts.iter().map(|(p, b)| (p.group.clone(), p.name.clone(), p.role.clone(), b.clone())).collect();
        sorted_parts.sort();
        sorted_parts
    };
    assert_eq!(parts(&reread), parts(&vault), "each passthrough file returns to its agent");
    // If only the agent's records are exported, the result is the agent's original archive.
    reread.records.retain(|r| r.key.scope.starts_with("alf:"));
    write(&mut reread, &last_archive);
    assert_same_archive(&first_archive, &last_archive, 0, 0);
}

#[test]
fn unsafe_archives_are_refused() {
    let manifest = br#"{"alf_version":"1.0.0","created_at":"2026-01-01T00:00:00Z","agent":{"id":"0197f2a0-1111-7000-8000-00000000000a","name":"n","source_runtime":"r"},"layers":{}}"#;
    let scratch = Scratch::new("unsafe");
    let refuses = |file: &Path, why: &str| {
        let result = read(file);
        assert!(matches!(result, Err(FormatError::Refused { .. })), "{why}");
    };
    // Each name is absolute or leads out of the archive.
    for (i, name) in ["../up.txt", "/abs.txt", "C:/x.txt", "raw/../../x", "../a!/b"].iter().enumerate() {
        let file = scratch.0.join(format!("{i}.alf"));
        pack(&file, &[("manifest.json", manifest), (name, b"x")]);
        refuses(&file, name);
    }
    let file = scratch.0.join("more.alf");
    pack(&file, &[("manifest.json", manifest), ("aa.txt", b"x"), ("ab.txt", b"y")]);
    let valid_bytes = std::fs::read(&file).unwrap();
    assert!(read(&file).is_ok());
    let patched = |find: &[u8], change: &dyn Fn(&mut [u8])| {
        let mut bytes = valid_bytes.clone();
        let places: Vec<usize> =
            bytes.windows(find.len()).enumerate().filter(|(_, w)| *w == find).map(|(i, _)| i).collect();
        places.into_iter().for_each(|at| change(&mut bytes[at..]));
        std::fs::write(&file, bytes).unwrap();
    };
    patched(b"ab.txt", &|b| b[1] = b'a');
    refuses(&file, "two entries of one name");
    // Sets bit 0 of the flags in the central header of the last entry, which marks the entry as encrypted.
    patched(b"PK\x01\x02", &|b| b[8] |= u8::from(b[46..].starts_with(b"ab.txt")));
    refuses(&file, "encrypted");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&file).unwrap());
    zip.start_file("manifest.json", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut zip, manifest).unwrap();
    zip.add_symlink("raw/link", "/etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap();
    refuses(&file, "a link");
}

#[test]
fn nested_archives_are_not_opened() {
    let scratch = Scratch::new("inner");
    let (inner, first_archive, second_archive) =
        (scratch.0.join("i.zip"), scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    pack(&inner, &[("manifest.json", b"{}"), ("conversations.json", b"[]")]);
    let inner = std::fs::read(&inner).unwrap();
    let (_, input) = case("lossless");
    let manifest = std::fs::read(input.join("manifest.json")).unwrap();
    let line = std::fs::read(input.join("memory/2026-Q1.jsonl")).unwrap();
    pack(
        &first_archive,
        &[
            ("manifest.json", &manifest),
            ("memory/2026-Q1.jsonl", &line),
            ("artifacts/i.zip", &inner),
            ("raw/openclaw/i.zip", &inner),
        ],
    );
    let mut vault = read(&first_archive).unwrap();
    write(&mut vault, &second_archive);
    let new_entries = entries(&second_archive);
    assert_eq!((&new_entries["artifacts/i.zip"], &new_entries["raw/openclaw/i.zip"]), (&inner, &inner));
}

#[test]
fn other_major_version_is_refused() {
    let scratch = Scratch::new("version");
    let file = scratch.0.join("v.alf");
    pack(&file, &[("manifest.json", br#"{"alf_version":"2.0.0","agent":{"id":"a"},"layers":{}}"#)]);
    assert!(matches!(read(&file), Err(FormatError::Version { version, .. }) if version == "2.0.0"));
}

#[test]
fn validator_lists_every_defect() {
    let (expected, input) = case("defects");
    let scratch = Scratch::new("defects");
    let file = scratch.0.join("d.alf");
    pack_folder(&input, &file);
    let validation = validate(&file);
    let codes = |list: &[mementory_format::Finding]| {
        list.iter().map(|f| f.code.clone()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(codes(&validation.errors), strings(&expected["errors"]));
    assert_eq!(codes(&validation.warnings), strings(&expected["warnings"]));
}

fn manifest_of(rows: &str) -> String {
    format!(
        r#"{{"alf_version":"1.0.0","created_at":"2026-01-01T00:00:00Z","agent":{{"id":"0191b2c3-0000-7000-8000-00000000000a","name":"A","source_runtime":"r"}},"layers":{{"memory":{{"record_count":1,"index_file":"memory/index.json","partitions":[{rows}]}}}}}}"#
    )
}

fn line_of(id: &str, content: &str, more_members: &str) -> String {
    format!(
        r#"{{"id":"{id}","agent_id":"0191b2c3-0000-7000-8000-00000000000a","content":"{content}","memory_type":"semantic","source":{{"runtime":"r"}},"temporal":{{"created_at":"2026-01-01T00:00:00Z"}},"status":"active","namespace":"n"{more_members}}}"#
    )
}

#[test]
fn update_with_the_same_id_replaces_only_earlier_lines() {
    let id = "0191b2c3-0000-7000-8000-000000000001";
    let supersedes_itself = format!(r#","supersedes":"{id}""#);
    let row = r#"{"file":"memory/a.jsonl","from":"2026-01-01","record_count":3,"sealed":false}"#;
    let lines =
        [line_of(id, "first", ""), line_of(id, "second", &supersedes_itself), line_of(id, "third", &supersedes_itself)]
            .join("\n");
    let scratch = Scratch::new("same-id");
    let path = scratch.0.join("a.alf");
    pack(&path, &[("manifest.json", manifest_of(row).as_bytes()), ("memory/a.jsonl", lines.as_bytes())]);
    let vault = read(&path).unwrap();
    let states: Vec<_> = vault.records.iter().map(|r| (r.text.as_str(), r.status.as_deref().unwrap())).collect();
    assert_eq!(states, [("first", "superseded"), ("second", "superseded"), ("third", "active")]);
}

#[test]
fn archive_without_its_partitions_is_invalid() {
    let row = r#"{"file":"memory/a.jsonl","from":"2026-01-01","record_count":1,"sealed":false}"#;
    let (manifest, line) = (manifest_of(row), line_of("0191b2c3-0000-7000-8000-000000000001", "x", ""));
    let scratch = Scratch::new("nothing");
    let path = scratch.0.join("a.alf");
    pack(&path, &[("manifest.json", manifest.as_bytes())]);
    assert!(validate(&path).errors.iter().any(|e| e.code == "partition_missing"));
    assert!(read(&path).unwrap().notes.iter().any(|n| n.code == "partition_missing"), "what is left can be read");
    // An entry name with a backslash is refused, although it would match the name in the manifest with a slash.
    pack(&path, &[("manifest.json", manifest.as_bytes()), ("memory\\a.jsonl", line.as_bytes())]);
    let error = read(&path).err().unwrap();
    assert!(matches!(error, FormatError::Refused { .. }), "{error}");
}

#[test]
fn archive_whose_manifest_lists_no_layers_is_refused() {
    let scratch = Scratch::new("no-inventory");
    let path = scratch.0.join("a.alf");
    let line = line_of("0191b2c3-0000-7000-8000-000000000001", "x", "");
    let manifest = manifest_of("");
    for (member, replacement) in
        [(r#""layers":"#, r#""x_layers":"#), (r#""layers":{"#, r#""layers":null,"x_layers":{"#)]
    {
        let changed_manifest = manifest.replace(member, replacement);
        assert_ne!(changed_manifest, manifest);
        pack(&path, &[("manifest.json", changed_manifest.as_bytes()), ("memory/a.jsonl", line.as_bytes())]);
        let error = read(&path).err().unwrap();
        assert!(matches!(error, FormatError::Invalid { code: "manifest_invalid", .. }), "{changed_manifest}: {error}");
    }
    // An archive may have no memory layer.
    let without_memory = manifest.replace(r#""memory":{"#, r#""memory":null,"x_memory":{"#);
    pack(&path, &[("manifest.json", without_memory.as_bytes())]);
    assert!(read(&path).is_ok());
}

#[test]
fn delta_opened_as_archive_is_refused_with_a_reason() {
    let delta = r#"{"alf_version":"1.0.0","created_at":"2026-01-01T00:00:00Z","agent":{"id":"a"},"sync":{"base_sequence":1,"new_sequence":2},"changes":{"memory":{"file":"memory/delta.jsonl","record_count":1}}}"#;
    let scratch = Scratch::new("delta");
    let path = scratch.0.join("a.alf-delta");
    for names in [&["manifest.json"][..], &["delta-manifest.json"], &["delta-manifest.json", "manifest.json"]] {
        let entries: Vec<(&str, &[u8])> = names.iter().map(|n| (*n, delta.as_bytes())).collect();
        pack(&path, &entries);
        let (_, detection) = open(&path).unwrap();
        assert_eq!(detection.sources.len(), 1, "{names:?}");
        assert_eq!(detection.sources[0].claim.version.as_deref(), Some("delta"));
        let error = read(&path).err().unwrap();
        assert!(matches!(&error, FormatError::Refused { reason, .. } if reason.contains(".alf-delta")), "{error}");
    }
}
