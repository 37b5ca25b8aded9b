//! Deletes the records that a replaced list no longer contains. The input contains the complete new list.
use crate::{VaultResult, import::apply::tombstone_cascade::TombstoneImport};
use mementory_formats::ReplacedList;
use mementory_model::{Derived, RecordKey, Tombstone, TombstoneOp};
use mementory_store::{ids::record_id, kind_code};
use std::collections::HashSet;

impl TombstoneImport<'_, '_> {
    /// Deletes the elements that are in the vault but no longer in the new state of the list, as tombstones would.
    /// Reads all records of the kind, because kinds that such lists contain have few records.
    pub(super) fn delete_missing_elements(&mut self, list: &ReplacedList) -> VaultResult<()> {
        for RecordKey { scope, value } in self.missing_elements(list)? {
            self.apply_tombstone(&Tombstone {
                id: format!("{}:{value}", list.actor),
                op: TombstoneOp::Delete,
                target_kind: list.kind.as_str().into(),
                scope,
                target_id: value,
                at: list.at,
                actor: list.actor.clone(),
                reason: "deleted at the source".into(),
                derived: Derived::default(),
                signature: None,
                verbatim: None,
            })?;
        }
        Ok(())
    }

    /// Returns the keys of elements that are in the vault but no longer in the list. Elements that an imported deletion
    /// already names are left out, because they may have been restored since.
    fn missing_elements(&self, list: &ReplacedList) -> VaultResult<Vec<RecordKey>> {
        let present: HashSet<&str> = list.keys.iter().map(String::as_str).collect();
        let mut statement =
            self.run.connection.prepare_cached("SELECT row FROM records WHERE kind = ?1 AND trashed IS NULL")?;
        let rows: Vec<i64> = statement.query_map([kind_code(list.kind)], |r| r.get(0))?.collect::<Result<_, _>>()?;
        let mut missing = Vec::new();
        for row in rows {
            let record = self.run.stored_content(row)?;
            let is_element = record.key.scope == list.scope
                && record.origin.format == list.format
                && record.origin.pointer.starts_with(&list.pointer);
            let is_missing = is_element && !present.contains(record.key.value.as_str());
            if is_missing && !self.run.blocklist.is_named(&record_id(&self.run.context.keys, &record.key)) {
                missing.push(record.key);
            }
        }
        Ok(missing)
    }
}
