//! Tests with files of mem0 in every form, and with similar files of other programs.
#![allow(clippy::unwrap_used)]
use super::Mem0;
use crate::cases::{check_cases_under_any_name, keys, read_sample};
use crate::detect;
use crate::testing::read;
use mementory_format::testkit::{MemorySource, Scratch};
use mementory_format::{Catalog, Format, ReadContext};
use mementory_model::{Limits, Timestamp};
use std::path::Path;

fn claiming_format(path: &Path, is_selected: bool) -> Option<&'static str> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, is_selected.then_some("mem0")).unwrap();
    detection.sources.first().map(|s| s.format)
}

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Mem0);
}

/// The folder contains a response of the API and an export of a plugin, which are imported separately.
#[test]
fn the_samples_have_four_memories_and_a_relation() {
    let Some(response) = read_sample("14-mem0/get_all.json", &Mem0) else { return };
    let Some(export) = read_sample("14-mem0/mem0-export-plot12-2026-10-01.md", &Mem0) else { return };
    assert_eq!(response.kinds().into_iter().collect::<Vec<_>>(), [("memory", 2), ("relation", 1)]);
    assert_eq!(export.kinds().into_iter().collect::<Vec<_>>(), [("memory", 2)]);
}

/// A file may be larger than the size limit of an element, because memories are read one at a time.
#[test]
fn a_large_list_is_read_one_memory_at_a_time() {
    let scratch = Scratch::new("mem0-large");
    let memory = |n: u32| format!(r#"{{"id":"{n}","memory":"Number {n}","hash":"h","user_id":"u"}}"#);
    let list: Vec<String> = (0..5000).map(memory).collect();
    let path = scratch.put("large.json", format!("[{}]", list.join(",\n")));
    let limits = Limits { element_bytes: 4 << 10, ..Limits::default() };
    let catalog = Catalog::open(std::slice::from_ref(&path), &limits, None).unwrap();
    let detection = detect(&catalog, &limits, None).unwrap();
    let mut source = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    Mem0.read(&catalog, &detection.sources[0], &context, &mut source).unwrap();
    assert_eq!(source.records.len(), 5000);
    assert_eq!(keys(&source), keys(&read(&path, &Mem0)));
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("mem0-none");
    for (n, text) in [
        r#"[{"memory": "x", "id": "1", "user_id": "u", "created_at": "2026-01-01T00:00:00Z"}]"#,
        r#"[{"content": "x", "hash": "h"}]"#,
        r#"{"results": [{"title": "x", "score": 1}]}"#,
        r#"{"results": [{"memory": {"content": "x", "content_hash": "h"}, "score": 1}]}"#,
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
