//! Tombstones that an import brings: they block, and move what they name to the Trash. In an unsigned bundle they would
//! otherwise be a way to destroy a vault.
use super::{Importer, reach::Reach};
use crate::VaultResult;
use mementory_model::{Tombstone, TombstoneOp};
use mementory_store::{
    Flags,
    tombstones::{is_taken, store_foreign, targets},
};

impl Importer<'_> {
    pub(super) fn tombstone(&mut self, tombstone: &Tombstone) -> VaultResult<()> {
        if self.options.forged.contains(&tombstone.id) {
            let message =
                "a deletion whose signature does not fit was not followed: it was changed after it was signed";
            self.report.warn("tombstone_signature_invalid", "audit/tombstones.jsonl", message);
            return Ok(());
        }
        let ids = targets(&self.vault.keys, tombstone);
        self.report.counts.tombstones_applied += 1;
        let news = match &self.staging {
            Some(staging) => store_foreign(self.connection, tombstone, &ids, staging.batch)?,
            None => !is_taken(self.connection, tombstone)?,
        };
        if !news {
            return Ok(());
        }
        // A redaction is a deletion of the words (spec of `.mem` v1.1 §5): its skeleton may come, the words may not.
        match tombstone.op {
            TombstoneOp::Delete => {
                self.held.block(&ids);
                self.doomed.extend(ids);
            }
            TombstoneOp::Redact => {
                self.held.empty(&ids);
                self.emptied.extend(ids);
            }
        }
        Ok(())
    }

    /// Moves what the tombstones of this input name to the Trash, and what hangs on it.
    pub(super) fn trash_named(&mut self) -> VaultResult<()> {
        let mut reach = Reach::default();
        for id in std::mem::take(&mut self.doomed) {
            self.goes(&mut reach, id)?;
        }
        for id in std::mem::take(&mut self.emptied) {
            let worded = match self.known(&id)? {
                // What is redacted here too, with what was taken from it.
                Some(known) if known.flags & Flags::REDACTED != 0 => continue,
                Some(known) => self.held.has_words_of(&id, &self.stored(known.row)?),
                None => true,
            };
            // What is here already is the skeleton that is left, told now or by an earlier import.
            if worded { self.goes(&mut reach, id)? } else { Self::loses_words(&mut reach, id) }
        }
        let any = self.follow(reach)?;
        if any {
            self.report.warn(
                "tombstones_to_trash",
                "audit/tombstones.jsonl",
                "records that the file says were deleted, and what was taken from them alone, are in your Trash now",
            );
        }
        Ok(())
    }
}
