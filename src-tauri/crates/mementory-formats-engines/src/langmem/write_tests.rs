#![allow(clippy::unwrap_used)]
//! Tests of writing rows of a store.
use super::LangMem;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};
use mementory_model::LossKind;

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&LangMem);
}

#[test]
fn hostile_records_are_read_back() {
    let (report, reread) = check_hostile(&LangMem);
    let titled = reread.records.iter().find(|r| r.text == "Text number 8.").unwrap();
    assert_eq!(titled.fields["value"]["title"], "Leek");
    assert_eq!(report.by_kind["relation"], 2);
}

#[test]
fn ten_thousand_memories_are_read_back() {
    let (report, reread) = round_trip(&LangMem, &mut many());
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_000));
    let undated = report.losses.count("times", LossKind::Narrowed);
    assert_eq!(undated, 10_000, "a row needs a time, so an undated memory gets the time of the export");
}
