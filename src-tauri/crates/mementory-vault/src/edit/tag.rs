//! One tag for many records at once, and back.
use crate::{
    VaultError, VaultResult,
    edit::{Editor, clean_tags, refuse_trashed},
};
use mementory_model::Timestamp;
use mementory_store::{Cause, Store};
use std::{
    collections::HashSet,
    sync::{atomic::AtomicBool, atomic::Ordering},
};

impl Editor<'_> {
    /// Gives records a tag, or takes it from them, each with a new version; all of them or none. Returns the ids of those
    /// that changed: what had it already (or had it not) keeps its version, and so does what is erased or in the Trash when
    /// a tag is taken away.
    ///
    /// # Errors
    /// `Usage` for a tag without a letter and for what is to get one in the Trash, `NotFound`; `Cancelled`, and nothing was changed.
    pub fn tag(
        &self,
        ids: &[String],
        tag: &str,
        on: bool,
        now: Timestamp,
        progress: &dyn Fn(usize),
        cancelled: &AtomicBool,
    ) -> VaultResult<Vec<String>> {
        let tag = clean_tags(vec![tag.to_owned()]).pop();
        let tag = tag.ok_or_else(|| VaultError::Usage("A tag needs a name.".into()))?;
        let mut views = Vec::new();
        let mut seen = HashSet::new();
        for id in ids {
            // What is gone, or on its way out, needs no tag taken from it: the others lose theirs.
            let view = match self.context.find(id) {
                Err(VaultError::NotFound { erased: true, .. }) if !on => continue,
                found => found?,
            };
            if !on && view.trashed.is_some() {
                continue;
            }
            refuse_trashed(&view)?;
            if seen.insert(view.row) {
                views.push(view);
            }
        }
        let (seq, changed) = self.context.store.write(|tx| {
            let mut changed = Vec::new();
            for (done, view) in views.iter().enumerate() {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                progress(done);
                let mut record = self.context.store.packs.record(tx, view.pack, view.slot)?;
                if record.tags.contains(&tag) == on {
                    continue;
                }
                match on {
                    true => record.tags.push(tag.clone()),
                    false => record.tags.retain(|kept| *kept != tag),
                }
                self.next_version(tx, view, record, Cause::Edit, now)?;
                changed.push(view);
            }
            Ok((Store::last_change(tx)?, changed))
        })?;
        for view in &changed {
            self.context.reindex(view.row)?;
        }
        self.context.index_commit(seq)?;
        Ok(changed.iter().map(|view| view.id_text()).collect())
    }
}
