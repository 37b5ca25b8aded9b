#![allow(clippy::unwrap_used)]
//! Tests of writing memories and relations.
use super::Mem0;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&Mem0);
}

#[test]
fn hostile_texts_do_not_break_out_of_their_elements() {
    let (report, reread) = check_hostile(&Mem0);
    let relation = reread.records.iter().find(|r| r.record_type.as_deref() == Some("works_at")).unwrap();
    assert_eq!(relation.text, "Mo [x] \"y\" works at Plot 12");
    let titled = reread.records.iter().find(|r| r.text == "Text number 8.").unwrap();
    assert_eq!(
        (titled.source.method.as_deref(), titled.fields["metadata"]["title"].as_str()),
        (Some("extracted"), Some("Leek"))
    );
    let plain = reread.records.iter().find(|r| r.text == "Prefers metric units.").unwrap();
    assert_eq!(plain.source.method, None, "nobody says how it came to be");
    assert_eq!(report.by_kind["relation"], 2);
}

#[test]
fn ten_thousand_memories_are_read_back() {
    let (report, reread) = round_trip(&Mem0, &mut many());
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_000));
}
