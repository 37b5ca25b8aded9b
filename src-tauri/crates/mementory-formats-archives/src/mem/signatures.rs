//! Lists the signatures in a bundle and the bytes that each one covers (spec v1.1 §1.3): the manifest's exact bytes,
//! and each tombstone in canonical form without its `signature`.
use super::{
    bundle::{Bundle, MANIFEST_FILE, SIGNATURE_FILE, line_text},
    kinds::{TOMBSTONE_SPEC, TOMBSTONES_FILE},
    tombstones::slot_signature,
    wire::{decode, line, text},
};
use mementory_format::{FormatError, Signed};
use mementory_json::Tree;

/// Visits the signature of the bundle, then the signatures of its tombstones.
pub(super) fn signatures(
    bundle: &Bundle,
    visit: &mut dyn FnMut(Signed) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    if let (Some(bytes), Some(message)) = (bundle.bytes(SIGNATURE_FILE)?, bundle.bytes(MANIFEST_FILE)?) {
        let token = std::str::from_utf8(&bytes).ok().and_then(|t| parse_token(t.trim()));
        visit(Signed {
            tombstone: None,
            place: bundle.place_of(SIGNATURE_FILE),
            algorithm: "ed25519".into(),
            token,
            message,
        })?;
    }
    let Some(member) = bundle.files.get(TOMBSTONES_FILE) else { return Ok(()) };
    let bounds = mementory_model::Bounds::from(bundle.limits);
    bundle.visit_lines(member, &mut |number, bytes| {
        // Unreadable lines are skipped here, because the validator reports them.
        let Some(Ok(source)) = line_text(bytes) else { return Ok(()) };
        let Ok(tree) = decode(&TOMBSTONE_SPEC, source, bounds) else { return Ok(()) };
        let mut visit_signature = |signature: &str, message: Vec<u8>| {
            visit(Signed {
                tombstone: text(&tree, "id").map(str::to_owned),
                place: format!("{}:{number}", bundle.place_of(TOMBSTONES_FILE)),
                algorithm: "ed25519".into(),
                token: parse_token(signature),
                message,
            })
        };
        if let (Some(signature), Some(message)) = (text(&tree, "signature"), signed_bytes(&tree)) {
            visit_signature(signature, message)?;
        }
        match slot_signature(&tree) {
            Some((Some(signature), message)) => visit_signature(signature, message),
            _ => Ok(()),
        }
    })?;
    Ok(())
}

/// The bytes that a tombstone's signature covers. Unknown fields are not covered, because the reference SDK signs only
/// the fields that it decodes.
pub(super) fn signed_bytes(tree: &Tree) -> Option<Vec<u8>> {
    let Tree::Object(members) = tree else { return None };
    let covered_members = members.iter().filter(|(key, _)| key != "signature" && TOMBSTONE_SPEC.field(key).is_some());
    line(&TOMBSTONE_SPEC, &Tree::Object(covered_members.cloned().collect())).ok().map(String::into_bytes)
}

/// Public key and signature from `ed25519:<64 hex>:<128 hex>`. The specification (§1.3) requires lowercase hex: a token in
/// upper case is malformed.
pub(super) fn parse_token(token: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let parts: Vec<&str> = token.split(':').collect();
    let ["ed25519", key, signature] = parts.as_slice() else { return None };
    let is_lowercase = |text: &&str| !text.bytes().any(|b| b.is_ascii_uppercase());
    let bytes = |text: &str, n: usize| {
        Some(text).filter(is_lowercase).and_then(|t| hex::decode(t).ok()).filter(|b| b.len() == n)
    };
    Some((bytes(key, 32)?, bytes(signature, 64)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_in_lowercase_hex() {
        let (key, signature) = ("0a".repeat(32), "0b".repeat(64));
        assert!(parse_token(&format!("ed25519:{key}:{signature}")).is_some());
        for token in [
            format!("ed25519:{}:{signature}", key.to_uppercase()),
            format!("ed25519:{key}:{}", signature.to_uppercase()),
            format!("Ed25519:{key}:{signature}"),
            format!("ed25519:{key}:{signature}:"),
            format!("ed25519:{key}: {signature}"),
        ] {
            assert_eq!(parse_token(&token), None, "{token}");
        }
    }
}
