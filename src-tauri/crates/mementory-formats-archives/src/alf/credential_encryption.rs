//! Checks the payload of an encrypted credential and the length of its nonce (spec §3.4.1, §3.4.2).
use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use mementory_json::Tree;

/// Length of the authentication tag of the known ciphers, in bytes.
const TAG_BYTES: usize = 16;
/// Ciphers, and the length of their nonce in bytes.
const NONCE_BYTES: [(&str, usize); 5] =
    [("xchacha20-poly1305", 24), ("chacha20-poly1305", 12), ("aes-256-gcm", 12), ("aes-128-gcm", 12), ("aes-gcm", 12)];

/// Calls `add(code, message, is_warning)` for each fault of a credential. Returns the cipher, nonce and key derivation
/// as one text, by which the caller detects reused nonces. Returns None, without any checks, if the cipher is unknown
/// or the payload is a placeholder.
pub(super) fn check(row: &Tree, add: &mut dyn FnMut(&'static str, &'static str, bool)) -> Option<String> {
    let text = |key: &str| row.get("encryption").and_then(|e| e.get(key)).and_then(Tree::as_str);
    let payload = row.get("encrypted_payload").and_then(Tree::as_str)?;
    let algorithm = text("algorithm")?.to_ascii_lowercase();
    let (_, length) = NONCE_BYTES.iter().find(|(name, _)| *name == algorithm)?;
    // Programs that do not export the secret write a placeholder in angle brackets instead.
    if payload.starts_with('<') && payload.ends_with('>') {
        return None;
    }
    let bytes = decode(payload);
    if payload.is_empty() {
        add("credential_payload_empty", "the credential has no ciphertext", false);
    } else if bytes.as_ref().is_some_and(|bytes| bytes.len() < TAG_BYTES) {
        add("credential_payload_short", "the ciphertext is shorter than its authentication tag", true);
    }
    let nonce_text = text("nonce")?;
    if decode(nonce_text).is_none_or(|nonce| nonce.len() != *length) {
        add("credential_nonce", "the nonce is not base64 of the length that the cipher needs", false);
        return None;
    }
    let mut derivation = String::new();
    for key in ["kdf", "kdf_params"] {
        if let Some(value) = row.get("encryption").and_then(|e| e.get(key)) {
            value.write(&mut derivation);
        }
    }
    Some(format!("{algorithm} {nonce_text} {derivation}"))
}

/// Decodes base64 in either alphabet, with or without padding.
fn decode(text: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    [&STANDARD, &URL_SAFE].into_iter().find_map(|alphabet| GeneralPurpose::new(alphabet, config).decode(text).ok())
}
