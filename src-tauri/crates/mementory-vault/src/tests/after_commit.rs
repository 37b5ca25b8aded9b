//! If a step after the commit of a change fails, the call still succeeds, with a warning.
#![allow(clippy::unwrap_used)]
use crate::{Applied, EditFields, FailedStep, RedactSpan, vault::Vault};
use mementory_crypto::KdfChoice;
use mementory_model::Timestamp;
use std::{path::Path, sync::atomic::AtomicBool};

const PASSPHRASE: &str = "correct horse battery staple";

fn time_at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000).unwrap()
}

fn vault(dir: &Path) -> Vault {
    Vault::create(&dir.join("v.mementory"), PASSPHRASE, KdfChoice::Floor, time_at(1)).unwrap().0
}

fn add(vault: &Vault, text: &str) -> String {
    vault.editor().add(text, None, vec![], time_at(2)).unwrap().value
}

/// Makes every write to the index and every rebuild fail, by replacing the index's folder with a file.
fn break_index(vault: &Vault) {
    let folder = vault.dir().join("index");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(folder, "no folder").unwrap();
}

/// Makes every new entry of the audit log fail. Other writes succeed.
fn break_audit_log(vault: &Vault) {
    let trigger = "CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'disk'); END";
    vault.context().store.write(|tx| Ok(tx.execute_batch(trigger)?)).unwrap();
}

fn text_of(vault: &Vault, id: &str) -> String {
    let view = vault.reader().view(id).unwrap();
    vault.reader().record(&view).unwrap().text
}

type Change = fn(&Vault, &str) -> Applied<()>;

#[test]
fn a_change_is_applied_with_a_warning_when_the_index_fails_after_its_commit() {
    let changes: [(&str, Change, &str); 7] = [
        (
            "add",
            |vault, _| vault.editor().add("a second one", None, vec![], time_at(3)).unwrap().map(drop),
            "first words",
        ),
        (
            "edit",
            |vault, id| {
                let fields = EditFields { text: Some("other words".into()), ..EditFields::default() };
                let edited = vault.editor().edit(id, fields, time_at(3)).unwrap();
                assert_eq!(edited.value, 2);
                edited.map(drop)
            },
            "other words",
        ),
        (
            "tag",
            |vault, id| {
                let ids = [id.to_owned()];
                let tagged = vault.editor().tag(&ids, "blue", true, time_at(3), &|_| {}, &AtomicBool::new(false));
                let tagged = tagged.unwrap();
                assert_eq!(tagged.value, ids);
                tagged.map(drop)
            },
            "first words",
        ),
        (
            "trash",
            |vault, id| {
                let moved = vault.trash().trash(&[id.to_owned()], time_at(3)).unwrap();
                assert!(vault.reader().view(id).unwrap().trashed.is_some());
                moved.map(drop)
            },
            "first words",
        ),
        (
            "restore",
            |vault, id| {
                let _ = vault.trash().trash(&[id.to_owned()], time_at(3)).unwrap();
                let moved = vault.trash().restore(&[id.to_owned()], time_at(4)).unwrap();
                assert!(vault.reader().view(id).unwrap().trashed.is_none());
                moved.map(drop)
            },
            "first words",
        ),
        (
            "redact",
            |vault, id| {
                let span = RedactSpan { start: 0, end: 5, class: "name".into() };
                let done = vault.redactor().redact(id, &[span], false, time_at(3), &|_| {}).unwrap();
                assert!(!done.receipt.complete, "what could not be cleaned is not called gone");
                done.map(drop)
            },
            "[REDACTED:name] words",
        ),
        (
            "merge",
            |vault, id| {
                let other = vault.editor().add("first words", None, vec!["blue".into()], time_at(3)).unwrap().value;
                let merged = vault.duplicates().merge_into(id, std::slice::from_ref(&other), time_at(4)).unwrap();
                assert!(vault.reader().view(&other).unwrap().trashed.is_some());
                assert_eq!(vault.reader().view(id).unwrap().version, 2, "it has the tag of the other");
                merged.map(drop)
            },
            "first words",
        ),
    ];
    for (name, change, text) in changes {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path());
        let id = add(&vault, "first words");
        break_index(&vault);
        let applied = change(&vault, &id);
        assert!(!applied.warnings.is_empty(), "{name}: the failure is reported");
        assert_eq!(text_of(&vault, &id), text, "{name}");
        // Reopening the vault rebuilds the index: nothing is lost or duplicated.
        let dir = vault.dir().to_path_buf();
        drop(vault);
        std::fs::remove_file(dir.join("index")).unwrap();
        let vault = Vault::open(&dir, PASSPHRASE).unwrap();
        assert_eq!(text_of(&vault, &id), text, "{name}");
        assert_eq!(vault.index_documents(), if name == "add" { 2 } else { u64::from(name != "trash") }, "{name}");
    }
}

#[test]
fn an_erasure_that_was_committed_is_not_an_error_when_the_index_fails() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault(folder.path());
    let id = add(&vault, "first words");
    break_index(&vault);
    let done = vault.eraser().erase(std::slice::from_ref(&id), "", &[], time_at(3), &|_| {}).unwrap();
    assert!(!done.receipt.complete && done.tombstones.len() == 1);
    assert!(done.warnings.contains(&FailedStep::Cleaning));
    assert!(vault.reader().view(&id).is_err());
}

#[test]
fn a_new_recovery_code_and_a_new_passphrase_survive_a_failed_audit_entry() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault(folder.path());
    let dir = vault.dir().to_path_buf();
    break_audit_log(&vault);
    let made = vault.new_recovery_code(PASSPHRASE, time_at(2)).unwrap();
    assert_eq!(made.warnings, [FailedStep::AuditLog].into());
    let (_, code) = made.value;
    let new = "another four words here";
    let changed = vault.change_passphrase(PASSPHRASE, new, KdfChoice::Floor, time_at(3)).unwrap();
    assert_eq!(changed.warnings, [FailedStep::AuditLog].into());
    drop(vault);
    for secret in [new, &code.to_string()] {
        assert!(Vault::open(&dir, secret).is_ok());
    }
}

#[test]
fn a_backup_that_was_made_is_not_an_error_when_its_audit_entry_fails() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault(folder.path());
    let id = add(&vault, "first words");
    break_audit_log(&vault);
    let out = folder.path().join("copy.mementory");
    let made = vault.backups().create(&out, time_at(3), &AtomicBool::new(false), &|_, _| {}).unwrap();
    assert_eq!(made.warnings, [FailedStep::AuditLog].into());
    drop(vault);
    assert_eq!(text_of(&Vault::open(&out, PASSPHRASE).unwrap(), &id), "first words");
}
