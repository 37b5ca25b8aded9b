//! Tests that values which need more memory than `Limits::tree_bytes` are reported with their location and not loaded.
use super::super::{Mif, testing::*};
use mementory_format::{Format, FormatError, ReadContext};
use mementory_model::{Limits, Timestamp};
use std::path::Path;

const EXPORT_MEMBERS_JSON: &str = r#""id":"exp_1","created_at":"2026-01-01T00:00:00Z","user_id":"u""#;

/// Result of the reader, and the fault codes of the validator.
fn read_and_validate(path: &Path) -> (Result<MemorySource, FormatError>, Vec<String>) {
    let limits = Limits { tree_bytes: 20_000, ..Limits::default() };
    let (catalog, detection) = open(path, true);
    let validation = Mif.validate(&catalog, &detection.sources[0], &limits, &[]);
    let codes = validation.map_or_else(|error| vec![error.to_string()], |validation| codes(&validation.errors));
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut store = MemorySource::default();
    let read = Mif.read(&catalog, &detection.sources[0], &context, &mut store);
    (read.map(|()| store), codes)
}

#[test]
fn a_value_that_is_too_large_is_reported_and_not_loaded() {
    let temp = Scratch::new("budget");
    let dense = format!("[{}0]", "0,".repeat(1000));
    let memory = |n: u32, more: &str| {
        format!(r#"{{"id":"mem_{n}","content":"x{n}","type":"Learning","created_at":"2026-01-01T00:00:00Z"{more}}}"#)
    };
    let (one, two) = (memory(1, ""), memory(2, &format!(r#","x":{dense}"#)));
    let read_all = format!(r#"{{"mif_version":"1.0","export":{{{EXPORT_MEMBERS_JSON}}},"memories":[{one},{two}]}}"#);
    let lines = format!(
        "{{\"type\":\"header\",\"mif_version\":\"1.0\",\"export\":{{{EXPORT_MEMBERS_JSON}}}}}\n{{\"type\":\"memory\",\"data\":{one}}}\n{{\"type\":\"memory\",\"data\":{two}}}\n"
    );
    for (name, text) in [("a.mif.json", read_all), ("a.mif.jsonl", lines)] {
        let (read, codes) = read_and_validate(&temp.put(name, text));
        let store = read.unwrap();
        assert_eq!(store.records.len(), 1, "{name}");
        let reported: Vec<_> = store.dropped.iter().map(|d| (d.reason.split(':').next(), d.place.as_str())).collect();
        assert!(
            matches!(reported[..], [(Some("too_large"), at)] if at.ends_with("#/memories/1")),
            "{name}: {reported:?}"
        );
        assert!(codes.contains(&"too_large".to_owned()), "{name}: {codes:?}");
    }
    let header =
        format!(r#"{{"mif_version":"1.0","export":{{{EXPORT_MEMBERS_JSON},"x":{dense}}},"memories":[{one}]}}"#);
    let (read, _) = read_and_validate(&temp.put("header.mif.json", header));
    let place = match read {
        Err(FormatError::Limit { limit: "tree_bytes", place, figure: 20_000 }) => place,
        other => panic!("{:?}", other.map(|store| store.records.len())),
    };
    assert!(place.ends_with("#/export"), "{place}");
    let yaml = format!("mif_version: \"1.0\"\nmemories:\n  - id: mem_1\n    content: x\n    x: {dense}\n");
    match read_and_validate(&temp.put("dense.mif.yaml", yaml)).0 {
        Err(FormatError::Limit { limit: "tree_bytes", place, figure: 60_000 }) => {
            assert!(place.ends_with("dense.mif.yaml"), "{place}");
        }
        other => panic!("{:?}", other.map(|store| store.records.len())),
    }
    // Each alias of an anchored value counts towards the memory limit.
    let list = "\n  - 0".repeat(220);
    for (name, again, fits) in [("one.mif.yaml", "null", true), ("two.mif.yaml", "*a", false)] {
        let yaml = format!(
            "mif_version: \"1.0\"\nexport: {{id: e, created_at: \"2026-01-01T00:00:00Z\", user_id: u}}\nmemories: []\nx: &a {list}\ny: {again}\n"
        );
        assert_eq!(read_and_validate(&temp.put(name, yaml)).0.is_ok(), fits, "{name}");
    }
    let (read, codes) = read_and_validate(
        &temp.put("generic.json", format!(r#"[{{"content":"One"}},{{"content":"Two","x":{dense}}}]"#)),
    );
    let store = read.unwrap();
    assert_eq!((store.records.len(), store.dropped.len(), codes.len()), (1, 1, 1));
}
