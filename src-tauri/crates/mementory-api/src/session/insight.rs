//! Topics and contradictions of the memories.
use super::{context::Context, now, two_digits, view::RowViews};
use crate::{ApiError, ApiResult, Applied, Job, types::*};
use mementory_vault::{Answer, Insight, RowView};

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

    /// Pairs of memories that cannot both be true now, highest confidence first, and plans whose date has passed. A plan
    /// that the person called true in the review is left out.
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
        let review = self.context.vault.editor().review();
        for view in &found.past_plans {
            if !matches!(review.answer_to(view)?, Some((Answer::True, _))) {
                list.past_plans.push(self.item(view)?);
            }
        }
        Ok(list)
    }

    /// Stores that both memories of a pair are true. With `both` false, removes that decision.
    ///
    /// # Errors
    /// `not_found`; `usage` if both are the same.
    pub fn keep_both(&self, a: &str, b: &str, both: bool) -> ApiResult<Ids> {
        let _guard = self.context.write_guard();
        Insight::of(&self.context.vault).keep_both(a, b, both, now())?;
        Ok(Ids { ids: vec![a.into(), b.into()] })
    }

    /// Answers of the review for memories that contradict each other: `right` is true; the others are outdated if they
    /// are older, else wrong, and go to the Trash. All of it happens or nothing.
    ///
    /// # Errors
    /// `not_found`; `usage` for a record that is not reviewed, or if `right` is one of the others.
    pub fn settle(&self, request: &SettleRequest) -> ApiResult<Applied<Settled>> {
        if request.others.contains(&request.right) {
            let message = "A memory does not contradict itself. Nothing was changed.";
            return Err(ApiError::new("usage", 2, message));
        }
        let _guard = self.context.write_guard();
        let vault = &self.context.vault;
        let review = vault.editor().review();
        let (mut before, mut answers, mut right_made) = (Vec::new(), Vec::new(), None);
        for id in std::iter::once(&request.right).chain(&request.others) {
            let view = vault.reader().view(id)?;
            let times = vault.reader().content(&view)?.times;
            let made = times.created.or(times.updated);
            let answer = match (answers.is_empty(), made, right_made) {
                (true, ..) => Answer::True,
                (false, Some(made), Some(right)) if made < right => Answer::Outdated,
                _ => Answer::Wrong,
            };
            if answers.is_empty() {
                right_made = made;
            }
            let known = review.answer_to(&view)?.map_or("none", |(answer, _)| answer.as_str());
            before.push(ReviewAnswer { id: id.clone(), answer: known.into() });
            answers.push((id.clone(), Some(answer)));
        }
        Ok(review.answer_and_trash(&answers, &request.others, now())?.map(|()| Settled { before }))
    }

    fn item(&self, view: &RowView) -> ApiResult<ListItem> {
        RowViews::new(&self.context.vault).item(view)
    }
}
