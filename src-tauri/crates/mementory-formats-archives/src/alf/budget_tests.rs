//! Tests that a value is reported with its location if it would need more memory than `Limits::tree_bytes` allows.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::testing::*;
use mementory_format::{Format, FormatError, ReadContext};
use mementory_model::{Kind, Limits, Timestamp};
use serde_json::{Value, json};
use std::path::Path;

fn read_and_validate(path: &Path) -> (Result<MemorySource, FormatError>, Vec<String>) {
    let (catalog, detection) = open(path).unwrap();
    let limits = Limits { tree_bytes: 20_000, ..Limits::default() };
    let validation = super::Alf.validate(&catalog, &detection.sources[0], &limits, &[]);
    let codes = validation.map_or_else(|e| vec![e.to_string()], |v| v.errors.into_iter().map(|f| f.code).collect());
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut vault = MemorySource::default();
    let read = super::Alf.read(&catalog, &detection.sources[0], &context, &mut vault);
    (read.map(|()| vault), codes)
}

#[test]
fn too_large_value_is_reported_and_not_loaded() {
    let scratch = Scratch::new("budget");
    let (whole_archive, changed_archive) = (scratch.0.join("whole.alf"), scratch.0.join("a.alf"));
    pack_folder(&repo().join("fixtures/alf/every-field/input"), &whole_archive);
    let (whole_vault, codes) = read_and_validate(&whole_archive);
    let whole_vault = whole_vault.unwrap();
    assert_eq!((whole_vault.dropped.len(), codes.len()), (0, 0), "{codes:?}");
    let repack = |entry: &str, change: &dyn Fn(&mut Value)| {
        let mut all_entries = entries(&whole_archive);
        let bytes = all_entries.get_mut(entry).unwrap();
        let mut document: Value = serde_json::from_slice(bytes).unwrap();
        change(&mut document);
        *bytes = document.to_string().into_bytes();
        pack(&changed_archive, &all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect::<Vec<_>>());
        read_and_validate(&changed_archive)
    };
    let dense_list = || json!(vec![0; 1000]);
    let (read, codes) = repack("credentials.json", &|doc| doc["credentials"][0]["x"] = dense_list());
    let vault = read.unwrap();
    let dropped_records: Vec<_> = vault.dropped.iter().map(|d| (d.place.as_str(), d.kind)).collect();
    assert!(
        matches!(dropped_records[..], [(at, Some(Kind::Credential))] if at.contains("credentials.json")),
        "{dropped_records:?}"
    );
    assert_eq!(vault.records.len() + 1, whole_vault.records.len(), "all other records are read");
    assert!(!codes.is_empty());
    let (read, codes) = repack("identity.json", &|doc| doc["x"] = dense_list());
    assert_eq!(read.unwrap().dropped.len(), 1);
    assert!(!codes.is_empty());
    let (read, _) = repack("manifest.json", &|doc| doc["x"] = dense_list());
    match read {
        Err(FormatError::Invalid { message, .. }) => assert!(message.contains("(tree_bytes)"), "{message}"),
        other => panic!("{:?}", other.map(|vault| vault.records.len())),
    }
}
