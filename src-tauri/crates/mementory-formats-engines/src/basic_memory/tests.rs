//! Tests with notes of Basic Memory and with similar notes of other programs.
#![allow(clippy::unwrap_used)]
use super::BasicMemory;
use crate::cases::{check_cases, claiming};
use crate::testing::read;
use mementory_format::testkit::{Scratch, shared};
use mementory_model::Kind;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&BasicMemory);
}

#[test]
fn the_sample_has_its_notes_observations_and_relations() {
    let Some(path) = shared("exports/15-basic-memory") else { return };
    let imported = read(&path, &BasicMemory);
    let kinds = imported.kinds();
    assert_eq!((kinds["resource"], kinds["fact"], kinds["relation"]), (3, 2, 2));
    let inline = imported.records.iter().filter(|r| r.kind == Kind::Resource).map(|r| r.links.len()).sum::<usize>();
    assert_eq!(inline, 2);
    let fact = imported.find("Wrap stems in July #leek");
    assert_eq!((fact.record_type.as_deref(), fact.tags.as_slice()), (Some("decision"), ["leek".to_owned()].as_slice()));
    assert_eq!(imported.find("Leek Show part of Allotment").links[1].target.value, "allotment");
    assert_eq!(imported.record("notes/leek-show").tags, ["garden", "show", "leek"]);
    assert!(imported.record("allotment").times.created.is_some());
    assert!(imported.dropped.is_empty());
}

#[test]
fn notes_without_its_marks_are_not_claimed() {
    let scratch = Scratch::new("plain");
    for n in 0..6 {
        scratch.put(&format!("{n}.md"), "---\ntitle: x\n---\n- [ ] task\n- [x] done\n- see [[Note]]\n");
    }
    assert_eq!(claiming(&scratch.0), ["obsidian"]);
}
