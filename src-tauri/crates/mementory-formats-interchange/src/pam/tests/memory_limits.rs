//! Tests that values which would need more memory than `Limits::tree_bytes` are reported with their location.
use super::harness::*;
use crate::by_id;
use mementory_format::{FormatError, ReadContext};
use mementory_model::{Limits, Timestamp};
use serde_json::{Value, json};
use std::path::Path;

fn small_limits() -> Limits {
    Limits { tree_bytes: 20_000, ..Limits::default() }
}

fn list_of_many_zeros() -> Value {
    json!(vec![0; 1000])
}

/// Writes the fixture's store with a change, but without the fixture's other files. Returns the folder.
fn store(scratch: &Scratch, change: impl FnOnce(&mut Value)) -> std::path::PathBuf {
    let mut store = json(&repo().join("fixtures/pam/whole/input/memory-store.json"));
    store.as_object_mut().unwrap().remove("integrity");
    change(&mut store);
    scratch.put("in/memory-store.json", store.to_string());
    scratch.at("in")
}

/// Returns the code and place of each `too_large` error that the validator reports, and the result of reading the
/// store.
fn check_and_read(path: &Path) -> (Vec<(String, String)>, Result<MemorySource, FormatError>) {
    let (catalog, detection) = open(path, None);
    let (source, limits) = (&detection.sources[0], small_limits());
    let validation = by_id("pam").unwrap().validate(&catalog, source, &limits, &[]).unwrap();
    let too_large =
        validation.errors.into_iter().filter(|f| f.code == "too_large").map(|f| (f.code, f.place)).collect();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut sink = MemorySource::default();
    let read = by_id("pam").unwrap().read(&catalog, source, &context, &mut sink);
    (too_large, read.map(|()| sink))
}

#[test]
fn a_member_outside_the_records_that_is_too_large_ends_the_import() {
    for name in ["owner", "type_registry", "elsewhere"] {
        let scratch = Scratch::new(&format!("budget-{name}"));
        let (large, read) = check_and_read(&store(&scratch, |s| s[name] = json!({ "x": list_of_many_zeros() })));
        let place = format!("in/memory-store.json/{name}");
        assert_eq!(large, [("too_large".to_owned(), place.clone())]);
        let refused = matches!(read, Err(FormatError::Limit { limit: "tree_bytes", place: p, .. }) if p == place);
        assert!(refused, "{name}");
    }
}

#[test]
fn a_record_that_is_too_large_is_dropped_and_the_others_are_read() {
    let scratch = Scratch::new("budget-records");
    let (large, read) = check_and_read(&store(&scratch, |s| {
        s["memories"][0]["metadata"]["x"] = list_of_many_zeros();
        s["relations"][1]["x"] = list_of_many_zeros();
        s["conversations_index"][0]["x"] = list_of_many_zeros();
    }));
    let places: Vec<&str> = large.iter().map(|(_, place)| place.as_str()).collect();
    assert_eq!(
        places,
        ["memories/0", "relations/1", "conversations_index/0"].map(|at| format!("in/memory-store.json/{at}"))
    );
    let source = read.unwrap();
    let mut dropped: Vec<&str> = source.dropped.iter().map(|d| d.place.as_str()).collect();
    dropped.sort_unstable();
    let mut expected = places.clone();
    expected.sort_unstable();
    assert_eq!(dropped, expected);
    assert_eq!(source.records.iter().filter(|r| r.kind == mementory_model::Kind::Memory).count(), 3);
}

#[test]
fn the_messages_of_a_conversation_share_one_memory_limit() {
    let scratch = Scratch::new("budget-talk");
    let mut conversation = json(&repo().join("fixtures/pam/whole/input/conversations/talk-1.json"));
    let first = conversation["messages"][0].clone();
    let message = |i: usize| {
        let mut message = first.clone();
        message["id"] = format!("n{i}").into();
        message["raw_metadata"] = json!({ "x": vec![0; 100] });
        message
    };
    conversation["messages"] = (0..5).map(message).collect();
    scratch.put("in/talk-1.json", conversation.to_string());
    let (large, read) = check_and_read(&scratch.at("in"));
    assert!(!large.is_empty() && large.len() < 5, "none is too large by itself: {large:?}");
    assert!(large.iter().all(|(_, place)| place.starts_with("in/talk-1.json/messages/")));
    let source = read.unwrap();
    assert_eq!(source.dropped.len(), large.len());
}
