//! A backup is a complete vault of its own and can be made while the original vault is in use.
use mementory_crypto::KdfChoice;
use mementory_testkit::{PASSPHRASE, TempVault, at, sample};
use mementory_vault::{Backups, Vault, VaultError, VaultResult, backups_of};
use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

fn backup(t: &TempVault, out: &Path) -> VaultResult<mementory_vault::Backup> {
    t.vault
        .backups()
        .create(out, at(90), &AtomicBool::new(false), &|_, _| {})
        .map(|made| made.value)
}

fn entry_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_backup_contains_the_whole_vault_and_opens_with_its_passphrase() {
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    // An open reader keeps the write-ahead log from being truncated.
    let reader = t.database();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM records;")
        .unwrap();
    t.import(&[sample("claude-export.zip")]).unwrap();
    let facts = t.vault.queries().vault_counts().unwrap();
    let out = t.folder.path().join("copy.mementory");
    let backup_result = backup(&t, &out).unwrap();
    reader.execute_batch("COMMIT").unwrap();

    assert!(backup_result.bytes > 0 && backup_result.digest.len() == 64);
    assert_eq!(
        entry_names(t.folder.path()),
        ["copy.mementory", "t.mementory"]
    );
    assert_eq!(
        t.vault.audit().entries().unwrap().last().unwrap().op,
        "backup",
        "the vault knows when"
    );
    // The original vault stays open.
    let copy = Vault::open(&out, PASSPHRASE).unwrap();
    let copied_facts = copy.queries().vault_counts().unwrap();
    assert_eq!(copied_facts.counts, facts.counts);
    assert!(
        copy.integrity()
            .check()
            .unwrap()
            .iter()
            .all(|place| place.ok)
    );
    assert_ne!(
        copy.audit().entries().unwrap().last().unwrap().op,
        "backup",
        "it is as the vault was before"
    );
    assert!(copy.audit().verify().unwrap());
}

#[test]
fn a_cancelled_backup_leaves_nothing_and_replaces_nothing() {
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
    let cancelled =
        t.vault
            .backups()
            .create(&t.folder.path().join("copy"), at(90), &cancel, &|_, _| {
                cancel.store(true, Ordering::Relaxed)
            });
    assert!(matches!(cancelled, Err(VaultError::Cancelled)));
    assert_eq!(entry_names(t.folder.path()), ["t.mementory", "taken"]);
    assert!(entry_names(&out).is_empty());
    assert!(
        t.vault
            .audit()
            .entries()
            .unwrap()
            .iter()
            .all(|entry| entry.op != "backup")
    );
}

#[test]
fn a_backup_of_damaged_files_fails() {
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
    assert_eq!(entry_names(t.folder.path()), ["t.mementory"]);
}

fn restore(from: &Path, out: &Path, secret: &str) -> VaultResult<mementory_vault::Backup> {
    let restored = Backups::restore(from, out, secret, None, &AtomicBool::new(false), &|_, _| {})?;
    Ok(restored.value.copy)
}

/// Returns the bytes of every file below `dir`, by path.
fn contents(dir: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut out = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(contents(&path));
        } else {
            out.insert(path.clone(), std::fs::read(path).unwrap());
        }
    }
    out
}

#[test]
fn a_restored_vault_equals_the_original_and_the_backup_is_unchanged() {
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    let facts = t.vault.queries().vault_counts().unwrap();
    let copy = t.folder.path().join("copy");
    backup(&t, &copy).unwrap();
    let before = contents(&copy);
    let out = t.folder.path().join("again.mementory");
    let restored = restore(&copy, &out, PASSPHRASE).unwrap();
    assert!(restored.bytes > 0 && restored.digest.len() == 64);
    assert_eq!(contents(&copy), before, "it is only read");
    let again = Vault::open(&out, PASSPHRASE).unwrap();
    assert_eq!(again.queries().vault_counts().unwrap().counts, facts.counts);
    assert!(
        again
            .integrity()
            .check()
            .unwrap()
            .iter()
            .all(|place| place.ok)
    );
    assert!(matches!(
        restore(&copy, &out, PASSPHRASE),
        Err(VaultError::Exists(_))
    ));
    assert!(matches!(
        restore(&out, &t.folder.path().join("third"), PASSPHRASE),
        Err(VaultError::InUse)
    ));
    assert_eq!(
        entry_names(t.folder.path()),
        ["again.mementory", "copy", "t.mementory"]
    );
}

#[test]
fn a_failed_restore_leaves_nothing() {
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    let copy = t.folder.path().join("copy");
    backup(&t, &copy).unwrap();
    let out = t.folder.path().join("again");
    assert!(matches!(
        restore(&copy, &out, "not this one at all"),
        Err(VaultError::WrongSecret)
    ));
    assert!(matches!(
        restore(&t.folder.path().join("nowhere"), &out, PASSPHRASE),
        Err(VaultError::Missing(_))
    ));
    assert!(matches!(
        restore(&copy, &copy.join("inside"), PASSPHRASE),
        Err(VaultError::Usage(_))
    ));
    let cancel = AtomicBool::new(false);
    let cancelled = Backups::restore(&copy, &out, PASSPHRASE, None, &cancel, &|_, _| {
        cancel.store(true, Ordering::Relaxed)
    });
    assert!(matches!(cancelled, Err(VaultError::Cancelled)));
    let blob = contents(&copy.join("blobs")).into_keys().next().unwrap();
    let mut bytes = std::fs::read(&blob).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40;
    std::fs::write(&blob, bytes).unwrap();
    assert!(matches!(
        restore(&copy, &out, PASSPHRASE),
        Err(VaultError::Damaged(_))
    ));
    assert_eq!(entry_names(t.folder.path()), ["copy", "t.mementory"]);
    std::fs::remove_file(&blob).unwrap();
    assert!(matches!(
        restore(&copy, &out, PASSPHRASE),
        Err(VaultError::Damaged(_))
    ));
    assert_eq!(entry_names(t.folder.path()), ["copy", "t.mementory"]);
}

#[test]
fn the_backups_beside_a_vault_are_found_without_its_passphrase() {
    let t = TempVault::new();
    let in_folder = |name: &str| t.folder.path().join(name);
    backup(&t, &in_folder("t 2026-11-20 0900.mementory")).unwrap();
    backup(&t, &in_folder("elsewhere called.mementory")).unwrap();
    Vault::create(
        &in_folder("t other.mementory"),
        PASSPHRASE,
        KdfChoice::Floor,
        at(0),
    )
    .unwrap();
    std::fs::create_dir(in_folder("empty.mementory")).unwrap();
    let found = || -> Vec<String> {
        let mut names: Vec<String> = backups_of(&t.dir())
            .iter()
            .inspect(|found| assert!(found.changed.is_some()))
            .map(|found| {
                found
                    .path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        found(),
        ["elsewhere called.mementory", "t 2026-11-20 0900.mementory"],
        "those of this vault"
    );
    std::fs::write(t.dir().join("vault.json"), "{}").unwrap();
    assert_eq!(
        found(),
        ["t 2026-11-20 0900.mementory", "t other.mementory"],
        "its id is not known: those called so"
    );
}

#[cfg(unix)]
#[test]
fn a_vault_its_backups_and_exports_are_closed_to_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    let out = t.folder.path().join("copy.mementory");
    backup(&t, &out).unwrap();
    let mut places = vec![t.dir(), out];
    let scope = mementory_vault::Scope {
        everything: true,
        ..mementory_vault::Scope::default()
    };
    for format in ["alf", "mem"] {
        let path = t.folder.path().join(format!("all.{format}"));
        let run = mementory_vault::ExportRun {
            scope: &scope,
            now: at(9),
            cancel: &AtomicBool::new(false),
            progress: &|_, _| {},
        };
        t.vault
            .exporter()
            .export(format, &path, false, run)
            .unwrap();
        places.push(path);
    }
    for place in places {
        let mode = std::fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", place.display());
    }
}
