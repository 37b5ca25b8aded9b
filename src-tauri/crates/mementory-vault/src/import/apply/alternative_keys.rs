//! Alternative keys. If the key of a record is already taken by a record of another kind, the record gets its
//! alternative key instead.
use crate::{VaultResult, import::apply::ImportRun};
use mementory_crypto::VaultKeys;
use mementory_model::{Kind, Record, RecordKey, Tombstone};
use mementory_store::{ids::record_id, kind_from_code};
use rusqlite::OptionalExtension;
use std::{borrow::Cow, collections::HashMap};

/// Alternative values for the keys of records that come later in the input, by record id. An alternative value is used
/// only if a record of another kind has the key.
#[derive(Default)]
pub(super) struct AlternativeKeys(HashMap<[u8; 16], String>);

impl AlternativeKeys {
    pub(super) fn add(&mut self, keys: &VaultKeys, alternatives: Vec<(RecordKey, String)>) {
        self.0.extend(alternatives.into_iter().map(|(key, value)| (record_id(keys, &key), value)));
    }
}

/// Replaces the key of a record with its alternative key if a record of another kind (in the vault or in this input)
/// has the original key. Does nothing if the record has no alternative key.
pub(super) fn replace_taken_key(run: &mut ImportRun<'_>, record: &mut Record) -> VaultResult<()> {
    if let Some(value) = take_alternative(run, &record.key, record.kind)? {
        record.key.value = value;
    }
    Ok(())
}

/// Returns the tombstone. If its target has an alternative key and a record of another kind has the original key, the
/// returned tombstone names the alternative key. Otherwise the deletion would remove the record of the other kind.
pub(super) fn replace_taken_target<'t>(
    run: &mut ImportRun<'_>,
    tombstone: &'t Tombstone,
) -> VaultResult<Cow<'t, Tombstone>> {
    let key = RecordKey::new(&tombstone.scope, &tombstone.target_id);
    let alternative = match Kind::parse(&tombstone.target_kind) {
        Some(kind) => take_alternative(run, &key, kind)?,
        None => None,
    };
    Ok(match alternative {
        Some(target_id) => Cow::Owned(Tombstone { target_id, ..tombstone.clone() }),
        None => Cow::Borrowed(tombstone),
    })
}

/// Removes and returns the alternative value of a key. Returns None if the key has no alternative value, or if no
/// record of a kind other than `kind` has the key.
fn take_alternative(run: &mut ImportRun<'_>, key: &RecordKey, kind: Kind) -> VaultResult<Option<String>> {
    if run.alternative_keys.0.is_empty() {
        return Ok(None);
    }
    let id = record_id(&run.context.keys, key);
    let Some(value) = run.alternative_keys.0.remove(&id) else { return Ok(None) };
    let known_kind = match run.seen.get(&id) {
        Some(seen) => Some(seen.kind),
        None => {
            let sql = "SELECT kind FROM records WHERE id = ?1";
            let code = run.connection.prepare_cached(sql)?.query_row([id], |r| r.get(0)).optional()?;
            code.map(kind_from_code)
        }
    };
    Ok(Some(value).filter(|_| known_kind.is_some_and(|known| known != kind)))
}
