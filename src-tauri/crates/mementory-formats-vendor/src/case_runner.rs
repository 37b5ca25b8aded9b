//! Runs the cases of a format: each folder in `fixtures/<format>/` has an input and what is expected of it.
#![allow(clippy::unwrap_used)]
use crate::FORMATS;
use crate::testing::{assert_values, cases_of, detect, read};
use mementory_format::testkit::MemorySource;
use mementory_format::{Catalog, Format};
use mementory_model::Limits;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads all cases of a format and compares: `kinds` (number of records of each kind), `dropped` and `notes` (codes, in
/// any order), and `records` (for the key of a record, JSON pointers into it and their values). A second reading must
/// give the same records.
pub fn check_cases(format: &'static dyn Format) {
    for (case, expected) in cases_of(format) {
        check_case(format, &case, &expected);
    }
}

/// The inputs of a case: files or folders whose name begins with `input`.
pub fn inputs(case: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("input")).collect()
}

fn check_case(format: &'static dyn Format, case: &Path, expected: &Value) {
    for input in inputs(case) {
        let name = input.display();
        let found = read(&input, format);
        assert_eq!(serde_json::json!(found.kinds()), expected["kinds"], "kinds of {name}: {:#?}", texts(&found));
        let codes = |list: Vec<&str>| {
            let mut counted: BTreeMap<String, u64> = BTreeMap::new();
            list.iter().for_each(|reason| *counted.entry(code(reason)).or_default() += 1);
            serde_json::json!(counted)
        };
        let dropped = codes(found.dropped.iter().map(|d| d.reason.as_str()).collect());
        assert_eq!(dropped, or_empty(&expected["dropped"]), "dropped in {name}: {:#?}", found.dropped);
        let notes = codes(found.notes.iter().map(|n| n.code.as_str()).collect());
        assert_eq!(notes, or_empty(&expected["notes"]), "notes in {name}: {:#?}", found.notes);
        for (key, values) in expected["records"].as_object().into_iter().flatten() {
            let keys: Vec<&str> = found.records.iter().map(|r| r.key.value.as_str()).collect();
            let record = found.records.iter().find(|r| r.key.value == *key);
            let record = record.unwrap_or_else(|| panic!("no record {key} in {name}: {keys:#?}"));
            assert_values(record, values, &format!("{name}: {key}"));
        }
        for record in &found.records {
            assert!(
                record.verbatim.is_some() || record.kind == mementory_model::Kind::Conversation,
                "{:?}",
                record.key
            );
        }
        let mut seen = std::collections::BTreeSet::new();
        for record in &found.records {
            assert!(seen.insert((record.kind, &record.key.scope, &record.key.value)), "twice {:?}", record.key);
        }
        assert_eq!(read(&input, format).records, found.records, "a second reading of {name}");
    }
}

fn or_empty(value: &Value) -> Value {
    if value.is_null() { serde_json::json!({}) } else { value.clone() }
}

fn code(reason: &str) -> String {
    reason.split(':').next().unwrap_or_default().to_owned()
}

fn texts(found: &MemorySource) -> Vec<String> {
    found.records.iter().map(|r| format!("{} {}: {}", r.kind.as_str(), r.key.value, r.text)).collect()
}

/// Formats that claim a path when none is named.
pub fn claiming(path: &Path) -> Vec<&'static str> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let found = detect(&catalog, &limits, None).unwrap();
    assert!(found.ties.is_empty(), "{:?}", found.ties);
    assert!(found.sources.iter().all(|source| FORMATS.iter().any(|format| format.id() == source.format)));
    found.sources.iter().map(|source| source.format).collect()
}
