//! An export that is cancelled or fails leaves no files behind.
use mementory_model::{Kind, Record, RecordKey};
use mementory_testkit::{TempVault, at};
use mementory_vault::{ExportOutcome, ExportRun, Scope, VaultError, VaultResult};
use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

/// Number of records in the vault: more than the exporter reads ahead of the writer.
const RECORD_COUNT: u32 = 4000;

fn vault_with_memories() -> TempVault {
    let t = TempVault::new();
    let memory = |n: u32| {
        let words = format!("Rides the tandem, day {n}");
        Record::new(Kind::Memory, RecordKey::new("test", n.to_string()), words)
    };
    t.import_records((0..RECORD_COUNT).map(memory).collect())
        .unwrap();
    t
}

/// Exports the vault in `format`. Calls `on_progress` with the number of records written so far.
fn export(
    t: &TempVault,
    format: &str,
    cancel: &AtomicBool,
    on_progress: &dyn Fn(u64),
) -> (VaultResult<ExportOutcome>, PathBuf) {
    let scope = Scope {
        everything: true,
        ..Scope::default()
    };
    let out = t.folder.path().join("out");
    let progress = |_: &str, done: u64| on_progress(done);
    let run = ExportRun {
        scope: &scope,
        now: at(9),
        cancel,
        progress: &progress,
    };
    let done = t.vault.exporter().export(format, &out, false, run);
    (done.map(|done| done.value), out)
}

fn entries_in_folder(t: &TempVault) -> usize {
    std::fs::read_dir(t.folder.path()).unwrap().count()
}

#[test]
fn an_export_cancelled_half_way_leaves_nothing() {
    let t = vault_with_memories();
    for format in ["mem", "alf"] {
        let cancel = AtomicBool::new(false);
        let (outcome, _) = export(&t, format, &cancel, &|done| {
            cancel.fetch_or(done >= u64::from(RECORD_COUNT / 4), Ordering::Relaxed);
        });
        assert!(matches!(outcome, Err(VaultError::Cancelled)), "{format}");
        assert_eq!(
            entries_in_folder(&t),
            1,
            "{format}: the vault, and nothing else"
        );
    }
}

#[test]
fn a_damaged_record_fails_the_export_and_leaves_nothing() {
    let t = vault_with_memories();
    let database = t.database();
    let last_pack: i64 = t.number("SELECT max(id) FROM packs");
    assert!(last_pack > 1, "the first records are sound");
    database
        .execute("DELETE FROM packs WHERE id = ?1", [last_pack])
        .unwrap();
    for format in ["mem", "alf"] {
        let (outcome, _) = export(&t, format, &AtomicBool::new(false), &|_| {});
        assert!(matches!(outcome, Err(VaultError::Damaged(_))), "{format}");
        assert_eq!(
            entries_in_folder(&t),
            1,
            "{format}: the vault, and nothing else"
        );
    }
}

#[test]
fn every_record_is_written_once_and_counted_in_progress() {
    let t = vault_with_memories();
    let progress_calls = std::cell::RefCell::new(Vec::new());
    let (done, out) = export(&t, "mem", &AtomicBool::new(false), &|done| {
        progress_calls.borrow_mut().push(done)
    });
    assert_eq!(
        done.unwrap().report.by_kind.values().sum::<u64>(),
        u64::from(RECORD_COUNT)
    );
    let counts: Vec<u64> = progress_calls
        .into_inner()
        .into_iter()
        .filter(|n| *n > 0)
        .collect();
    assert_eq!(
        counts,
        (1..=u64::from(RECORD_COUNT) / 500)
            .map(|n| n * 500)
            .collect::<Vec<_>>()
    );
    assert!(out.join("manifest.json").is_file());
}
