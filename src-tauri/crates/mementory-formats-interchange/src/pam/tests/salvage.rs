//! Tests of salvaging a damaged store: what a salvage reads, and what it leaves out.
use super::harness::*;
use crate::pam::Pam;
use mementory_format::{Format, FormatError, ReadContext};
use mementory_model::{Limits, Timestamp};
use serde_json::{Value, json};
use std::path::Path;

fn salvage(path: &Path) -> Result<MemorySource, FormatError> {
    let (catalog, detection) = open(path, Some("pam"));
    let context = ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut sink = MemorySource::default();
    Pam.salvage(&catalog, &detection.sources[0], &context, &mut sink)?;
    Ok(sink)
}

/// Copies the fixture and changes its store.
fn damaged(scratch: &Scratch, change: impl Fn(&mut Value)) -> std::path::PathBuf {
    let input = repo().join("fixtures/pam/whole/input");
    for name in ["memory-store.json", "conversations/talk-1.json", "embeddings.json"] {
        let mut text = std::fs::read_to_string(input.join(name)).unwrap();
        if name == "memory-store.json" {
            let mut tree: Value = serde_json::from_str(&text).unwrap();
            change(&mut tree);
            text = tree.to_string();
        }
        scratch.put(&format!("in/{name}"), text);
    }
    scratch.at("in")
}

fn memories(source: &MemorySource) -> Vec<&str> {
    let keys = source.records.iter().filter_map(|record| record.key.value.strip_prefix("memory/"));
    keys.collect()
}

/// Name of a change, the change itself, and the ids of the memories that a salvage still finds.
type Case = (&'static str, fn(&mut Value), &'static [&'static str]);

#[test]
fn with_a_wrong_checksum_only_memories_that_match_their_own_hash_are_salvaged() {
    let cases: [Case; 4] = [
        (
            "content",
            |store| store["memories"][1]["content"] = json!("Other words."),
            &["mem-tea", "mem-boat", "mem-walk"],
        ),
        ("type", |store| store["memories"][2]["type"] = json!("fakt"), &["mem-tea", "mem-coffee", "mem-walk"]),
        (
            "gone",
            |store| drop(store["memories"].as_array_mut().unwrap().remove(0)),
            &["mem-coffee", "mem-boat", "mem-walk"],
        ),
        (
            "checksum",
            |store| store["integrity"]["checksum"] = json!(format!("sha256:{}", "0".repeat(64))),
            &["mem-tea", "mem-coffee", "mem-boat", "mem-walk"],
        ),
    ];
    for (name, change, remaining_ids) in cases {
        let scratch = Scratch::new(&format!("salvage-{name}"));
        let path = damaged(&scratch, change);
        assert!(matches!(read(&path), Err(FormatError::Invalid { code: "checksum_mismatch", .. })), "{name}");
        let source = salvage(&path).unwrap();
        assert_eq!(memories(&source), remaining_ids, "{name}");
        assert!(source.records.iter().any(|record| record.key.value == "conversation/talk-1"), "{name}");
        assert!(errors(&path).iter().any(|found| found.starts_with("checksum_mismatch")), "{name}");
    }
}

#[test]
fn a_companion_that_cannot_be_read_is_left_out_and_reported() {
    for (name, lost) in [("conversations/talk-1.json", "message/"), ("embeddings.json", "embedding/")] {
        let scratch = Scratch::new("salvage-companion");
        let path = damaged(&scratch, |_| {});
        let text = std::fs::read_to_string(path.join(name)).unwrap();
        std::fs::write(path.join(name), &text[..text.len() - 40]).unwrap();
        assert!(matches!(read(&path), Err(FormatError::Invalid { code: "malformed", .. })), "{name}");
        assert!(errors(&path).iter().any(|found| found.starts_with("malformed") && found.contains(name)), "{name}");
        let source = salvage(&path).unwrap();
        assert_eq!(memories(&source).len(), 4, "{name}");
        assert!(!source.records.iter().any(|record| record.key.value.starts_with(lost)), "{name}");
    }
}

#[test]
fn nothing_is_salvaged_from_a_store_that_cannot_be_read() {
    let scratch = Scratch::new("salvage-store");
    let path = damaged(&scratch, |_| {});
    let text = std::fs::read_to_string(path.join("memory-store.json")).unwrap();
    std::fs::write(path.join("memory-store.json"), &text[..text.len() - 40]).unwrap();
    assert!(matches!(salvage(&path), Err(FormatError::Invalid { code: "malformed", .. })));
}

/// Without this error, a bundle with an encrypted store would be valid, because conversations are valid without a
/// store.
#[test]
fn a_file_that_is_there_and_cannot_be_read_is_an_error_and_left_out_only_by_a_salvage() {
    let scratch = Scratch::new("unreadable");
    pack(&repo().join("fixtures/pam/whole/input"), &scratch.at("good.zip"));
    let good = std::fs::read(scratch.at("good.zip")).unwrap();
    for name in ["memory-store.json", "embeddings.json", "conversations/talk-1.json"] {
        let mut bytes = good.clone();
        let names: Vec<_> = memchr::memmem::find_iter(&good, name.as_bytes()).collect();
        // The flags are 24 bytes before the name in the local header, and 38 bytes before the name in the directory.
        for (at, header, distance) in [(names.first(), b"PK\x03\x04", 24), (names.last(), b"PK\x01\x02", 38)] {
            let at = at.unwrap() - distance;
            assert!(memchr::memmem::rfind(&good[..at], header).is_some_and(|start| at - start < 9), "{name}");
            bytes[at] |= 1;
        }
        let path = scratch.put("changed.zip", &bytes);
        let error_codes = errors(&path);
        assert!(error_codes.contains(&format!("encrypted changed.zip!/{name}")), "{name}: {error_codes:?}");
        let refused = read(&path).err();
        assert!(matches!(refused, Some(FormatError::Invalid { code: "encrypted", .. })), "{name}: {refused:?}");
        let left = salvage(&path).unwrap();
        assert!(!left.records.is_empty(), "{name}");
        assert_eq!(memories(&left).len(), if name == "memory-store.json" { 0 } else { 4 }, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_a_bundle_is_an_error() {
    let scratch = Scratch::new("link");
    let input = repo().join("fixtures/pam/whole/input");
    for name in ["memory-store.json", "embeddings.json"] {
        scratch.put(&format!("in/{name}"), std::fs::read(input.join(name)).unwrap());
    }
    assert_eq!(errors(&scratch.at("in")), Vec::<String>::new());
    std::fs::create_dir(scratch.at("in/conversations")).unwrap();
    let link = scratch.at("in/conversations/talk-1.json");
    std::os::unix::fs::symlink(input.join("conversations/talk-1.json"), link).unwrap();
    assert_eq!(errors(&scratch.at("in")), ["link in/conversations/talk-1.json"]);
    assert!(matches!(read(&scratch.at("in")), Err(FormatError::Invalid { code: "link", .. })));
    assert_eq!(memories(&salvage(&scratch.at("in")).unwrap()).len(), 4);
}
