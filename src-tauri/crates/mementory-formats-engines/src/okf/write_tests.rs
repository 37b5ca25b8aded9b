#![allow(clippy::unwrap_used)]
//! Tests of writing concepts.
use super::Okf;
use crate::cases::{check_fixtures, check_hostile, many, round_trip};
use crate::testing::{read, write};
use mementory_format::testkit::{Scratch, repo, tree};

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&Okf);
}

#[test]
fn hostile_texts_do_not_break_out_of_their_concepts() {
    let (_, reread) = check_hostile(&Okf);
    let about = reread.records.iter().find(|r| r.text.starts_with("Waters on Sundays.")).unwrap();
    assert_eq!((about.links.len(), about.links[0].relation.as_str()), (1, "links_to"));
    let titled = reread.records.iter().find(|r| r.text == "Text number 8.").unwrap();
    assert_eq!(titled.source.method.as_deref(), Some("extracted"));
    assert_eq!(titled.fields["source_platform"], "chatgpt");
}

#[test]
fn ten_thousand_concepts_are_read_back() {
    let (report, reread) = round_trip(&Okf, &mut many());
    assert_eq!((report.by_kind["memory"], reread.records.len()), (10_000, 10_000));
}

#[test]
fn a_concept_is_written_as_it_was_read() {
    let input = repo().join("fixtures/okf/full/input");
    let mut source = read(&input, &Okf);
    let scratch = Scratch::new("same");
    write(&mut source, &scratch.at("out"), &Okf);
    let (before, after) = (tree(&input), tree(&scratch.at("out")));
    for path in ["tables/orders.md", "tables/customers.md", "policy.md"] {
        assert_eq!(before[path], after[path], "{path}");
    }
    assert!(String::from_utf8(after["index.md"].clone()).unwrap().starts_with("---\nokf_version: \"0.2\"\n"));
}
