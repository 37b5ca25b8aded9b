//! Topics and contradictions of the memories.
use super::{context::Context, now, two_digits, view::RowViews};
use crate::{ApiResult, Job, types::*};
use mementory_vault::{Insight, RowView};

/// Topics and contradictions.
#[derive(Clone, Copy)]
pub struct Insights<'s> {
    context: &'s Context,
}

impl<'s> Insights<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Insights<'_> {
    /// Memories by topic, the largest topic first. Memories that belong to none are left out.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn topics(&self, job: &Job) -> ApiResult<Topics> {
        let _guard = self.context.snapshot_guard();
        let found = Insight::of(&self.context.vault).topics(&job.cancel_flag())?;
        let mut topics = Vec::with_capacity(found.len());
        for (n, topic) in found.into_iter().enumerate() {
            let mut memories = Vec::with_capacity(topic.rows.len());
            for row in topic.rows {
                memories.extend(self.context.vault.reader().view_by_row(row)?.map(|view| view.id_text()));
            }
            topics.push(TopicInfo { id: format!("t{}", n + 1), name: topic.name, memories });
        }
        Ok(Topics { topics })
    }

    /// Pairs of memories that cannot both be true now, highest confidence first, and plans whose date has passed.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn contradictions(&self, job: &Job) -> ApiResult<ContradictionList> {
        let _guard = self.context.snapshot_guard();
        let found = Insight::of(&self.context.vault).contradictions(&job.cancel_flag(), now())?;
        let mut list = ContradictionList::default();
        for pair in found.pairs {
            list.pairs.push(ContradictionInfo {
                a: pair.a.id_text(),
                b: pair.b.id_text(),
                sort: pair.sort.into(),
                newer: pair.newer,
                confidence: two_digits(pair.confidence),
                items: vec![self.item(&pair.a)?, self.item(&pair.b)?],
            });
        }
        for view in &found.past_plans {
            list.past_plans.push(self.item(view)?);
        }
        Ok(list)
    }

    /// Stores that both memories of a pair are true.
    ///
    /// # Errors
    /// `not_found`; `usage` if both are the same.
    pub fn keep_both(&self, a: &str, b: &str) -> ApiResult<Ids> {
        let _guard = self.context.write_guard();
        Insight::of(&self.context.vault).keep_both(a, b, now())?;
        Ok(Ids { ids: vec![a.into(), b.into()] })
    }

    fn item(&self, view: &RowView) -> ApiResult<ListItem> {
        RowViews::new(&self.context.vault).item(view)
    }
}
