//! Applies the tombstones of an import. Tombstones only block records and move them to the Trash. If they destroyed
//! records, an unsigned bundle could destroy a vault.
use crate::{
    VaultError, VaultResult,
    import::apply::{
        alternative_keys::replace_taken_target,
        tombstone_cascade::{TombstoneCascade, TombstoneImport},
    },
};
use mementory_model::{FormatError, Tombstone, TombstoneOp};
use mementory_store::{
    Flags,
    tombstones::{foreign_id, store_foreign, target_record_ids},
};

impl TombstoneImport<'_, '_> {
    pub(super) fn apply_tombstone(&mut self, tombstone: &Tombstone) -> VaultResult<()> {
        if self.run.options.refuse_deletions {
            let message = "it carries deletions, so it is not imported without a person who has seen them";
            return Err(VaultError::Format(FormatError::invalid("brings_deletions", &tombstone.scope, message)));
        }
        if self.run.options.forged.contains(&tombstone.id) {
            let message = "a deletion whose signature is not valid was not followed";
            self.run.report.warn("tombstone_signature_invalid", "audit/tombstones.jsonl", message);
            return Ok(());
        }
        let tombstone = replace_taken_target(self.run, tombstone)?;
        let ids = target_record_ids(self.run.connection, &self.run.context.keys, &tombstone)?;
        self.run.report.counts.tombstones_applied += 1;
        let is_new = match &self.run.staging {
            Some(staging) => store_foreign(self.run.connection, &tombstone, &ids, staging.batch)?,
            None => foreign_id(self.run.connection, &tombstone)?.is_some(),
        };
        if !is_new {
            return Ok(());
        }
        // A redaction deletes only the words (spec of `.mem` v1.1 §5), so the skeleton may be imported.
        match tombstone.op {
            TombstoneOp::Delete => {
                self.run.blocklist.add_deleted(&ids);
                self.run.deleted_ids.extend(ids);
            }
            TombstoneOp::Redact => {
                self.run.blocklist.add_redacted(&ids);
                self.run.redacted_ids.extend(ids);
            }
        }
        Ok(())
    }

    /// Moves the targets of this input's tombstones to the Trash, with everything that depends on them. A redacted
    /// record stays if it has no words left.
    pub(super) fn trash_targets(&mut self) -> VaultResult<()> {
        let mut cascade = TombstoneCascade::default();
        for id in std::mem::take(&mut self.run.deleted_ids) {
            self.delete(&mut cascade, id)?;
        }
        for id in std::mem::take(&mut self.run.redacted_ids) {
            let has_words = match self.run.known_record(&id)? {
                // The record was redacted in this vault already, with the records derived from it.
                Some(known) if known.flags & Flags::REDACTED != 0 => continue,
                Some(known) => self.run.blocklist.has_redacted_words(&id, &self.run.stored_record(known.row)?),
                None => true,
            };
            // A record without words is the skeleton that this import or an earlier one stored in place of a redacted
            // record.
            if has_words { self.delete(&mut cascade, id)? } else { Self::redact(&mut cascade, id) }
        }
        let removed_live = self.remove_dependants(cascade)?;
        if removed_live {
            self.run.report.warn(
                "tombstones_to_trash",
                "audit/tombstones.jsonl",
                "records that the file says were deleted, and what was taken from them alone, are in your Trash now",
            );
        }
        Ok(())
    }
}
