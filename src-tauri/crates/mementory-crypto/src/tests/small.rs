//! Recovery codes, passphrases, calibration, keyed hashes, signatures, and what `Debug` shows.
use crate::{
    KdfParams, KeyedHasher, MINIMUM_SCORE, RecoveryCode, Secret, SigningKey, keyed_digest, keyed_id, strength, suggest,
    verify,
};
use std::time::Duration;

#[test]
fn recovery_codes_tolerate_copying_by_hand() {
    let code = RecoveryCode::generate().unwrap();
    let code_text = code.to_string();
    assert_eq!(code_text.len(), 39);
    assert!(code_text.split('-').count() == 8 && code_text.split('-').all(|g| g.len() == 4));
    let spellings = [
        code_text.clone(),
        code_text.to_lowercase(),
        code_text.replace('-', ""),
        code_text.replace('-', " "),
        code_text.replace('-', "\u{2013}"),
        format!("  {}\n", code_text.replace('0', "O").replace('1', "I")),
        code_text.to_lowercase().replace('0', "o").replace('1', "l"),
    ];
    for spelling in spellings {
        assert_eq!(RecoveryCode::parse(&spelling).map(|c| c.to_string()), Some(code_text.clone()), "{spelling}");
    }
    for changed in
        ["", "0000", &code_text[1..], &format!("{code_text}0"), &code_text.replacen('-', "U", 1), &"é".repeat(32)]
    {
        assert!(RecoveryCode::parse(changed).is_none(), "{changed}");
    }
}

#[test]
fn strength_has_five_steps_and_a_reason_below_the_minimum() {
    for weak in ["", "   ", "password", "qwertyui", "aaaaaaaaaa", "1234567", "abc", "mementory"] {
        let (score, label, reason) = strength(weak);
        assert!(score < MINIMUM_SCORE && reason.is_some(), "{weak}: {score} {label}");
    }
    let (score, label, reason) = strength("larch obscure tavern quiet");
    assert!(score >= 3 && matches!(label, "Good" | "Strong") && reason.is_none());
    assert!(!strength(&"x1!q".repeat(5000)).1.is_empty(), "only the start of a long input is evaluated");
    assert_eq!(strength("пароль для хранилища").2, None);
}

#[test]
fn suggested_passphrases_have_four_words_and_are_strong() {
    let (a, b) = (suggest().unwrap(), suggest().unwrap());
    assert_ne!(a, b);
    assert_eq!(a.split(' ').count(), 4);
    assert!(strength(&a).0 >= 3, "{a}");
}

#[test]
fn calibration_raises_memory_first_then_passes() {
    let scaled = |ms| KdfParams::scaled_params(Duration::from_millis(ms));
    assert_eq!(scaled(5000), KdfParams::floor());
    assert_eq!(scaled(751), KdfParams::floor());
    assert_eq!(scaled(190), KdfParams { memory_kib: 192 * 1024, passes: 3, lanes: 4 });
    assert_eq!(scaled(47), KdfParams { memory_kib: 960 * 1024, passes: 3, lanes: 4 });
    assert_eq!(scaled(25), KdfParams { memory_kib: 1024 * 1024, passes: 5, lanes: 4 });
    assert_eq!(scaled(0), KdfParams { memory_kib: 1024 * 1024, passes: 16, lanes: 4 });
    for ms in 0..2000 {
        scaled(ms).check().unwrap();
    }
}

#[test]
fn keyed_hashes_distinguish_parts() {
    let key = [1; 32];
    assert_ne!(keyed_id(&key, &[b"ab", b"c"]), keyed_id(&key, &[b"a", b"bc"]));
    assert_ne!(keyed_id(&key, &[b"ab"]), keyed_id(&key, &[b"ab", b""]));
    assert_ne!(keyed_id(&key, &[b"ab"]), keyed_id(&[2; 32], &[b"ab"]));
    assert_eq!(keyed_digest(&key, &[b"ab"])[..16], keyed_id(&key, &[b"ab"]));
    let mut pieces = KeyedHasher::new(&key);
    pieces.update(b"a");
    pieces.update(b"b");
    let mut whole_hasher = KeyedHasher::new(&key);
    whole_hasher.update(b"ab");
    assert_eq!(pieces.finish(), whole_hasher.finish());
}

#[test]
fn the_prepared_hasher_has_the_key_for_ids() {
    let now = "2026-11-21T10:00:00Z";
    let dir = tempfile::tempdir().unwrap();
    let (_, keys, _) = crate::create_header(dir.path(), "a b c d", crate::KdfChoice::Floor, now).unwrap();
    let parts: [&[u8]; 2] = [b"ab", b"c"];
    assert_eq!(keys.id_hasher().id_of(&parts), keyed_id(keys.ids(), &parts));
    let before = *keys.ids();
    let seeded = keys.with_ids_from(&[3; 32]);
    assert_ne!(*seeded.ids(), before);
    assert_eq!(seeded.id_hasher().id_of(&parts), keyed_id(seeded.ids(), &parts));
}

#[test]
fn signatures_verify_and_changed_ones_do_not() {
    let key = SigningKey::from_seed(&[9; 32]);
    let signature = key.sign(b"message");
    assert!(verify(&key.public(), b"message", &signature));
    assert!(!verify(&key.public(), b"massage", &signature));
    assert!(!verify(&SigningKey::from_seed(&[8; 32]).public(), b"message", &signature));
    for position in 0..64 {
        let mut changed = signature;
        changed[position] ^= 1;
        assert!(!verify(&key.public(), b"message", &changed), "byte {position}");
    }
    // Small-order public keys verify any signature unless verification is strict.
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut zero = [0; 64];
    zero[0] = 1;
    assert!(!verify(&identity, b"anything", &zero));
}

#[test]
fn debug_shows_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let now = "2026-11-21T10:00:00Z";
    let (_, keys, code) = crate::create_header(dir.path(), "a b c d", crate::KdfChoice::Floor, now).unwrap();
    assert_eq!(format!("{keys:?} {code:?} {:?}", keys.signing()), "VaultKeys RecoveryCode SigningKey");
    assert_eq!(format!("{:?} {:?}", Secret::new([65; 32]), KeyedHasher::new(&[65; 32])), "Secret KeyedHasher");
    let writer =
        crate::ChunkWriter::new(Vec::new(), keys.blobs(), &crate::Context { purpose: "p", name: "n", generation: 0 });
    assert_eq!(format!("{:?}", writer.unwrap()), "ChunkWriter { number: 0, .. }");
}
