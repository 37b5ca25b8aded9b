//! Public keys of other people and programs: keys that this vault trusts, and keys that signed an import (pinned on
//! first use).
use crate::{VaultResult, context::Context, meta};
use mementory_model::Timestamp;
use mementory_store::audit;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// A public key of another person or program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownKey {
    /// The bytes of the key, in hex.
    pub key: String,
    /// Name of the algorithm as formats write it: `ed25519`, `ml-dsa-65` …
    pub algorithm: String,
    /// Name that the owner gave to the key.
    pub name: Option<String>,
    /// When the key was first seen or trusted, in microseconds since 1970.
    pub since: i64,
    /// True if the owner trusts the key. False if it only signed an import.
    pub trusted: bool,
}

/// Key of the list of known keys in the table `meta`.
const META_KEY: &str = "known_keys";

fn load_keys(connection: &Connection) -> VaultResult<Vec<KnownKey>> {
    Ok(meta::read_json(connection, META_KEY)?.unwrap_or_default())
}

fn save_keys(tx: &Connection, keys: &[KnownKey]) -> VaultResult<()> {
    meta::write_json(tx, META_KEY, &keys)
}

/// Reads and changes the list of other people's public keys.
#[derive(Clone, Copy)]
pub struct KeyRing<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> KeyRing<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl KeyRing<'_> {
    /// Returns all keys that are trusted or signed an import, in the order in which they were added.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn known(&self) -> VaultResult<Vec<KnownKey>> {
        self.context.store.read(load_keys)
    }

    /// Marks a key as trusted. Without `name`, the key keeps its current name.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn trust(&self, key: &str, algorithm: &str, name: Option<&str>, now: Timestamp) -> VaultResult<()> {
        self.context.store.write(|tx| {
            let mut keys = load_keys(tx)?;
            let at = now.as_micros();
            match keys.iter_mut().find(|k| k.key == key) {
                Some(known) => {
                    known.trusted = true;
                    known.name = name.map(str::to_owned).or(known.name.take());
                }
                None => keys.push(KnownKey {
                    key: key.into(),
                    algorithm: algorithm.into(),
                    name: name.map(str::to_owned),
                    since: at,
                    trusted: true,
                }),
            }
            save_keys(tx, &keys)?;
            audit::append(tx, &self.context.keys, now, "trust_key", key, algorithm)
        })
    }

    /// Stores a key that signed an import, if it is new. Does not mark the key as trusted.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn pin(&self, key: &str, algorithm: &str, now: Timestamp) -> VaultResult<()> {
        if self.known()?.iter().any(|k| k.key == key) {
            return Ok(());
        }
        self.context.store.write(|tx| {
            let mut keys = load_keys(tx)?;
            let since = now.as_micros();
            keys.push(KnownKey { key: key.into(), algorithm: algorithm.into(), name: None, since, trusted: false });
            save_keys(tx, &keys)
        })
    }

    /// Removes a key from the list. Returns false if the list did not contain the key.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn forget(&self, key: &str, now: Timestamp) -> VaultResult<bool> {
        self.context.store.write(|tx| {
            let mut keys = load_keys(tx)?;
            let previous_count = keys.len();
            keys.retain(|k| k.key != key);
            if keys.len() == previous_count {
                return Ok(false);
            }
            save_keys(tx, &keys)?;
            audit::append(tx, &self.context.keys, now, "forget_key", key, "")?;
            Ok(true)
        })
    }
}
