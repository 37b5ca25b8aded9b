//! Checks the failed places of a receipt again when the erased words are no longer known, since they are stored
//! nowhere. Without the words, the check can only establish that all remaining data belongs to a record.
use crate::{
    ErasureCheck, PlaceOutcome, Receipt, ReceiptPlace,
    receipt::{NOT_SEARCHED, checked_place},
    unused_bytes,
};
use mementory_store::StoreResult;
use rusqlite::params;

/// Result of the cleanup before the second check.
#[derive(Debug, Clone, Copy)]
pub struct CleanupResult {
    /// Number of texts and rows that belonged to no record and were removed.
    pub orphans: u32,
    /// True if all files that no record refers to were removed.
    pub swept: bool,
    /// True if the write-ahead log was written back.
    pub wal_clean: bool,
}

impl ErasureCheck<'_> {
    /// Checks again those failed places that may be clean by now (see [`Receipt::may_be_transient`]). The caller must
    /// have removed unreferenced files and written the WAL back. Returns whether the result of a place changed.
    pub fn recheck(&self, receipt: &mut Receipt, is_wal_clean: bool) -> bool {
        let mut has_changed = false;
        for failed in receipt.places.iter_mut().filter(|p| p.outcome == PlaceOutcome::Failed) {
            let rechecked = match failed.place.as_str() {
                "write_ahead_log" => self.check_wal(is_wal_clean),
                "temporary_files" => self.check_folder(),
                "attachments" => {
                    let detail = "no file is left that no record names".into();
                    checked_place("attachments", true, PlaceOutcome::Erased, detail)
                }
                _ => continue,
            };
            has_changed |= rechecked != *failed;
            *failed = rechecked;
        }
        receipt.complete = receipt.places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        has_changed
    }

    /// Checks every failed place again. The caller must have removed unreferenced rows and files.
    pub fn recheck_without_words(&self, receipt: &mut Receipt, cleaned: CleanupResult) -> StoreResult<()> {
        self.recheck(receipt, cleaned.wal_clean);
        let id = receipt.id.clone();
        for failed in receipt.places.iter_mut().filter(|p| p.outcome == PlaceOutcome::Failed) {
            *failed = match failed.place.as_str() {
                "record" => self.recheck_records(&id)?,
                "search_index" => self.recheck_index()?,
                "database_pages" => self.recheck_pages(failed, cleaned)?,
                "passthrough" => self.recheck_passthrough()?,
                _ => continue,
            };
        }
        if !cleaned.swept {
            let files = receipt.places.iter_mut().filter(|p| p.place == "attachments");
            files
                .for_each(|p| *p = checked_place("attachments", false, p.outcome, "files could not be removed".into()));
        }
        receipt.complete = receipt.places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        Ok(())
    }

    /// Looks for the erased records, which are known from the tombstones. Rows that belong to no record have already
    /// been removed.
    fn recheck_records(&self, receipt: &str) -> StoreResult<ReceiptPlace> {
        let connection = self.store.new_reader()?;
        let sql = "SELECT count(*), count(r.row) FROM tombstones t LEFT JOIN records r ON r.id = t.record \
                   WHERE t.receipt = ?1 AND t.op = 0";
        let (tombstones, records_left): (u32, u32) =
            connection.query_row(sql, params![receipt], |r| Ok((r.get(0)?, r.get(1)?)))?;
        let detail = format!("{tombstones} records looked for by their tombstones, {records_left} still there");
        Ok(checked_place("record", records_left == 0, PlaceOutcome::Erased, detail))
    }

    /// Checks that the index, which was rebuilt from the store, has one document for each live record and nothing else.
    fn recheck_index(&self) -> StoreResult<ReceiptPlace> {
        let (documents, live) = (self.with_index(|i| Ok(i.documents()))?, self.count_live_records()?);
        let residue = mementory_search::residue(&self.dir.join("index"), self.keys.index(), &[], &[], &[]);
        let (is_index_clean, detail) = match residue {
            Ok(r) if r.is_clean() && documents == live => {
                (true, format!("made anew from the vault: {} files, {documents} documents", r.files))
            }
            Ok(r) => (false, format!("{} leftovers, {documents} documents for {live} records", r.findings.len())),
            Err(e) => (false, e.to_string()),
        };
        Ok(checked_place("search_index", is_index_clean, PlaceOutcome::Erased, detail))
    }

    /// Checks the unused bytes. The words of the traces that were found before are no longer known. But all these
    /// traces were in bytes in use, because unused bytes are wiped at once. So they count as gone if texts that belong
    /// to no record were removed now, or if the pages had not been searched before. Otherwise the traces may still be
    /// in the pages, and the place fails.
    fn recheck_pages(&self, earlier_place: &ReceiptPlace, cleaned: CleanupResult) -> StoreResult<ReceiptPlace> {
        let rechecked = unused_bytes::check(&self.store.new_reader()?)?;
        let is_explained = cleaned.orphans > 0 || earlier_place.detail.starts_with(NOT_SEARCHED);
        if rechecked.outcome == PlaceOutcome::Failed || is_explained {
            return Ok(rechecked);
        }
        let detail = "traces found earlier may be in what is in use; what to look for is not known any more";
        Ok(checked_place("database_pages", false, PlaceOutcome::Erased, detail.into()))
    }

    /// Fails if there are passthrough files, since they cannot be searched without the words.
    fn recheck_passthrough(&self) -> StoreResult<ReceiptPlace> {
        let kind = mementory_store::kind_code(mementory_model::Kind::Foreign);
        let sql = "SELECT count(DISTINCT n.blob) FROM named_blobs n JOIN records r ON r.row = n.row WHERE r.kind = ?1";
        let file_count: u32 = self.store.new_reader()?.query_row(sql, [kind], |r| r.get(0))?;
        let detail = if file_count == 0 {
            "there are none any more".into()
        } else {
            format!("{file_count} parts of imports could not be searched: what to look for is not known any more")
        };
        Ok(checked_place("passthrough", file_count == 0, PlaceOutcome::NotPresent, detail))
    }

    /// Number of records that are not in the Trash. These are the records that the index has to contain.
    fn count_live_records(&self) -> StoreResult<u64> {
        let sql = "SELECT count(*) FROM records WHERE trashed IS NULL";
        let live: i64 = self.store.read(|c| Ok(c.query_row(sql, [], |r| r.get(0))?))?;
        Ok(u64::try_from(live).unwrap_or(0))
    }
}
