//! Tombstones that an import brings: they block, and move what they name to the Trash. In an unsigned bundle they would
//! otherwise be a way to destroy a vault.
use crate::{
    VaultResult,
    import::{apply::tombstone_cascade::TombstoneCascade, apply::tombstone_cascade::TombstoneImport},
};
use mementory_model::{Tombstone, TombstoneOp};
use mementory_store::{
    Flags,
    tombstones::{is_taken, store_foreign, targets},
};

impl TombstoneImport<'_, '_> {
    pub(super) fn tombstone(&mut self, tombstone: &Tombstone) -> VaultResult<()> {
        if self.run.options.forged.contains(&tombstone.id) {
            let message =
                "a deletion whose signature does not fit was not followed: it was changed after it was signed";
            self.run.report.warn("tombstone_signature_invalid", "audit/tombstones.jsonl", message);
            return Ok(());
        }
        let ids = targets(&self.run.context.keys, tombstone);
        self.run.report.counts.tombstones_applied += 1;
        let news = match &self.run.staging {
            Some(staging) => store_foreign(self.run.connection, tombstone, &ids, staging.batch)?,
            None => !is_taken(self.run.connection, tombstone)?,
        };
        if !news {
            return Ok(());
        }
        // A redaction is a deletion of the words (spec of `.mem` v1.1 §5): its skeleton may come, the words may not.
        match tombstone.op {
            TombstoneOp::Delete => {
                self.run.blocklist.block(&ids);
                self.run.deleted_ids.extend(ids);
            }
            TombstoneOp::Redact => {
                self.run.blocklist.empty(&ids);
                self.run.redacted_ids.extend(ids);
            }
        }
        Ok(())
    }

    /// Moves what the tombstones of this input name to the Trash, and what hangs on it.
    pub(super) fn trash_named(&mut self) -> VaultResult<()> {
        let mut cascade = TombstoneCascade::default();
        for id in std::mem::take(&mut self.run.deleted_ids) {
            self.goes(&mut cascade, id)?;
        }
        for id in std::mem::take(&mut self.run.redacted_ids) {
            let worded = match self.run.known(&id)? {
                // What is redacted here too, with what was taken from it.
                Some(known) if known.flags & Flags::REDACTED != 0 => continue,
                Some(known) => self.run.blocklist.has_words_of(&id, &self.run.stored(known.row)?),
                None => true,
            };
            // What is here already is the skeleton that is left, told now or by an earlier import.
            if worded { self.goes(&mut cascade, id)? } else { Self::loses_words(&mut cascade, id) }
        }
        let any = self.follow(cascade)?;
        if any {
            self.run.report.warn(
                "tombstones_to_trash",
                "audit/tombstones.jsonl",
                "records that the file says were deleted, and what was taken from them alone, are in your Trash now",
            );
        }
        Ok(())
    }
}
