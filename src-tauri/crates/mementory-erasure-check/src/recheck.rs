//! Looking again at what a receipt says is not clean, where what to look for is not known any more: the words of an
//! erasure are kept nowhere. Then it is looked at whether anything is there that belongs to nothing.
use crate::{
    ErasureCheck, PlaceOutcome, Receipt, ReceiptPlace,
    receipt::{NOT_SEARCHED, place},
    unused_bytes,
};
use mementory_store::StoreResult;
use rusqlite::params;

/// What was cleaned up before looking again, and how that went.
#[derive(Debug, Clone, Copy)]
pub struct CleanedUp {
    /// Texts and rows that belonged to no record, removed now.
    pub orphans: u32,
    /// Files that no record names are gone.
    pub swept: bool,
    /// The write-ahead log was written back.
    pub wal_clean: bool,
}

impl ErasureCheck<'_> {
    /// Checks the places of a receipt again for which [`Receipt::may_be_transient`] is true. Called after unreferenced files
    /// were swept and the WAL was written back. True when something is different now.
    pub fn recheck(&self, receipt: &mut Receipt, wal_clean: bool) -> bool {
        let mut changed = false;
        for failed in receipt.places.iter_mut().filter(|p| p.outcome == PlaceOutcome::Failed) {
            let now = match failed.place.as_str() {
                "write_ahead_log" => self.check_wal(wal_clean),
                "temporary_files" => self.check_folder(),
                "attachments" => {
                    let detail = "no file is left that no record names".into();
                    place("attachments", true, PlaceOutcome::Erased, detail)
                }
                _ => continue,
            };
            changed |= now != *failed;
            *failed = now;
        }
        receipt.complete = receipt.places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        changed
    }

    /// Checks every place that failed again, after unreferenced rows and files were removed.
    pub fn recheck_without_words(&self, receipt: &mut Receipt, cleaned: CleanedUp) -> StoreResult<()> {
        self.recheck(receipt, cleaned.wal_clean);
        let id = receipt.id.clone();
        for failed in receipt.places.iter_mut().filter(|p| p.outcome == PlaceOutcome::Failed) {
            *failed = match failed.place.as_str() {
                "record" => self.records_again(&id)?,
                "search_index" => self.index_again()?,
                "database_pages" => self.pages_again(failed, cleaned)?,
                "passthrough" => self.parts_again()?,
                _ => continue,
            };
        }
        if !cleaned.swept {
            let files = receipt.places.iter_mut().filter(|p| p.place == "attachments");
            files.for_each(|p| *p = place("attachments", false, p.outcome, "files could not be removed".into()));
        }
        receipt.complete = receipt.places.iter().all(|p| p.outcome != PlaceOutcome::Failed);
        Ok(())
    }

    /// Rows that belong to no record are removed by now; the records themselves are known by the tombstones.
    fn records_again(&self, receipt: &str) -> StoreResult<ReceiptPlace> {
        let connection = self.store.extra_reader()?;
        let sql = "SELECT count(*), count(r.row) FROM tombstones t LEFT JOIN records r ON r.id = t.record \
                   WHERE t.receipt = ?1 AND t.op = 0";
        let (stones, left): (u32, u32) = connection.query_row(sql, params![receipt], |r| Ok((r.get(0)?, r.get(1)?)))?;
        let detail = format!("{stones} records looked for by their tombstones, {left} still there");
        Ok(place("record", left == 0, PlaceOutcome::Erased, detail))
    }

    /// Rebuilt from the store, the index contains what the store contains and nothing else.
    fn index_again(&self) -> StoreResult<ReceiptPlace> {
        let (documents, live) = (self.with_index(|i| Ok(i.documents()))?, self.live_records()?);
        let residue = mementory_search::residue(&self.dir.join("index"), self.keys.index(), &[], &[], &[]);
        let (clean, detail) = match residue {
            Ok(r) if r.is_clean() && documents == live => {
                (true, format!("made anew from the vault: {} files, {documents} documents", r.files))
            }
            Ok(r) => (false, format!("{} leftovers, {documents} documents for {live} records", r.findings.len())),
            Err(e) => (false, e.to_string()),
        };
        Ok(place("search_index", clean, PlaceOutcome::Erased, detail))
    }

    /// Traces had been found, not in unused bytes (those were wiped at once), and what they were is not known. They are
    /// gone if texts without a record were found and removed now; otherwise they may stand in what is in use, and nobody
    /// can say.
    fn pages_again(&self, before: &ReceiptPlace, cleaned: CleanedUp) -> StoreResult<ReceiptPlace> {
        let now = unused_bytes::check(&self.store.extra_reader()?)?;
        let accounted = cleaned.orphans > 0 || before.detail.starts_with(NOT_SEARCHED);
        if now.outcome == PlaceOutcome::Failed || accounted {
            return Ok(now);
        }
        let detail = "traces found earlier may be in what is in use; what to look for is not known any more";
        Ok(place("database_pages", false, PlaceOutcome::Erased, detail.into()))
    }

    /// Parts can only be searched for words that are known.
    fn parts_again(&self) -> StoreResult<ReceiptPlace> {
        let kind = mementory_store::kind_code(mementory_model::Kind::Foreign);
        let sql = "SELECT count(DISTINCT n.blob) FROM named_blobs n JOIN records r ON r.row = n.row WHERE r.kind = ?1";
        let parts: u32 = self.store.extra_reader()?.query_row(sql, [kind], |r| r.get(0))?;
        let detail = if parts == 0 {
            "there are none any more".into()
        } else {
            format!("{parts} parts of imports could not be searched: what to look for is not known any more")
        };
        Ok(place("passthrough", parts == 0, PlaceOutcome::NotPresent, detail))
    }

    /// Records that the index has to contain: all that are not in the Trash.
    fn live_records(&self) -> StoreResult<u64> {
        let sql = "SELECT count(*) FROM records WHERE trashed IS NULL";
        let live: i64 = self.store.read(|c| Ok(c.query_row(sql, [], |r| r.get(0))?))?;
        Ok(u64::try_from(live).unwrap_or(0))
    }
}
