//! The cases in `fixtures/openmemory` and the shared sample.
#![allow(clippy::unwrap_used)]
use super::OpenMemory;
use crate::row_cases::{check_cases, sample};
use crate::testing::read;
use mementory_format::testkit::Scratch;
use mementory_model::Kind;
use std::io::Write;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases(&OpenMemory);
}

#[test]
fn a_deleted_memory_of_the_sample_stays_deleted() {
    let Some(found) = sample("14-openmemory", &OpenMemory) else { return };
    let memories = found.records.iter().filter(|r| r.kind == Kind::Memory);
    let states: Vec<Option<&str>> = memories.map(|memory| memory.status.as_deref()).collect();
    assert_eq!(states, [Some("active"), Some("deleted")]);
}

#[test]
fn a_bomb_ends_where_an_archive_would() {
    let scratch = Scratch::new("bomb");
    let row = r#"{"id":"1","content":"Kept","state":"active","app":"x","metadata":{}}"#;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(format!("{row}\n{{\"id\":\"2\",\"content\":\"").as_bytes()).unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..120 {
        packer.write_all(&block).unwrap();
    }
    let path = scratch.put("backup.gz", packer.finish().unwrap());
    let found = read(&path, &OpenMemory);
    let texts: Vec<&str> = found.records.iter().map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["Kept"]);
    assert!(!found.dropped.is_empty());
}
