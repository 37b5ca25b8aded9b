//! Tombstones that an import brings: they block, and move what they name to the Trash. In an unsigned bundle they would
//! otherwise be a way to destroy a vault.
use super::Importer;
use crate::{
    VaultResult,
    change::trash_row,
    store::Flags,
    tombstones::{is_taken, store_foreign, targets},
};
use keepsake_model::{Tombstone, TombstoneOp};

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

    /// Moves what the tombstones of this input name to the Trash.
    pub(super) fn trash_named(&mut self) -> VaultResult<()> {
        let mut any = false;
        // What is redacted here too, or was told anew by this input as the skeleton that is left, has lost its words.
        let mut emptied = std::mem::take(&mut self.emptied);
        emptied.retain(|id| self.seen.get(id).is_none_or(|seen| !seen.written));
        let doomed = std::mem::take(&mut self.doomed).into_iter().map(|id| (id, false));
        for (id, skeleton) in doomed.chain(emptied.into_iter().map(|id| (id, true))).collect::<Vec<_>>() {
            let Some(known) = self.known(&id)?.filter(|known| !known.trashed) else { continue };
            if skeleton && known.flags & Flags::REDACTED != 0 {
                continue;
            }
            any = true;
            let Some(staging) = &self.staging else { continue };
            for row in trash_row(self.connection, known.row, self.options.now, Some(staging.batch))? {
                self.vault.index_delete(row)?;
            }
        }
        if any {
            self.report.warn(
                "tombstones_to_trash",
                "audit/tombstones.jsonl",
                "records that the file says were deleted are in your Trash now",
            );
        }
        Ok(())
    }
}
