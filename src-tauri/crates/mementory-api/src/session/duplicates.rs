//! Finds groups of duplicate memories, merges duplicates, or marks them to be kept apart.
use super::{context::Context, now, view::RowViews};
use crate::{ApiResult, Applied, Job, types::*};

/// Finds and resolves groups of memories with the same or nearly the same text.
#[derive(Clone, Copy)]
pub struct DuplicateMemories<'s> {
    context: &'s Context,
}

impl<'s> DuplicateMemories<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl DuplicateMemories<'_> {
    /// Lists groups of memories with the same or nearly the same text.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn groups(&self, job: &Job) -> ApiResult<Duplicates> {
        let cancel = job.cancel_flag();
        let _guard = self.context.snapshot_guard();
        let groups = self.context.vault.duplicates().groups(&cancel)?;
        let mut out = Vec::with_capacity(groups.len());
        for group in groups {
            let items = group
                .views
                .iter()
                .map(|view| RowViews::new(&self.context.vault).item(view))
                .collect::<ApiResult<_>>()?;
            out.push(DuplicateGroup { same: group.same, items });
        }
        Ok(Duplicates { groups: out })
    }

    /// Marks memories to be kept apart. They are not listed as a group again until another memory belongs to the group.
    ///
    /// # Errors
    /// `not_found`; `usage` for too many ids.
    pub fn keep_apart(&self, ids: &[String]) -> ApiResult<Ids> {
        let _guard = self.context.write_guard();
        self.context.vault.duplicates().keep_apart(ids, now())?;
        Ok(Ids { ids: ids.to_vec() })
    }

    /// Keeps one memory, adds the tags of the others to it, and moves the others to the Trash. Returns the ids of the
    /// moved memories.
    ///
    /// # Errors
    /// `not_found`, `usage`.
    pub fn merge(&self, keep: &str, others: &[String]) -> ApiResult<Applied<Ids>> {
        let _guard = self.context.write_guard();
        Ok(self.context.vault.duplicates().merge_into(keep, others, now())?.map(|ids| Ids { ids }))
    }
}
