//! Applies the list of erasures to a copy of the vault that was made before those erasures.
use crate::{
    VaultResult,
    erasure::{
        eraser::EraseRequest, eraser::Eraser, ledger::ErasureLedger, redact_again::RedactAgain, sabotage::Sabotage,
        targets::EraseScope, write_tombstones::EarlierErasure,
    },
    erasure_ledger::{ErasureAct, FoundLedger, LedgerRecord},
};
use mementory_model::{Derived, Timestamp, TombstoneOp};
use mementory_store::{
    Flags, RowView,
    tombstones::{TombstoneRow, own_ids, store_own, store_redacted},
};
use rusqlite::{Connection, params};
use std::sync::atomic::AtomicBool;

/// Reason in the tombstones of records that were erased or redacted in a newer copy of the vault.
const ERASED_BEFORE_REASON: &str = "erased_before";

/// Result of applying the lists of erasures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppliedErasures {
    /// Number of erasures and redactions that were applied because this copy did not have them.
    pub erasures: u32,
    /// Number of the applied erasures and redactions whose receipts are not complete.
    pub incomplete: u32,
    /// True if a list was found outside this copy. Without such a list, erasures that were made after the copy cannot
    /// be known.
    pub has_outside_list: bool,
    /// Number of lists that could not be read, because they are damaged or belong to another vault.
    pub unread: u32,
}

impl ErasureLedger<'_> {
    /// Erases and redacts the records that the lists of erasures name and that this copy still contains. Then writes
    /// the merged list to the vault's folder and to the program's folder.
    ///
    /// # Errors
    /// Errors of the store and the index, and I/O. Erasures and redactions that were applied before the error stay
    /// applied, and the next call applies the others.
    pub fn apply(&self, now: Timestamp, progress: &dyn Fn(&str)) -> VaultResult<AppliedErasures> {
        let files = self.files();
        let (own, outside) = (self.read(Some(&files.in_vault)), self.read(files.outside.as_deref()));
        let from_backups = self.read_backups();
        let mut all = FoundLedger::default();
        for found in [&own, &outside, &from_backups] {
            all.ledger.merge(found.ledger.clone());
        }
        let mut out = AppliedErasures {
            has_outside_list: outside.read + from_backups.read > 0,
            unread: own.unread + outside.unread + from_backups.unread,
            ..AppliedErasures::default()
        };
        let applied = self.context.store.read(own_ids)?;
        for (id, act) in all.ledger.missing(&applied) {
            progress("erased_before");
            out.incomplete += u32::from(!self.apply_act(&id, &act, now, progress)?);
            out.erasures += 1;
        }
        self.context.store.read(|c| all.ledger.add_tombstones(c))?;
        if own.read == 0 || own.ledger != all.ledger {
            files.write(&self.context.keys, &files.in_vault, &all.ledger)?;
        }
        if outside.read == 0 || outside.ledger != all.ledger {
            // If this write fails, the list is written when the vault is next opened.
            let _ = self.write_outside(&files, &all.ledger);
        }
        Ok(out)
    }

    /// Applies one act (an erasure or redaction). Returns true if all its receipts are complete.
    fn apply_act(&self, id: &str, act: &ErasureAct, now: Timestamp, progress: &dyn Fn(&str)) -> VaultResult<bool> {
        let earlier = EarlierErasure {
            receipt: id.to_owned(),
            at: Timestamp::from_micros(act.at).unwrap_or(now),
            tombstones: act.records.iter().filter_map(|entry| Some((entry.id()?, entry.tombstone.clone()))).collect(),
        };
        let (redacted, erased): (Vec<&LedgerRecord>, Vec<&LedgerRecord>) =
            act.records.iter().partition(|entry| entry.redacted);
        let ids: Vec<String> = self.find_rows(&erased)?.iter().map(RowView::id_text).collect();
        let mut complete = true;
        if !ids.is_empty() {
            let request = EraseRequest {
                ids: &ids,
                scope: EraseScope::Listed,
                reason: ERASED_BEFORE_REASON,
                copies: &[],
                now,
                earlier: Some(&earlier),
                cancel: &AtomicBool::new(false),
            };
            let outcome = Eraser::new(self.context).run(&request, progress, Sabotage::default())?;
            complete &= outcome.receipt.complete;
        }
        let views = self.find_rows(&redacted)?;
        if !views.is_empty() {
            complete &= RedactAgain::new(self.context).run(act, views, &earlier, now, progress)?;
        }
        self.context.store.write(|tx| {
            let applied = own_ids(tx)?;
            act.records
                .iter()
                .try_for_each(|entry| self.block(tx, entry, applied.contains(&entry.tombstone), earlier.at))
        })?;
        Ok(complete)
    }

    fn find_rows(&self, entries: &[&LedgerRecord]) -> VaultResult<Vec<RowView>> {
        self.context.store.read(|c| {
            let ids = entries.iter().filter_map(|entry| entry.id());
            ids.filter_map(|id| RowView::by_id(c, &id).transpose()).collect()
        })
    }

    /// Blocks the record of a list entry in later imports, even if this copy of the vault never had the record.
    fn block(&self, tx: &Connection, entry: &LedgerRecord, has_tombstone: bool, at: Timestamp) -> VaultResult<()> {
        let Some(id) = entry.id() else { return Ok(()) };
        let fingerprints = entry.blocked_fingerprints();
        if has_tombstone {
            for fingerprint in fingerprints {
                tx.prepare_cached("INSERT OR IGNORE INTO fingerprints (fingerprint, tombstone) VALUES (?1, ?2)")?
                    .execute(params![fingerprint, entry.tombstone])?;
            }
            return Ok(());
        }
        let row = TombstoneRow {
            id: entry.tombstone.clone(),
            op: if entry.redacted { TombstoneOp::Redact } else { TombstoneOp::Delete },
            kind: entry.kind.clone(),
            target: entry.record.clone(),
            scope: "keepsake".into(),
            origin_id: None,
            source: None,
            at,
            actor: "owner".into(),
            reason: ERASED_BEFORE_REASON.into(),
            derived: Derived::default(),
            signature: String::new(),
            own: true,
            receipt: None,
            signature_valid: false,
            verbatim: None,
        };
        let blocked: &[[u8; 16]] = if entry.redacted { &[] } else { &[id] };
        let row = store_own(tx, &self.context.keys, row, &id, blocked, &fingerprints)?;
        if entry.redacted {
            store_redacted(tx, &[id], &row.id)?;
            // The source still has the redacted words. The flag keeps imports from adding a newer version of this
            // record.
            tx.execute("UPDATE records SET flags = flags | ?2 WHERE id = ?1", params![id, Flags::REDACTED])?;
        }
        let op = if entry.redacted { "redact" } else { "erase" };
        mementory_store::audit::append(tx, &self.context.keys, at, op, &entry.record, ERASED_BEFORE_REASON)?;
        Ok(())
    }
}
