//! Tests of signing and disclosing, and that every change of a signed file is detected.
use super::harness::{
    Scratch, TestKey, copy_for_interop, empty, fixture, is_valid_signature, read, signature, source, validate, write,
};
use crate::zaxy::{Disclosure, Grain, Selector, disclose, sign};
use mementory_format::FormatError;
use mementory_model::{Kind, Limits, Record, RecordKey, Timestamp};
use serde_json::Value;
use std::path::Path;

fn now() -> Timestamp {
    Timestamp::parse("2026-05-02T10:00:00Z").unwrap()
}

/// True if a caller would accept a file: it can be read, has no errors, and its signature is valid.
fn is_accepted(path: &Path) -> bool {
    source(path).is_some_and(|(_, found, _)| found.format == "zaxy")
        && validate(path).is_ok_and(|v| v.errors.is_empty())
        && signature(path).as_ref().is_some_and(is_valid_signature)
}

#[test]
fn our_signatures_are_valid_for_bundles_and_disclosed_parts() {
    for key in TestKey::BOTH {
        let temp = Scratch::new("zaxy");
        let signed = temp.at("signed.json");
        let mut memory = read(&fixture("unsigned"));
        memory.records.extend(super::other_formats::records_of_every_kind().records);
        let report = write(&mut memory, &signed, Some(key));
        assert_eq!(report.version, "zaxy.portable.v1");
        assert!(is_accepted(&signed), "{}", key.0);
        copy_for_interop(&signed, &format!("signed.{}.json", key.0));
        let bundle: Value = serde_json::from_slice(&std::fs::read(&signed).unwrap()).unwrap();
        assert_eq!(bundle["created_at"], "2026-05-01T12:00:00.500+00:00");
        assert_eq!(bundle["nonce"].as_str().unwrap().len(), 32);
        let second_out = temp.at("again.json");
        write(&mut memory, &second_out, Some(key));
        let other: Value = serde_json::from_slice(&std::fs::read(&second_out).unwrap()).unwrap();
        assert_eq!(bundle["merkle_root"], other["merkle_root"]);
        assert_ne!(bundle["nonce"], other["nonce"]);

        let part = temp.at("part.json");
        let selector = Selector { grains: [Grain::Semantic].into(), max_seq: Some(4), ..Selector::default() };
        let done = disclose(&signed, &selector, &part, &Limits::default()).unwrap();
        let entry_count = bundle["entries"].as_array().unwrap().len() as u64;
        assert_eq!(done, Disclosure { disclosed: 10, total: entry_count });
        assert!(is_accepted(&part), "{}", key.0);
        copy_for_interop(&part, &format!("subset.{}.json", key.0));
        let none = Selector { kinds: Some(["no such".to_owned()].into()), ..Selector::default() };
        let nothing = temp.at("nothing.json");
        assert_eq!(disclose(&signed, &none, &nothing, &Limits::default()).unwrap().disclosed, 0);
        assert!(is_accepted(&nothing));
    }
}

#[test]
fn signing_an_existing_bundle_does_not_change_its_entries() {
    let temp = Scratch::new("zaxy");
    for (i, case) in ["unsigned", "signed-ml-dsa-65"].into_iter().enumerate() {
        for key in TestKey::BOTH {
            let out = temp.at(&format!("{i}-{}.json", key.0));
            sign(&fixture(case), &key, &out, now(), &Limits::default()).unwrap();
            assert!(is_accepted(&out), "{case} {}", key.0);
            let bundle = |path: &Path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
            let (ours, theirs) = (bundle(&out), bundle(&fixture("signed-ed25519")));
            assert_eq!(ours["merkle_root"], theirs["merkle_root"]);
            assert_eq!(ours["entries"], theirs["entries"]);
            assert_eq!(ours["session_id"], theirs["session_id"]);
            assert_ne!(ours["public_key"], theirs["public_key"]);
        }
    }
    let code = |result: Result<(), FormatError>| match result {
        Err(FormatError::Invalid { code, .. }) => code,
        other => panic!("{other:?}"),
    };
    let limits = Limits::default();
    let out = temp.at("never.json");
    let key = TestKey::BOTH[0];
    assert_eq!(code(sign(&fixture("subset-ed25519"), &key, &out, now(), &limits)), "not_whole");
    assert_eq!(code(sign(&fixture("tampered-entry"), &key, &out, now(), &limits)), "entry_id_mismatch");
    let all = Selector::default();
    let refused = |case: &str| code(disclose(&fixture(case), &all, &out, &limits).map(drop));
    assert_eq!(refused("unsigned"), "not_signed");
    assert_eq!(refused("subset-ed25519"), "not_signed");
    assert_eq!(refused("tampered-removed"), "merkle_root_mismatch");
    assert!(!out.exists());
}

#[test]
fn a_disclosure_equals_that_of_the_reference() {
    let temp = Scratch::new("zaxy");
    for algorithm in ["ed25519", "ml-dsa-65"] {
        let out = temp.at(algorithm);
        let selector =
            Selector { grains: [Grain::Event].into(), since_seq: Some(1), max_seq: Some(3), ..Selector::default() };
        disclose(&fixture(&format!("signed-{algorithm}")), &selector, &out, &Limits::default()).unwrap();
        let reference_subset: Value =
            serde_json::from_slice(&std::fs::read(fixture(&format!("subset-{algorithm}"))).unwrap()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&std::fs::read(&out).unwrap()).unwrap(), reference_subset);
    }
}

fn assert_flipped_bits_are_noticed(path: &Path, unsigned_members: &[&str]) {
    let original = std::fs::read(path).unwrap();
    let text = String::from_utf8(original.clone()).unwrap();
    // Byte ranges of the members that no signature covers. Each range includes the name and the value of a member.
    let unsigned: Vec<std::ops::Range<usize>> = unsigned_members
        .iter()
        .flat_map(|name| text.match_indices(name).map(|(at, _)| at..at + text[at..].find('\n').unwrap()))
        .collect();
    let temp = Scratch::new("zaxy");
    let copy = temp.at("flipped.json");
    std::fs::write(&copy, &original).unwrap();
    assert!(is_accepted(&copy));
    let mut checked_count = 0;
    let signed_bytes = (0..original.len()).filter(|at| !unsigned.iter().any(|r| r.contains(at)));
    for at in signed_bytes.step_by(BYTES_PER_FLIP) {
        let mut bytes = original.clone();
        bytes[at] ^= 1;
        std::fs::write(&copy, &bytes).unwrap();
        assert!(!is_accepted(&copy), "byte {at}: {:?}", &text[at.saturating_sub(20)..(at + 20).min(text.len())]);
        checked_count += 1;
    }
    assert!(checked_count * BYTES_PER_FLIP > original.len() / 2);
}

/// Distance in bytes between two tested positions. Not every byte is tested, because each test takes milliseconds. A
/// prime number, so that the tested positions do not line up with members or hashes.
const BYTES_PER_FLIP: usize = 7;

/// A signed bundle with three memories.
fn signed_bundle(temp: &Scratch) -> std::path::PathBuf {
    let mut memory = empty();
    for i in 0..3 {
        let mut record = Record::new(Kind::Memory, RecordKey::new("chatgpt", i.to_string()), "Likes plain tea.");
        record.times.created = Timestamp::parse("2026-01-01T00:00:00Z");
        memory.records.push(record);
    }
    let signed = temp.at("signed.json");
    write(&mut memory, &signed, Some(TestKey::BOTH[0]));
    signed
}

#[test]
fn a_flipped_bit_of_a_bundle_is_noticed() {
    let temp = Scratch::new("zaxy");
    assert_flipped_bits_are_noticed(&signed_bundle(&temp), &["\"anchor\""]);
}

#[test]
fn a_flipped_bit_of_a_disclosed_part_is_noticed() {
    let temp = Scratch::new("zaxy");
    let part = temp.at("part.json");
    let selector = Selector { max_seq: Some(2), ..Selector::default() };
    disclose(&signed_bundle(&temp), &selector, &part, &Limits::default()).unwrap();
    assert_flipped_bits_are_noticed(&part, &["\"index\""]);
}

#[test]
fn each_of_a_thousand_entries_has_a_valid_proof() {
    let temp = Scratch::new("zaxy");
    let mut memory = empty();
    for i in 0..1000 {
        memory.records.push(Record::new(Kind::Memory, RecordKey::new("x", i.to_string()), format!("Memory {i}")));
    }
    for key in TestKey::BOTH {
        let (signed, part) = (temp.at(&format!("{}.json", key.0)), temp.at(&format!("{}.part.json", key.0)));
        write(&mut memory, &signed, Some(key));
        let done = disclose(&signed, &Selector::default(), &part, &Limits::default()).unwrap();
        assert_eq!(done, Disclosure { disclosed: 1000, total: 1000 });
        // For each entry, the validator computes the root from the proof and compares it with the signed root.
        assert!(is_accepted(&part));
        let (catalog, found, format) = source(&part).unwrap();
        let found = format.validate(&catalog, &found, &Limits::default(), &[]).unwrap();
        assert_eq!((found.records, found.kind.as_deref()), (1000, Some("subset")));
        copy_for_interop(&part, &format!("thousand.{}.json", key.0));
        let bundle: Value = serde_json::from_slice(&std::fs::read(&part).unwrap()).unwrap();
        let indices: Vec<u64> =
            bundle["disclosed"].as_array().unwrap().iter().map(|d| d["index"].as_u64().unwrap()).collect();
        assert_eq!(indices, (0..1000).collect::<Vec<_>>());
    }
}
