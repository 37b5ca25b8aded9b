//! A new recovery code opens the vault, the old one no longer does, and the audit log records the change.
use mementory_crypto::{KdfChoice, SlotKind};
use mementory_testkit::{PASSPHRASE, at};
use mementory_vault::{Vault, VaultError};

#[test]
fn a_new_recovery_code_replaces_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("t.mementory");
    let (vault, old) = Vault::create(&dir, PASSPHRASE, KdfChoice::Floor, at(0)).unwrap();
    assert!(
        matches!(
            vault.new_recovery_code("not the passphrase", at(60)),
            Err(VaultError::WrongSecret)
        ),
        "who does not know the passphrase gets no code"
    );
    let before = vault.header();
    let (header, new) = vault.new_recovery_code(PASSPHRASE, at(60)).unwrap().value;
    let created_before_and_after = |kind: SlotKind| {
        let find = |slots: &[mementory_crypto::SlotInfo]| {
            slots
                .iter()
                .find(|s| s.kind == kind)
                .unwrap()
                .created_at
                .clone()
        };
        (find(&before.slots), find(&header.slots))
    };
    let (passphrase, same) = created_before_and_after(SlotKind::Passphrase);
    assert_eq!(passphrase, same, "the passphrase is as old as before");
    let (code, newer) = created_before_and_after(SlotKind::Recovery);
    assert!(code < newer, "the code is new");
    assert_eq!(vault.header(), header, "the open vault knows it too");

    let log = vault.audit().entries().unwrap();
    let ops: Vec<&str> = log.iter().map(|e| e.op.as_str()).collect();
    assert_eq!(ops, ["create", "recovery_code"], "one change, said once");
    assert_eq!(log.last().unwrap().at, at(60).as_micros());
    assert!(vault.audit().verify().unwrap());

    drop(vault);
    assert!(
        matches!(
            Vault::open(&dir, &old.to_string()),
            Err(VaultError::WrongSecret)
        ),
        "the old code no longer opens it"
    );
    drop(Vault::open(&dir, &new.to_string()).unwrap());
    drop(Vault::open(&dir, PASSPHRASE).unwrap());
}
