//! A backup is a vault of its own, made while the other is in use.
use keepsake_testkit::{PASSPHRASE, TempVault, at, sample};
use keepsake_vault::{Vault, VaultError, VaultResult};
use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

fn backup(t: &TempVault, out: &Path) -> VaultResult<keepsake_vault::Backup> {
    t.vault
        .backup(out, at(90), &AtomicBool::new(false), &|_, _| {})
}

fn left(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_backup_holds_what_the_vault_held_and_opens_as_it_did() {
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    // A reader in the middle of its work keeps the log from being emptied.
    let reader = t.database();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM records;")
        .unwrap();
    t.import(&[sample("claude-export.zip")]).unwrap();
    let facts = t.vault.facts().unwrap();
    let out = t.folder.path().join("copy.keepsake");
    let made = backup(&t, &out).unwrap();
    reader.execute_batch("COMMIT").unwrap();

    assert!(made.bytes > 0 && made.digest.len() == 64);
    assert_eq!(left(t.folder.path()), ["copy.keepsake", "t.keepsake"]);
    assert_eq!(
        t.vault.audit_log().unwrap().last().unwrap().op,
        "backup",
        "the vault knows when"
    );
    // The first one stays open.
    let copy = Vault::open(&out, PASSPHRASE).unwrap();
    let held = copy.facts().unwrap();
    assert_eq!(held.counts, facts.counts);
    assert!(copy.check().unwrap().iter().all(|place| place.ok));
    assert_ne!(
        copy.audit_log().unwrap().last().unwrap().op,
        "backup",
        "it is as the vault was before"
    );
    assert!(copy.audit_verify().unwrap());
}

#[test]
fn nothing_is_replaced_and_nothing_is_left_of_one_that_was_cancelled() {
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    let out = t.folder.path().join("taken");
    std::fs::create_dir(&out).unwrap();
    assert!(matches!(backup(&t, &out), Err(VaultError::Exists(_))));
    assert!(matches!(
        backup(&t, &t.dir().join("inside")),
        Err(VaultError::Usage(_))
    ));
    let cancel = AtomicBool::new(false);
    let stopped = t
        .vault
        .backup(&t.folder.path().join("copy"), at(90), &cancel, &|_, _| {
            cancel.store(true, Ordering::Relaxed)
        });
    assert!(matches!(stopped, Err(VaultError::Cancelled)));
    assert_eq!(left(t.folder.path()), ["t.keepsake", "taken"]);
    assert!(left(&out).is_empty());
    assert!(
        t.vault
            .audit_log()
            .unwrap()
            .iter()
            .all(|entry| entry.op != "backup")
    );
}

#[test]
fn a_backup_of_damaged_files_is_not_said_to_be_one() {
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    let blob = std::fs::read_dir(t.dir().join("blobs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = std::fs::read(&blob).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40;
    std::fs::write(&blob, bytes).unwrap();
    let out = t.folder.path().join("copy");
    assert!(matches!(backup(&t, &out), Err(VaultError::Damaged(_))));
    assert_eq!(left(t.folder.path()), ["t.keepsake"]);
}
