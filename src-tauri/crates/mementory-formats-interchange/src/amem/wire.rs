//! The export as it is on disk: the public part of the vault, the memories, and their wrapped keys.
use super::cbor;
use ciborium::Value;
use mementory_format::WrappedKey;
use std::collections::HashMap;

/// Keys of the members that are read: those of the export, and those of the vault in the export.
const EXPORT_MEMBERS: [&str; 4] = ["1", "2", "3", "4"];
const VAULT_MEMBERS: [&str; 5] = ["salt", "sign_pub", "ka_pub", "scopes", "known_keys"];

/// An export.
pub(super) struct Export {
    /// Salt of Argon2id.
    pub salt: Vec<u8>,
    /// The owner's Ed25519 key.
    pub signing_key: Vec<u8>,
    /// Ed25519 keys of other authors whom the owner trusts.
    pub known_keys: Vec<Vec<u8>>,
    /// Scopes by id.
    pub scopes: HashMap<Vec<u8>, Scope>,
    /// The sealed memories.
    pub objects: Vec<Value>,
    /// Wrapped keys of the memories by id.
    pub keys: HashMap<Vec<u8>, Vec<u8>>,
    /// Members that are not read, as JSON. None if there are none.
    pub other: Option<String>,
}

/// A group of memories that has its own key.
pub(super) struct Scope {
    /// Its name.
    pub name: String,
    /// Its key.
    pub key: WrappedKey,
}

impl Export {
    /// Parses an export. The error says what is wrong.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let document = cbor::parse(bytes).ok_or("it is no CBOR document, or is cut off")?;
        if cbor::member(&document, 1).and_then(cbor::number) != Some(1) {
            return Err("the version of the export is not 1");
        }
        let vault = cbor::member(&document, 2).ok_or("the public part of the vault is missing")?;
        let bytes_of = |name: &str| cbor::named(vault, name).and_then(Value::as_bytes).cloned();
        let scopes = cbor::named(vault, "scopes").and_then(Value::as_map).ok_or("the scopes are missing")?;
        let objects = cbor::member(&document, 3).and_then(Value::as_array).ok_or("the memories are missing")?;
        let keys = cbor::member(&document, 4).and_then(Value::as_map).ok_or("the keys of the memories are missing")?;
        let known = cbor::named(vault, "known_keys").and_then(Value::as_map).into_iter().flatten();
        let wrapped = |(id, key): &(Value, Value)| Some((id.as_bytes()?.clone(), key.as_bytes()?.clone()));
        Ok(Self {
            salt: bytes_of("salt").ok_or("the salt is missing")?,
            signing_key: bytes_of("sign_pub").ok_or("the key for signatures is missing")?,
            known_keys: known.filter_map(|(_, key)| key.as_bytes().cloned()).collect(),
            scopes: scopes.iter().filter_map(scope).collect(),
            keys: keys.iter().filter_map(wrapped).collect(),
            other: other_members(&document, vault),
            objects: objects.clone(),
        })
    }
}

fn scope((name, scope): &(Value, Value)) -> Option<(Vec<u8>, Scope)> {
    let bytes_of = |name: &str| cbor::named(scope, name).and_then(Value::as_bytes).cloned();
    let key = WrappedKey { ephemeral: bytes_of("eph_pub")?, wrapped: bytes_of("kek_wrapped")? };
    Some((bytes_of("scope_id")?, Scope { name: cbor::key_text(name), key }))
}

fn other_members(document: &Value, vault: &Value) -> Option<String> {
    let not_in = |map: &Value, read: &[&str]| {
        let members = map.as_map().into_iter().flatten().map(|(key, value)| (cbor::key_text(key), value));
        let unread = members.filter(|(key, _)| !read.contains(&key.as_str()));
        unread.map(|(key, value)| (key, cbor::to_json(value))).collect::<serde_json::Map<_, _>>()
    };
    let (mut all, of_vault) = (not_in(document, &EXPORT_MEMBERS), not_in(vault, &VAULT_MEMBERS));
    if !of_vault.is_empty() {
        all.insert("2".into(), of_vault.into());
    }
    (!all.is_empty()).then(|| serde_json::Value::Object(all).to_string())
}
