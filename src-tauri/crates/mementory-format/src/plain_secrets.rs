//! Finds unencrypted secrets in imported credentials. (ALF §8.3 requires the payload of a credential to be encrypted.)
//! The vault stores such a secret, but displays a row of dots instead, and exports it only if the whole export is
//! encrypted.
use crate::REDACTED;
use base64::{Engine, prelude::BASE64_STANDARD};
use mementory_json::Tree;
use mementory_model::{Kind, Record};

/// Displayed in place of a secret: a row of dots.
pub const SECRET_DOTS: &str = "\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}";
/// Written in place of a secret that is not exported.
pub const NOT_EXPORTED: &str = "<not-exported>";

/// Deepest nesting up to which a credential is parsed. The whole text of a more deeply nested one counts as a secret.
const MAX_DEPTH: u32 = 512;
/// Shortest payload, in characters, that can be a ciphertext: it contains at least an authentication tag of 16 bytes.
const MIN_CIPHERTEXT_CHARACTERS: usize = 16;

/// Name of the member that holds the payload of a credential. The payload is a secret unless it is encrypted.
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

/// The unencrypted secrets in a record. Empty unless the record is a credential.
pub fn plain_secrets(record: &Record) -> Vec<String> {
    let mut secrets = Vec::new();
    replace(record, &mut |secret| {
        secrets.push(secret.to_owned());
        None
    });
    secrets
}

/// The verbatim of a record with each unencrypted secret replaced by `replacement`. None if the record has no such
/// secret.
pub fn replace_plain_secrets(record: &Record, replacement: &str) -> Option<String> {
    replace(record, &mut |_| Some(replacement.to_owned()))
}

/// Passes each secret to `change`, which returns the text that replaces it. Returns the changed verbatim, or None if
/// nothing was replaced.
fn replace(record: &Record, change: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let verbatim = record.verbatim.as_ref().filter(|_| record.kind == Kind::Credential)?;
    let Ok(mut tree) = Tree::parse(&verbatim.text, MAX_DEPTH) else {
        // In a text without structure, it is not known which part is the secret, so the whole text is treated as a
        // secret.
        return if verbatim.text.is_empty() { None } else { change(&verbatim.text) };
    };
    if !replace_in(&mut tree, change) {
        return None;
    }
    let mut out = String::new();
    tree.write(&mut out);
    Some(out)
}

fn replace_in(tree: &mut Tree, change: &mut dyn FnMut(&str) -> Option<String>) -> bool {
    let encrypted = states_encryption(tree);
    let mut changed = false;
    match tree {
        Tree::Object(members) => {
            for (name, value) in members.iter_mut() {
                let is_secret = match &*value {
                    Tree::Text(text) if name == PAYLOAD_MEMBER => is_plain_secret(text, encrypted),
                    Tree::Text(text) => is_secret_member(name) && !is_placeholder(text),
                    _ => false,
                };
                match value {
                    Tree::Text(text) if is_secret => {
                        if let Some(new) = change(text) {
                            *text = new;
                            changed = true;
                        }
                    }
                    _ => changed |= replace_in(value, change),
                }
            }
        }
        Tree::Array(items) => items.iter_mut().for_each(|item| changed |= replace_in(item, change)),
        _ => {}
    }
    changed
}

/// True if the credential states a cipher for its payload.
fn states_encryption(credential: &Tree) -> bool {
    let algorithm = credential.get("encryption").and_then(|e| e.get("algorithm")).and_then(Tree::as_str);
    algorithm.is_some_and(|name| !name.is_empty() && !name.eq_ignore_ascii_case("none"))
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

/// Beginnings of the keys and tokens of well-known services.
const TOKEN_PREFIXES: [&str; 14] = [
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "npm_",
];

/// True if a payload is a secret in plain text: it is not a placeholder, and either no encryption is stated or the text
/// cannot be a ciphertext.
fn is_plain_secret(payload: &str, encrypted: bool) -> bool {
    if is_placeholder(payload) {
        return false;
    }
    let is_token = TOKEN_PREFIXES.iter().any(|prefix| payload.starts_with(prefix));
    !encrypted || is_token || !is_base64_like(payload) || decodes_to_printable_text(payload)
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
        let cases: [(String, &[&str]); 14] = [
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
            (r#"{"secret":"[REDACTED:stored_secret]","token":"[REDACTED:one two]"}"#.into(), &["[REDACTED:one two]"]),
        ];
        for (verbatim, secrets) in cases {
            let record = credential(&verbatim);
            assert_eq!(plain_secrets(&record), secrets, "{verbatim}");
            let shown = replace_plain_secrets(&record, SECRET_DOTS);
            assert_eq!(shown.is_some(), !secrets.is_empty(), "{verbatim}");
            let shown = shown.unwrap_or_default();
            assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{shown}");
        }
    }

    #[test]
    fn only_credentials_are_searched_for_plain_secrets() {
        let mut record = credential(r#"{"secret":"one"}"#);
        record.kind = Kind::Memory;
        assert!(plain_secrets(&record).is_empty());
    }
}
