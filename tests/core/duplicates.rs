//! Memories with the same words are found as groups. A group can be merged, or permanently kept as separate memories.
use crate::deletion::record;
use mementory_model::Kind;
use mementory_testkit::{TempVault, at};
use mementory_vault::{DuplicateGroup, EditFields};
use std::sync::atomic::AtomicBool;

fn vault(texts: &[&str]) -> TempVault {
    let t = TempVault::new();
    let records = texts.iter().enumerate();
    let records = records.map(|(n, text)| record(Kind::Memory, &n.to_string(), text));
    t.import_records(records.collect()).unwrap();
    t
}

fn groups(t: &TempVault) -> Vec<DuplicateGroup> {
    t.vault
        .duplicates()
        .groups(&AtomicBool::new(false))
        .unwrap()
}

const TEXTS: [&str; 4] = [
    "Prefers trains to planes.",
    "prefers  trains to planes",
    "Is renovating a wooden house from 1934 in Sandviken with her brother Per.",
    "Lives in Oslo.",
];

#[test]
fn memories_with_the_same_words_form_a_group_and_can_be_merged() {
    let t = vault(&TEXTS);
    let found_groups = groups(&t);
    assert_eq!(found_groups.len(), 1);
    assert!(found_groups[0].same);
    let ids: Vec<String> = found_groups[0].views.iter().map(|v| v.id_text()).collect();
    let tags = Some(vec!["travel".to_owned()]);
    t.vault
        .editor()
        .edit(
            &ids[1],
            EditFields {
                tags,
                ..EditFields::default()
            },
            at(60),
        )
        .unwrap();
    let merged_ids = t
        .vault
        .duplicates()
        .merge_into(&ids[0], &ids[1..], at(70))
        .unwrap()
        .value;
    assert_eq!(merged_ids, ids[1..]);
    let kept_record = t.vault.reader().view(&ids[0]).unwrap();
    assert_eq!(
        t.vault.reader().tags(kept_record.row).unwrap(),
        ["travel"],
        "tags are joined"
    );
    assert!(groups(&t).is_empty());
    t.vault.trash().restore(&merged_ids, at(80)).unwrap();
    assert_eq!(groups(&t).len(), 1, "undone");
    assert!(
        t.vault
            .duplicates()
            .merge_into(&ids[0], &ids[..1], at(90))
            .is_err()
    );
}

#[test]
fn a_dismissed_group_is_shown_again_only_with_a_new_member() {
    let t = vault(&TEXTS);
    let ids: Vec<String> = groups(&t)[0].views.iter().map(|v| v.id_text()).collect();
    t.vault.duplicates().keep_apart(&ids, at(60)).unwrap();
    assert!(groups(&t).is_empty());
    let t = t.reopen();
    assert!(groups(&t).is_empty(), "kept with the vault");
    t.vault
        .editor()
        .add("Prefers trains to planes!", None, vec![], at(70))
        .unwrap();
    assert_eq!(groups(&t)[0].views.len(), 3);
}

#[test]
fn a_cancelled_search_returns_nothing() {
    let t = vault(&TEXTS);
    assert!(t.vault.duplicates().groups(&AtomicBool::new(true)).is_err());
}
