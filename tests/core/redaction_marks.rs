//! An exported MIF document lists masked and redacted values (specification §6.1 and §7) with their class, position and
//! length, as far as these are known. Uses `fixtures/mif/covered`.
use crate::{deletion::record, redaction::redact};
use mementory_model::{Kind, Record};
use mementory_testkit::{TempVault, at, contains_text, repo};
use mementory_vault::{ExportRun, Scope};
use serde_json::{Value, json};
use std::{path::PathBuf, sync::atomic::AtomicBool};

fn read_case() -> (Value, PathBuf) {
    let folder = repo().join("fixtures/mif/covered");
    let text = std::fs::read(folder.join("case.json")).unwrap();
    (
        serde_json::from_slice(&text).unwrap(),
        folder.join("input.mif.json"),
    )
}

/// Exports the vault as a MIF document of `version`. Returns the document as JSON and as bytes.
fn export_document(t: &TempVault, cover: bool, version: &str) -> (Value, Vec<u8>) {
    while t.vault.scanner().scan_next(at(50)).unwrap().left > 0 {}
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.mif.json");
    let mut scope = Scope {
        everything: true,
        cover,
        ..Scope::default()
    };
    scope.writing.version = Some(version.into());
    let cancel = AtomicBool::new(false);
    let run = ExportRun {
        scope: &scope,
        now: at(90),
        cancel: &cancel,
        progress: &|_, _| {},
    };
    let done = t.vault.exporter().export("mif", &out, false, run).unwrap();
    let validation = &done.validation;
    assert!(validation.errors.is_empty(), "{:?}", validation.errors);
    assert!(validation.warnings.is_empty(), "{:?}", validation.warnings);
    let bytes = std::fs::read(&out).unwrap();
    (serde_json::from_slice(&bytes).unwrap(), bytes)
}

/// Returns the list of redactions of each entry, keyed by the entry's id.
fn redactions(document: &Value) -> Value {
    let lists = ["memories", "todos"]
        .into_iter()
        .filter_map(|list| document[list].as_array());
    let id_and_redactions = |e: &Value| {
        (
            e["id"].as_str().unwrap().to_owned(),
            e["redactions"].clone(),
        )
    };
    Value::Object(lists.flatten().map(id_and_redactions).collect())
}

fn listed_values(case: &Value) -> Vec<&str> {
    let values = case["values"].as_array().unwrap();
    values.iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn covered_and_redacted_values_are_listed_and_never_shown() {
    let (case, input) = read_case();
    let t = TempVault::new();
    t.import(&[input]).unwrap();
    let redacted_text = case["redacted"].as_str().unwrap();
    let id = crate::deletion::id_of(&t, Kind::Memory, redacted_text);
    redact(&t, &id, redacted_text, false);

    let (plain, _) = export_document(&t, false, "1.0");
    assert_eq!(redactions(&plain), case["plain"]["redactions"]);
    assert_eq!(plain["metadata"]["privacy"], case["plain"]["privacy"]);

    let (covered, bytes) = export_document(&t, true, "1.0");
    assert_eq!(redactions(&covered), case["covered"]["redactions"]);
    assert_eq!(covered["metadata"]["privacy"], case["covered"]["privacy"]);
    for word in listed_values(&case) {
        assert!(!contains_text(&bytes, word), "{word}");
    }

    // When another vault imports the masked document, the marks stay and no new marks are added.
    let other_vault = TempVault::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("covered.mif.json");
    std::fs::write(&file, &bytes).unwrap();
    other_vault.import(&[file]).unwrap();
    let (document, _) = export_document(&other_vault, false, "1.0");
    assert_eq!(document["memories"], covered["memories"]);
    assert_eq!(document["todos"], covered["todos"]);
}

/// Returns the contents of the document as memories without any link to MIF, as a reader of another format would.
fn memories_without_format(input: &PathBuf) -> Vec<Record> {
    let document: Value = serde_json::from_slice(&std::fs::read(input).unwrap()).unwrap();
    let memories = document["memories"].as_array().unwrap().iter().enumerate();
    memories
        .map(|(n, memory)| {
            let content = memory["content"].as_str().unwrap();
            record(Kind::Memory, &format!("m{n}"), content)
        })
        .collect()
}

#[test]
fn values_of_records_from_other_formats_are_listed_too() {
    let (case, input) = read_case();
    let t = TempVault::new();
    let records = memories_without_format(&input);
    t.import_records(records.clone()).unwrap();
    let (document, _) = export_document(&t, true, "1.0");
    let memories = document["memories"].as_array().unwrap();
    let expected = case["elsewhere"]["redactions"].as_array().unwrap();
    for (record, expected) in records.iter().zip(expected) {
        let first_word = record.text.split([' ', ',']).next().unwrap();
        let found = memories
            .iter()
            .find(|m| m["content"].as_str().unwrap().starts_with(first_word));
        assert_eq!(&found.unwrap()["redactions"], expected, "{first_word}");
    }
    let privacy = &case["elsewhere"]["privacy"];
    assert_eq!(&document["metadata"]["privacy"], privacy);
    // Version 2 has no field for the redactions of an entry, and its privacy information is in a different field.
    let (document, _) = export_document(&t, true, "2.0");
    assert_eq!(&document["export_meta"]["privacy"], privacy);
    assert_eq!(document["memories"][0].get("redactions"), None);
}

#[test]
fn an_empty_list_of_redactions_is_written_only_after_a_scan() {
    let (case, input) = read_case();
    let t = TempVault::new();
    t.import_records(memories_without_format(&input).drain(2..3).collect())
        .unwrap();
    let (document, _) = export_document(&t, true, "1.0");
    assert_eq!(document["metadata"]["privacy"], case["trains"]["privacy"]);
    let (document, _) = export_document(&t, false, "1.0");
    assert_eq!(document["metadata"].get("privacy"), None);
    assert_eq!(document["memories"][0].get("redactions"), None);
    assert_eq!(json!(document["memories"].as_array().unwrap().len()), 1);
}
