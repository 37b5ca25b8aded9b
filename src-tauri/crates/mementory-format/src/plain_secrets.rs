//! Finds unencrypted secrets in imported credentials. (ALF §8.3 requires the payload of a credential to be encrypted.)
//! The vault stores such a secret, but displays a row of dots instead, and exports it only if the whole export is
//! encrypted.
use crate::{
    REDACTED,
    extension::{Restored, members, parse},
    tokens::{token_prefix, tokens},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use mementory_json::Tree;
use mementory_model::{Fields, Kind, Record};
use serde_json::Value;

/// A row of dots that is displayed instead of a secret.
pub const SECRET_DOTS: &str = "\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}";
/// Text that is written instead of a secret that is not exported.
pub const NOT_EXPORTED: &str = "<not-exported>";

/// Deepest nesting up to which a credential is parsed. If a credential is nested more deeply, its whole text counts as
/// a secret.
const MAX_DEPTH: u32 = 512;
/// Shortest payload, in characters, that can be a ciphertext: it contains at least an authentication tag of 16 bytes.
const MIN_CIPHERTEXT_CHARACTERS: usize = 16;

/// Name of the member that contains the payload of a credential. The payload is a secret unless it is encrypted.
const PAYLOAD_MEMBER: &str = "encrypted_payload";
/// Names of the members whose text is a secret, written in lower case and without separators.
const SECRET_MEMBERS: [&str; 19] = [
    "accesstoken",
    "apikey",
    "authtoken",
    "bottoken",
    "ciphertext",
    "clientsecret",
    "encryptedvalue",
    "key",
    "passphrase",
    "password",
    "payload",
    "plaintext",
    "privatekey",
    "refreshtoken",
    "secret",
    "secretkey",
    "token",
    "value",
    "webhooksecret",
];

/// Names of encryption algorithms that do not encrypt, written in lower case and without separators.
const ALGORITHMS_WITHOUT_ENCRYPTION: [&str; 14] = [
    "",
    "none",
    "null",
    "plain",
    "plaintext",
    "clear",
    "cleartext",
    "identity",
    "unencrypted",
    "base32",
    "base64",
    "base64url",
    "hex",
    "rot13",
];
/// Shortest secret, in bytes, that is also replaced inside longer texts of its record. A shorter secret may be part of
/// an unrelated word, so it is only replaced where it is the whole text.
const MIN_REPLACED_BYTES: usize = 8;
/// Members of a record that identify it and other records. They contain no text of the credential.
const IDENTIFYING_MEMBERS: [&str; 6] = ["kind", "key", "origin", "origin_id", "parent", "links"];

/// The unencrypted secrets in a record, each once: those in its verbatim, and those in its fields, where earlier
/// versions of the program and other programs stored them. Empty unless the record is a credential.
pub fn plain_secrets(record: &Record) -> Vec<String> {
    let mut secrets = Vec::new();
    replace_in_verbatim(record, &mut |secret| {
        add_once(&mut secrets, secret);
        None
    });
    add_secrets_of_fields(record, &mut secrets);
    secrets
}

/// Replaces each unencrypted secret in a record by `replacement`, in every text of the record. Members of the fields
/// that are a secret are removed. Returns false if the record has no such secret.
pub fn replace_plain_secrets(record: &mut Record, replacement: &str) -> bool {
    if record.kind != Kind::Credential {
        return false;
    }
    let mut secrets = Vec::new();
    let replaced = replace_in_verbatim(record, &mut |secret| {
        add_once(&mut secrets, secret);
        Some(replacement.to_owned())
    });
    add_secrets_of_fields(record, &mut secrets);
    let escaped_secrets: Vec<String> = secrets.iter().filter_map(|secret| escaped(secret)).collect();
    secrets.extend(escaped_secrets);
    // A secret may begin with another one, so the longest secrets are replaced first.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let new_verbatim = match replaced {
        Some(ReplacedVerbatim::Json { mut tree, mut changed }) => {
            changed |= replace_secret_numbers(&mut tree, false, replacement);
            // The verbatim may contain a secret that only the fields show to be one.
            changed |= replace_occurrences(&mut tree, &secrets, replacement);
            changed.then(|| json_text(&tree))
        }
        Some(ReplacedVerbatim::Whole(text)) => text,
        None => None,
    };
    let mut changed = new_verbatim.is_some();
    if let (Some(verbatim), Some(text)) = (&mut record.verbatim, new_verbatim) {
        verbatim.text = text;
    }
    changed |= remove_secret_members(&mut record.fields);
    if secrets.is_empty() {
        return changed;
    }
    let verbatim = record.verbatim.take();
    let mut members = members(record);
    for (_, value) in members.iter_mut().filter(|(name, _)| !IDENTIFYING_MEMBERS.contains(&name.as_str())) {
        replace_in_value(value, &secrets, replacement);
    }
    // All replaced members are texts, so the record can still be read.
    if let Ok(clean) = serde_json::from_value(Value::Object(members)) {
        *record = clean;
    }
    record.verbatim = verbatim;
    true
}

/// The record that `restore` reads from the extension slot of `element`. Unless `restores_all` is set, only a record
/// with unencrypted secrets is restored, because a conversion within a format writes all other elements back unchanged.
pub fn restore_from_slot(
    element: &str,
    restores_all: bool,
    restore: impl FnOnce() -> Option<Restored>,
) -> Option<Restored> {
    if restores_all {
        return restore();
    }
    // Restoring takes time, so only elements that may be a credential are restored.
    let may_be_credential = element.contains(Kind::Credential.as_str());
    may_be_credential.then(restore).flatten().filter(|restored| !plain_secrets(&restored.record).is_empty())
}

/// The text with each key or token of a well-known service replaced by a row of dots.
pub fn without_tokens(text: &str) -> String {
    replace_tokens(text, &mut |_| Some(SECRET_DOTS.to_owned())).unwrap_or_else(|| text.to_owned())
}

fn add_once(secrets: &mut Vec<String>, secret: &str) {
    if !secrets.iter().any(|known| known == secret) {
        secrets.push(secret.to_owned());
    }
}

fn add_secrets_of_fields(record: &Record, secrets: &mut Vec<String>) {
    if let Some(mut fields) = fields_of(record) {
        replace_in(&mut fields, &mut |secret| {
            add_once(secrets, secret);
            None
        });
    }
}

/// The fields of a credential. None for other records, and for fields without any text.
fn fields_of(record: &Record) -> Option<Tree> {
    let fields = Some(&record.fields).filter(|fields| record.kind == Kind::Credential && !fields.is_empty())?;
    Tree::parse(&serde_json::to_string(fields).ok()?, MAX_DEPTH).ok()
}

/// The verbatim of a credential after its secrets were replaced.
enum ReplacedVerbatim {
    /// The parsed JSON, and whether something in it was replaced.
    Json { tree: Tree, changed: bool },
    /// A verbatim that cannot be parsed: the text that replaces it. None if it stays as it is.
    Whole(Option<String>),
}

/// Passes each secret in the verbatim to `change`, which returns the text that replaces it. None if the record is not a
/// credential or has no verbatim.
fn replace_in_verbatim(record: &Record, change: &mut dyn FnMut(&str) -> Option<String>) -> Option<ReplacedVerbatim> {
    let verbatim = record.verbatim.as_ref().filter(|_| record.kind == Kind::Credential)?;
    let Ok(mut tree) = Tree::parse(&verbatim.text, MAX_DEPTH) else {
        // In a text that cannot be parsed, the secret cannot be told from the remaining text, so the whole text is
        // treated as a secret.
        let new_text = if is_placeholder(&verbatim.text) { None } else { change(&verbatim.text) };
        return Some(ReplacedVerbatim::Whole(new_text));
    };
    let changed = replace_in(&mut tree, change);
    Some(ReplacedVerbatim::Json { tree, changed })
}

fn json_text(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}

fn replace_in(tree: &mut Tree, change: &mut dyn FnMut(&str) -> Option<String>) -> bool {
    let encrypted = states_encryption(tree);
    let mut changed = false;
    match tree {
        Tree::Object(members) => {
            for (name, value) in members.iter_mut() {
                changed |= match &*value {
                    Tree::Text(text) if name == PAYLOAD_MEMBER => {
                        is_plain_secret(text, encrypted) && replace_whole(value, change)
                    }
                    _ if is_record_key(name, value) => false,
                    _ if is_secret_member(name) => replace_secret_value(value, change),
                    _ => replace_in(value, change),
                };
            }
        }
        Tree::Array(items) => items.iter_mut().for_each(|item| changed |= replace_in(item, change)),
        Tree::Text(text) => {
            if let Some(new) = replace_tokens(text, change) {
                *text = new;
                changed = true;
            }
        }
        _ => {}
    }
    changed
}

/// True for a record key in an extension slot. The `value` of such a key is an id and no secret.
fn is_record_key(name: &str, value: &Tree) -> bool {
    let Tree::Object(members) = value else { return false };
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    ["key", "parent", "target"].contains(&name) && names == ["scope", "value"]
}

/// Replaces the value of a member whose texts are secrets. A list may contain several secrets.
fn replace_secret_value(value: &mut Tree, change: &mut dyn FnMut(&str) -> Option<String>) -> bool {
    match value {
        Tree::Text(text) => !is_placeholder(text) && replace_whole(value, change),
        Tree::Array(items) => {
            items.iter_mut().fold(false, |changed, item| replace_secret_value(item, change) | changed)
        }
        _ => replace_in(value, change),
    }
}

fn replace_whole(value: &mut Tree, change: &mut dyn FnMut(&str) -> Option<String>) -> bool {
    let Tree::Text(text) = &*value else { return false };
    match change(text) {
        Some(new) => {
            *value = Tree::Text(new);
            true
        }
        None => false,
    }
}

/// Replaces the keys and tokens of well-known services in a text. None if nothing was replaced.
fn replace_tokens(text: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let (mut out, mut end, mut changed) = (String::new(), 0, false);
    for range in tokens(text) {
        if let Some(new) = change(&text[range.clone()]) {
            out.push_str(&text[end..range.start]);
            out.push_str(&new);
            (end, changed) = (range.end, true);
        }
    }
    out.push_str(&text[end..]);
    changed.then_some(out)
}

/// Replaces the secrets in texts that repeat them, such as a description.
fn replace_occurrences(tree: &mut Tree, secrets: &[String], replacement: &str) -> bool {
    match tree {
        Tree::Object(members) => members
            .iter_mut()
            .fold(false, |changed, (_, value)| replace_occurrences(value, secrets, replacement) | changed),
        Tree::Array(items) => {
            items.iter_mut().fold(false, |changed, item| replace_occurrences(item, secrets, replacement) | changed)
        }
        Tree::Text(text) => replace_in_text(text, secrets, replacement),
        _ => false,
    }
}

/// A secret as it is written in a JSON document that is itself a text of the verbatim. None if the secret is written
/// there without escapes.
fn escaped(secret: &str) -> Option<String> {
    let quoted = serde_json::to_string(secret).ok()?;
    let escaped = quoted.strip_prefix('"')?.strip_suffix('"')?;
    (escaped != secret).then(|| escaped.to_owned())
}

/// Like [`replace_occurrences`], for the value of a record's member.
fn replace_in_value(value: &mut Value, secrets: &[String], replacement: &str) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|v| replace_in_value(v, secrets, replacement)),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_in_value(item, secrets, replacement)),
        Value::String(text) => {
            replace_in_text(text, secrets, replacement);
            // The import may already have replaced a secret in a title or text with the dots (`without_tokens`). The
            // dots get the same replacement as the secret in the verbatim.
            if text.contains(SECRET_DOTS) {
                *text = text.replace(SECRET_DOTS, replacement);
            }
        }
        _ => {}
    }
}

/// Replaces the secrets in one text. Returns false if it contains none.
fn replace_in_text(text: &mut String, secrets: &[String], replacement: &str) -> bool {
    let mut changed = false;
    for secret in secrets {
        if text == secret {
            replacement.clone_into(text);
            changed = true;
        } else if secret.len() >= MIN_REPLACED_BYTES && text.contains(secret.as_str()) {
            *text = text.replace(secret.as_str(), replacement);
            changed = true;
        }
    }
    changed
}

/// Replaces numbers that are a secret, such as a PIN. They are not among the [`plain_secrets`], because the same digits
/// occur in many other texts.
fn replace_secret_numbers(tree: &mut Tree, is_secret: bool, replacement: &str) -> bool {
    match tree {
        Tree::Number(_) if is_secret => {
            *tree = Tree::Text(replacement.to_owned());
            true
        }
        Tree::Object(members) => members.iter_mut().fold(false, |changed, (name, value)| {
            replace_secret_numbers(value, is_secret_member(name), replacement) | changed
        }),
        Tree::Array(items) => {
            items.iter_mut().fold(false, |changed, item| replace_secret_numbers(item, is_secret, replacement) | changed)
        }
        _ => false,
    }
}

/// Removes members that are a secret. Returns false if there are none.
fn remove_secret_members(fields: &mut Fields) -> bool {
    let Some(mut tree) = serde_json::to_string(fields).ok().and_then(|text| Tree::parse(&text, MAX_DEPTH).ok()) else {
        return false;
    };
    let mut has_removed = false;
    remove_secrets_in(&mut tree, &mut has_removed);
    if let Some(clean) = Some(json_text(&tree)).filter(|_| has_removed).and_then(|text| parse(&text)) {
        *fields = clean;
    }
    has_removed
}

fn remove_secrets_in(tree: &mut Tree, has_removed: &mut bool) {
    let encrypted = states_encryption(tree);
    match tree {
        Tree::Object(members) => {
            members.retain(|(name, value)| {
                let is_secret = match value {
                    Tree::Text(text) if name == PAYLOAD_MEMBER => is_plain_secret(text, encrypted),
                    Tree::Text(_) | Tree::Number(_) | Tree::Array(_) => is_secret_member(name),
                    _ => false,
                };
                *has_removed |= is_secret;
                !is_secret
            });
            members.iter_mut().for_each(|(_, value)| remove_secrets_in(value, has_removed));
        }
        Tree::Array(items) => items.iter_mut().for_each(|item| remove_secrets_in(item, has_removed)),
        _ => {}
    }
}

/// True if the credential states a cipher for its payload.
fn states_encryption(credential: &Tree) -> bool {
    let algorithm = credential.get("encryption").and_then(|e| e.get("algorithm")).and_then(Tree::as_str);
    algorithm.is_some_and(is_encryption)
}

/// True unless the name of an encryption algorithm says that nothing is encrypted.
pub fn is_encryption(algorithm: &str) -> bool {
    !ALGORITHMS_WITHOUT_ENCRYPTION.contains(&bare_member_name(algorithm).as_str())
}

/// True for a member of a credential whose text is a secret, however its name is written.
pub fn is_secret_member(name: &str) -> bool {
    SECRET_MEMBERS.contains(&bare_member_name(name).as_str())
}

/// The name in lower case and without separators.
pub fn bare_member_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_placeholder(text: &str) -> bool {
    text.is_empty() || text == NOT_EXPORTED || is_redaction_mark(text)
}

/// True if the text consists only of the placeholder for a redacted value.
fn is_redaction_mark(text: &str) -> bool {
    let class = text.strip_prefix(REDACTED).and_then(|rest| rest.strip_suffix(']'));
    class.is_some_and(|class| !class.is_empty() && class.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

/// True if a payload is a secret in plain text: it is not a placeholder, and either no encryption is stated or the text
/// cannot be a ciphertext.
fn is_plain_secret(payload: &str, is_encrypted: bool) -> bool {
    if is_placeholder(payload) {
        return false;
    }
    !is_encrypted || token_prefix(payload).is_some() || !is_base64_like(payload) || decodes_to_printable_text(payload)
}

fn is_base64_like(payload: &str) -> bool {
    payload.len() >= MIN_CIPHERTEXT_CHARACTERS
        && payload.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=-_".contains(&b))
}

/// True if the decoded payload is readable text, which a ciphertext of this length practically never is.
fn decodes_to_printable_text(payload: &str) -> bool {
    let decoded = BASE64_STANDARD.decode(payload).unwrap_or_default();
    decoded.len() >= MIN_CIPHERTEXT_CHARACTERS
        && decoded.iter().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::{RecordKey, Verbatim};

    fn credential(verbatim: &str) -> Record {
        let mut record = Record::new(Kind::Credential, RecordKey::new("scope", "id"), "github");
        record.verbatim = Some(Verbatim::json(verbatim));
        record
    }

    #[test]
    fn every_form_of_an_unencrypted_secret_is_found() {
        let (cipher, nonce) =
            (r#""encryption":{"algorithm":"aes-256-gcm","nonce":"AAAA"}"#, "q83vEjRWeJCrze8SNFZ4kA==");
        let cases: [(String, &[&str]); 17] = [
            (format!(r#"{{"encrypted_payload":"hunter2",{cipher}}}"#), &["hunter2"]),
            (
                r#"{"encrypted_payload":"c2VjcmV0IHRleHQgb2YgbWluZQ==","encryption":{"algorithm":"none"}}"#.into(),
                &["c2VjcmV0IHRleHQgb2YgbWluZQ=="],
            ),
            (r#"{"encrypted_payload":"abcdefghijklmnopqrst"}"#.into(), &["abcdefghijklmnopqrst"]),
            (
                format!(r#"{{"encrypted_payload":"c2VjcmV0IHRleHQgb2YgbWluZQ==",{cipher}}}"#),
                &["c2VjcmV0IHRleHQgb2YgbWluZQ=="],
            ),
            (format!(r#"{{"encrypted_payload":"{nonce}",{cipher}}}"#), &[]),
            (format!(r#"{{"encrypted_payload":"sk-live-51H8f0bKx2Qw9eRt",{cipher}}}"#), &["sk-live-51H8f0bKx2Qw9eRt"]),
            (format!(r#"{{"encrypted_payload":"<not-exported>",{cipher}}}"#), &[]),
            (r#"{"secret":"s1","refresh_token":"s2","label":"mine"}"#.into(), &["s1", "s2"]),
            (r#"{"credential":{"apiKey":"s3"}}"#.into(), &["s3"]),
            (
                r#"{"encryption":{"algorithm":"aes-256-gcm","key":"s4"},"encrypted_payload":"<not-exported>"}"#.into(),
                &["s4"],
            ),
            (r#"{"secret":"one","secret":"two"}"#.into(), &["one", "two"]),
            (r#"{"id":"x","service":"github","label":"key of the laptop"}"#.into(), &[]),
            ("not JSON at all".into(), &["not JSON at all"]),
            (
                format!(
                    r#"{{"encrypted_payload":"{nonce}","encryption":{{"algorithm":"Plain_Text","nonce":"AAAA"}}}}"#
                ),
                &[nonce],
            ),
            (r#"{"label":"AKIAIOSFODNN7EXAMPLE (old)"}"#.into(), &["AKIAIOSFODNN7EXAMPLE"]),
            (r#"{"key":["k1","k2"],"level":3}"#.into(), &["k1", "k2"]),
            (r#"{"secret":"[REDACTED:stored_secret]","token":"[REDACTED:one two]"}"#.into(), &["[REDACTED:one two]"]),
        ];
        for (verbatim, secrets) in cases {
            let record = credential(&verbatim);
            assert_eq!(plain_secrets(&record), secrets, "{verbatim}");
            let mut shown = record.clone();
            assert_eq!(replace_plain_secrets(&mut shown, SECRET_DOTS), !secrets.is_empty(), "{verbatim}");
            let shown = shown.verbatim.unwrap().text;
            assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{shown}");
            assert_eq!(shown == verbatim, secrets.is_empty(), "{shown}");
        }
    }

    #[test]
    fn a_secret_is_replaced_in_every_text_of_its_record() {
        const TOKEN: &str = "ghp_0123456789abcdefghij";
        let mut record = credential(&format!(
            r#"{{"password":4711,"value":"hunter2-hunter2","label":"{TOKEN} of the laptop","note":"is hunter2-hunter2"}}"#
        ));
        // An earlier version stored the members of the source in the fields too.
        let fields = serde_json::json!({
            "value": "hunter2-hunter2",
            "secret": ["one", 77],
            "note": "is hunter2-hunter2",
            "nested": { "api_key": "s4-only-here", "level": 3 },
            "secret_inside": true,
        });
        record.fields = serde_json::from_value(fields).unwrap();
        record.title = Some(format!("{TOKEN} of the laptop"));
        record.tags = vec!["hunter2-hunter2".into()];
        assert_eq!(plain_secrets(&record), ["hunter2-hunter2", TOKEN, "s4-only-here", "one"]);

        assert!(replace_plain_secrets(&mut record, NOT_EXPORTED));
        assert_eq!(
            record.verbatim.as_ref().unwrap().text,
            r#"{"password":"<not-exported>","value":"<not-exported>","label":"<not-exported> of the laptop","note":"is <not-exported>"}"#
        );
        let fields =
            serde_json::json!({ "note": "is <not-exported>", "nested": { "level": 3 }, "secret_inside": true });
        assert_eq!(Value::Object(record.fields.clone()), fields);
        assert_eq!(record.title.as_deref(), Some("<not-exported> of the laptop"));
        assert_eq!(record.tags, ["<not-exported>"]);
        assert_eq!(record.key.value, "id");
        assert!(!replace_plain_secrets(&mut record, NOT_EXPORTED), "nothing is left to replace");
    }

    #[test]
    fn a_secret_of_the_fields_is_replaced_in_the_verbatim_too() {
        let mut record = credential(r#"{"label":"Router","slot":"{\"value\":\"two \\\"words\\\" 4711\"}"}"#);
        record.fields = serde_json::from_value(serde_json::json!({ "value": "two \"words\" 4711" })).unwrap();
        assert!(replace_plain_secrets(&mut record, NOT_EXPORTED));
        assert_eq!(
            record.verbatim.as_ref().unwrap().text,
            r#"{"label":"Router","slot":"{\"value\":\"<not-exported>\"}"}"#
        );
    }

    #[test]
    fn the_key_of_a_record_in_a_slot_is_no_secret() {
        let record = credential(r#"{"x_mementory":{"key":{"scope":"mem","value":"sec_1"}},"secret":{"value":"s1"}}"#);
        assert_eq!(plain_secrets(&record), ["s1"]);
    }

    #[test]
    fn only_credentials_are_searched_for_plain_secrets() {
        let mut record = credential(r#"{"secret":"one"}"#);
        record.kind = Kind::Memory;
        assert!(plain_secrets(&record).is_empty());
    }
}
