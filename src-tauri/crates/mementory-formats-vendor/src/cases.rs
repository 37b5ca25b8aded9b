//! The cases of a format in `fixtures/<id>/`, and the samples in the shared reference data.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use crate::testing::{assert_values, cases_of, input_of, read};
use mementory_format::Format;
use mementory_format::testkit::{MemorySource, Scratch, put, tree};
use mementory_model::{Kind, RecordKey};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Reads every case of a format and compares: `kinds` (records by kind), `dropped` (codes), `notes` (codes), `files`
/// (names of attachments with bytes), `passthrough` (names) and `records` (by the value of a key, JSON pointers and
/// their values). Then reads the input again under another name, which must give the same records.
pub fn check_cases(format: &'static dyn Format) {
    let cases = cases_of(format);
    assert!(cases.len() >= 3, "{}: full, truncated and mangled", format.id());
    for (case, expected) in cases {
        let name = case.display();
        let input = input_of(&case);
        let found = read(&input, format);
        let codes: Vec<&str> = found.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
        let files: BTreeSet<&str> = found.files.iter().map(|(file, _)| file.name.as_str()).collect();
        let passthrough: BTreeSet<&str> = found.parts.iter().map(|(item, _)| item.name.as_str()).collect();
        let actual = json!({
            "kinds": found.kinds(), "dropped": codes, "notes": found.codes(), "files": files,
            "passthrough": passthrough,
        });
        for (key, value) in actual.as_object().unwrap() {
            let wanted = expected.get(key).cloned().unwrap_or_else(|| json!([]));
            assert_eq!(*value, wanted, "{name}: {key}");
        }
        for (key, checks) in expected["records"].as_object().into_iter().flatten() {
            let record = found.records.iter().find(|r| &r.key.value == key);
            let record = record.unwrap_or_else(|| panic!("{name}: no {key} in {:#?}", keys(&found)));
            assert_values(record, checks, &format!("{name}: {key}"));
        }
        for record in &found.records {
            assert!(record.verbatim.is_some(), "{name}: {:?} has no verbatim", record.key);
            assert_eq!(record.origin.format, format.id(), "{name}");
            let platform = &record.source.platform;
            assert!(!platform.is_empty(), "{name}: {:?} has no platform", record.key);
        }
        assert_eq!(keys(&found), keys(&read_renamed(&input, format)), "{name}: under another name");
    }
}

/// Kinds and keys of all records. Each occurs once.
pub fn keys(found: &MemorySource) -> Vec<(Kind, RecordKey)> {
    let mut keys: Vec<(Kind, RecordKey)> = found.records.iter().map(|r| (r.kind, r.key.clone())).collect();
    keys.sort_by_key(|(kind, key)| (kind.as_str(), key.value.clone()));
    let count = keys.len();
    keys.dedup();
    assert_eq!(count, keys.len(), "two records have one key");
    keys
}

fn read_renamed(input: &Path, format: &'static dyn Format) -> MemorySource {
    let scratch = Scratch::new("renamed");
    let path = if input.is_dir() {
        let files = tree(input);
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
        put(&scratch.at("Downloads/my old export (2)"), &files);
        scratch.at("Downloads/my old export (2)")
    } else {
        let ending = input.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
        scratch.put(&format!("something else (1){ending}"), std::fs::read(input).unwrap())
    };
    read(&path, format)
}

/// Number of records of a kind.
pub fn count(found: &MemorySource, kind: Kind) -> u64 {
    found.records.iter().filter(|record| record.kind == kind).count() as u64
}

/// Number of different files that records refer to.
pub fn references(found: &MemorySource) -> u64 {
    let references = found.records.iter().flat_map(|record| &record.attachments);
    references.map(|file| &file.key.value).collect::<BTreeSet<_>>().len() as u64
}

/// Reads a sample of the shared reference data and compares the counts that `expected.json` gives. None if there is no
/// such data.
pub fn check_sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    let exports = mementory_format::testkit::shared("exports")?;
    let expected: Value = serde_json::from_slice(&std::fs::read(exports.join("expected.json")).unwrap()).unwrap();
    let expected = &expected["samples"][name];
    let found = read(&exports.join(name), format);
    assert_eq!(expected["conversations"], count(&found, Kind::Conversation), "{name}");
    assert_eq!(expected["messages"], count(&found, Kind::Message), "{name}");
    assert_eq!(expected["memories"], count(&found, Kind::Memory), "{name}");
    assert_eq!(expected["attachments_referenced"], references(&found), "{name}");
    assert_eq!(expected["attachments_present"], found.files.len(), "{name}");
    for (role, wanted) in expected["roles"].as_object().unwrap() {
        let of_role = |r: &&mementory_model::Record| r.message.as_ref().is_some_and(|m| m.role == *role);
        assert_eq!(*wanted, found.records.iter().filter(of_role).count(), "{name}: {role}");
    }
    let renamed = read_renamed_sample(&exports.join(name), format);
    assert_eq!(keys(&found), keys(&renamed), "{name}: under another name");
    Some(found)
}

/// Reads a sample of the shared reference data, under its own name and another one. None if there is no such data.
pub fn read_sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    let input = mementory_format::testkit::shared("exports")?.join(name);
    let found = read(&input, format);
    assert_eq!(keys(&found), keys(&read_renamed(&input, format)), "{name}: under another name");
    Some(found)
}

fn read_renamed_sample(sample: &Path, format: &'static dyn Format) -> MemorySource {
    let scratch = Scratch::new("sample");
    if sample.is_dir() {
        return read_renamed(sample, format);
    }
    read(&scratch.put("0b1c (3).zip", std::fs::read(sample).unwrap()), format)
}
