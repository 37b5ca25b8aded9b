#![allow(clippy::unwrap_used)]
//! Tests of writing memories as a memory folder.
use super::ClaudeCode;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};
use crate::testing::{read, write};
use mementory_format::testkit::{Scratch, repo, tree};

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&ClaudeCode);
}

#[test]
fn hostile_texts_do_not_break_out_of_their_files() {
    check_hostile(&ClaudeCode);
}

#[test]
fn the_index_does_not_exceed_what_the_program_loads() {
    let mut source = many();
    let (report, reread) = round_trip(&ClaudeCode, &mut source);
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_001));
    let scratch = Scratch::new("many");
    write(&mut source, &scratch.at("out"), &ClaudeCode);
    let files = tree(&scratch.at("out"));
    let index = String::from_utf8(files["MEMORY.md"].clone()).unwrap();
    assert!(index.len() <= 25_000 && index.lines().count() <= 200);
    assert!(index.contains("more files in this folder"));
}

#[test]
fn a_topic_is_written_as_it_was_read() {
    let input = repo().join("fixtures/claude_code/memory/input");
    let mut source = read(&input, &ClaudeCode);
    let scratch = Scratch::new("same");
    write(&mut source, &scratch.at("out"), &ClaudeCode);
    let (before, after) = (tree(&input), tree(&scratch.at("out")));
    assert_eq!(before["user_mira.md"], after["user_mira.md"]);
}
