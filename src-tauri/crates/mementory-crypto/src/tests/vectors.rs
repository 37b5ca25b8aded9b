//! Fixed test vectors in `fixtures/crypto/*.json`. Files that a released version wrote must always open, and files that
//! it refused must always be refused. `MEMENTORY_BLESS=1` writes missing vectors and never replaces existing ones.
use crate::{
    ChunkReader, ChunkWriter, Context, CryptoError, HEADER_FILE, KdfChoice, KeyedHasher, RecoveryCode, SigningKey,
    VaultKeys, create_header, hazmat, keyed_digest, keyed_id, open_header, verify,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, io::Write, path::PathBuf};

/// One test vector; bytes are in hex.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    about: String,
    /// `success` or the name of the error.
    expect: String,
    input: Input,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
enum Input {
    /// A chunked file with its key and context. `plain` is a digest of the plaintext.
    Chunked { key: String, purpose: String, name: String, generation: u64, file: String, plain: Option<String> },
    /// A header and a secret. `keys` are digests made with each of the resulting keys.
    Header { secret: String, text: String, keys: Option<BTreeMap<String, String>> },
    /// Parts hashed with a key. `digest` and `id` cover the list of parts; `stream` covers the bytes of all parts in
    /// sequence.
    Keyed { key: String, parts: Vec<String>, digest: String, id: String, stream: String },
    /// A message and its signature.
    Signature { public: String, message: String, signature: String },
    /// A typed text and its recovery code.
    Recovery { typed: String, code: Option<String> },
}

fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/crypto")
}

fn bytes<const N: usize>(hex_text: &str) -> [u8; N] {
    hex::decode(hex_text).unwrap().try_into().unwrap()
}

fn digests(keys: &VaultKeys) -> BTreeMap<String, String> {
    let all = [
        ("store", keys.store()),
        ("index", keys.index()),
        ("blobs", keys.blobs()),
        ("audit", keys.audit()),
        ("ids", keys.ids()),
        ("fingerprints", keys.fingerprints()),
        ("spool", keys.spool()),
        ("signing", &keys.signing().public()),
    ];
    all.map(|(name, key)| (name.to_owned(), hex::encode(keyed_digest(key, &[b"vector"])))).into()
}

fn error_name(error: &CryptoError) -> &'static str {
    match error {
        CryptoError::WrongSecret => "wrong_secret",
        CryptoError::HeaderDamaged(_) => "header_damaged",
        CryptoError::HeaderVersion(_) => "header_version",
        CryptoError::KdfParameters => "kdf_parameters",
        CryptoError::Decrypt => "decrypt",
        CryptoError::Io(_) => "io",
        CryptoError::Random => "random",
        CryptoError::KeyFile(_) => "key_file",
        CryptoError::NotForPassphrase => "not_for_passphrase",
    }
}

/// The result for a vector's input, in the form of [`Vector::expect`].
fn outcome(input: &Input) -> String {
    let result_name = |result: Result<bool, CryptoError>| match result {
        Ok(true) => "success".to_owned(),
        Ok(false) => "other_content".to_owned(),
        Err(e) => error_name(&e).to_owned(),
    };
    match input {
        Input::Chunked { key, purpose, name, generation, file, plain } => {
            let file = hex::decode(file).unwrap();
            let len = file.len() as u64;
            let context = Context { purpose, name, generation: *generation };
            result_name(ChunkReader::open(file, len, &bytes(key), &context).and_then(|reader| {
                let mut out = vec![0; usize::try_from(reader.len()).unwrap()];
                reader.read_at(0, &mut out)?;
                Ok(plain.as_deref() == Some(hex::encode(hazmat::labelled_sha256(b"plain", &out)).as_str()))
            }))
        }
        Input::Header { secret, text, keys } => {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(HEADER_FILE), text).unwrap();
            result_name(open_header(dir.path(), secret).map(|(_, found)| keys.as_ref() == Some(&digests(&found))))
        }
        Input::Keyed { key, parts, digest, id, stream } => {
            let parts: Vec<Vec<u8>> = parts.iter().map(|p| hex::decode(p).unwrap()).collect();
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            let key = bytes(key);
            let mut hasher = KeyedHasher::new(&key);
            parts.iter().for_each(|p| hasher.update(p));
            let is_same = hex::encode(keyed_digest(&key, &parts)) == *digest
                && hex::encode(keyed_id(&key, &parts)) == *id
                && hex::encode(hasher.finish()) == *stream;
            result_name(Ok(is_same))
        }
        Input::Signature { public, message, signature } => {
            let is_valid = verify(&bytes(public), &hex::decode(message).unwrap(), &bytes(signature));
            if is_valid { "success".into() } else { "refused".into() }
        }
        Input::Recovery { typed, code } => match (RecoveryCode::parse(typed), code) {
            (Some(found), Some(code)) => result_name(Ok(found.to_string() == *code)),
            (None, None) => "refused".into(),
            _ => "other_content".into(),
        },
    }
}

#[test]
fn frozen_vectors_have_the_same_outcome() {
    if std::env::var_os("MEMENTORY_BLESS").is_some() {
        write_missing_vectors();
    }
    let mut vector_count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let vector: Vector = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(outcome(&vector.input), vector.expect, "{}: {}", path.display(), vector.about);
        vector_count += 1;
    }
    assert!(vector_count >= 40, "vectors found: {vector_count}");
}

fn write_missing_vectors() {
    std::fs::create_dir_all(folder()).unwrap();
    let put = |file: &str, about: &str, expect: &str, input: Input| {
        let path = folder().join(format!("{file}.json"));
        if !path.exists() {
            assert_eq!(outcome(&input), expect, "{file}");
            let vector = Vector { about: about.into(), expect: expect.into(), input };
            std::fs::write(path, serde_json::to_string_pretty(&vector).unwrap() + "\n").unwrap();
        }
    };
    chunked_vectors(&put);
    header_vectors(&put);
    small_vectors(&put);
}

type PutVector<'p> = &'p dyn Fn(&str, &str, &str, Input);

fn chunked_vectors(put: PutVector<'_>) {
    if folder().join("chunked-short.json").exists() {
        return;
    }
    let key = [0x42; 32];
    let encrypt = |plain: &[u8]| {
        let context = Context { purpose: "blob", name: "name", generation: 3 };
        let mut writer = ChunkWriter::new(Vec::new(), &key, &context).unwrap();
        writer.write_all(plain).unwrap();
        writer.finish().unwrap()
    };
    let case = |file: &[u8], plain: Option<&[u8]>| Input::Chunked {
        key: hex::encode(key),
        purpose: "blob".into(),
        name: "name".into(),
        generation: 3,
        file: hex::encode(file),
        plain: plain.map(|p| hex::encode(hazmat::labelled_sha256(b"plain", p))),
    };
    let text = b"a short text".as_slice();
    let (short, empty) = (encrypt(text), encrypt(b""));
    put("chunked-short", "one chunk", "success", case(&short, Some(text)));
    put("chunked-empty", "no plaintext is one empty chunk", "success", case(&empty, Some(b"")));
    let two_plain = vec![7; 65_536 + 9];
    let two = encrypt(&two_plain);
    put("chunked-two", "a full chunk and a short last one", "success", case(&two, Some(&two_plain)));
    put("chunked-two-no-last", "cut at the edge of a chunk", "decrypt", case(&two[..32 + 65_552], None));
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = short.clone();
        change(&mut file);
        case(&file, None)
    };
    put("chunked-magic", "another magic", "decrypt", changed(&|f| f[0] ^= 1));
    put("chunked-version", "another version", "decrypt", changed(&|f| f[7] = 2));
    put("chunked-salt", "a bit of the salt changed", "decrypt", changed(&|f| f[20] ^= 0x80));
    put("chunked-text", "a bit of the ciphertext changed", "decrypt", changed(&|f| f[32] ^= 1));
    put("chunked-tag", "a bit of the tag changed", "decrypt", changed(&|f| *f.last_mut().unwrap() ^= 1));
    put("chunked-cut", "the last byte is missing", "decrypt", changed(&|f| f.truncate(f.len() - 1)));
    put("chunked-extended", "a byte too many", "decrypt", changed(&|f| f.push(0)));
    put("chunked-twice", "the chunk twice", "decrypt", changed(&|f| f.extend_from_within(32..)));
    put("chunked-head-only", "no chunk at all", "decrypt", changed(&|f| f.truncate(32)));
    put("chunked-nothing", "an empty file", "decrypt", changed(&|f| f.clear()));
    put("chunked-salt-of-another", "the salt of another file of the same name", "decrypt", {
        let mut file = short.clone();
        file[8..32].copy_from_slice(&empty[8..32]);
        case(&file, None)
    });
    let other = |k: [u8; 32], p: &str, n: &str, g: u64| Input::Chunked {
        key: hex::encode(k),
        purpose: p.into(),
        name: n.into(),
        generation: g,
        file: hex::encode(&short),
        plain: None,
    };
    put("chunked-other-key", "another key", "decrypt", other([0x43; 32], "blob", "name", 3));
    put("chunked-other-purpose", "another purpose", "decrypt", other(key, "index", "name", 3));
    put("chunked-other-name", "another name", "decrypt", other(key, "blob", "names", 3));
    put("chunked-other-generation", "another generation", "decrypt", other(key, "blob", "name", 2));
    put("chunked-shifted-context", "purpose and name run together", "decrypt", other(key, "blobname", "", 3));
}

fn header_vectors(put: PutVector<'_>) {
    if folder().join("header-passphrase.json").exists() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let secret = "larch obscure tavern quiet";
    let (_, keys, code) = create_header(dir.path(), secret, KdfChoice::Floor, "2026-11-21T10:00:00Z").unwrap();
    let text = std::fs::read_to_string(dir.path().join(HEADER_FILE)).unwrap();
    let case = |secret: &str, text: &str, keys: Option<&VaultKeys>| Input::Header {
        secret: secret.into(),
        text: text.into(),
        keys: keys.map(digests),
    };
    put("header-passphrase", "opened with the passphrase", "success", case(secret, &text, Some(&keys)));
    put("header-recovery", "opened with the recovery code", "success", case(&code.to_string(), &text, Some(&keys)));
    put("header-wrong-passphrase", "another passphrase", "wrong_secret", case("larch obscure tavern", &text, None));
    let other_code = "0000-0000-0000-0000-0000-0000-0000-0000";
    put("header-wrong-recovery", "another recovery code", "wrong_secret", case(other_code, &text, None));
    let damaged: [(&str, &str, String); 6] = [
        ("header-cut", "the last byte is missing", text[..text.len() - 1].into()),
        ("header-extended", "a blank too many", format!("{text} ")),
        ("header-time", "another creation time", text.replacen("10:00", "11:00", 1)),
        ("header-blank", "a blank became a tab", text.replacen(' ', "\t", 1)),
        ("header-empty", "nothing", String::new()),
        ("header-not-json", "something else", "Dear diary".into()),
    ];
    for (file, about, text) in damaged {
        put(file, about, "header_damaged", case(secret, &text, None));
    }
    let resealed = |from: &str, to: &str| super::header::with_correct_checksum(&text.replacen(from, to, 1));
    let cases = [
        ("header-mac", "a changed time under a right checksum", "header_damaged", "10:00", "11:00"),
        (
            "header-member",
            "an unknown member under a right checksum",
            "header_damaged",
            "\"version\"",
            "\"x\": 1, \"version\"",
        ),
        ("header-version", "a version to come", "header_version", "\"version\": 1", "\"version\": 2"),
        ("header-memory-low", "less memory than the floor", "kdf_parameters", "65536", "65535"),
        ("header-memory-high", "more memory than may be spent", "kdf_parameters", "65536", "2097153"),
        ("header-passes-low", "fewer passes than the floor", "kdf_parameters", "\"passes\": 3", "\"passes\": 2"),
        ("header-passes-high", "more passes than may be spent", "kdf_parameters", "\"passes\": 3", "\"passes\": 17"),
        ("header-lanes-none", "no lanes", "kdf_parameters", "\"lanes\": 4", "\"lanes\": 0"),
        (
            "header-params-swapped",
            "other parameters than the slot was made with",
            "wrong_secret",
            "\"passes\": 3",
            "\"passes\": 4",
        ),
    ];
    for (file, about, expect, from, to) in cases {
        put(file, about, expect, case(secret, &resealed(from, to), None));
    }
}

fn small_vectors(put: PutVector<'_>) {
    let keyed = |parts: &[&[u8]]| {
        let key = [0x17; 32];
        let mut hasher = KeyedHasher::new(&key);
        parts.iter().for_each(|p| hasher.update(p));
        Input::Keyed {
            key: hex::encode(key),
            parts: parts.iter().map(hex::encode).collect(),
            digest: hex::encode(keyed_digest(&key, parts)),
            id: hex::encode(keyed_id(&key, parts)),
            stream: hex::encode(hasher.finish()),
        }
    };
    put("keyed-none", "no part", "success", keyed(&[]));
    put("keyed-empty", "one empty part", "success", keyed(&[b""]));
    put("keyed-two", "two parts", "success", keyed(&[b"ab", b"c"]));
    put("keyed-shifted", "the same bytes cut elsewhere", "success", keyed(&[b"a", b"bc"]));

    let key = SigningKey::from_seed(&[0x33; 32]);
    let valid_signature = key.sign(b"message");
    let case = |public: [u8; 32], message: &[u8], signature: [u8; 64]| Input::Signature {
        public: hex::encode(public),
        message: hex::encode(message),
        signature: hex::encode(signature),
    };
    put("signature-good", "as made", "success", case(key.public(), b"message", valid_signature));
    put("signature-message", "another message", "refused", case(key.public(), b"massage", valid_signature));
    let other_key = SigningKey::from_seed(&[0x34; 32]).public();
    put("signature-key", "another key", "refused", case(other_key, b"message", valid_signature));
    let mut flipped = valid_signature;
    flipped[0] ^= 1;
    put("signature-flipped", "a bit of R changed", "refused", case(key.public(), b"message", flipped));
    put(
        "signature-s-plus-order",
        "S beyond the group order",
        "refused",
        case(key.public(), b"message", with_order_added(valid_signature)),
    );
    let (mut identity, mut zero) = ([0; 32], [0; 64]);
    identity[0] = 1;
    zero[0] = 1;
    put("signature-small-order", "a key of small order that signs anything", "refused", case(identity, b"any", zero));

    let recovery =
        |typed: &str, code: Option<&str>| Input::Recovery { typed: typed.into(), code: code.map(Into::into) };
    let code = "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ";
    put("recovery-shown", "as it is shown", "success", recovery(code, Some(code)));
    put(
        "recovery-typed",
        "small letters, blanks, o i l",
        "success",
        recovery("oi23 4567 89ab cdef ghjk mnpq rstv wxyz", Some(code)),
    );
    put("recovery-bare", "no dashes", "success", recovery("0l23456789ABCDEFGHJKMNPQRSTVWXYZ", Some(code)));
    put("recovery-short", "a character short", "refused", recovery(&code[..38], None));
    put("recovery-long", "a character long", "refused", recovery(&format!("{code}0"), None));
    put("recovery-letter", "a letter that is in no code", "refused", recovery(&code.replacen('0', "U", 1), None));
}

/// Adds the group order to the S of the signature. The result is mathematically equivalent, but strict verification
/// refuses it.
fn with_order_added(mut signature: [u8; 64]) -> [u8; 64] {
    let order: [u8; 32] = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut carry = 0u16;
    for (byte, add) in signature[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    signature
}
