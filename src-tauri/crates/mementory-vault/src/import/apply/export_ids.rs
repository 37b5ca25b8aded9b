//! Stores the export ids that records have from the vault that wrote the input.
use crate::{VaultResult, import::apply::ImportRun};
use mementory_model::RecordKey;
use mementory_store::{export_ids, ids::record_id};

impl ImportRun<'_> {
    pub(super) fn add_export_ids(&mut self, ids: Vec<(RecordKey, [u8; 16])>) {
        self.has_export_ids = true;
        let keys = &self.context.keys;
        self.export_ids.extend(ids.into_iter().map(|(key, id)| (record_id(keys, &key), id)));
    }

    /// The export id that the input states for the record with this key.
    pub(super) fn take_export_id(&mut self, key: &RecordKey) -> Option<[u8; 16]> {
        if self.export_ids.is_empty() {
            return None;
        }
        self.export_ids.remove(&record_id(&self.context.keys, key))
    }

    /// Stores the export id of a record that this batch added. A record that the vault had before keeps the id under
    /// which the vault may have exported it.
    pub(super) fn store_export_id(&self, id: &[u8; 16], export_id: Option<[u8; 16]>) -> VaultResult<()> {
        let (Some(export_id), Some(staging), Some(seen)) = (export_id, &self.staging, self.seen.get(id)) else {
            return Ok(());
        };
        if seen.row >= staging.first_row { export_ids::add(self.connection, id, &export_id) } else { Ok(()) }
    }

    /// Frees the id of a new record, in case that an input claimed it for another record.
    pub(super) fn release_export_id(&self, id: &[u8; 16]) -> VaultResult<()> {
        if self.has_export_ids { export_ids::release(self.connection, id) } else { Ok(()) }
    }
}
