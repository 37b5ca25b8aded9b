//! Runs the fixtures of a format: each folder has an input and a `case.json` that says what is expected.
#![allow(clippy::unwrap_used)]
use crate::testing::{assert_values, cases_of, input_of, put, read, tree};
use mementory_format::Format;
use mementory_format::testkit::{MemorySource, Scratch};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Checks every fixture of a format: numbers of records, reports, and values of single records, which are named by
/// their text. A second reading gives the same keys, and each verbatim is in the input.
pub(crate) fn run(format: &dyn Format) -> usize {
    let cases = cases_of(format);
    for (case, expected) in &cases {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let input = input_of(case);
        let found = read(&input, format);
        check(&name, expected, &found);
        assert_eq!(keys(&found), keys(&read(&input, format)), "{name}: a second reading differs");
        if expected["database"].is_null() {
            check_verbatims(&name, &input, &found);
        }
    }
    cases.len()
}

/// Kind and key of all records.
pub(crate) fn keys(found: &MemorySource) -> BTreeSet<(&'static str, String)> {
    found.records.iter().map(|r| (r.kind.as_str(), format!("{}|{}", r.key.scope, r.key.value))).collect()
}

fn check(name: &str, expected: &Value, found: &MemorySource) {
    let code = |reason: &String| reason.split(':').next().unwrap().to_owned();
    let dropped: Vec<String> = found.dropped.iter().map(|d| code(&d.reason)).collect();
    let mut passthrough: Vec<&str> = found.parts.iter().map(|(item, _)| item.name.as_str()).collect();
    passthrough.sort_unstable();
    let seen = json!({"kinds": found.kinds(), "dropped": dropped, "issues": found.codes(), "passthrough": passthrough});
    for part in ["kinds", "dropped", "issues", "passthrough"] {
        let wanted = match &expected[part] {
            Value::Null => json!([]),
            value => value.clone(),
        };
        assert_eq!(seen[part], wanted, "{name}: {part}; {:?} {:?}", found.dropped, found.notes);
    }
    if expected["repeats"].is_null() {
        assert_eq!(keys(found).len(), found.records.len(), "{name}: two records have one key");
    }
    for (text, values) in expected["records"].as_object().into_iter().flatten() {
        let matching =
            |r: &&mementory_model::Record| r.text == *text || r.title.as_deref() == Some(text) && r.message.is_none();
        let record = found.records.iter().find(matching);
        let texts: BTreeMap<_, _> = found.records.iter().map(|r| (&r.text, &r.title)).collect();
        let record = record.unwrap_or_else(|| panic!("{name}: no record {text:?} in {texts:?}"));
        assert_values(record, values, &format!("{name}: {text:?}"));
    }
}

fn check_verbatims(name: &str, input: &Path, found: &MemorySource) {
    let files: Vec<Vec<u8>> = match input.is_dir() {
        true => tree(input).into_values().collect(),
        false => vec![std::fs::read(input).unwrap()],
    };
    let files: Vec<String> = files.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    for record in &found.records {
        let Some(verbatim) = &record.verbatim else { continue };
        let lines: Vec<&str> = match verbatim.media_type.as_str() {
            "application/x-ndjson" => verbatim.text.lines().collect(),
            _ => vec![verbatim.text.as_str()],
        };
        // A text whose list of messages was taken out is not in the input.
        let is_whole = |line: &&&str| [":[]", ": []"].iter().all(|empty| !line.contains(empty));
        for line in lines.iter().filter(is_whole) {
            assert!(files.iter().any(|f| f.contains(line)), "{name}: {line:?} is not in the input");
        }
    }
}

/// Copies a file under another name and reads it there.
pub(crate) fn read_renamed(file: &Path, name: &str, format: &dyn Format) -> MemorySource {
    let scratch = Scratch::new("renamed");
    put(&scratch.0, &[(name, &std::fs::read(file).unwrap())]);
    read(&scratch.at(name), format)
}
