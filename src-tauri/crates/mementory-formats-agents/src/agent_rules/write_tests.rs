#![allow(clippy::unwrap_used)]
//! Tests of writing memories into the files that agents load.
use super::AgentRules;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};
use crate::testing::write;
use mementory_format::testkit::{MemorySource, Scratch, tree};
use mementory_model::{Kind, Record, RecordKey};

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&AgentRules);
}

#[test]
fn hostile_records_are_written_as_plain_items() {
    let (_, reread) = check_hostile(&AgentRules);
    assert!(reread.records.iter().all(|record| record.source.method.is_none()));
    assert!(reread.records.iter().all(|record| !record.text.contains("<!--") || record.text.contains("\\<!--")));
    assert!(reread.records.iter().all(|record| !record.text.contains(" @/etc") || record.text.contains("\\@/etc")));
}

#[test]
fn loaded_files_stay_below_the_limits_and_nothing_is_lost() {
    let mut source = many();
    let (report, reread) = round_trip(&AgentRules, &mut source);
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_000));
    let scratch = Scratch::new("many");
    write(&mut source, &scratch.at("out"), &AgentRules);
    let files = tree(&scratch.at("out"));
    let main = String::from_utf8(files["AGENTS.md"].clone()).unwrap();
    assert!(main.len() <= 25_000 && main.lines().count() <= 200, "{} {}", main.len(), main.lines().count());
    assert!(main.lines().count() > 120 && main.contains("](memories/projects.md)"), "{main}");
    assert!(files.values().all(|bytes| bytes.len() < 45_000));
}

#[test]
fn instructions_are_loaded_first() {
    let mut source = MemorySource::default();
    for n in 0..400 {
        let mut record = Record::new(Kind::Memory, RecordKey::new("t", format!("{n}")), format!("Note {n}."));
        record.source.method = Some(if n == 399 { "custom_instructions" } else { "extracted" }.into());
        source.records.push(record);
    }
    let scratch = Scratch::new("first");
    write(&mut source, &scratch.at("out"), &AgentRules);
    let main = String::from_utf8(tree(&scratch.at("out"))["AGENTS.md"].clone()).unwrap();
    assert!(main.contains("## Instructions\n\n- Note 399.\n"), "{main}");
    assert!(main.starts_with("<!-- Written by Mementory on 2026-11-20."));
}
