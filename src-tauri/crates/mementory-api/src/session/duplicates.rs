//! Memories that say much the same: groups, merge, keep.
use super::{Session, now};
use crate::{ApiResult, Job, types::*};

impl Session {
    /// Groups of memories that say the same, or much the same.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn duplicates(&self, job: &Job) -> ApiResult<Duplicates> {
        let cancel = job.cancel_flag();
        let _turn = self.exporting();
        let groups = self.vault.duplicates(&cancel)?;
        let mut out = Vec::with_capacity(groups.len());
        for group in groups {
            let items = group.views.iter().map(|view| self.item(view)).collect::<ApiResult<_>>()?;
            out.push(DuplicateGroup { same: group.same, items });
        }
        Ok(Duplicates { groups: out })
    }

    /// Leaves these memories as they are: as long as no other joins them they are no group any more.
    ///
    /// # Errors
    /// `not_found`, `usage` for too many.
    pub fn keep_apart(&self, ids: &[String]) -> ApiResult<Ids> {
        let _turn = self.changing();
        self.vault.keep_apart(ids, now())?;
        Ok(Ids { ids: ids.to_vec() })
    }

    /// Keeps one; it takes on the tags of the others, and they go to the Trash. Answers what went there.
    ///
    /// # Errors
    /// `not_found`, `usage`.
    pub fn merge(&self, keep: &str, others: &[String]) -> ApiResult<Ids> {
        let _turn = self.changing();
        Ok(Ids { ids: self.vault.merge_into(keep, others, now())? })
    }
}
