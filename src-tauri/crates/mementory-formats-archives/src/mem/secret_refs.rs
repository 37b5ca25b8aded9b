//! Checks references to secrets (spec v1.1 §7): they must contain neither the secret nor its ciphertext, and `preview`
//! must be masked.
use super::{
    kinds::KindSpec,
    report::{Report, Severity},
    wire::text,
};
use mementory_format::{NOT_EXPORTED, bare_member_name, is_secret_member};
use mementory_json::Tree;
use mementory_model::Fields;
use mementory_scan::scan_keys;

/// Members that a reference to a secret must not have, because they would contain the secret or its ciphertext. The
/// names are in lower case and without separators, so that `encrypted_value` is found too.
const SECRET_FIELD_NAMES: [&str; 7] =
    ["value", "secret", "plaintext", "ciphertext", "encryptedvalue", "password", "privatekey"];
/// Members that describe a secret, and must not contain it.
const DESCRIBING_FIELDS: [&str; 3] = ["label", "preview", "encryptionMetadata"];
/// Characters that show that a text is masked.
const MASK_CHARS: [char; 6] = ['*', '•', '…', '●', '█', '.'];
/// Largest number of characters of an unmasked preview that is accepted. Such a preview is too short for a whole
/// secret.
const MAX_PLAIN_PREVIEW_CHARS: usize = 16;

/// Reports a reference that contains the secret itself, or whose preview seems not to be masked.
pub(super) fn check(spec: &KindSpec, tree: &Tree, path: &str, number: u64, report: &mut Report) {
    if spec.kind != "secretRef" {
        return;
    }
    let place = format!("{path}:{number}");
    let Tree::Object(members) = tree else { return };
    let contains_secret = |(name, value): &(String, Tree)| {
        SECRET_FIELD_NAMES.contains(&bare_member_name(name).as_str())
            && *value != Tree::Null
            && value.as_str() != Some(NOT_EXPORTED)
    };
    let is_secret = |name: &&str| text(tree, name).is_some_and(has_secret);
    if members.iter().any(contains_secret) || DESCRIBING_FIELDS.iter().any(is_secret) {
        let message = "a reference to a secret contains the secret itself; only its metadata may be exported";
        report.add_finding(Severity::Error, "secret_carried", &place, message);
    } else if text(tree, "preview")
        .is_some_and(|hint| hint.chars().count() > MAX_PLAIN_PREVIEW_CHARS && !hint.contains(MASK_CHARS))
    {
        let message = "preview does not look masked; it must not contain the secret";
        report.add_finding(Severity::Warning, "preview_not_masked", &place, message);
    }
}

/// Removes the secrets from the fields of a record. They remain in its verbatim, which the vault shows and exports
/// without the secrets.
pub(super) fn remove_secrets(fields: &mut Fields) {
    fields.retain(|name, value| !is_secret_member(name) && !value.as_str().is_some_and(has_secret));
}

/// True if a text is recognisable as a key or token by its format alone.
fn has_secret(text: &str) -> bool {
    !scan_keys(text).is_empty()
}
