//! Brings the search index up to date with the store, by replaying the change log or by a rebuild from all records.
use crate::{
    VaultError, VaultResult,
    context::{Context, IndexFault, IndexState, fresh_index},
    meta,
};
use mementory_model::{Kind, Record, SaidBy, Timestamp};
use mementory_search::{IndexDoc, SearchIndex};
use mementory_store::{Flags, RenewedValues, RowView, Store};
use rusqlite::Connection;
use std::sync::{PoisonError, atomic::AtomicBool, atomic::Ordering};

/// Progress and cancellation of an index rebuild.
pub struct IndexWatch<'a> {
    /// Called repeatedly with the fault, the number of records indexed so far, and the total number of records (0 if
    /// unknown).
    pub progress: &'a dyn Fn(IndexFault, u64, u64),
    /// Set by another thread to cancel. The vault is then not opened, and the next attempt rebuilds the index.
    pub cancel: &'a AtomicBool,
}

/// Number of records between two progress reports.
const RECORDS_PER_REPORT: u64 = 1_000;

/// The rows that an import wrote, or whose list position it renewed.
const ROWS_OF_BATCH: &str = "(version_batch = ?1 OR row IN (SELECT row FROM moved WHERE batch = ?1))";

/// Sets the time of a conversation to the time in its row. An import that only continues a conversation updates the row
/// but not the body.
fn set_listed_time(record: &mut Record, sort: i64) {
    if record.kind == Kind::Conversation {
        let renewed = RenewedValues { sort, position: 0, flags: 0, updated: None };
        record.times.updated = renewed.updated_time(record);
    }
}

impl Context {
    pub(crate) fn index_commit(&self, seq: u64) -> VaultResult<()> {
        if self.index_behind.load(Ordering::Relaxed) {
            return self.index_recover();
        }
        self.with_index(|i| i.commit(seq))
    }

    /// Brings the index up to date from the change log after a failed commit. Until this succeeds, single changes are
    /// not applied to the index, and no commit marks the index as complete.
    pub(crate) fn index_recover(&self) -> VaultResult<()> {
        self.index_behind.store(false, Ordering::Relaxed);
        self.index_rollback();
        let result = self.index_catch_up();
        self.index_behind.store(result.is_err(), Ordering::Relaxed);
        result
    }

    pub(crate) fn index_rollback(&self) {
        // If the rollback fails, the index is rebuilt when the vault is next opened.
        let _ = self.with_index(SearchIndex::rollback);
    }

    /// Applies all changes of the change log that are not in the index yet. Rebuilds the index if the log cannot be
    /// applied.
    fn index_catch_up(&self) -> VaultResult<()> {
        self.index_catch_up_watched(None)
    }

    pub(crate) fn index_catch_up_watched(&self, watch: Option<&IndexWatch<'_>>) -> VaultResult<()> {
        let last_change = self.store.read(Store::last_change)?;
        let indexed_seq = self.with_index(|i| Ok(i.seq()))?;
        if indexed_seq == last_change {
            return Ok(());
        }
        // An empty index is rebuilt, because a rebuild fills it in one pass, unlike replaying the change log.
        let replayed = if indexed_seq > last_change || indexed_seq == 0 {
            Ok(false)
        } else {
            self.index_replay(indexed_seq, last_change, watch)
        };
        match replayed {
            Ok(true) => Ok(()),
            Err(VaultError::Cancelled) => Err(VaultError::Cancelled),
            _ => {
                // The fault is reported only while opening (with `watch`), not if the index catches up during a change.
                if watch.is_some() {
                    self.index_fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(IndexFault::Behind);
                }
                self.index_rebuild_watched(watch)
            }
        }
    }

    fn index_replay(&self, from: u64, last: u64, watch: Option<&IndexWatch<'_>>) -> VaultResult<bool> {
        let last_removed_change: Option<i64> =
            self.store.read(|c| meta::read(c, mementory_store::LAST_REMOVED_CHANGE_KEY))?;
        if last_removed_change.is_some_and(|upto| (from as i64) < upto) {
            return Ok(false); // changes that are not in the index are no longer in the log
        }
        let changes: Vec<(i64, i64)> = self.store.read(|c| {
            let mut statement = c.prepare("SELECT op, target FROM changes WHERE seq > ?1 ORDER BY seq")?;
            let rows = statement.query_map([from as i64], |r| Ok((r.get(0)?, r.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if changes.iter().any(|(op, _)| *op == 4) {
            return Ok(false); // the rows of an undone batch are no longer in the store
        }
        let connection = self.store.new_reader()?;
        for (op, target) in changes {
            if watch.is_some_and(|watch| watch.cancel.load(Ordering::Relaxed)) {
                return Err(VaultError::Cancelled);
            }
            match op {
                2 => self.index_delete(target)?,
                3 => drop(self.index_rows(&connection, ROWS_OF_BATCH, Some(target), watch)?),
                _ => drop(self.index_rows(&connection, "row = ?1", Some(target), watch)?),
            }
        }
        self.with_index(|i| i.commit(last))?;
        Ok(true)
    }

    /// Reindexes all live rows that match `condition`. Returns the rows whose stored flags name the wrong speaker of
    /// the text, each with the correct flags. Earlier program versions wrote such rows.
    fn index_rows(
        &self,
        connection: &Connection,
        condition: &str,
        target: Option<i64>,
        watch: Option<&IndexWatch<'_>>,
    ) -> VaultResult<Vec<(i64, i64)>> {
        let fault = self.index_fault().unwrap_or(IndexFault::Behind);
        let total: i64 = match (watch, target) {
            (Some(_), None) => connection.query_row("SELECT count(*) FROM records", [], |r| r.get(0))?,
            _ => 0,
        };
        let mut record_count = 0;
        let sql = format!(
            "SELECT row, owner, pack, slot, trashed IS NOT NULL, flags, sort FROM records WHERE {condition} ORDER BY pack, slot"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut changed_flags = Vec::new();
        let mut rows = match target {
            Some(target) => statement.query([target])?,
            None => statement.query([])?,
        };
        while let Some(r) = rows.next()? {
            if let Some(watch) = watch.filter(|_| record_count % RECORDS_PER_REPORT == 0) {
                if watch.cancel.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                (watch.progress)(fault, record_count, u64::try_from(total).unwrap_or(0));
            }
            record_count += 1;
            let (row, owner, pack, slot, trashed): (i64, Option<i64>, i64, u32, bool) =
                (r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?);
            let flags: i64 = r.get(5)?;
            if target.is_some() {
                self.index_delete(row)?;
            }
            let mut record = self.store.packs.record(connection, pack, slot)?;
            let correct_flags = flags & !Flags::SAID_BY | Flags::said_by(record.said_by());
            if correct_flags != flags {
                changed_flags.push((row, correct_flags));
            }
            if !trashed {
                set_listed_time(&mut record, r.get(6)?);
                self.index_add(row, owner, &record)?;
            }
        }
        Ok(changed_flags)
    }

    /// Rebuilds the index from the store. If the rebuild fails or is cancelled, the index is rebuilt at the next change
    /// or when the vault is next opened.
    pub(crate) fn index_rebuild_until(&self, cancel: &AtomicBool) -> VaultResult<()> {
        let rebuilt = self.index_rebuild_watched(Some(&IndexWatch { progress: &|_, _, _| {}, cancel }));
        if rebuilt.is_err() {
            self.index_rollback();
            self.index_behind.store(true, Ordering::Relaxed);
        }
        rebuilt
    }

    fn index_rebuild_watched(&self, watch: Option<&IndexWatch<'_>>) -> VaultResult<()> {
        let folder = self.dir.join("index");
        {
            let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
            *index = fresh_index(&folder, self.keys.index())?;
        }
        let changed_flags = self.index_rows(&self.store.new_reader()?, "1", None, watch)?;
        if !changed_flags.is_empty() {
            self.store.write(|tx| {
                let mut statement = tx.prepare("UPDATE records SET flags = ?2 WHERE row = ?1")?;
                changed_flags.iter().try_for_each(|row| statement.execute(*row).map(drop))?;
                Ok(())
            })?;
        }
        let last_change = self.store.read(Store::last_change)?;
        self.with_index(|i| i.commit(last_change))?;
        *self.index_state.lock().unwrap_or_else(PoisonError::into_inner) = IndexState::Rebuilt;
        Ok(())
    }

    /// Returns the number of documents in the index.
    pub fn index_documents(&self) -> u64 {
        self.with_index(|i| Ok(i.documents())).unwrap_or(0)
    }

    /// Adds a record to the index. The record can be found after the next commit.
    pub(crate) fn index_add(&self, row: i64, owner: Option<i64>, record: &Record) -> VaultResult<()> {
        if self.index_behind.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut texts: Vec<&str> = vec![&record.text];
        if let Some(blocks) = record.fields.get("blocks").and_then(|b| b.as_array()) {
            texts.extend(blocks.iter().filter_map(|b| b.get("text")?.as_str()));
        }
        texts.extend(record.attachments.iter().filter_map(|a| a.text.as_deref()));
        let mut names: Vec<&str> = record.attachments.iter().map(|a| a.name.as_str()).collect();
        names.extend(record.tags.iter().map(String::as_str));
        let mut title = record.title.as_deref();
        if matches!(record.kind, Kind::Attachment | Kind::Foreign) {
            names.extend(title.take());
        }
        let time = if record.kind == Kind::Conversation {
            record.times.updated.or(record.times.created)
        } else {
            record.times.created.or(record.times.updated)
        };
        let doc = IndexDoc {
            row: row as u64,
            kind: record.kind.as_str(),
            platform: &record.source.platform,
            record_type: record.record_type.as_deref(),
            status: record.status.as_deref(),
            said_by: record.said_by().map(SaidBy::as_str),
            sensitivity: record.sensitivity.as_deref(),
            tags: &record.tags,
            created: time.map(Timestamp::as_micros),
            conversation: owner.map(|o| o as u64),
            title,
            text: &texts,
            names: &names,
        };
        self.with_index(|i| i.add(&doc))
    }

    pub(crate) fn index_delete(&self, row: i64) -> VaultResult<()> {
        if self.index_behind.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.with_index(|i| i.delete_row(row as u64))
    }

    /// Reindexes a row. The change is visible after the next commit. A row in the Trash is only removed.
    pub(crate) fn reindex(&self, row: i64) -> VaultResult<()> {
        self.index_delete(row)?;
        let found = self.store.read(|c| {
            let view = RowView::by_row(c, row)?;
            let Some(view) = view.filter(|v| v.trashed.is_none()) else { return Ok(None) };
            let mut record = self.store.packs.record(c, view.pack, view.slot)?;
            set_listed_time(&mut record, view.sort);
            Ok(Some((view.owner, record)))
        })?;
        match found {
            Some((owner, record)) => self.index_add(row, owner, &record),
            None => Ok(()),
        }
    }
}
