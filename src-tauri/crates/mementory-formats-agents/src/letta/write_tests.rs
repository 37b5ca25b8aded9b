#![allow(clippy::unwrap_used)]
//! Tests of writing agents with blocks.
use super::Letta;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};
use crate::testing::write;
use mementory_format::testkit::{MemorySource, Scratch};
use mementory_model::{Kind, Record, RecordKey};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&Letta);
}

#[test]
fn hostile_texts_do_not_break_out_of_their_items() {
    let (_, reread) = check_hostile(&Letta);
    assert!(reread.records.iter().all(|record| record.source.method.is_none()));
}

/// The agent file of these records.
fn written(source: &mut MemorySource) -> Value {
    let scratch = Scratch::new("af");
    write(source, &scratch.at("out.af"), &Letta);
    serde_json::from_slice(&std::fs::read(scratch.at("out.af")).unwrap()).unwrap()
}

#[test]
fn ten_thousand_memories_are_read_back_and_the_agent_loads_the_first_of_each_block() {
    let mut source = many();
    let (report, reread) = round_trip(&Letta, &mut source);
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_000));
    let file = written(&mut source);
    let blocks = file["blocks"].as_array().unwrap();
    let ids: BTreeSet<&str> = blocks.iter().map(|block| block["id"].as_str().unwrap()).collect();
    let labels: BTreeSet<&str> = blocks.iter().map(|block| block["label"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), labels.len()), (blocks.len(), blocks.len()));
    assert!(blocks.iter().all(|block| block["value"].as_str().unwrap().len() <= 20_000));
    let loaded: Vec<&str> =
        file["agents"][0]["block_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(loaded, ["block-0", "block-3"]);
    assert!(loaded.iter().all(|id| ids.contains(id)));
}

#[test]
fn facts_about_people_and_about_assistants_go_into_separate_blocks() {
    let record = |kind, key: &str, record_type: &str, method: &str| {
        let mut record = Record::new(kind, RecordKey::new("t", key), format!("Text {key}."));
        record.record_type = Some(record_type.into());
        record.source.method = Some(method.into());
        record
    };
    let mut source = MemorySource::default();
    source.records.push(record(Kind::Memory, "a", "preference", "extracted"));
    source.records.push(record(Kind::Memory, "b", "fact", "custom_instructions"));
    source.records.push(record(Kind::Profile, "c", "persona", "agent_memory"));
    let file = written(&mut source);
    let values: Vec<(&str, &str)> = file["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| (block["label"].as_str().unwrap(), block["value"].as_str().unwrap()))
        .collect();
    assert_eq!(values, [("human", "- Text a."), ("persona", "- Text c."), ("instructions", "- Text b.")]);
}
