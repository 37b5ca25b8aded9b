#![allow(clippy::unwrap_used)]
//! Tests of writing the lines of the memory server.
use super::McpMemory;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&McpMemory);
}

#[test]
fn hostile_texts_do_not_break_out_of_their_lines() {
    let (report, reread) = check_hostile(&McpMemory);
    let relation = reread.records.iter().find(|r| r.record_type.as_deref() == Some("works_at")).unwrap();
    assert_eq!(relation.text, "Mo [x] \"y\" works at Plot 12");
    let about = reread.records.iter().find(|r| r.text == "Waters on Sundays.").unwrap();
    assert_eq!(about.entities[0].name, "Mo [x] \"y\"");
    let plain = reread.records.iter().find(|r| r.text == "Prefers metric units.").unwrap();
    assert_eq!(plain.entities[0].name, "default_user");
    assert_eq!(report.by_kind["relation"], 2);
}

#[test]
fn ten_thousand_memories_are_read_back() {
    let (report, reread) = round_trip(&McpMemory, &mut many());
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_001));
}
