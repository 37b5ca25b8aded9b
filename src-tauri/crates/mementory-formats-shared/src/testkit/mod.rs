//! Shared test code of several format crates. Each function receives the formats that take part in detection.
mod cases;
mod vaults;
mod writers;

pub use cases::{
    Checks, check_case, check_cases, check_sample, claiming, count, formats_claiming, import_with, keys, read_renamed,
    read_sample, roles, try_import_with,
};
pub use vaults::{
    HOSTILE_TEXTS, Written, check_nothing_to_write, check_readable, check_stripped, check_texts_are_in_one_verbatim,
    conversations, fixture, foreign_source, id_of, write_and_read,
};
pub use writers::{check_fixtures, check_hostile, hostile, many, round_trip};

use mementory_format::Format;
use mementory_model::Record;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The cases of a format, sorted by name: the folders in `fixtures/<id>/`, each with its parsed `case.json`.
pub fn cases_of(format: &dyn Format) -> Vec<(PathBuf, Value)> {
    let folder = mementory_format::testkit::repo().join("fixtures").join(format.id());
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|case| case.join("case.json").is_file()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "{} has no cases", format.id());
    folders.into_iter().map(|case| (case.clone(), expected_of(&case))).collect()
}

/// The parsed `case.json` of a case.
fn expected_of(case: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap()
}

/// The inputs of a case: files or folders whose name begins with `input`.
pub fn inputs_of(case: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path());
    let inputs: Vec<PathBuf> =
        entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("input")).collect();
    assert!(!inputs.is_empty(), "{} has no input", case.display());
    inputs
}

/// Asserts that a record has the values in `wanted`, which maps JSON pointers to values.
pub fn assert_values(record: &Record, wanted: &Value, about: &str) {
    let record = serde_json::to_value(record).unwrap();
    for (pointer, value) in wanted.as_object().unwrap() {
        assert_eq!(record.pointer(pointer).unwrap_or(&Value::Null), value, "{about}: {pointer} in {record:#}");
    }
}
