//! The Trash. Records in the Trash are hidden at once, can be restored for a set time, and are then erased.
use crate::{
    VaultError, VaultResult,
    applied::Applied,
    context::Context,
    erasure::{EraseRequest, EraseScope, Eraser, Sabotage},
    failed_step::FailedStep,
};
use mementory_model::Timestamp;
use mementory_store::{
    RowView, Store,
    trash::{query_rows, trash_row, untrash},
};
use rusqlite::Connection;
use std::sync::atomic::AtomicBool;

/// Result of emptying the Trash.
#[derive(Debug, Default)]
pub struct ExpiredTrash {
    /// Number of records that were erased.
    pub erased: u32,
    /// Records that could not be erased, by id, each with the error. They stay in the Trash. On a full disk, only the
    /// first such record is listed.
    pub failed: Vec<(String, VaultError)>,
}

/// Moves records to the Trash, restores them, and empties the Trash.
#[derive(Clone, Copy)]
pub struct Trash<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Trash<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Trash<'_> {
    /// Moves records to the Trash. A conversation is moved together with its messages. Search, lists and exports leave
    /// the moved records out from then on. Returns `ids`.
    pub fn trash(&self, ids: &[String], now: Timestamp) -> VaultResult<Applied<Vec<String>>> {
        self.set_trashed(ids, now, true, &|_| Ok(()))
    }

    /// Like [`trash`](Self::trash), but also does `extra_work` in the same transaction.
    pub(crate) fn trash_with_extra_work(
        &self,
        ids: &[String],
        now: Timestamp,
        extra_work: &dyn Fn(&Connection) -> VaultResult<()>,
    ) -> VaultResult<Applied<Vec<String>>> {
        self.set_trashed(ids, now, true, extra_work)
    }

    /// Restores records from the Trash. Returns `ids`.
    pub fn restore(&self, ids: &[String], now: Timestamp) -> VaultResult<Applied<Vec<String>>> {
        self.set_trashed(ids, now, false, &|_| Ok(()))
    }

    fn set_trashed(
        &self,
        ids: &[String],
        now: Timestamp,
        to_trash: bool,
        extra_work: &dyn Fn(&Connection) -> VaultResult<()>,
    ) -> VaultResult<Applied<Vec<String>>> {
        // An unknown id is an error before any record is moved.
        let views = ids.iter().map(|id| self.context.find(id)).collect::<VaultResult<Vec<_>>>()?;
        let moved = self.context.commit(|tx| {
            let rows = self.move_in_transaction(tx, &views, now, to_trash)?;
            extra_work(tx)?;
            Ok((Store::last_change(tx)?, rows))
        })?;
        // Rows that were moved to the Trash are removed from the index. Restored rows are indexed again.
        let indexed = moved.then(FailedStep::Index, |(seq, rows)| {
            self.context.update_index(*seq, || {
                rows.iter().try_for_each(|row| match to_trash {
                    true => self.context.index_delete(*row),
                    false => self.context.reindex(*row),
                })
            })
        });
        Ok(indexed.map(|_| ids.to_vec()))
    }

    /// Moves records to the Trash or back, within a transaction. Returns all rows that moved.
    pub(crate) fn move_in_transaction(
        &self,
        tx: &Connection,
        views: &[RowView],
        now: Timestamp,
        to_trash: bool,
    ) -> VaultResult<Vec<i64>> {
        let mut rows = Vec::new();
        for view in views {
            rows.extend(if to_trash {
                trash_row(tx, view.row, view.row, now, None)?
            } else {
                let sql = "SELECT row FROM records WHERE trashed IS NOT NULL AND (row = ?1 OR trash_root = ?1)";
                let moved = query_rows(tx, sql, view.row)?;
                for row in &moved {
                    untrash(tx, *row)?;
                    mementory_store::tombstones::unblock(tx, *row)?;
                }
                moved
            });
            let op = if to_trash { "delete" } else { "restore" };
            mementory_store::audit::append(tx, &self.context.keys, now, op, &view.id_text(), "")?;
        }
        Ok(rows)
    }

    /// Erases the records that have been in the Trash for `days` days or longer, with tombstones and a receipt like any
    /// erasure. A derived record that is in use, or went to the Trash later, stays and loses its link to the erased
    /// record. Records that tombstones of an import moved to the Trash stay until a person decides. A record that
    /// cannot be erased (in a damaged pack) stays in the Trash and is reported; the others are erased nevertheless.
    pub fn empty_expired(&self, days: i64, now: Timestamp) -> VaultResult<ExpiredTrash> {
        let trashed_before = now.as_micros() - days * 86_400_000_000;
        let ids: Vec<String> = self.context.store.read(|c| {
            let mut statement =
                c.prepare("SELECT id FROM records WHERE trashed <= ?1 AND trash_root = row AND trash_batch IS NULL")?;
            let rows = statement.query_map([trashed_before], |r| r.get::<_, [u8; 16]>(0))?;
            Ok(rows.map(|id| id.map(hex::encode)).collect::<Result<_, _>>()?)
        })?;
        let mut out = ExpiredTrash::default();
        self.expire(&ids, trashed_before, now, &mut out);
        Ok(out)
    }

    /// Erases all records at once, since each erasure is followed by a search through the whole vault. If the erasure
    /// fails, erases the records in halves, to isolate the record that cannot be erased.
    fn expire(&self, ids: &[String], trashed_before: i64, now: Timestamp, out: &mut ExpiredTrash) {
        // An earlier attempt may have erased some of these records, for example along with another record.
        let remaining_ids: Vec<String> = ids
            .iter()
            .filter(|id| !matches!(self.context.find(id), Err(VaultError::NotFound { erased: true, .. })))
            .cloned()
            .collect();
        out.erased += (ids.len() - remaining_ids.len()) as u32;
        if remaining_ids.is_empty() {
            return;
        }
        let request = EraseRequest {
            ids: &remaining_ids,
            scope: EraseScope::Expired(trashed_before),
            reason: "trash_expired",
            copies: &[],
            now,
            earlier: None,
            cancel: &AtomicBool::new(false),
        };
        match Eraser::new(self.context).run(&request, &|_| {}, Sabotage::default()) {
            Ok(_) => out.erased += remaining_ids.len() as u32,
            // On a full disk nothing can be erased, not even one by one.
            Err(error) if remaining_ids.len() == 1 || error.is_disk_full() => {
                out.failed.push((remaining_ids.into_iter().next().unwrap_or_default(), error));
            }
            Err(_) => {
                let (first, second) = remaining_ids.split_at(remaining_ids.len() / 2);
                self.expire(first, trashed_before, now, out);
                self.expire(second, trashed_before, now, out);
            }
        }
    }
}
