//! Adding or removing a tag changes either all of the given records or none, and gives each of them a new version.
use crate::deletion::hit_count;
use mementory_testkit::{TempVault, at};
use mementory_vault::{VaultError, VaultResult};
use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, Ordering},
};

fn tag(t: &TempVault, ids: &[String], tag: &str, on: bool) -> VaultResult<Vec<String>> {
    let go = AtomicBool::new(false);
    t.vault
        .editor()
        .tag(ids, tag, on, at(50), &|_| {}, &go)
        .map(|tagged| tagged.value)
}

fn vault_with_three_notes() -> (TempVault, Vec<String>) {
    let t = TempVault::new();
    let tags = [vec![], vec!["tea".to_owned(), "home".to_owned()], vec![]];
    let add = |(n, tags): (usize, Vec<String>)| {
        let text = format!("Note {n}");
        t.vault
            .editor()
            .add(&text, None, tags, at(0))
            .unwrap()
            .value
    };
    let ids = tags.into_iter().enumerate().map(add).collect();
    (t, ids)
}

fn tags(t: &TempVault, id: &str) -> (Vec<String>, u32) {
    let view = t.vault.reader().view(id).unwrap();
    (t.vault.reader().record(&view).unwrap().tags, view.version)
}

#[test]
fn tagging_several_records_adds_the_tag_where_it_is_missing_and_can_be_reversed() {
    let (t, ids) = vault_with_three_notes();
    let changed = tag(&t, &ids, " #tea ", true).unwrap();
    assert_eq!(changed, [ids[0].clone(), ids[2].clone()]);
    assert_eq!(tags(&t, &ids[0]), (vec!["tea".into()], 2));
    assert_eq!(tags(&t, &ids[1]), (vec!["tea".into(), "home".into()], 1));
    assert_eq!(hit_count(&t, "tea"), 3, "and is found by it");
    let view = t.vault.reader().view(&ids[0]).unwrap();
    assert_eq!(
        t.vault.reader().versions(&view).unwrap().len(),
        2,
        "with its history"
    );
    assert_eq!(tag(&t, &changed, "tea", false).unwrap(), changed);
    assert_eq!(tags(&t, &ids[0]).0, Vec::<String>::new());
    assert_eq!(hit_count(&t, "tea"), 1, "who had it before keeps it");
    assert!(tag(&t, &changed, "tea", false).unwrap().is_empty());
}

#[test]
fn a_tag_is_added_to_all_records_or_to_none() {
    let (t, ids) = vault_with_three_notes();
    let unknown = [ids[0].clone(), "00".repeat(16)];
    assert!(matches!(
        tag(&t, &unknown, "x", true),
        Err(VaultError::NotFound { .. })
    ));
    assert!(matches!(
        tag(&t, &ids, " # ", true),
        Err(VaultError::Usage(_))
    ));
    let stop = AtomicBool::new(false);
    let reports = Cell::new(0);
    let second = |done: usize| {
        reports.set(reports.get() + 1);
        stop.store(done == 1, Ordering::Relaxed);
    };
    let cancelled = t
        .vault
        .editor()
        .tag(&ids, "x", true, at(50), &second, &stop);
    assert!(matches!(cancelled, Err(VaultError::Cancelled)));
    assert_eq!(reports.get(), 2, "it stopped there");
    t.vault.trash().trash(&ids[2..], at(60)).unwrap();
    assert!(matches!(
        tag(&t, &ids, "x", true),
        Err(VaultError::Usage(_))
    ));
    for id in &ids {
        assert!(
            !tags(&t, id).0.contains(&"x".to_owned()),
            "nothing was changed"
        );
    }
}

#[test]
fn an_id_given_twice_gets_one_version() {
    let (t, ids) = vault_with_three_notes();
    let twice = [ids[0].clone(), ids[2].clone(), ids[0].clone()];
    assert_eq!(tag(&t, &twice, "x", true).unwrap(), twice[..2]);
    assert_eq!(tags(&t, &ids[0]), (vec!["x".into()], 2));
    assert_eq!(tag(&t, &twice, "x", false).unwrap(), twice[..2]);
    assert_eq!(tags(&t, &ids[0]), (Vec::new(), 3), "and can still change");
}

#[test]
fn erased_records_do_not_prevent_removing_a_tag_from_the_others() {
    let (t, ids) = vault_with_three_notes();
    let changed = tag(&t, &ids, "x", true).unwrap();
    assert_eq!(changed.len(), 3);
    t.vault.trash().trash(&ids[1..2], at(60)).unwrap();
    t.vault.trash().trash(&ids[2..], at(60)).unwrap();
    crate::requirements::erase(&t, &ids[2], "test", 70);
    assert_eq!(tag(&t, &changed, "x", false).unwrap(), ids[..1]);
    assert_eq!(tags(&t, &ids[0]).0, Vec::<String>::new());
    let unknown = ["00".repeat(16)];
    assert!(matches!(
        tag(&t, &unknown, "x", false),
        Err(VaultError::NotFound { .. })
    ));
}
