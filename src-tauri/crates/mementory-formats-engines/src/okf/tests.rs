//! Tests with bundles of the Open Knowledge Format, and with similar notes of other programs.
#![allow(clippy::unwrap_used)]
use super::Okf;
use crate::cases::{check_cases, claiming};
use mementory_format::testkit::Scratch;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&Okf);
}

#[test]
fn notes_with_only_a_type_are_not_a_bundle() {
    let scratch = Scratch::new("typed");
    for n in 0..6 {
        scratch.put(&format!("{n}.md"), "---\ntype: diary\n---\nText.\n");
    }
    assert_eq!(claiming(&scratch.0), ["obsidian"]);
}
