//! Checks of layer documents that a schema cannot express: repeated ids, ids of principals, unencrypted secrets (spec
//! §8.3), and paths and digests of the attachment index.
use super::identity;
use super::manifest::unsafe_name;
use super::sealed_secrets;
use super::wire::folded_id;
use mementory_format::extension as slot;
use mementory_json::Tree;
use mementory_model::RecordKey;
use std::collections::HashSet;

/// Ciphers whose payload can be distinguished from a secret. For any other cipher, a payload that looks like a secret is
/// only a warning.
const KNOWN_CIPHERS: [&str; 5] = ["xchacha20-poly1305", "chacha20-poly1305", "aes-256-gcm", "aes-128-gcm", "aes-gcm"];

/// A fault in an element of a list document.
pub(super) struct ElementFault {
    /// Index of the element.
    pub index: usize,
    /// Code of the finding.
    pub code: &'static str,
    /// Explanation of the fault. Contains no text from the file.
    pub message: &'static str,
    /// True if the fault is only a warning.
    pub is_warning: bool,
}

/// Faults in the elements of a layer's document. `is_sealed` is true if the whole file is encrypted. If so, a
/// plain-text secret is only a warning, because an encrypted export may contain a secret that was imported unencrypted.
pub(super) fn find_faults(layer: &str, tree: &Tree, is_sealed: bool) -> Vec<ElementFault> {
    let Some(Tree::Array(rows)) = tree.get(layer) else { return vec![] };
    let mut out = Vec::new();
    let (mut ids, mut nonces) = (HashSet::new(), HashSet::new());
    for (index, row) in rows.iter().enumerate() {
        let mut add = |code, message, is_warning| out.push(ElementFault { index, code, message, is_warning });
        let id = row.get("id").and_then(Tree::as_str).map(str::to_ascii_lowercase);
        if id.is_some_and(|id| !ids.insert(id)) {
            add("duplicate_id", "another element has the same id", false);
        }
        match layer {
            "credentials" => {
                check_credential(row, is_sealed, &mut add);
                let nonce = super::credential_encryption::check(row, &mut add);
                if nonce.is_some_and(|nonce| !nonces.insert(nonce)) {
                    add("credential_nonce_repeated", "another credential has the same nonce and key derivation", true);
                }
            }
            "principals" => check_principal(row, &mut add),
            "attachments" => check_attachment(row, &mut add),
            _ => {}
        }
    }
    out
}

/// True if both ids are equal. UUIDs are compared without regard to case.
fn is_same_id(left: Option<&Tree>, right: Option<&Tree>) -> bool {
    match (left, right) {
        (Some(Tree::Text(left)), Some(Tree::Text(right))) => folded_id(left) == folded_id(right),
        _ => left == right,
    }
}

fn check_principal(row: &Tree, add: &mut dyn FnMut(&'static str, &'static str, bool)) {
    if !is_same_id(row.get("profile").and_then(|p| p.get("principal_id")), row.get("id")) {
        add("principal_id_differs", "profile.principal_id differs from the principal's id", false);
    }
    let is_human = row.get("principal_type").and_then(Tree::as_str) == Some("human");
    if is_human && row.get("agent_id").is_some_and(|id| *id != Tree::Null) {
        add("agent_of_a_human", "agent_id is for principals that are agents; for a human it is null", true);
    }
}

fn check_credential(row: &Tree, is_sealed: bool, add: &mut dyn FnMut(&'static str, &'static str, bool)) {
    let text = |key: &str| row.get("encryption").and_then(|e| e.get(key)).and_then(Tree::as_str);
    let mut element = String::new();
    row.write(&mut element);
    let record = identity::credential(&element, row, RecordKey::new("", ""), &mut Vec::new());
    // Rows written by Mementory are not searched, because their members with names such as `key` contain no secrets.
    let is_ours = slot::vendor_slot(row).is_some() || sealed_secrets::has_our_layout(row);
    let secrets = if is_ours { vec![] } else { mementory_format::plain_secrets(&record) };
    if secrets.is_empty() {
        if text("algorithm") == Some("none") || text("nonce") == Some("") {
            add("credential_without_encryption", "no cipher or no nonce, and no secret", true);
        }
        return;
    }
    let algorithm = text("algorithm").unwrap_or_default().to_ascii_lowercase();
    let payload = row.get("encrypted_payload").and_then(Tree::as_str);
    let is_payload_only = secrets.iter().all(|secret| payload == Some(secret));
    let is_unknown_cipher = mementory_format::is_encryption(&algorithm) && !KNOWN_CIPHERS.contains(&algorithm.as_str());
    let is_unknown = is_payload_only && is_unknown_cipher;
    add("credential_looks_unencrypted", "a secret that is not encrypted", is_unknown || is_sealed);
}

fn check_attachment(row: &Tree, add: &mut dyn FnMut(&'static str, &'static str, bool)) {
    let path = row.get("archive_path").and_then(Tree::as_str);
    if path.is_some_and(unsafe_name) {
        add("unsafe_path", "archive_path must be a path inside the archive", false);
    }
    let algorithm = row.get("hash").and_then(|h| h.get("algorithm")).and_then(Tree::as_str);
    let value = row.get("hash").and_then(|h| h.get("value")).and_then(Tree::as_str);
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if path.is_none() && algorithm == Some("sha256") && value.is_some_and(|value| !is_digest(value)) {
        add("attachment_hash_malformed", "the value is not a SHA-256 in hex", true);
    }
    if path.is_some() && algorithm.is_some_and(|name| name != "sha256") {
        add("attachment_hash_not_verifiable", "the digest is not SHA-256, so it was not verified", true);
    }
}
