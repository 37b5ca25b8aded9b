//! Records keep the ids of their elements when they move between vaults in a file, and the vaults know each other's
//! deletions.
use crate::source::{faults, import_units, key, live_records, record, record_with_id};
use mementory_model::{Kind, Unit};
use mementory_testkit::{TempVault, at};
use mementory_vault::{ExportOutcome, ExportRun, Scope};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

const TEXTS: [&str; 3] = [
    "Likes the tandem.",
    "Keeps bees in Ghent.",
    "Plays the viola.",
];

/// A vault with three memories, one of which was derived from another one.
fn first_vault() -> TempVault {
    let t = TempVault::new();
    let mut records: Vec<_> = TEXTS
        .iter()
        .map(|text| record(Kind::Memory, text, text))
        .collect();
    records[1].links.push(mementory_model::Link {
        relation: "derived_from".into(),
        kind: Kind::Memory,
        target: key(TEXTS[0]),
    });
    import_units(&t, &records.into_iter().map(Unit::from).collect::<Vec<_>>());
    t
}

fn export(t: &TempVault, format: &str, name: &str) -> (ExportOutcome, PathBuf) {
    let scope = Scope {
        everything: true,
        ..Scope::default()
    };
    let extension = mementory_formats::by_id(format)
        .unwrap()
        .capabilities()
        .ending;
    let out = t.folder.path().join(format!("{name}{extension}"));
    let cancel = AtomicBool::new(false);
    let run = ExportRun {
        scope: &scope,
        now: at(9),
        cancel: &cancel,
        progress: &|_, _| {},
    };
    let done = t.vault.exporter().export(format, &out, false, run);
    (done.unwrap().value, out)
}

/// Returns the ids of the episodes of a `.mem` bundle.
fn ids(bundle: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(bundle.join("items/episode.jsonl")).unwrap();
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone();
    text.lines()
        .map(|line| id(line).as_str().unwrap().to_owned())
        .collect()
}

fn import(t: &TempVault, path: &Path) {
    t.import(&[path.to_path_buf()]).unwrap();
}

fn vault_id(t: &TempVault, text: &str) -> String {
    record_with_id(t, Kind::Memory, text).0.id_text()
}

#[test]
fn a_record_keeps_its_ids_in_the_exports_of_another_vault() {
    let first = first_vault();
    let before = ids(&export(&first, "mem", "before").1);
    assert_eq!(before.len(), TEXTS.len());
    for format in ["mem", "pam", "mif", "alf"] {
        let second = TempVault::new();
        import(&second, &export(&first, format, format).1);
        assert_ne!(vault_id(&first, TEXTS[0]), vault_id(&second, TEXTS[0]));
        assert_eq!(before, ids(&export(&second, "mem", "out").1), "{format}");
        let (outcome, _) = export(&second, "mcp_memory", "lossy");
        let expected_ids: BTreeSet<String> =
            TEXTS.iter().map(|text| vault_id(&second, text)).collect();
        let losses = outcome.report.losses.items.iter().map(|loss| &loss.record);
        let listed_ids: BTreeSet<String> = losses.filter(|id| id.len() == 32).cloned().collect();
        assert_eq!(
            listed_ids, expected_ids,
            "the list names records as this vault does"
        );
    }
}

#[test]
fn a_deletion_in_one_vault_reaches_the_others() {
    let (first, second, third) = (first_vault(), TempVault::new(), TempVault::new());
    import(&second, &export(&first, "mem", "there").1);
    let old = export(&second, "mem", "old").1;
    let id = vault_id(&second, TEXTS[2]);
    second
        .vault
        .eraser()
        .erase(&[id], "test", &[], at(200), &|_| {})
        .unwrap();
    let newer_bundle = export(&second, "mem", "back").1;
    let memories = |t: &TempVault| live_records(t, Kind::Memory).len();
    import(&first, &newer_bundle);
    assert_eq!((memories(&first), memories(&second)), (2, 2));
    import(&third, &newer_bundle);
    import(&third, &old);
    assert_eq!(
        memories(&third),
        2,
        "the deletion names the record by the id that it had"
    );
    assert!([first, second, third].iter().all(|t| faults(t).is_empty()));
}

#[test]
fn an_undone_import_leaves_no_ids() {
    let (first, second) = (first_vault(), TempVault::new());
    let bundle = export(&first, "mem", "there").1;
    let batch = second.import(&[bundle]).unwrap().batch;
    let count = "SELECT count(*) FROM export_ids";
    assert_eq!(second.number(count), TEXTS.len() as i64);
    second.vault.importer().undo(&batch, at(300)).unwrap();
    assert_eq!(second.number(count), 0);
}

#[test]
fn a_record_that_the_vault_had_keeps_its_id() {
    let (first, second) = (first_vault(), first_vault());
    let before = ids(&export(&second, "mem", "before").1);
    import(&second, &export(&first, "mem", "there").1);
    assert_eq!(before, ids(&export(&second, "mem", "after").1));
}
