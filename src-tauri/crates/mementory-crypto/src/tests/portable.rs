//! Key files in PEM and signatures of portable files, tested against reference data of other programs if it is
//! available.
use crate::{
    CryptoError,
    portable::{Algorithm, SigningKey, verify},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Reports a skipped test on standard error and to `npm test` (tests/tools/layers.mjs).
#[allow(clippy::print_stderr)]
fn report_skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
    let Some(list) = std::env::var_os("MEMENTORY_SKIPPED") else { return };
    let line = format!("{}\t{reason}\n", std::thread::current().name().unwrap_or("a test"));
    let mut list = std::fs::OpenOptions::new().create(true).append(true).open(list).unwrap();
    std::io::Write::write_all(&mut list, line.as_bytes()).unwrap();
}

/// A file of the shared reference data. If it is absent, reports the test as skipped and returns `None`.
fn reference(name: &str) -> Option<String> {
    let repo = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../..");
    let shared_folder = std::env::var_os("MEMENTORY_SHARED").map_or_else(|| repo.join("../shared"), PathBuf::from);
    let file_text = std::fs::read_to_string(shared_folder.join("reference/zaxy").join(name)).ok();
    if file_text.is_none() {
        report_skipped(&format!("{name} is not in the shared reference data"));
    }
    file_text
}

fn refusal_reason(pem: &str) -> &'static str {
    match SigningKey::from_pem(pem) {
        Err(CryptoError::KeyFile(refusal_reason)) => refusal_reason,
        other => panic!("{other:?}"),
    }
}

fn pem_block(der: &[u8]) -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der))
}

#[test]
fn reference_keys_round_trip() {
    for algorithm in Algorithm::ALL {
        let name = algorithm.as_str();
        let Some(pem) = reference(&format!("test-{name}.private.pem")) else { continue };
        let Some(public) = reference(&format!("test-{name}.public.hex")) else { continue };
        let key = SigningKey::from_pem(&pem).unwrap();
        assert_eq!((key.algorithm(), key.public_hex()), (algorithm, public.trim().to_owned()));
        assert_eq!(key.to_pem().as_str(), pem);
        assert_eq!(key.public_key().len(), algorithm.public_len());
    }
}

#[test]
fn reference_signatures_verify() {
    let field = |text: &str, name: &str| {
        let bundle: serde_json::Value = serde_json::from_str(text).unwrap();
        bundle[name].as_str().unwrap().to_owned()
    };
    for algorithm in Algorithm::ALL {
        let name = algorithm.as_str();
        let Some(bundle) = reference(&format!("garden.signed.{name}.json")) else { continue };
        let names = ["algorithm", "created_at", "merkle_root", "nonce", "public_key", "session_id", "version"];
        let header: serde_json::Map<_, _> = names.iter().map(|n| ((*n).into(), field(&bundle, n).into())).collect();
        let message = serde_json::to_string(&header).unwrap().into_bytes();
        let bytes = |n: &str| hex::decode(field(&bundle, n)).unwrap();
        let (key, signature) = (bytes("public_key"), bytes("signature"));
        assert_eq!((key.len(), signature.len()), (algorithm.public_len(), algorithm.signature_len()));
        assert!(verify(name, &key, &message, &signature), "{name}");
        for position in [0, signature.len() / 2, signature.len() - 1] {
            let mut other = signature.clone();
            other[position] ^= 1;
            assert!(!verify(name, &key, &message, &other), "{name} {position}");
        }
        let mut other = message.clone();
        other[10] ^= 1;
        assert!(!verify(name, &key, &other, &signature));
    }
}

#[test]
fn new_keys_sign_and_round_trip_through_their_file() {
    for algorithm in Algorithm::ALL {
        let key = SigningKey::generate(algorithm).unwrap();
        let read = SigningKey::from_pem(&format!("a note\n{}\r\nanother", key.to_pem().replace('\n', "\r\n"))).unwrap();
        assert_eq!(read.public_hex(), key.public_hex());
        let signature = read.sign(b"message").unwrap();
        assert_eq!(signature.len(), algorithm.signature_len());
        assert!(verify(algorithm.as_str(), &key.public_key(), b"message", &signature));
        assert!(!verify(algorithm.as_str(), &key.public_key(), b"massage", &signature));
        let other_algorithm = Algorithm::ALL.into_iter().find(|a| *a != algorithm).unwrap();
        assert!(!verify(other_algorithm.as_str(), &key.public_key(), b"message", &signature));
        assert!(!verify("rsa", &key.public_key(), b"message", &signature));
        for (key, signature) in [(&key.public_key()[1..], &signature[..]), (&key.public_key(), &signature[1..])] {
            assert!(!verify(algorithm.as_str(), key, b"message", signature));
        }
        assert_eq!(format!("{key:?}"), format!("SigningKey({})", algorithm.as_str()));
        let hedged = key.sign(b"message").unwrap() != key.sign(b"message").unwrap();
        assert_eq!(hedged, algorithm == Algorithm::MlDsa65);
    }
}

#[test]
fn key_files_with_a_public_or_an_expanded_key_are_read() {
    let seed = [7u8; 32];
    let key = |algorithm| SigningKey::from_seed(algorithm, Zeroizing::new(seed));
    // PKCS#8 version 2, with the public key after the private key.
    let ed25519_key = key(Algorithm::Ed25519);
    let head = [0x02, 1, 1, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 34, 4, 32];
    let with = |public: &[u8]| {
        let body = [&head[..], &seed, &[0x81, 33, 0], public].concat();
        pem_block(&[&[0x30, u8::try_from(body.len()).unwrap()], body.as_slice()].concat())
    };
    assert_eq!(SigningKey::from_pem(&with(&ed25519_key.public_key())).unwrap().public_hex(), ed25519_key.public_hex());
    assert_eq!(refusal_reason(&with(&[9; 32])), "its halves do not belong together");
    // ML-DSA-65 as seed and expanded key.
    let ml_dsa_key = key(Algorithm::MlDsa65);
    let long_element = |tag: u8, content: &[u8]| {
        let len = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82, len[0], len[1]], content].concat()
    };
    let oid = [0x30, 11, 6, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12];
    let file = |inner: &[u8]| pem_block(&long_element(0x30, &[&[2, 1, 0], &oid[..], &long_element(4, inner)].concat()));
    let expanded = {
        let ml_dsa_key = ml_dsa::ExpandedSigningKey::<ml_dsa::MlDsa65>::from_seed(&seed.into());
        #[expect(deprecated, reason = "what others may write")]
        let bytes = ml_dsa_key.to_expanded().to_vec();
        bytes
    };
    let seed_and_expanded = long_element(0x30, &[&[4, 32], &seed[..], &long_element(4, &expanded)].concat());
    assert_eq!(SigningKey::from_pem(&file(&seed_and_expanded)).unwrap().public_hex(), ml_dsa_key.public_hex());
    let mut wrong_expanded = expanded.clone();
    wrong_expanded[100] ^= 1;
    let seed_and_expanded = long_element(0x30, &[&[4, 32], &seed[..], &long_element(4, &wrong_expanded)].concat());
    assert_eq!(refusal_reason(&file(&seed_and_expanded)), "its halves do not belong together");
    assert_eq!(refusal_reason(&file(&long_element(4, &expanded))), "it holds an expanded key without its seed");
}

#[test]
fn invalid_key_files_are_refused_with_a_reason() {
    let pem = SigningKey::generate(Algorithm::Ed25519).unwrap().to_pem();
    let der = STANDARD.decode(pem.lines().nth(1).unwrap()).unwrap();
    let changed = |position: usize, to: u8| {
        let mut der = der.clone();
        der[position] = to;
        pem_block(&der)
    };
    for (file, expected) in [
        (String::new(), "there is no PRIVATE KEY block in it"),
        (pem.replace("END", "FIN"), "its PRIVATE KEY block has no end"),
        (pem.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"), "it is encrypted, which is not supported"),
        (pem.replacen("MC4", "*C4", 1), "its PRIVATE KEY block is not Base64"),
        (format!("-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----", "A".repeat(20_000)), "it is too long"),
        (pem_block(&[]), "it is cut off or not DER"),
        (pem_block(&der[..20]), "it is cut off or not DER"),
        (pem_block(&[&der[..], &[0]].concat()), "something follows the key in it"),
        (changed(0, 0x31), "it is not a PKCS#8 private key"),
        (changed(1, 0x84), "it is cut off or not DER"),
        (changed(4, 2), "its version is not known"),
        (changed(11, 0x71), "its algorithm is neither Ed25519 nor ML-DSA-65"),
        (changed(14, 0x80), "its key is in an unknown form"),
        (changed(15, 0x1f), "something follows the key in it"),
    ] {
        assert_eq!(refusal_reason(&file), expected);
    }
    // Truncated or changed files fail without a panic.
    for position in 0..der.len() {
        let _ = SigningKey::from_pem(&pem_block(&der[..position]));
        let _ = SigningKey::from_pem(&changed(position, 0xff));
    }
}
