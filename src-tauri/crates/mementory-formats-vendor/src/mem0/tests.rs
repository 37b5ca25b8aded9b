//! Files of mem0 in every form, and similar files of other programs.
#![allow(clippy::unwrap_used)]
use super::Mem0;
use crate::detect;
use mementory_format::testkit::repo;
use mementory_format::testkit::{MemorySource, Scratch};
use mementory_format::{Catalog, Format, ReadContext};
use mementory_model::{Kind, Limits, Timestamp};
use serde_json::Value;
use std::path::Path;

fn claiming_format(path: &Path, is_selected: bool) -> Option<&'static str> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let found = detect(&catalog, &limits, is_selected.then_some("mem0")).unwrap();
    found.sources.first().map(|s| s.format)
}

fn read(path: &Path) -> MemorySource {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let found = detect(&catalog, &limits, Some("mem0")).unwrap();
    let mut source = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    Mem0.read(&catalog, &found.sources[0], &context, &mut source).unwrap();
    source
}

/// Each folder in `fixtures/mem0` has an input and the expected result.
#[test]
fn fixtures_are_read_as_their_cases_say() {
    let mut cases: Vec<_> =
        std::fs::read_dir(repo().join("fixtures/mem0")).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 3);
    for folder in cases {
        let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
        let input = folder.join("input.json");
        assert_eq!(claiming_format(&input, false), case["format"].as_str(), "{}", folder.display());
        let source = read(&input);
        let count = |kind| source.records.iter().filter(|r| r.kind == kind).count() as u64;
        assert_eq!(Some(count(Kind::Memory)), case["memories"].as_u64(), "{}", folder.display());
        assert_eq!(Some(count(Kind::Relation)), case["relations"].as_u64(), "{}", folder.display());
        let reasons: Vec<&str> = source.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
        assert_eq!(serde_json::to_value(reasons).unwrap(), case["dropped"], "{}", folder.display());
        let first = serde_json::to_value(&source.records[0]).unwrap();
        for (pointer, value) in case["first"].as_object().unwrap() {
            assert_eq!(first.pointer(pointer), Some(value), "{}: {pointer}", folder.display());
        }
        for record in &source.records {
            let verbatim = record.verbatim.as_ref().unwrap();
            assert!(std::fs::read_to_string(&input).unwrap().contains(&verbatim.text), "unchanged");
        }
    }
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("mem0-none");
    for (n, text) in [
        r#"[{"memory": "x", "id": "1", "user_id": "u", "created_at": "2026-01-01T00:00:00Z"}]"#,
        r#"[{"content": "x", "hash": "h"}]"#,
        r#"{"results": [{"title": "x", "score": 1}]}"#,
        "memory: x\nhash: h\n",
        "[]",
    ]
    .into_iter()
    .enumerate()
    {
        let path = scratch.0.join(format!("{n}.json"));
        std::fs::write(&path, text).unwrap();
        assert_ne!(claiming_format(&path, false), Some("mem0"), "{text}");
    }
}
