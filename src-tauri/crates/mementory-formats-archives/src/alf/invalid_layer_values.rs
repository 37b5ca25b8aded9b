//! Values that the specification forbids in the identity (§3.2.2), a principal (§3.3), a credential (§3.4.2), a row of
//! the attachment index (§3.1.9) or the manifest (§4.2). The vault keeps such a value in the verbatim text, and an
//! import reports it. An export writes a valid value in its place or omits the field. The member `mementory_forbidden`
//! of the element preserves the original of each changed top-level member under its JSON pointer. The same is done with
//! a path that leads out of the archive, and with a ciphertext that nobody can decrypt. Memory lines have
//! separate rules (see [`super::invalid_values`]).
use super::manifest::{number, unsafe_name};
use super::partitions::stable_v5;
use super::wire::{self, INVALID_VALUES_MEMBER};
use super::{credential_encryption, identity, schema};
use mementory_format::{NOT_EXPORTED, plain_secrets};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, Rule, check, make_valid},
};
use mementory_model::{RecordKey, Timestamp};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The element of a layer document with its invalid values replaced, and the names of the changed members. The
/// identity is a single element. `agent` is the agent to which the element belongs. None if the element has no invalid
/// values.
pub(super) fn move_invalid_values(layer: &str, text: &str, agent: &str) -> Option<(String, BTreeSet<String>)> {
    let rule = match layer {
        "identity" => &schema::IDENTITY_RULE,
        "principals" => &schema::PRINCIPAL_RULE,
        "credentials" => &schema::CREDENTIAL_RULE,
        "attachments" => &schema::ATTACHMENT_RULE,
        _ => return None,
    };
    let tree = Tree::parse(text, 512).ok()?;
    let (mut valid, mut changed) = replace_values(&tree, rule, &valid_values(layer, &tree, agent))?;
    if layer == "principals" && set_principal_of_profile(&mut valid) {
        changed.insert("profile".to_owned());
    }
    if layer == "attachments" && valid.get("archive_path").and_then(Tree::as_str).is_some_and(unsafe_name) {
        valid.set("archive_path", Tree::Null);
        changed.insert("archive_path".to_owned());
    }
    let is_withdrawn = layer == "credentials" && withdraw_ciphertext(&mut valid);
    if changed.is_empty() && !is_withdrawn {
        return None;
    }
    preserve_members(&mut valid, &tree, &changed);
    if is_withdrawn {
        changed.insert("encrypted_payload".to_owned());
    }
    let mut out = String::new();
    valid.write(&mut out);
    Some((out, changed))
}

/// Writes size and SHA-256 of a file into its row, in place of those that the row lacks (see [`valid_values`]). Returns
/// false if the row states both.
pub(super) fn state_size_and_digest(row: &mut Tree, size: u64, digest: &str) -> bool {
    let lacks_size = size > 0 && number(row.get("size_bytes")) == Some(0);
    if lacks_size {
        row.set("size_bytes", Tree::Number(size.to_string()));
    }
    let stated_digest = row.get("hash").and_then(|hash| hash.get("value")).and_then(Tree::as_str);
    let lacks_digest = stated_digest.is_some_and(str::is_empty);
    if lacks_digest {
        row.set("hash", object(&[("algorithm", text("sha256")), ("value", text(digest))]));
    }
    lacks_size || lacks_digest
}

/// Gives the element a new id if `is_taken` returns true for its id, because another element of the document has this
/// id. The key of the record is preserved among the invalid values as the original id. Returns None if the id is
/// free, or if the element has no id.
pub(super) fn with_unique_id(
    layer: &str,
    element: &str,
    key: &RecordKey,
    is_taken: impl FnOnce(&str) -> bool,
) -> Option<String> {
    let id = wire::members(element).and_then(|m| wire::get(&m, "id").and_then(wire::string).map(Cow::into_owned))?;
    if layer == "identity" || !is_taken(&id) {
        return None;
    }
    let mut tree = Tree::parse(element, 512).ok()?;
    tree.set("id", text(&stable_v5(&format!("repeated id:{layer}:{}:{}", key.scope, key.value)).to_string()));
    if layer == "principals" {
        set_principal_of_profile(&mut tree);
    }
    preserve_members(&mut tree, &object(&[("id", text(&key.value))]), &BTreeSet::from(["id".to_owned()]));
    let mut out = String::new();
    tree.write(&mut out);
    Some(out)
}

/// The id that an element had before an export replaced it.
pub(super) fn original_id(element: &Tree) -> Option<&str> {
    element.get(INVALID_VALUES_MEMBER)?.get("/id")?.as_str().filter(|id| !id.is_empty())
}

/// Replaces the invalid values of a manifest. Leaves the manifest unchanged if it has none, or if there is no valid
/// value for one of them. `version` replaces an invalid version.
pub(super) fn replace_invalid_manifest_values(manifest: &mut Tree, agent: &str, version: &str) {
    let identity_of_agent = [("id", text(agent)), ("name", text("")), ("source_runtime", text("unknown"))];
    let fallback = object(&[("alf_version", text(version)), ("agent", object(&identity_of_agent))]);
    let Some((mut valid, changed)) = replace_values(manifest, &schema::MANIFEST_RULE, &fallback) else { return };
    if !changed.is_empty() {
        preserve_members(&mut valid, manifest, &changed);
        *manifest = valid;
    }
}

fn replace_values(tree: &Tree, rule: &Rule, fallback: &Tree) -> Option<(Tree, BTreeSet<String>)> {
    let mut valid_tree = tree.clone();
    // The reference program writes null for an absent member. If the element has no other fault, its text stays
    // unchanged.
    if !has_invalid_values(tree, rule) || !has_invalid_values(&without_nulls(tree), rule) {
        return Some((valid_tree, BTreeSet::new()));
    }
    let changed = make_valid(&mut valid_tree, rule, fallback, &schema::is_error)?;
    Some((valid_tree, changed))
}

fn has_invalid_values(tree: &Tree, rule: &Rule) -> bool {
    let mut is_found = false;
    check(tree, rule, RepeatedKeys::Accept, &mut |_, violation| is_found |= schema::is_error(&violation));
    is_found
}

/// A copy without the members that are null.
fn without_nulls(tree: &Tree) -> Tree {
    match tree {
        Tree::Object(members) => {
            let members = members.iter().filter(|(_, value)| *value != Tree::Null);
            Tree::Object(members.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Tree::Array(items) => Tree::Array(items.iter().map(without_nulls).collect()),
        value => value.clone(),
    }
}

/// Adds the original values of the changed members. A payload is omitted, because it may be a secret in the clear
/// (§8.3).
fn preserve_members(valid: &mut Tree, original: &Tree, changed: &BTreeSet<String>) {
    for name in changed.iter().filter(|name| *name != "encrypted_payload") {
        if let Some(value) = original.get(name) {
            preserve_value(valid, name, value.clone());
        }
    }
}

/// Adds the original value of one member.
fn preserve_value(valid: &mut Tree, name: &str, value: Tree) {
    let earlier_values = valid.get(INVALID_VALUES_MEMBER).filter(|value| matches!(value, Tree::Object(_)));
    let mut moved_values = earlier_values.cloned().unwrap_or_else(|| Tree::Object(vec![]));
    moved_values.set(&format!("/{name}"), value);
    valid.set(INVALID_VALUES_MEMBER, moved_values);
}

/// Moves a ciphertext that is empty, or whose nonce is not valid for the stated cipher, to the preserved values, because
/// no program can decrypt it (§3.4.2). Returns false for any other credential. A secret in the clear is not moved: in
/// another member, a later export would not recognise it as one (§8.3).
fn withdraw_ciphertext(credential: &mut Tree) -> bool {
    let mut is_invalid = false;
    credential_encryption::check(credential, &mut |_, _, is_warning| is_invalid |= !is_warning);
    let Some(ciphertext) = credential.get("encrypted_payload").filter(|_| is_invalid).cloned() else { return false };
    let mut element = String::new();
    credential.write(&mut element);
    let record = identity::credential(&element, credential, RecordKey::new("", ""), &mut Vec::new());
    if !plain_secrets(&record).is_empty() {
        return false;
    }
    credential.set("encrypted_payload", text(NOT_EXPORTED));
    preserve_value(credential, "encrypted_payload", ciphertext);
    true
}

/// Writes the id of the principal into its profile (§3.3.3). Returns false if nothing changed: the profile already has
/// this id, or the id or the profile is missing.
fn set_principal_of_profile(principal: &mut Tree) -> bool {
    let Some(id) = principal.get("id").and_then(Tree::as_str).map(str::to_owned) else { return false };
    let Some(mut profile) = principal.get("profile").cloned() else { return false };
    if profile.get("principal_id").and_then(Tree::as_str).is_some_and(|stated| stated.eq_ignore_ascii_case(&id)) {
        return false;
    }
    profile.set("principal_id", Tree::Text(id));
    principal.set("profile", profile);
    true
}

/// Valid replacements for the fields of an element: the times that can be read, and defaults for all other fields.
fn valid_values(layer: &str, tree: &Tree, agent: &str) -> Tree {
    let time = |of: Option<&Tree>, name: &str| {
        let stated_time = of.and_then(|of| of.get(name)).and_then(Tree::as_str).and_then(Timestamp::parse);
        text(&stated_time.unwrap_or(Timestamp::EPOCH).to_rfc3339())
    };
    let first_version = Tree::Number("1".to_owned());
    let mut source = String::new();
    tree.get("id").unwrap_or(&Tree::Null).write(&mut source);
    let id = text(&stable_v5(&format!("forbidden id:{layer}:{agent}:{source}")).to_string());
    match layer {
        "identity" => object(&[
            ("id", id),
            ("agent_id", text(agent)),
            ("version", first_version),
            ("updated_at", time(Some(tree), "updated_at")),
        ]),
        "principals" => {
            let id_of_profile = stable_v5(&format!("forbidden id:profile:{agent}:{source}")).to_string();
            let profile = object(&[
                ("id", text(&id_of_profile)),
                ("agent_id", text(agent)),
                ("principal_id", tree.get("id").filter(|id| id.as_str().is_some()).unwrap_or(&id).clone()),
                ("version", first_version),
                ("updated_at", time(tree.get("profile"), "updated_at")),
            ]);
            object(&[("id", id), ("principal_type", text("human")), ("profile", profile)])
        }
        "credentials" => object(&[
            ("id", id),
            ("agent_id", text(agent)),
            ("service", text("unknown")),
            ("credential_type", text("custom")),
            ("encrypted_payload", text(NOT_EXPORTED)),
            ("encryption", object(&[("algorithm", text("none")), ("nonce", text("<not-encrypted>"))])),
            ("created_at", time(Some(tree), "created_at")),
        ]),
        _ => {
            let name =
                ["filename", "source_path", "archive_path"].into_iter().find_map(|name| tree.get(name)?.as_str());
            let name = name.unwrap_or("file");
            object(&[
                ("id", id),
                ("filename", text(name)),
                ("media_type", text("application/octet-stream")),
                ("source_path", text(name)),
                ("archive_path", Tree::Null),
                ("remote_ref", Tree::Null),
                // If the archive has the file, `state_size_and_digest` replaces these two.
                ("size_bytes", Tree::Number("0".to_owned())),
                ("hash", object(&[("algorithm", text("unknown")), ("value", text(""))])),
            ])
        }
    }
}

fn text(value: &str) -> Tree {
    Tree::Text(value.to_owned())
}

fn object(members: &[(&str, Tree)]) -> Tree {
    Tree::Object(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}
