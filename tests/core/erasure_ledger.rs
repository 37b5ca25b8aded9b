//! Erasures and redactions also take effect in older backups and copies of the vault, because the list of erasures is
//! applied to each of them.
use crate::{
    brute_force::VaultContents,
    deletion::{
        CANARY, SENTENCE, conversation_of, erase, hit_count, id_of, record, vault_with_canary,
    },
};
use mementory_crypto::{ChunkReader, Context};
use mementory_model::Kind;
use mementory_testkit::{PASSPHRASE, TempVault, at};
use mementory_vault::{AppliedErasures, Backups, RedactSpan, RestoredBackup, Vault, VaultError};
use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// A vault whose list of erasures is also stored in `data`.
fn vault_with_list(data: &Path) -> TempVault {
    let t = vault_with_canary();
    apply_list(&t, data);
    t
}

fn apply_list(t: &TempVault, data: &Path) -> AppliedErasures {
    let ledger = t.vault.erasure_ledger();
    ledger.set_outside_folder(Some(data));
    ledger.apply(at(1_000), &|_| {}).unwrap()
}

fn backup(t: &TempVault, out: &Path) {
    t.vault
        .backups()
        .create(out, at(90), &AtomicBool::new(false), &|_, _| {})
        .unwrap();
}

/// Restores a backup into a new folder and opens the restored vault.
fn restore_and_open(from: &Path, ledgers: Option<&Path>) -> (RestoredBackup, TempVault) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("t.mementory");
    let restored = Backups::restore(
        from,
        &out,
        PASSPHRASE,
        ledgers,
        &AtomicBool::new(false),
        &|_, _| {},
    )
    .unwrap();
    let vault = Vault::open(&out, PASSPHRASE).unwrap();
    (restored.value, TempVault { folder, vault })
}

/// Copies the folder of a closed vault.
fn copy_vault_folder(dir: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let target = to.join(path.file_name().unwrap());
            if path.is_dir() {
                copy(&path, &target)
            } else {
                std::fs::copy(&path, &target).map(|_| ()).unwrap()
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    copy(dir, &folder.path().join("t.mementory"));
    folder
}

fn open_vault_in(folder: tempfile::TempDir) -> TempVault {
    let vault = Vault::open(&folder.path().join("t.mementory"), PASSPHRASE).unwrap();
    TempVault { folder, vault }
}

fn redact(t: &TempVault, id: &str, word: &str) {
    let text = t
        .vault
        .reader()
        .record(&t.vault.reader().view(id).unwrap())
        .unwrap()
        .text;
    let start = text.find(word).unwrap() as u32;
    let span = RedactSpan {
        start,
        end: start + word.len() as u32,
        class: "animal".into(),
    };
    let done = t
        .vault
        .redactor()
        .redact(id, &[span], true, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
}

fn assert_word_is_gone(t: &TempVault, word: &str) {
    assert_eq!(hit_count(t, word), 0, "not found");
    let places = VaultContents::of(t, &t.keys()).places_of(word);
    assert!(places.is_empty(), "{word} is in {places:?}");
}

const ONE_ERASURE_APPLIED: AppliedErasures = AppliedErasures {
    erasures: 1,
    incomplete: 0,
    has_outside_list: true,
    unread: 0,
};

#[test]
fn what_was_erased_stays_erased_after_an_older_backup_is_restored() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let t = vault_with_list(data.path());
    let older = other.path().join("backup");
    backup(&t, &older);
    let conversation = conversation_of(&t);
    let message = id_of(&t, Kind::Message, CANARY);
    assert!(
        erase(&t, std::slice::from_ref(&conversation))
            .receipt
            .complete
    );

    let (restored, copy) = restore_and_open(&older, Some(data.path()));
    assert_eq!(
        (restored.erased_since, restored.has_outside_list),
        (1, true)
    );
    assert!(hit_count(&copy, CANARY) > 0, "the backup has it");
    assert_eq!(apply_list(&copy, data.path()), ONE_ERASURE_APPLIED);
    for id in [&conversation, &message] {
        let erased_row = copy.vault.reader().view(id);
        assert!(
            matches!(erased_row, Err(VaultError::NotFound { erased: true, .. })),
            "{erased_row:?}"
        );
    }
    assert_word_is_gone(&copy, CANARY);
    assert_eq!(hit_count(&copy, "milk"), 1, "the others stay");
    let tombstones = |t: &TempVault| {
        let mut ids: Vec<String> = t
            .vault
            .audit()
            .tombstones()
            .unwrap()
            .into_iter()
            .map(|row| row.id)
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(tombstones(&copy), tombstones(&t), "the same tombstones");
    assert!(
        copy.vault
            .audit()
            .tombstones()
            .unwrap()
            .iter()
            .all(|row| row.signature_valid)
    );
    let report = copy
        .import_records(vec![record(Kind::Memory, "memory", SENTENCE)])
        .unwrap();
    assert_eq!(
        report.total().blocked,
        1,
        "an import does not bring it back either"
    );
    assert!(
        copy.vault
            .integrity()
            .check()
            .unwrap()
            .iter()
            .all(|place| place.ok)
    );
    assert_eq!(
        apply_list(&copy.reopen(), data.path()),
        AppliedErasures {
            erasures: 0,
            ..ONE_ERASURE_APPLIED
        },
        "once"
    );
}

#[test]
fn what_was_redacted_stays_redacted_after_an_older_backup_is_restored() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let t = vault_with_list(data.path());
    t.import_records(vec![record(
        Kind::Memory,
        "second",
        &format!("Once more: {SENTENCE}"),
    )])
    .unwrap();
    let older = other.path().join("backup");
    backup(&t, &older);
    let message = id_of(&t, Kind::Message, CANARY);
    redact(&t, &message, CANARY);

    let (restored, copy) = restore_and_open(&older, Some(data.path()));
    assert_eq!(
        (restored.erased_since, restored.has_outside_list),
        (1, true)
    );
    assert_eq!(apply_list(&copy, data.path()), ONE_ERASURE_APPLIED);
    let text = |t: &TempVault| {
        t.vault
            .reader()
            .record(&t.vault.reader().view(&message).unwrap())
            .unwrap()
            .text
    };
    assert_eq!(text(&copy), text(&t), "the same words went");
    assert_eq!(
        id_of(&copy, Kind::Memory, "Once more"),
        id_of(&t, Kind::Memory, "Once more"),
        "the other stays"
    );
    for version in copy.decrypted().windows(SENTENCE.len()) {
        assert_ne!(version, SENTENCE.as_bytes(), "in no version and no page");
    }
    let report = copy
        .import_records(vec![record(Kind::Memory, "fourth", SENTENCE)])
        .unwrap();
    assert_eq!(
        report.total().blocked,
        1,
        "nor does an import bring them back"
    );
}

#[test]
fn a_copy_of_the_folder_made_before_an_erasure_loses_the_records_too() {
    let data = tempfile::tempdir().unwrap();
    let t = vault_with_list(data.path());
    let (dir, TempVault { folder, vault }) = (t.dir(), t);
    drop(vault);
    let older = copy_vault_folder(&dir);
    let t = open_vault_in(folder);
    apply_list(&t, data.path());
    erase(&t, &[conversation_of(&t)]);
    let reopened = open_vault_in(older);
    assert_eq!(apply_list(&reopened, data.path()), ONE_ERASURE_APPLIED);
    assert_word_is_gone(&reopened, CANARY);
}

#[test]
fn a_newer_backup_beside_an_older_one_provides_the_list() {
    let (data, elsewhere, other) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let t = vault_with_list(data.path());
    let older = other.path().join("backup 1");
    backup(&t, &older);
    erase(&t, &[conversation_of(&t)]);
    backup(&t, &other.path().join("backup 2"));
    let (restored_backup, copy) = restore_and_open(&older, Some(elsewhere.path()));
    assert_eq!(
        (
            restored_backup.erased_since,
            restored_backup.has_outside_list
        ),
        (1, true),
        "each backup carries the list"
    );
    assert_eq!(
        apply_list(&copy, elsewhere.path()).erasures,
        1,
        "what was restored has it"
    );
    assert_word_is_gone(&copy, CANARY);
}

#[test]
fn without_any_list_it_is_unknown_what_was_erased_since_a_backup() {
    let (data, elsewhere, other) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let t = vault_with_list(data.path());
    let older = other.path().join("backup");
    backup(&t, &older);
    erase(&t, &[conversation_of(&t)]);
    let (restored, copy) = restore_and_open(&older, Some(elsewhere.path()));
    assert_eq!(
        (restored.erased_since, restored.has_outside_list),
        (0, false)
    );
    assert!(
        !apply_list(&copy, elsewhere.path()).has_outside_list,
        "nor does opening it"
    );
}

#[test]
fn a_damaged_list_and_one_of_another_vault_are_left_out() {
    let (data, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let t = vault_with_list(data.path());
    erase(&t, &[conversation_of(&t)]);
    let list = only_file(data.path());
    let original_bytes = std::fs::read(&list).unwrap();
    vault_with_list(foreign.path());
    let foreign_bytes = std::fs::read(only_file(foreign.path())).unwrap();
    let mut flipped = original_bytes.clone();
    flipped[60] ^= 1;
    for damaged in [
        &foreign_bytes,
        &flipped,
        &original_bytes[..20].to_vec(),
        &Vec::new(),
    ] {
        std::fs::write(&list, damaged).unwrap();
        let applied = apply_list(&t, data.path());
        assert_eq!(
            (applied.erasures, applied.unread),
            (0, 1),
            "said, and no reason to stop"
        );
        assert_eq!(
            apply_list(&t, data.path()).unread,
            0,
            "it is written anew from the vault's own"
        );
    }
}

fn only_file(dir: &Path) -> PathBuf {
    std::fs::read_dir(dir)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
}

#[test]
fn a_vault_older_than_the_erasure_list_builds_it_from_its_tombstones() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let t = vault_with_canary();
    let older = other.path().join("backup");
    backup(&t, &older);
    erase(&t, &[conversation_of(&t)]);
    let memory = id_of(&t, Kind::Memory, "tea");
    redact(&t, &memory, "tea");
    // Earlier versions of the program did not write this list.
    std::fs::remove_file(t.dir().join("erasures")).unwrap();
    assert_eq!(
        apply_list(&t, data.path()),
        AppliedErasures {
            erasures: 0,
            incomplete: 0,
            has_outside_list: false,
            unread: 0
        }
    );
    let (_, copy) = restore_and_open(&older, Some(data.path()));
    assert_eq!(apply_list(&copy, data.path()).erasures, 2);
    assert_word_is_gone(&copy, CANARY);
    assert_eq!(
        hit_count(&copy, "tea"),
        0,
        "the words are not known, so the text goes as a whole"
    );
    let report = copy
        .import_records(vec![record(Kind::Memory, "x", "Likes tea with milk.")])
        .unwrap();
    assert_eq!(
        report.total().blocked,
        1,
        "the words that it knows stay out"
    );
}

#[test]
fn the_list_has_ids_and_fingerprints_and_no_words() {
    let data = tempfile::tempdir().unwrap();
    let t = vault_with_list(data.path());
    let memory = id_of(&t, Kind::Memory, "tea");
    redact(&t, &memory, "milk");
    erase(&t, &[conversation_of(&t)]);
    let (keys, list) = (t.keys(), only_file(data.path()));
    let file = std::fs::File::open(&list).unwrap();
    let len = file.metadata().unwrap().len();
    let name = t.vault.header().vault_id;
    let context = Context {
        purpose: "erasures",
        name: &name,
        generation: 0,
    };
    let mut bytes = String::new();
    let reader = ChunkReader::open(file, len, keys.ledger(), &context).unwrap();
    reader.into_read().read_to_string(&mut bytes).unwrap();
    assert!(bytes.contains("tomb_"));
    for word in [
        CANARY,
        "piano",
        "milk",
        "tea",
        "About pets",
        "side.json",
        ".png",
    ] {
        assert!(!bytes.contains(word), "{word}");
    }
    assert_eq!(
        std::fs::read(t.dir().join("erasures")).unwrap().len() as u64,
        len,
        "the same in the vault"
    );
}

#[test]
fn an_erasure_whose_list_cannot_be_written_does_not_happen() {
    let t = vault_with_canary();
    std::fs::create_dir(t.dir().join("erasures")).unwrap();
    let conversation = conversation_of(&t);
    let failed = t.vault.eraser().erase(
        std::slice::from_ref(&conversation),
        "test",
        &[],
        at(100),
        &|_| {},
    );
    assert!(matches!(failed, Err(VaultError::Io { .. })), "{failed:?}");
    assert!(
        t.vault.reader().view(&conversation).is_ok(),
        "nothing was changed"
    );
    std::fs::remove_dir(t.dir().join("erasures")).unwrap();
    assert!(erase(&t, &[conversation]).receipt.complete);
}
