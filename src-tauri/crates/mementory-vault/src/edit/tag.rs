//! Adds a tag to many records at once, or removes a tag from them.
use crate::{
    VaultError, VaultResult,
    applied::Applied,
    edit::{Editor, clean_tags, refuse_trashed},
    failed_step::FailedStep,
};
use mementory_model::Timestamp;
use mementory_store::{Cause, Store};
use std::{
    collections::HashSet,
    sync::{atomic::AtomicBool, atomic::Ordering},
};

impl Editor<'_> {
    /// Adds a tag to records, or removes it from them. Each changed record gets a new version, all in one transaction.
    /// Returns the ids of the records that changed. A record that already has the tag (or, on removal, does not have
    /// it) does not change. When a tag is removed, records that are erased or in the Trash are skipped.
    ///
    /// # Errors
    /// `Usage` for an empty tag and for adding a tag to a record in the Trash, `NotFound`, `Cancelled`. After an error,
    /// nothing is changed.
    pub fn tag(
        &self,
        ids: &[String],
        tag: &str,
        is_added: bool,
        now: Timestamp,
        progress: &dyn Fn(usize),
        cancelled: &AtomicBool,
    ) -> VaultResult<Applied<Vec<String>>> {
        let tag = clean_tags(vec![tag.to_owned()]).pop();
        let tag = tag.ok_or_else(|| VaultError::Usage("A tag needs a name.".into()))?;
        let mut views = Vec::new();
        let mut seen_rows = HashSet::new();
        for id in ids {
            // A record that is erased or in the Trash must not prevent the removal of a tag from the others.
            let view = match self.context.find(id) {
                Err(VaultError::NotFound { erased: true, .. }) if !is_added => continue,
                found => found?,
            };
            if !is_added && view.trashed.is_some() {
                continue;
            }
            refuse_trashed(&view)?;
            if seen_rows.insert(view.row) {
                views.push(view);
            }
        }
        let tagged = self.context.commit(|tx| {
            let mut changed = Vec::new();
            for (done, view) in views.iter().enumerate() {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                progress(done);
                let mut record = self.context.store.packs.record(tx, view.pack, view.slot)?;
                if record.tags.contains(&tag) == is_added {
                    continue;
                }
                match is_added {
                    true => record.tags.push(tag.clone()),
                    false => record.tags.retain(|kept| *kept != tag),
                }
                self.next_version(tx, view, record, Cause::Edit, now)?;
                changed.push(view);
            }
            Ok((Store::last_change(tx)?, changed))
        })?;
        let indexed = tagged.then(FailedStep::Index, |(seq, changed)| {
            self.context.update_index(*seq, || changed.iter().try_for_each(|view| self.context.reindex(view.row)))
        });
        Ok(indexed.map(|(_, changed)| changed.iter().map(|view| view.id_text()).collect()))
    }
}
