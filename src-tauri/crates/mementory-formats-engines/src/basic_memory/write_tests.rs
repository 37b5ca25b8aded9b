#![allow(clippy::unwrap_used)]
//! Tests of writing notes.
use super::BasicMemory;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};
use crate::testing::{read, write};
use mementory_format::testkit::{Scratch, repo, tree};
use mementory_model::Kind;

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&BasicMemory);
}

#[test]
fn hostile_texts_do_not_break_out_of_their_notes() {
    let (_, reread) = check_hostile(&BasicMemory);
    let relation = reread.records.iter().find(|r| r.record_type.as_deref() == Some("works_at")).unwrap();
    assert_eq!((relation.kind, relation.text.as_str()), (Kind::Relation, "Mo [x] \"y\" works at Plot 12"));
    assert!(
        reread.records.iter().any(|r| r.kind == Kind::Relation && r.text == "Waters on Sundays. about Mo [x] \"y\"")
    );
}

#[test]
fn ten_thousand_notes_are_read_back() {
    let (report, reread) = round_trip(&BasicMemory, &mut many());
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_000));
}

#[test]
fn a_note_is_written_as_it_was_read() {
    let input = repo().join("fixtures/basic_memory/full/input");
    let mut source = read(&input, &BasicMemory);
    let scratch = Scratch::new("same");
    let report = write(&mut source, &scratch.at("out"), &BasicMemory);
    let (before, after) = (tree(&input), tree(&scratch.at("out")));
    assert_eq!(before["Allotment.md"], after["allotment.md"]);
    let kinds = source.kinds();
    assert!(kinds.iter().all(|(kind, count)| report.by_kind[*kind] == *count), "{:?}", report.by_kind);
}
