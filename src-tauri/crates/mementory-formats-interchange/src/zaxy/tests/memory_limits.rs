//! Tests that values which would need more memory than `Limits::tree_bytes` are dropped and reported with their
//! location.
use super::harness::*;
use mementory_format::{FormatError, ReadContext};
use mementory_model::{Limits, Timestamp};
use serde_json::{Value, json};
use std::path::Path;

fn read_with_small_limit(path: &Path) -> Result<MemorySource, FormatError> {
    let (catalog, detected, format) = source(path).expect("a source");
    let limits = Limits { tree_bytes: 20_000, ..Limits::default() };
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut memory = empty();
    format.read(&catalog, &detected, &context, &mut memory).map(|()| memory)
}

#[test]
fn an_entry_that_is_too_large_is_dropped_and_the_others_are_read() {
    let text = std::fs::read(fixture("unsigned")).unwrap();
    let unchanged: Value = serde_json::from_slice(&text).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let write_file = |name: &str, bundle: &Value| {
        let path = scratch.path().join(name);
        std::fs::write(&path, bundle.to_string()).unwrap();
        path
    };
    assert_eq!(read_with_small_limit(&write_file("whole.json", &unchanged)).unwrap().dropped.len(), 0);
    let mut large = unchanged.clone();
    large["entries"][0]["content"]["payload"]["x"] = json!(vec![0; 1000]);
    let memory = read_with_small_limit(&write_file("entry.json", &large)).unwrap();
    let dropped: Vec<_> = memory.dropped.iter().map(|d| (d.reason.as_str(), d.place.as_str())).collect();
    assert!(
        matches!(dropped[..], [(why, at)] if why.contains("(tree_bytes)") && at.ends_with("entries/0")),
        "{dropped:?}"
    );
    assert!(!memory.records.is_empty(), "the others come");
    let mut large = unchanged;
    large["x"] = json!(vec![0; 1000]);
    match read_with_small_limit(&write_file("frame.json", &large)) {
        Err(FormatError::Invalid { code: "malformed", message, .. }) => assert!(message.contains("(tree_bytes)")),
        other => panic!("{:?}", other.map(|memory| memory.records.len())),
    }
}
