//! Cleans the failed places of a receipt and checks them again. Until the vault is closed after the erasure, the erased
//! words are known and the full check is made. Later the words are unknown, since erased words are stored nowhere. Then
//! everything that belongs to no record is removed, and the places are checked without the words.
use crate::{
    VaultResult,
    context::Context,
    erasure::{passthrough_files::PassthroughFiles, receipts::Receipts},
    word_removal::Removal,
};
use mementory_erasure_check::{CleanupResult, Evidence, PlaceOutcome, Receipt};
use mementory_model::Timestamp;
use mementory_store::scrub_all;
use rusqlite::{Connection, OptionalExtension};
use std::{
    collections::HashSet,
    sync::{PoisonError, atomic::AtomicBool},
};

impl Receipts<'_> {
    /// Cleans the failed places of the receipt `id`, checks them again, and stores the new receipt under the same
    /// id. A complete receipt is returned unchanged.
    ///
    /// # Errors
    /// `NotFound`; I/O of the database or the index, which leaves the receipt unchanged.
    pub fn retry(&self, id: &str, now: Timestamp, progress: &dyn Fn(&str)) -> VaultResult<Receipt> {
        if self.is_pending(id)? {
            progress("database_pages");
            self.finish_interrupted(now)?;
            return self.get(id);
        }
        let receipt = self.get(id)?;
        if receipt.complete {
            return Ok(receipt);
        }
        let evidence = self.context.unproven_deletions.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let Some(mut evidence) = evidence else { return self.retry_without_words(receipt, now, progress) };
        let result = self.retry_with_words(&receipt, &mut evidence, now, progress);
        if result.is_err() {
            self.context
                .unproven_deletions
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(id.to_owned(), evidence);
        }
        result
    }

    fn is_pending(&self, id: &str) -> VaultResult<bool> {
        self.context.store.read(|c| {
            let sql = "SELECT body = '' FROM receipts WHERE id = ?1";
            Ok(c.query_row(sql, [id], |r| r.get(0)).optional()?.unwrap_or(false))
        })
    }

    fn retry_with_words(
        &self,
        receipt: &Receipt,
        evidence: &mut Evidence,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Receipt> {
        progress("record");
        let removal = Removal::erased(&evidence.texts, &evidence.quotations);
        let passthrough = PassthroughFiles::new(self.context).files_with_words(&removal, &HashSet::new(), true)?;
        let written = self.context.store.write(|tx| {
            drop_orphans(tx)?;
            self.context.store.packs.remove_strays(tx, |pack, old, new| evidence.add_pack(pack, old, new))?;
            let (old_blobs, changed) = PassthroughFiles::new(self.context).rewrite_files(tx, &passthrough)?;
            log_retry(self.context, tx, receipt, now)?;
            Ok((old_blobs, changed))
        });
        let (old_blobs, changed) = PassthroughFiles::new(self.context).after_write(&passthrough, written)?;
        evidence.blobs.extend(old_blobs);
        evidence.passthrough_files += changed;
        self.remove_leftovers(receipt, progress)?;
        evidence.wal_clean = self.context.store.checkpoint()?;
        progress("database_pages");
        self.check_and_store(receipt.id.clone(), evidence, now, true, &|| Ok(()))
    }

    fn retry_without_words(
        &self,
        mut receipt: Receipt,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Receipt> {
        progress("record");
        let orphans = self.context.store.write(|tx| {
            let rows = drop_orphans(tx)?;
            let texts = self.context.store.packs.remove_strays(tx, |_, _, _| {})?;
            log_retry(self.context, tx, &receipt, now)?;
            Ok(rows + texts)
        })?;
        let all_blobs_removed = self.remove_leftovers(&receipt, progress)?;
        let cleaned = CleanupResult { orphans, swept: all_blobs_removed, wal_clean: self.context.store.checkpoint()? };
        progress("database_pages");
        receipt.at = now;
        self.context.erasure_check().recheck_without_words(&mut receipt, cleaned)?;
        self.save(&receipt)?;
        self.context.store.checkpoint()?;
        Ok(receipt)
    }

    /// Removes blobs that no record refers to. Rebuilds the index and overwrites unused bytes if these places failed.
    /// Returns whether all blobs could be removed.
    fn remove_leftovers(&self, receipt: &Receipt, progress: &dyn Fn(&str)) -> VaultResult<bool> {
        progress("attachments");
        let all_blobs_removed = self.context.sweep_blobs().is_ok();
        progress("search_index");
        if has_failed(receipt, "search_index") {
            self.context.index_rebuild_until(&AtomicBool::new(false))?;
            // Waits for running merges of the index to end, and removes the files that they left behind.
            self.context.with_index(|i| i.purge(&[]))?;
        }
        progress("write_ahead_log");
        if has_failed(receipt, "database_pages") {
            self.context.store.write(|tx| scrub_all(tx))?;
        }
        self.context.store.packs.clear_cache();
        Ok(all_blobs_removed)
    }
}

fn has_failed(receipt: &Receipt, place: &str) -> bool {
    receipt.places.iter().any(|p| p.place == place && p.outcome == PlaceOutcome::Failed)
}

/// Removes rows that belong to no existing record, and returns their number.
fn drop_orphans(tx: &Connection) -> VaultResult<u32> {
    let mut row_count = 0;
    for table in ["versions", "tags", "links", "files", "file_refs"] {
        let sql = format!("DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.row = {table}.row)");
        row_count += tx.execute(&sql, [])?;
    }
    Ok(u32::try_from(row_count).unwrap_or(u32::MAX))
}

fn log_retry(context: &Context, tx: &Connection, receipt: &Receipt, now: Timestamp) -> VaultResult<()> {
    mementory_store::audit::append(tx, &context.keys, now, "clean_again", &receipt.id, "")
}
