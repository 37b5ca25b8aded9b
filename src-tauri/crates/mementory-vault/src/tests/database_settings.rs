//! Settings of the database that keep deleted and temporary data off the disk.
#![allow(clippy::unwrap_used)]
use crate::vault::Vault;
use mementory_crypto::KdfChoice;
use mementory_model::Timestamp;
use rusqlite::Connection;

/// Returns the values of `secure_delete` and `temp_store`. For the first, 1 means on. For the second, 2 means in
/// memory.
fn settings(c: &Connection) -> (i64, i64) {
    let value = |name: &str| c.query_row(&format!("PRAGMA {name}"), [], |r| r.get(0)).unwrap();
    (value("secure_delete"), value("temp_store"))
}

fn assert_safe(vault: &Vault) {
    let store = &vault.context().store;
    assert_eq!(store.write(|tx| Ok::<_, crate::VaultError>(settings(tx))).unwrap(), (1, 2), "of the writer");
    assert_eq!(store.read(|c| Ok::<_, crate::VaultError>(settings(c))).unwrap(), (1, 2), "of a reader");
}

#[test]
fn deleted_bytes_are_overwritten_and_temporary_tables_stay_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let time = Timestamp::from_micros(1_000_000).unwrap();
    let path = folder.path().join("v");
    let vault = Vault::create(&path, "correct horse battery staple", KdfChoice::Floor, time).unwrap().0;
    assert_safe(&vault);
    let id = vault.editor().add("first words", None, vec![], time).unwrap().value;
    vault.eraser().erase(&[id], "", &[], time, &|_| {}).unwrap();
    assert_safe(&vault);
    drop(vault);
    assert_safe(&Vault::open(&path, "correct horse battery staple").unwrap());
}
