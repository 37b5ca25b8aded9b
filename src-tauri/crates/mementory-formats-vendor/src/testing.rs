//! Detection and reading with the formats of this crate, for tests.
#![allow(clippy::unwrap_used)]
use crate::FORMATS;
use mementory_format::{Catalog, Detection, Format, FormatError, testkit::MemorySource};
use mementory_model::{Limits, Record};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub use mementory_format::testkit::{put, tree, validate, write};

pub fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(FORMATS, catalog, limits, only)
}

pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|f| f.id() == id)
}

pub fn read(path: &Path, format: &dyn Format) -> MemorySource {
    mementory_format::testkit::read(FORMATS, path, format)
}

/// The cases of a format, by name: the folders in `fixtures/<id>/`, each with what its `case.json` says.
pub fn cases_of(format: &dyn Format) -> Vec<(PathBuf, Value)> {
    let folder = mementory_format::testkit::repo().join("fixtures").join(format.id());
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|case| case.join("case.json").is_file()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "{} has no cases", format.id());
    let load = |case: &PathBuf| serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
    folders.into_iter().map(|case| (case.clone(), load(&case))).collect()
}

/// The file or folder `input` of a case, with any extension.
pub fn input_of(case: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.file_stem().is_some_and(|stem| stem == "input")).unwrap()
}

/// Asserts that a record has the values of `wanted`, by JSON pointer.
pub fn assert_values(record: &Record, wanted: &Value, about: &str) {
    let record = serde_json::to_value(record).unwrap();
    for (pointer, value) in wanted.as_object().unwrap() {
        assert_eq!(record.pointer(pointer).unwrap_or(&Value::Null), value, "{about}: {pointer} in {record:#}");
    }
}
