//! Alternative keys. A record gets its alternative key if a record of another kind already has its own key.
use crate::{VaultResult, import::apply::ImportRun};
use mementory_crypto::VaultKeys;
use mementory_model::{Record, RecordKey};
use mementory_store::{ids::record_id, kind_from_code};
use rusqlite::OptionalExtension;
use std::collections::HashMap;

/// Alternative keys of records that follow in the input, by record id. A record gets its alternative key if the vault
/// has a record of another kind with its own key.
#[derive(Default)]
pub(super) struct AlternativeKeys(HashMap<[u8; 16], String>);

impl AlternativeKeys {
    pub(super) fn add(&mut self, keys: &VaultKeys, key: &RecordKey, value: String) {
        self.0.insert(record_id(keys, key), value);
    }
}

/// Gives a record its alternative key, if it has one and a record of another kind, in the vault or in this input, has
/// its own key.
pub(super) fn replace_taken_key(run: &mut ImportRun<'_>, record: &mut Record) -> VaultResult<()> {
    if run.alternative_keys.0.is_empty() {
        return Ok(());
    }
    let id = record_id(&run.context.keys, &record.key);
    let Some(value) = run.alternative_keys.0.remove(&id) else { return Ok(()) };
    let known_kind = match run.seen.get(&id) {
        Some(seen) => Some(seen.kind),
        None => {
            let sql = "SELECT kind FROM records WHERE id = ?1";
            let code = run.connection.prepare_cached(sql)?.query_row([id], |r| r.get(0)).optional()?;
            code.map(kind_from_code)
        }
    };
    if known_kind.is_some_and(|kind| kind != record.kind) {
        record.key.value = value;
    }
    Ok(())
}
