//! The layout of an export on disk: the public part of the vault, the memories, and their wrapped keys.
use super::cbor;
use ciborium::Value;
use mementory_format::WrappedKey;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// Keys of the members of an export that are read. `VAULT_MEMBERS` are those of the vault inside the export.
const EXPORT_MEMBERS: [&str; 4] = ["1", "2", "3", "4"];
const VAULT_MEMBERS: [&str; 5] = ["salt", "sign_pub", "ka_pub", "scopes", "known_keys"];

/// The only version of exports that is read and written.
pub(super) const EXPORT_VERSION: i64 = 1;

/// The id of a memory or of a scope.
pub(super) type Id = [u8; 16];
/// The id of a public key: the first 8 bytes of its SHA-256.
pub(super) type KeyId = [u8; 8];

/// Returns the id of a public key.
pub(super) fn key_id(key: &[u8]) -> KeyId {
    let mut id = [0; 8];
    id.copy_from_slice(&Sha256::digest(key)[..8]);
    id
}

pub(super) struct Export {
    /// Salt with which Argon2id derives the owner's keys.
    pub salt: Vec<u8>,
    /// The owner's public Ed25519 key.
    pub signing_key: Vec<u8>,
    /// Public Ed25519 keys of other authors whom the owner trusts.
    pub known_keys: Vec<Vec<u8>>,
    /// Scopes by id.
    pub scopes: HashMap<Vec<u8>, Scope>,
    /// The encrypted memories.
    pub objects: Vec<Value>,
    /// Wrapped keys of the memories, by memory id.
    pub keys: HashMap<Vec<u8>, Vec<u8>>,
    /// The members that are not read, as JSON. None if there are none.
    pub other: Option<String>,
}

/// A group of memories that has its own key.
#[derive(Clone)]
pub(super) struct Scope {
    /// Name of the scope, which is not encrypted.
    pub name: String,
    /// Key of the scope, wrapped for the owner.
    pub key: WrappedKey,
}

impl Export {
    /// Parses an export. The error is a message that says what is wrong.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let document = cbor::parse(bytes).ok_or("it is not a CBOR document, or it is cut off")?;
        if cbor::member(&document, 1).and_then(cbor::number) != Some(EXPORT_VERSION) {
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

    /// Returns the ids of the owner's key and of the keys that the owner accepted.
    pub(super) fn known_key_ids(&self) -> Vec<KeyId> {
        std::iter::once(&self.signing_key).chain(&self.known_keys).map(|key| key_id(key)).collect()
    }
}

/// The public part of a vault, with which an export begins.
pub(super) struct VaultPart<'v> {
    /// Salt with which Argon2id derives the owner's keys.
    pub salt: &'v [u8],
    /// The owner's public Ed25519 key.
    pub signing_key: &'v [u8],
    /// The owner's public X25519 key.
    pub agreement_key: &'v [u8],
    /// Public Ed25519 keys of other authors whom the owner trusts.
    pub known_keys: &'v [Vec<u8>],
    /// Scopes by id.
    pub scopes: &'v HashMap<Vec<u8>, Scope>,
}

impl VaultPart<'_> {
    /// Returns the bytes of an export before its memories. `memories` is the number of memories that follow.
    pub(super) fn head_of_export(&self, memories: usize) -> Vec<u8> {
        let scopes = self.scopes.iter().map(|(id, scope)| (Value::Text(scope.name.clone()), scope.to_cbor(id)));
        let mut members: Vec<(Value, Value)> = vec![
            ("salt".into(), cbor::bytes(self.salt)),
            ("sign_pub".into(), cbor::bytes(self.signing_key)),
            ("ka_pub".into(), cbor::bytes(self.agreement_key)),
            ("scopes".into(), cbor::map(scopes.collect())),
        ];
        if !self.known_keys.is_empty() {
            let known = self.known_keys.iter().map(|key| (Value::Text(hex::encode(key_id(key))), cbor::bytes(key)));
            members.push(("known_keys".into(), cbor::map(known.collect())));
        }
        let number = |number: i64| cbor::to_bytes(&number.into());
        [
            cbor::head(cbor::MAP, EXPORT_MEMBERS.len()),
            number(1),
            number(EXPORT_VERSION),
            number(2),
            cbor::to_bytes(&cbor::map(members)),
            number(3),
            cbor::head(cbor::ARRAY, memories),
        ]
        .concat()
    }
}

impl Scope {
    fn to_cbor(&self, id: &[u8]) -> Value {
        cbor::map(vec![
            ("scope_id".into(), cbor::bytes(id)),
            ("kek_wrapped".into(), cbor::bytes(&self.key.wrapped)),
            ("eph_pub".into(), cbor::bytes(&self.key.ephemeral)),
        ])
    }
}

/// Returns the bytes of an export after its memories, which are the wrapped keys by memory id.
pub(super) fn tail_of_export(keys: &BTreeMap<Id, Vec<u8>>) -> Vec<u8> {
    let members = keys.iter().flat_map(|(id, key)| [cbor::bytes(id), cbor::bytes(key)]);
    let mut out = [cbor::to_bytes(&4.into()), cbor::head(cbor::MAP, keys.len())].concat();
    members.for_each(|each| out.extend(cbor::to_bytes(&each)));
    out
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
