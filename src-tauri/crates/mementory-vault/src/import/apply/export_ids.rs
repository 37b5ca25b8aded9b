//! Stores export ids. The vault that wrote the input gave these ids to its records.
use crate::{VaultResult, import::apply::ImportRun};
use mementory_crypto::VaultKeys;
use mementory_model::RecordKey;
use mementory_store::{export_ids, ids::record_id};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// The export ids that the input states.
pub(super) struct StatedExportIds {
    /// Export ids of records that come later in the input. The key is the record's id in this vault.
    pending: HashMap<[u8; 16], [u8; 16]>,
    /// True if a record had an export id from another vault before this input.
    any_before: bool,
    /// The ids that this input claimed for records with another vault id. The table is searched only for these ids.
    claimed: HashSet<[u8; 16]>,
}

impl StatedExportIds {
    pub(super) fn new(connection: &Connection) -> VaultResult<Self> {
        Ok(Self { pending: HashMap::new(), any_before: export_ids::any(connection)?, claimed: HashSet::new() })
    }

    /// Adds the export ids of records that come later in the input.
    pub(super) fn add(&mut self, keys: &VaultKeys, ids: Vec<(RecordKey, [u8; 16])>) {
        self.pending.extend(ids.into_iter().map(|(key, id)| (record_id(keys, &key), id)));
    }

    /// Returns the export id of the record with this vault id.
    pub(super) fn get(&self, id: &[u8; 16]) -> Option<[u8; 16]> {
        self.pending.get(id).copied()
    }

    /// Removes and returns the export id of the record with this vault id.
    pub(super) fn take(&mut self, id: &[u8; 16]) -> Option<[u8; 16]> {
        self.pending.remove(id)
    }

    /// Deletes the stored claim by which another record uses the id of this new record as its export id.
    pub(super) fn release(&self, connection: &Connection, id: &[u8; 16]) -> VaultResult<()> {
        match self.any_before || self.claimed.contains(id) {
            true => export_ids::release(connection, id),
            false => Ok(()),
        }
    }
}

/// Stores the export id of a record that this batch added. A record that was in the vault before keeps its earlier
/// export id, because the vault may have exported it under that id. An export id that a deletion names is not stored,
/// because other vaults would apply the deletion to this record.
pub(super) fn store_export_id(run: &mut ImportRun<'_>, id: &[u8; 16], export_id: Option<[u8; 16]>) -> VaultResult<()> {
    let (Some(export_id), Some(staging), Some(seen)) = (export_id, &run.staging, run.seen.get(id)) else {
        return Ok(());
    };
    if seen.row < staging.first_row || run.blocklist.is_named(&export_id) {
        return Ok(());
    }
    if *id != export_id {
        run.export_ids.claimed.insert(export_id);
    }
    export_ids::add(run.connection, id, &export_id)
}
