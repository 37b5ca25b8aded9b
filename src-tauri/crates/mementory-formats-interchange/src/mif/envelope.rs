//! Encrypted documents (spec §6.2). The specification defines five members, but neither the plaintext nor members for
//! the salt and the parameters of the key derivation, which decryption needs. We add `salt` and `kdf_params`. Our
//! plaintext is the whole document as JSON, without additional authenticated data.
use super::wire::text;
use base64::{
    DecodeError, Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use mementory_format::{Cipher, FormatError, Passphrase, Sealed};
use mementory_json::Tree;

/// Lengths of an AES-GCM nonce and tag in bytes.
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
/// Base64 in the standard alphabet. Padding is written but not required when reading.
const BASE64_ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Code and message of an envelope's fault.
pub(super) type EnvelopeFault = (&'static str, String);

/// The encryption object of a document. Any one of its three main members is enough to recognise it, because otherwise
/// a document with a damaged envelope would be read as a document without memories.
pub(super) fn find_in(root: &Tree) -> Option<&Tree> {
    let parts = ["encrypted_payload", "iv", "auth_tag"];
    root.get("encryption").filter(|e| parts.iter().any(|part| e.get(part).is_some()))
}

/// Decodes base64. The specification states neither the alphabet nor whether there are line breaks. So both alphabets
/// (RFC 4648 §4 and §5) are accepted, with or without padding and white space.
fn decode(text: &str) -> Result<Vec<u8>, DecodeError> {
    let standard = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let bytes: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(standard).collect();
    BASE64_ENGINE.decode(bytes)
}

/// Returns all faults of an envelope. An envelope without faults can be decrypted with the passphrase.
pub(super) fn find_faults(envelope: &Tree) -> Vec<EnvelopeFault> {
    let mut out = Vec::new();
    let mut report = |code, message: &str| out.push((code, message.to_owned()));
    match text(envelope, "algorithm") {
        Some(a) if a.eq_ignore_ascii_case("aes-256-gcm") => {}
        Some(_) => report("encryption_algorithm", "only aes-256-gcm is defined"),
        None => report("missing_field", "encryption names no algorithm"),
    }
    match text(envelope, "key_derivation") {
        Some(k) if k.eq_ignore_ascii_case("argon2id") => {}
        Some(_) => report("encryption_algorithm", "only argon2id is defined"),
        None => report("missing_field", "encryption names no key derivation"),
    }
    for (name, len) in [("encrypted_payload", None), ("iv", Some(NONCE_BYTES)), ("auth_tag", Some(TAG_BYTES))] {
        match text(envelope, name).map(decode) {
            None => report("missing_field", &format!("encryption has no {name}")),
            Some(Err(_)) => report("bad_value", &format!("{name} is not base64")),
            Some(Ok(bytes)) if len.is_some_and(|l| l != bytes.len()) => {
                report("bad_value", &format!("{name} must have {} bytes", len.unwrap_or_default()));
            }
            // An empty value is a fault, because the content is a document, which is never empty.
            Some(Ok(bytes)) if bytes.is_empty() => report("bad_value", &format!("{name} is empty")),
            Some(Ok(_)) => {}
        }
    }
    let salt = text(envelope, "salt").map(decode);
    match salt {
        Some(Ok(salt)) if (8..=64).contains(&salt.len()) => {}
        Some(_) => report("bad_value", "salt is not base64 of 8 to 64 bytes"),
        None => report("encryption_parameters_missing", "no salt, so the key of this file cannot be derived"),
    }
    match parameters(envelope) {
        Some((memory_kib, passes, lanes)) if !Sealed::is_affordable(memory_kib, passes, lanes) => report(
            "kdf_parameters",
            "opening it would take more memory or time than Mementory allows a file to demand, or its Argon2id parameters \
             are out of range",
        ),
        Some(_) => {}
        None => {
            report("encryption_parameters_missing", "no Argon2id parameters, so the key of this file cannot be derived")
        }
    }
    let differs_from = |name: &str, usual: f64| {
        let value = envelope.get("kdf_params").and_then(|p| p.get(name)).and_then(Tree::as_f64);
        value.is_some_and(|v| (v - usual).abs() > 0.1)
    };
    if differs_from("version", 19.0) || differs_from("output_length", 32.0) {
        report("encryption_algorithm", "only Argon2 version 19 with 32 bytes of output is supported");
    }
    out
}

/// Argon2id parameters: memory in KiB, passes, lanes.
fn parameters(envelope: &Tree) -> Option<(u64, u64, u64)> {
    let params = envelope.get("kdf_params")?;
    let number = |names: [&str; 2]| {
        names.into_iter().find_map(|n| match params.get(n) {
            // A number that overflows counts as out of range and not as missing.
            Some(Tree::Number(token)) if token.bytes().all(|b| b.is_ascii_digit()) => {
                Some(token.parse().unwrap_or(u64::MAX))
            }
            _ => None,
        })
    };
    Some((
        number(["memory_kib", "memory_cost"])?,
        number(["iterations", "time_cost"])?,
        number(["parallelism", "lanes"])?,
    ))
}

/// Decrypts the document. Fails if the envelope has faults, or if the passphrase is missing or wrong.
pub(super) fn decrypt(
    envelope: &Tree,
    passphrase: Option<&dyn Passphrase>,
    place: &str,
) -> Result<Vec<u8>, FormatError> {
    if let Some((code, message)) = find_faults(envelope).into_iter().next() {
        return Err(FormatError::invalid(code, place, message));
    }
    let Some(passphrase) = passphrase else {
        return Err(FormatError::invalid("passphrase_needed", place, "the document is encrypted; give its passphrase"));
    };
    let bytes = |name: &str| decode(text(envelope, name).unwrap_or_default()).unwrap_or_default();
    let (memory, passes, lanes) = parameters(envelope).unwrap_or_default();
    let [memory_kib, passes, lanes] = [memory, passes, lanes].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let mut ciphertext = bytes("encrypted_payload");
    ciphertext.extend(bytes("auth_tag"));
    let cipher = Cipher::Aes256Gcm;
    let sealed = Sealed { cipher, salt: bytes("salt"), memory_kib, passes, lanes, nonce: bytes("iv"), ciphertext };
    passphrase.open(&[], &sealed)
}

/// Encrypts a document. Returns the encryption object.
pub(super) fn encrypt(plain: &[u8], passphrase: &dyn Passphrase) -> Result<Tree, FormatError> {
    let sealed = passphrase.seal(Cipher::Aes256Gcm, &[], plain)?;
    let too_short = || FormatError::invalid("malformed", "export", "the sealed document is shorter than its tag");
    let at = sealed.ciphertext.len().checked_sub(TAG_BYTES).ok_or_else(too_short)?;
    let (payload, tag) = sealed.ciphertext.split_at(at);
    let text_tree = |t: &str| Tree::Text(t.to_owned());
    let number = |n: u32| Tree::Number(n.to_string());
    let member = |name: &str, value| (name.to_owned(), value);
    Ok(Tree::Object(vec![
        member("algorithm", text_tree("aes-256-gcm")),
        member("key_derivation", text_tree("argon2id")),
        member("salt", Tree::Text(BASE64_ENGINE.encode(&sealed.salt))),
        member(
            "kdf_params",
            Tree::Object(vec![
                member("memory_kib", number(sealed.memory_kib)),
                member("iterations", number(sealed.passes)),
                member("parallelism", number(sealed.lanes)),
                member("version", number(19)),
                member("output_length", number(32)),
            ]),
        ),
        member("iv", Tree::Text(BASE64_ENGINE.encode(&sealed.nonce))),
        member("auth_tag", Tree::Text(BASE64_ENGINE.encode(tag))),
        member("encrypted_payload", Tree::Text(BASE64_ENGINE.encode(payload))),
    ]))
}
