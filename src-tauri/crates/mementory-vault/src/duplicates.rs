//! Finds and merges memories with the same or nearly the same text. The groups are computed at each request. Only the
//! pairs that the person marked as different are stored.
use crate::{
    VaultError, VaultResult, applied::Applied, context::Context, edit::Editor, failed_step::FailedStep, live_memories,
    query::Reader, trash::Trash,
};
use mementory_model::Timestamp;
use mementory_similar::{Form, Key, Similarity, THRESHOLD, groups, sketches};
use mementory_store::{Cause, RowView, Store};
use rusqlite::{Connection, params};
use std::sync::atomic::AtomicBool;

/// Largest number of memories in a group that can be dismissed. The number is limited because every pair of memories in
/// the group is stored.
const MAX_DISMISSED: usize = 200;

/// Memories with nearly the same text.
#[derive(Debug, Clone)]
pub struct DuplicateGroup {
    /// At least two memories, oldest first.
    pub views: Vec<RowView>,
    /// True if the texts differ only in case, spaces and punctuation.
    pub same: bool,
}

/// Finds, dismisses and merges memories with the same or nearly the same text.
#[derive(Clone, Copy)]
pub struct Duplicates<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Duplicates<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Duplicates<'_> {
    /// Returns the groups of live memories with nearly the same text. Leaves out groups that the person dismissed.
    ///
    /// # Errors
    /// `Cancelled`; errors of the store.
    pub fn groups(&self, cancel: &AtomicBool) -> VaultResult<Vec<DuplicateGroup>> {
        self.context.store.read(|c| {
            let (mut rows, mut forms) = (Vec::new(), Vec::new());
            live_memories::for_each(self.context, c, cancel, |row, record| {
                if !record.text.trim().is_empty() {
                    rows.push(row);
                    forms.push(Form::new(&record.text));
                }
            })?;
            let key = Key::new(self.context.keys.fingerprints());
            let found_groups = groups(&sketches(&key, &forms), &forms, THRESHOLD);
            let mut out = Vec::new();
            for group in found_groups {
                let rows = group.members.iter().filter_map(|n| rows.get(*n));
                let mut views = Vec::with_capacity(group.members.len());
                for row in rows {
                    views.extend(RowView::by_row(c, *row)?);
                }
                if !are_all_dismissed(c, &views)? {
                    views.sort_by_key(|view| (view.sort, view.row));
                    out.push(DuplicateGroup { views, same: group.similarity == Similarity::Same });
                }
            }
            Ok(out)
        })
    }

    /// Dismisses a group of memories. The group is not shown again unless another memory joins it.
    pub fn keep_apart(&self, ids: &[String], now: Timestamp) -> VaultResult<()> {
        let views = ids.iter().map(|id| self.context.find(id)).collect::<VaultResult<Vec<_>>>()?;
        if views.len() > MAX_DISMISSED {
            return Err(VaultError::Usage(format!(
                "At most {MAX_DISMISSED} memories can be marked as different at once."
            )));
        }
        self.context.store.write(|tx| {
            for (one, other) in id_pairs(&views) {
                tx.execute("INSERT OR IGNORE INTO apart (one, other) VALUES (?1, ?2)", params![one, other])?;
            }
            mementory_store::audit::append(
                tx,
                &self.context.keys,
                now,
                "keep_apart",
                "",
                &format!("{} memories", views.len()),
            )
        })
    }

    /// Keeps one memory, adds the tags of the others to it, and moves the others to the Trash. Returns the ids of the
    /// others.
    pub fn merge_into(&self, keep: &str, others: &[String], now: Timestamp) -> VaultResult<Applied<Vec<String>>> {
        if others.iter().any(|id| id == keep) {
            return Err(VaultError::Usage("A memory cannot be merged into itself.".into()));
        }
        let view = self.context.find(keep)?;
        if view.trashed.is_some() {
            return Err(VaultError::Usage("This is in the Trash. Restore it first.".into()));
        }
        let own_tags = Reader::new(self.context).tags(view.row)?;
        let mut tags = own_tags.clone();
        for id in others {
            tags.extend(Reader::new(self.context).tags(self.context.find(id)?.row)?);
        }
        tags.sort();
        tags.dedup();
        let other_views = others.iter().map(|id| self.context.find(id)).collect::<VaultResult<Vec<_>>>()?;
        let merged = self.context.commit(|tx| {
            if tags.len() > own_tags.len() {
                let mut record = self.context.store.packs.record(tx, view.pack, view.slot)?;
                record.tags = tags;
                Editor::new(self.context).next_version(tx, &view, record, Cause::Edit, now)?;
            }
            let moved = Trash::new(self.context).move_in_transaction(tx, &other_views, now, true)?;
            Ok((Store::last_change(tx)?, moved))
        })?;
        let indexed = merged.then(FailedStep::Index, |(seq, moved)| {
            self.context.update_index(*seq, || {
                moved.iter().try_for_each(|row| self.context.index_delete(*row))?;
                self.context.reindex(view.row)
            })
        });
        Ok(indexed.map(|_| others.to_vec()))
    }
}

fn are_all_dismissed(c: &Connection, views: &[RowView]) -> VaultResult<bool> {
    let mut statement = c.prepare_cached("SELECT 1 FROM apart WHERE one = ?1 AND other = ?2")?;
    for (one, other) in id_pairs(views) {
        if !statement.exists(params![one, other])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns all pairs of the ids of `views`. In each pair, the smaller id is first.
fn id_pairs(views: &[RowView]) -> impl Iterator<Item = ([u8; 16], [u8; 16])> + '_ {
    views
        .iter()
        .enumerate()
        .flat_map(|(n, a)| views.iter().skip(n + 1).map(|b| if a.id < b.id { (a.id, b.id) } else { (b.id, a.id) }))
}
