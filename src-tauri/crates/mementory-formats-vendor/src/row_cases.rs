//! Checks the cases of the formats of memory engines, `fixtures/<id>/<case>/case.json`.
#![allow(clippy::unwrap_used)]
use crate::testing::read;
use mementory_format::Format;
use mementory_format::testkit::{MemorySource, Scratch, put, repo, shared, tree};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Reads every case of a format and compares what its `case.json` says: `kinds` (number of records by kind), `dropped`
/// and `notes` (codes), `passthrough` (names) and `records` (for the key of a record, values at JSON pointers). Then
/// reads the input under another name, which must give the same keys.
pub fn check_cases(format: &'static dyn Format) {
    let folder = repo().join("fixtures").join(format.id());
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 3, "{} has too few cases", format.id());
    for case in cases {
        let name = case.display();
        let expected: Value = serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
        let input = input_of(&case);
        let found = read(&input, format);
        let codes: Vec<&str> = found.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
        let parts: Vec<&str> = found.parts.iter().map(|(item, _)| item.name.as_str()).collect();
        let actual = json!({ "kinds": found.kinds(), "dropped": codes, "notes": found.codes(), "passthrough": parts });
        for (key, value) in actual.as_object().unwrap() {
            let wanted = expected.get(key).cloned().unwrap_or_else(|| json!([]));
            assert_eq!(*value, wanted, "{name}: {key}; the keys are {:#?}", keys(&found));
        }
        for (key, values) in expected["records"].as_object().into_iter().flatten() {
            let record = found.records.iter().find(|r| r.key.value == *key);
            let record = record.unwrap_or_else(|| panic!("{name}: no {key} in {:#?}", keys(&found)));
            let record = serde_json::to_value(record).unwrap();
            for (pointer, value) in values.as_object().unwrap() {
                assert_eq!(record.pointer(pointer).unwrap_or(&Value::Null), value, "{name}: {key}{pointer}");
            }
        }
        for record in &found.records {
            assert_eq!(record.origin.format, format.id(), "{name}");
            assert!(record.verbatim.is_some(), "{name}: {:?}", record.key);
            assert!(!record.source.platform.is_empty(), "{name}");
        }
        assert_eq!(keys(&found), keys(&read_renamed(&input, format)), "{name}: under another name");
    }
}

/// Reads a sample of the shared reference data, under its own name and another one. None if there is no such data.
pub fn sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    let input = shared(&format!("exports/{name}"))?;
    let found = read(&input, format);
    assert_eq!(keys(&found), keys(&read_renamed(&input, format)), "{name}: under another name");
    Some(found)
}

/// Kind and key of each record. No two records have the same.
pub fn keys(found: &MemorySource) -> Vec<String> {
    let key = |r: &mementory_model::Record| format!("{} {} {}", r.kind.as_str(), r.key.scope, r.key.value);
    let mut keys: Vec<String> = found.records.iter().map(key).collect();
    keys.sort();
    let count = keys.len();
    keys.dedup();
    assert_eq!(count, keys.len(), "two records have the same key");
    keys
}

fn input_of(case: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.file_stem().is_some_and(|stem| stem == "input")).unwrap()
}

fn read_renamed(input: &Path, format: &'static dyn Format) -> MemorySource {
    let scratch = Scratch::new("renamed");
    if input.is_dir() {
        let files = tree(input);
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
        put(&scratch.at("Downloads/old backup (2)"), &files);
        return read(&scratch.at("Downloads/old backup (2)"), format);
    }
    let ending = input.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    read(&scratch.put(&format!("something else (1){ending}"), std::fs::read(input).unwrap()), format)
}
