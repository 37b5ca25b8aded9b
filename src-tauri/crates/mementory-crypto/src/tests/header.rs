//! The header: which secrets open it, and which error is returned otherwise.
use crate::{
    CryptoError, HEADER_FILE, KdfChoice, KdfParams, RecoveryCode, SlotKind, change_passphrase, create_header, hazmat,
    new_recovery_code, open_header, read_header,
};
use std::path::Path;
use tempfile::TempDir;

const CREATION_TIME: &str = "2026-11-21T10:00:00Z";
const PASSPHRASE: &str = "correct horse battery staple";

fn new_vault() -> (TempDir, crate::VaultKeys, RecoveryCode) {
    let dir = tempfile::tempdir().unwrap();
    let (_, keys, code) = create_header(dir.path(), PASSPHRASE, KdfChoice::Floor, CREATION_TIME).unwrap();
    (dir, keys, code)
}

fn header_text(dir: &Path) -> String {
    std::fs::read_to_string(dir.join(HEADER_FILE)).unwrap()
}

fn write_header(dir: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::write(dir.join(HEADER_FILE), bytes).unwrap();
}

/// The changed content with a correct checksum, which an attacker can compute without a key.
pub(super) fn with_correct_checksum(changed_text: &str) -> String {
    let covered = &changed_text[..changed_text.len() - 68];
    format!(
        "{covered}{}\"\n}}\n",
        hex::encode(hazmat::labelled_sha256(b"keepsake/v1/header-checksum", covered.as_bytes()))
    )
}

#[test]
fn both_secrets_open_the_same_keys() {
    let (dir, keys, code) = new_vault();
    let (header, by_passphrase) = open_header(dir.path(), PASSPHRASE).unwrap();
    let typed_code = code.to_string().to_lowercase().replace('-', " ").replace('0', "o").replace('1', "l");
    let (_, by_code) = open_header(dir.path(), &typed_code).unwrap();
    for k in [&by_passphrase, &by_code] {
        assert_eq!(k.store(), keys.store());
        assert_eq!(k.signing().public(), keys.signing().public());
    }
    let all = [keys.store(), keys.index(), keys.blobs(), keys.audit(), keys.ids(), keys.fingerprints(), keys.spool()];
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "every label gives its own key");
    assert_eq!(header, read_header(dir.path()).unwrap());
    assert_eq!((header.version, header.created_at.as_str(), header.vault_id.len()), (1, CREATION_TIME, 36));
    assert_eq!(header.slots.iter().map(|s| s.kind).collect::<Vec<_>>(), [SlotKind::Passphrase, SlotKind::Recovery]);
    assert!(header.slots.iter().all(|s| s.params == KdfParams::floor()));
}

#[test]
fn a_missing_header_a_damaged_one_and_a_wrong_secret_are_different_errors() {
    let (dir, ..) = new_vault();
    assert!(matches!(open_header(dir.path(), "wrong"), Err(CryptoError::WrongSecret)));
    let other_code = RecoveryCode::generate().unwrap().to_string();
    assert!(matches!(open_header(dir.path(), &other_code), Err(CryptoError::WrongSecret)));
    write_header(dir.path(), &header_text(dir.path())[1..]);
    assert!(matches!(open_header(dir.path(), PASSPHRASE), Err(CryptoError::HeaderDamaged(_))));
    std::fs::remove_file(dir.path().join(HEADER_FILE)).unwrap();
    let missing = open_header(dir.path(), PASSPHRASE).unwrap_err();
    assert!(matches!(missing, CryptoError::Io(e) if e.kind() == std::io::ErrorKind::NotFound));
}

#[test]
fn a_flipped_bit_is_reported_as_damage_and_not_as_a_wrong_passphrase() {
    let (dir, ..) = new_vault();
    let original = header_text(dir.path()).into_bytes();
    for position in 0..original.len() {
        for bit in (0..8).map(|n| 1_u8 << n) {
            let mut changed = original.clone();
            changed[position] ^= bit;
            write_header(dir.path(), &changed);
            let result = read_header(dir.path());
            assert!(matches!(result, Err(CryptoError::HeaderDamaged(_))), "byte {position} bit {bit}: {result:?}");
        }
    }
    for cut in 0..original.len() {
        write_header(dir.path(), &original[..cut]);
        assert!(matches!(read_header(dir.path()), Err(CryptoError::HeaderDamaged(_))), "cut to {cut}");
    }
    write_header(dir.path(), [original.as_slice(), b" "].concat());
    assert!(matches!(open_header(dir.path(), PASSPHRASE), Err(CryptoError::HeaderDamaged(_))), "extended");
}

#[test]
fn a_corrected_checksum_is_not_enough() {
    let (dir, ..) = new_vault();
    let original = header_text(dir.path());
    let changes = [
        original.replace(CREATION_TIME, "2020-01-01T00:00:00Z"),
        original.replacen("  \"version\"", "   \"version\"", 1),
        original.replacen("\"mac\": \"", "\"mac\": \"0", 1),
    ];
    for changed in changes {
        write_header(dir.path(), with_correct_checksum(&changed));
        let result = open_header(dir.path(), PASSPHRASE);
        assert!(matches!(result, Err(CryptoError::HeaderDamaged(_))), "{result:?}");
    }
    // If the vault id or a slot's kind is changed, opening the slot fails, because its associated data contains both.
    let id = read_header_id(&original);
    write_header(dir.path(), with_correct_checksum(&original.replace(&id, "00000000-0000-4000-8000-000000000000")));
    assert!(matches!(open_header(dir.path(), PASSPHRASE), Err(CryptoError::WrongSecret)));
    write_header(dir.path(), with_correct_checksum(&original.replace("\"recovery\"", "\"passphrase\"")));
    assert!(matches!(open_header(dir.path(), PASSPHRASE), Err(CryptoError::HeaderDamaged(_))));
}

fn read_header_id(header_text: &str) -> String {
    let position = header_text.find("\"vault_id\": \"").unwrap() + 13;
    header_text[position..position + 36].to_owned()
}

#[test]
fn a_slot_of_another_vault_does_not_open() {
    let (a, ..) = new_vault();
    let (b, ..) = new_vault();
    let slots = |t: &str| (t.find("\"slots\"").unwrap(), t.find(",\n  \"mac\"").unwrap());
    let (ta, tb) = (header_text(a.path()), header_text(b.path()));
    let ((a0, a1), (b0, b1)) = (slots(&ta), slots(&tb));
    write_header(a.path(), with_correct_checksum(&format!("{}{}{}", &ta[..a0], &tb[b0..b1], &ta[a1..])));
    assert!(matches!(open_header(a.path(), PASSPHRASE), Err(CryptoError::WrongSecret)));
}

#[test]
fn kdf_parameters_have_a_minimum_and_a_maximum() {
    let (dir, ..) = new_vault();
    let original = header_text(dir.path());
    let cases = [
        ("\"memory_kib\": 65536", "\"memory_kib\": 65535"),
        ("\"memory_kib\": 65536", "\"memory_kib\": 2097153"),
        ("\"memory_kib\": 65536", "\"memory_kib\": 4294967295"),
        ("\"passes\": 3", "\"passes\": 2"),
        ("\"passes\": 3", "\"passes\": 17"),
        ("\"lanes\": 4", "\"lanes\": 0"),
        ("\"lanes\": 4", "\"lanes\": 9"),
    ];
    for (from, to) in cases {
        write_header(dir.path(), with_correct_checksum(&original.replacen(from, to, 1)));
        assert!(matches!(open_header(dir.path(), PASSPHRASE), Err(CryptoError::KdfParameters)), "{to}");
        assert!(matches!(read_header(dir.path()), Err(CryptoError::KdfParameters)), "{to}");
    }
}

#[test]
fn newer_oversized_and_unknown_headers_are_refused() {
    let (dir, ..) = new_vault();
    let original = header_text(dir.path());
    write_header(dir.path(), with_correct_checksum(&original.replacen("\"version\": 1", "\"version\": 2", 1)));
    assert!(matches!(read_header(dir.path()), Err(CryptoError::HeaderVersion(2))));
    write_header(dir.path(), format!("{}{original}", " ".repeat(65_536)));
    assert!(matches!(read_header(dir.path()), Err(CryptoError::HeaderDamaged("size"))));
    write_header(dir.path(), with_correct_checksum(&original.replacen("\"version\"", "\"more\": 1, \"version\"", 1)));
    assert!(matches!(read_header(dir.path()), Err(CryptoError::HeaderDamaged(_))), "unknown member");
    write_header(dir.path(), with_correct_checksum(&original.replacen("\"argon2id-19\"", "\"argon2i-19\"", 1)));
    assert!(matches!(read_header(dir.path()), Err(CryptoError::HeaderDamaged(_))), "unknown kdf");
    for noise in ["", "{}", "\u{feff}{}", "[[[[[[", &"[".repeat(60_000)] {
        write_header(dir.path(), noise);
        assert!(matches!(read_header(dir.path()), Err(CryptoError::HeaderDamaged(_))));
    }
}

#[test]
fn changing_the_passphrase_rewrites_one_slot() {
    let (dir, keys, code) = new_vault();
    let before = read_header(dir.path()).unwrap();
    let later_time = "2026-12-01T00:00:00Z";
    let after = change_passphrase(dir.path(), PASSPHRASE, "a new one entirely", KdfChoice::Floor, later_time).unwrap();
    assert_eq!(after.header.slots[1], before.slots[1], "recovery slot untouched");
    assert_eq!(after.header.slots[0].created_at, later_time);
    assert!(matches!(open_header(dir.path(), PASSPHRASE), Err(CryptoError::WrongSecret)));
    assert_eq!(open_header(dir.path(), "a new one entirely").unwrap().1.store(), keys.store());
    // The recovery code can set a new passphrase.
    change_passphrase(dir.path(), &code.to_string(), PASSPHRASE, KdfChoice::Floor, later_time).unwrap();
    let (_, fresh) = new_recovery_code(dir.path(), PASSPHRASE, later_time).unwrap();
    assert!(matches!(open_header(dir.path(), &code.to_string()), Err(CryptoError::WrongSecret)));
    assert_eq!(open_header(dir.path(), &fresh.to_string()).unwrap().1.index(), keys.index());
    assert!(matches!(
        change_passphrase(dir.path(), "wrong", "x", KdfChoice::Floor, later_time),
        Err(CryptoError::WrongSecret)
    ));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temp file stays");
}

#[test]
fn an_existing_header_is_not_replaced() {
    let (dir, ..) = new_vault();
    let second_error = create_header(dir.path(), PASSPHRASE, KdfChoice::Floor, CREATION_TIME).unwrap_err();
    assert!(matches!(second_error, CryptoError::Io(e) if e.kind() == std::io::ErrorKind::AlreadyExists));
}

#[test]
fn composed_and_decomposed_passphrases_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    create_header(dir.path(), "caf\u{e9} no\u{eb}l", KdfChoice::Floor, CREATION_TIME).unwrap();
    open_header(dir.path(), "cafe\u{301} noe\u{308}l").unwrap();
}

#[test]
fn a_passphrase_of_any_length_counts_to_its_last_character() {
    let dir = tempfile::tempdir().unwrap();
    let long = "kites".repeat(2000);
    create_header(dir.path(), &long, KdfChoice::Floor, CREATION_TIME).unwrap();
    open_header(dir.path(), &long).unwrap();
    for wrong in ["", &long[1..], &long[..long.len() - 1]] {
        let result = open_header(dir.path(), wrong);
        assert!(matches!(result, Err(CryptoError::WrongSecret)), "{} characters", wrong.len());
    }
}

#[test]
fn the_header_contains_no_secret() {
    let (dir, keys, code) = new_vault();
    let file = header_text(dir.path());
    for secret in [PASSPHRASE.to_owned(), code.to_string(), hex::encode(keys.store())] {
        assert!(!file.contains(&secret));
    }
}
