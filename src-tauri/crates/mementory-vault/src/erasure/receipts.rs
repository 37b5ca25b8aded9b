//! Writes the receipt of a deletion and stores it. If the program stops before the receipt is written, the deletion is
//! finished and the receipt is written when the vault is next opened.
use crate::{
    VaultError, VaultResult, applied::Applied, context::Context, erasure::targets::query_integers,
    failed_step::FailedStep, meta,
};
use mementory_erasure_check::{Evidence, IndexCleanup, PlaceOutcome, Receipt, ReceiptPlace, Wipe};
use mementory_model::Timestamp;
use mementory_store::{Store, scrub, scrub_all};
use rusqlite::{Connection, OptionalExtension, params};
use std::sync::PoisonError;

/// Inserts the pending receipt, in the transaction of the erasure.
pub(crate) fn pending_receipt(tx: &Connection, id: &str, now: Timestamp) -> VaultResult<()> {
    tx.execute(
        "INSERT OR REPLACE INTO receipts (id, at, complete, body) VALUES (?1, ?2, 0, '')",
        params![id, now.as_micros()],
    )?;
    Ok(())
}

/// Writes, finishes and retries the receipts of erasures and redactions.
#[derive(Clone, Copy)]
pub struct Receipts<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Receipts<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Receipts<'_> {
    /// Runs the erasure check and stores the receipt. With `wipe`, the check overwrites the unused bytes of pages in
    /// which it finds traces. If the receipt is not complete and the traces are known, the traces stay in memory for a
    /// retry.
    pub(crate) fn check_and_store(
        &self,
        id: String,
        evidence: &mut Evidence,
        now: Timestamp,
        wipe: bool,
        clean_index: IndexCleanup<'_>,
    ) -> VaultResult<Receipt> {
        let scrub_pages = |pages: &[i64]| -> VaultResult<bool> {
            self.context.store.write(|tx| scrub(tx, pages))?;
            self.context.store.checkpoint()
        };
        let receipt = self.context.erasure_check().run(
            id,
            evidence,
            now,
            wipe.then_some(&scrub_pages as Wipe<'_>),
            clean_index,
        )?;
        self.save(&receipt)?;
        let mut unproven_deletions = self.context.unproven_deletions.lock().unwrap_or_else(PoisonError::into_inner);
        unproven_deletions.remove(&receipt.id);
        if !receipt.complete && !evidence.traces_unknown {
            unproven_deletions.insert(receipt.id.clone(), std::mem::take(evidence));
        }
        Ok(receipt)
    }

    pub(crate) fn save(&self, receipt: &Receipt) -> VaultResult<()> {
        let body = serde_json::to_string(receipt).unwrap_or_default();
        let indexed_upto = self.context.with_index(|i| Ok(i.seq()))?;
        self.context.store.write(|tx| {
            tx.execute(
                "INSERT OR REPLACE INTO receipts (id, at, complete, body) VALUES (?1, ?2, ?3, ?4)",
                params![receipt.id, receipt.at.as_micros(), receipt.complete, body],
            )?;
            trim_change_log(tx, indexed_upto)
        })
    }

    /// Finishes erasures and redactions that were interrupted between the store's commit and their receipt: rewrites
    /// the index, removes blobs that no record refers to, overwrites every unused byte of the database, truncates the
    /// WAL, and runs the check. The old content of the packs is no longer known, so the check examines the unused bytes
    /// instead of searching for traces. Also repeats the check of receipts that failed for a reason that may have
    /// passed (a busy WAL, an unknown file in the folder). Returns the number of interrupted deletions.
    pub fn finish_interrupted(&self, now: Timestamp) -> VaultResult<u32> {
        self.retry_receipts()?;
        let pending: Vec<String> = self.context.store.read(|c| {
            let mut statement = c.prepare("SELECT id FROM receipts WHERE body = ''")?;
            let rows = statement.query_map([], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if pending.is_empty() {
            return Ok(0);
        }
        let (removed_rows, changed_rows) = self.context.store.read(|c| {
            let removed_rows = query_integers(
                c,
                "SELECT DISTINCT target FROM changes WHERE op = 2 AND target NOT IN (SELECT row FROM records)",
                [],
            )?;
            Ok((removed_rows, query_integers(c, "SELECT DISTINCT target FROM changes WHERE op = 1", [])?))
        })?;
        let rows: Vec<u64> = removed_rows.iter().chain(&changed_rows).map(|r| *r as u64).collect();
        self.context.with_index(|i| i.purge(&rows))?;
        self.context.sweep_blobs()?;
        self.context.store.write(|tx| scrub_all(tx))?;
        for id in &pending {
            let mut evidence = Evidence::of_interrupted_deletion(
                removed_rows.clone(),
                changed_rows.clone(),
                self.context.store.checkpoint()?,
            );
            self.check_and_store(id.clone(), &mut evidence, now, true, &|| Ok(()))?;
        }
        self.context.store.checkpoint()?;
        Ok(pending.len() as u32)
    }

    /// Repeats the check of receipts that may have failed for a temporary reason.
    fn retry_receipts(&self) -> VaultResult<()> {
        let failed: Vec<String> = self.context.store.read(|c| {
            let mut statement = c.prepare("SELECT body FROM receipts WHERE complete = 0 AND body <> ''")?;
            let rows = statement.query_map([], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let failed = failed.iter().filter_map(|body| serde_json::from_str::<Receipt>(body).ok());
        let retry: Vec<Receipt> = failed.filter(Receipt::may_be_transient).collect();
        if retry.is_empty() {
            return Ok(());
        }
        self.context.sweep_blobs()?;
        let wal_clean = self.context.store.checkpoint()?;
        for mut receipt in retry {
            if self.context.erasure_check().recheck(&mut receipt, wal_clean) {
                self.save(&receipt)?;
            }
        }
        self.context.store.checkpoint()?;
        Ok(())
    }

    /// Returns the receipt of a committed deletion. `cleaned` is the result of the steps after the commit. If a step
    /// failed, the returned receipt is incomplete and the pending receipt stays in the store, so that the deletion is
    /// finished when the vault is next opened.
    pub(crate) fn after_commit(cleaned: VaultResult<Receipt>, id: String, now: Timestamp) -> Applied<Receipt> {
        let failed = cleaned.is_err();
        let receipt = cleaned.unwrap_or_else(|_| Self::not_finished(id, now));
        Applied::new(receipt).warn_if(failed, FailedStep::Cleaning)
    }

    fn not_finished(id: String, now: Timestamp) -> Receipt {
        let detail = "cleaning was cut short; it is finished when the vault is opened again".to_owned();
        let place = ReceiptPlace { place: "cleaning".into(), outcome: PlaceOutcome::Failed, detail };
        Receipt { id, at: now, complete: false, places: vec![place], copies_left: 0, copies_redacted: None }
    }

    /// Returns the receipt of an erasure or redaction. A pending receipt counts as not found.
    pub fn get(&self, id: &str) -> VaultResult<Receipt> {
        self.context.store.read(|c| {
            let body: Option<String> =
                c.query_row("SELECT body FROM receipts WHERE id = ?1", [id], |r| r.get(0)).optional()?;
            let body = body.filter(|b| !b.is_empty()).ok_or_else(|| VaultError::not_found(id))?;
            serde_json::from_str(&body).map_err(|_| VaultError::Damaged("receipt".into()))
        })
    }
}

/// Deletes entries of the change log that the index has applied, so that the log does not grow indefinitely. Leaves the
/// last change, because store and index are compared by its number. Deletes nothing while a receipt is pending, because
/// finishing that deletion needs the rows in the log.
fn trim_change_log(tx: &Connection, indexed_upto: u64) -> VaultResult<()> {
    let pending: bool = tx.query_row("SELECT EXISTS (SELECT 1 FROM receipts WHERE body = '')", [], |r| r.get(0))?;
    let last_change = Store::last_change(tx)?;
    let last_deleted_change = indexed_upto.min(last_change.saturating_sub(1)) as i64;
    if !pending && tx.execute("DELETE FROM changes WHERE seq <= ?1", [last_deleted_change])? > 0 {
        meta::write(tx, mementory_store::LAST_REMOVED_CHANGE_KEY, last_deleted_change)?;
    }
    Ok(())
}
