//! Applying the list of erasures to a copy of the vault that is older than they are.
use crate::{
    VaultResult,
    erasure::{
        eraser::EraseRequest, eraser::Eraser, ledger::ErasureLedger, redact_again::RedactAgain, sabotage::Sabotage,
        targets::EraseScope, write_tombstones::Again,
    },
    erasure_ledger::{Act, FoundLedger, Gone},
};
use mementory_model::{Derived, Timestamp, TombstoneOp};
use mementory_store::{
    Flags, RowView,
    tombstones::{TombstoneRow, own_ids, store_own, store_redacted},
};
use rusqlite::{Connection, params};
use std::sync::atomic::AtomicBool;

/// Reason in the tombstones of what was erased in a newer copy.
const REASON: &str = "erased_before";

/// What applying the list did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppliedErasures {
    /// Erasures and redactions that this copy did not have.
    pub erasures: u32,
    /// Those of them whose check found something left.
    pub incomplete: u32,
    /// A list was found outside of this copy. Without one nobody can say whether something was erased since.
    pub known: bool,
    /// Lists that could not be read: damaged, or of another vault.
    pub unread: u32,
}

impl ErasureLedger<'_> {
    /// Erases and redacts what a list says was erased and redacted in a newer copy of this vault, and completes the lists.
    ///
    /// # Errors
    /// The store, the index, I/O. What was applied before stays applied; the next time goes on.
    pub fn apply(&self, now: Timestamp, progress: &dyn Fn(&str)) -> VaultResult<AppliedErasures> {
        let files = self.files();
        let (own, outside) = (self.read(Some(&files.own)), self.read(files.outside.as_deref()));
        let beside = self.beside();
        let mut all = FoundLedger::default();
        for found in [&own, &outside, &beside] {
            all.ledger.merge(found.ledger.clone());
        }
        let mut out = AppliedErasures {
            known: outside.read + beside.read > 0,
            unread: own.unread + outside.unread + beside.unread,
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
            files.write(&self.context.keys, &files.own, &all.ledger)?;
        }
        if outside.read == 0 || outside.ledger != all.ledger {
            self.write_outside(&files, &all.ledger);
        }
        Ok(out)
    }

    /// True when the check found nothing left.
    fn apply_act(&self, id: &str, act: &Act, now: Timestamp, progress: &dyn Fn(&str)) -> VaultResult<bool> {
        let again = Again {
            receipt: id.to_owned(),
            at: Timestamp::from_micros(act.at).unwrap_or(now),
            tombstones: act.records.iter().filter_map(|gone| Some((gone.id()?, gone.tombstone.clone()))).collect(),
        };
        let (redacted, erased): (Vec<&Gone>, Vec<&Gone>) = act.records.iter().partition(|gone| gone.redacted);
        let ids: Vec<String> = self.present(&erased)?.iter().map(RowView::id_text).collect();
        let mut complete = true;
        if !ids.is_empty() {
            let request = EraseRequest {
                ids: &ids,
                scope: EraseScope::Named,
                reason: REASON,
                copies: &[],
                now,
                again: Some(&again),
                cancel: &AtomicBool::new(false),
            };
            let done = Eraser::new(self.context).run(&request, progress, Sabotage::default())?;
            complete &= done.receipt.complete;
        }
        let views = self.present(&redacted)?;
        if !views.is_empty() {
            complete &= RedactAgain::new(self.context).run(act, views, &again, now, progress)?;
        }
        self.context.store.write(|tx| {
            let applied = own_ids(tx)?;
            act.records.iter().try_for_each(|gone| self.block(tx, gone, applied.contains(&gone.tombstone), again.at))
        })?;
        Ok(complete)
    }

    fn present(&self, gone: &[&Gone]) -> VaultResult<Vec<RowView>> {
        self.context.store.read(|c| {
            let ids = gone.iter().filter_map(|gone| gone.id());
            ids.filter_map(|id| RowView::by_id(c, &id).transpose()).collect()
        })
    }

    /// What this copy never had must not come by an import either.
    fn block(&self, tx: &Connection, gone: &Gone, has_tombstone: bool, at: Timestamp) -> VaultResult<()> {
        let Some(id) = gone.id() else { return Ok(()) };
        let prints = gone.blocked_prints();
        if has_tombstone {
            for print in prints {
                tx.prepare_cached("INSERT OR IGNORE INTO fingerprints (fingerprint, tombstone) VALUES (?1, ?2)")?
                    .execute(params![print, gone.tombstone])?;
            }
            return Ok(());
        }
        let row = TombstoneRow {
            id: gone.tombstone.clone(),
            op: if gone.redacted { TombstoneOp::Redact } else { TombstoneOp::Delete },
            kind: gone.kind.clone(),
            target: gone.record.clone(),
            scope: "keepsake".into(),
            origin_id: None,
            source: None,
            at,
            actor: "owner".into(),
            reason: REASON.into(),
            derived: Derived::default(),
            signature: String::new(),
            own: true,
            receipt: None,
            signature_valid: false,
            verbatim: None,
        };
        let blocked: &[[u8; 16]] = if gone.redacted { &[] } else { &[id] };
        let row = store_own(tx, &self.context.keys, row, &id, blocked, &prints)?;
        if gone.redacted {
            store_redacted(tx, &[id], &row.id)?;
            // The source has the words: no import brings this record a newer version.
            tx.execute("UPDATE records SET flags = flags | ?2 WHERE id = ?1", params![id, Flags::REDACTED])?;
        }
        let op = if gone.redacted { "redact" } else { "erase" };
        mementory_store::audit::append(tx, &self.context.keys, at, op, &gone.record, REASON)?;
        Ok(())
    }
}
