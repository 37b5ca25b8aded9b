//! Topics, people, timelines and contradictions of the memories.
use super::{context::Context, now, round_confidence, view::RowViews};
use crate::{ApiError, ApiResult, Applied, Job, types::*};
use mementory_model::Kind;
use mementory_vault::{Answer, Insight, RowView, VaultError};

/// Finds topics, people, timelines and contradictions.
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
    /// Returns the memories of each topic, the largest topic first. Memories without a topic are left out.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn topics(&self, job: &Job) -> ApiResult<Topics> {
        let _guard = self.context.snapshot_guard();
        let vault_topics = Insight::of(&self.context.vault).topics(&job.cancel_flag())?;
        let mut topics = Vec::with_capacity(vault_topics.len());
        for (n, topic) in vault_topics.into_iter().enumerate() {
            topics.push(TopicInfo { id: format!("t{}", n + 1), name: topic.name, memories: self.ids(&topic.rows)? });
        }
        Ok(Topics { topics })
    }

    /// Returns everyone whom the memories mention. People in more memories come first.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn people(&self, job: &Job) -> ApiResult<People> {
        let _guard = self.context.snapshot_guard();
        let vault_people = Insight::of(&self.context.vault).people(&job.cancel_flag())?;
        let mut people = Vec::with_capacity(vault_people.len());
        for (n, person) in vault_people.into_iter().enumerate() {
            people.push(PersonInfo {
                id: format!("p{}", n + 1),
                memories: self.ids(&person.rows)?,
                name: person.name,
                relation: person.relation.map(str::to_owned),
                of: person.of,
            });
        }
        Ok(People { people })
    }

    /// Returns the memories with these ids, oldest first and those without a date last. Records that do not exist or
    /// are in the Trash are left out.
    ///
    /// # Errors
    /// Errors of the vault.
    pub fn timeline(&self, ids: &[String]) -> ApiResult<Timeline> {
        let _guard = self.context.snapshot_guard();
        let mut items = Vec::with_capacity(ids.len());
        for id in ids {
            match self.context.vault.reader().view(id) {
                Ok(view) if view.kind == Kind::Memory => items.push(self.item(&view)?),
                Ok(_) | Err(VaultError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        items.retain(|item| item.trashed_at.is_none());
        items.sort_by_cached_key(|item| {
            let date = item.created_at.clone().or_else(|| item.updated_at.clone());
            (date.is_none(), date, item.id.clone())
        });
        Ok(Timeline { items })
    }

    /// Returns the ids of the memories about a person or a topic. The name of the person or topic is one that `people`
    /// or `topics` returns. Case does not matter. A relation such as `boss` means everyone with this relation.
    ///
    /// # Errors
    /// `not_found` if no person or topic has that name; `cancelled`.
    pub fn memories_about(&self, person: Option<&str>, topic: Option<&str>, job: &Job) -> ApiResult<Vec<String>> {
        let is_same_name = |a: &str, b: &str| a.to_lowercase() == b.trim().to_lowercase();
        let mut ids: Vec<String> = Vec::new();
        if let Some(wanted) = person {
            for person in self.people(job)?.people {
                let relation = person.of.is_none().then_some(person.relation).flatten();
                if [person.name, relation].iter().flatten().any(|name| is_same_name(name, wanted)) {
                    ids.extend(person.memories);
                }
            }
        }
        if let Some(wanted) = topic {
            let topics = self.topics(job)?.topics.into_iter();
            ids.extend(topics.filter(|topic| is_same_name(&topic.name, wanted)).flat_map(|topic| topic.memories));
        }
        if ids.is_empty() {
            let name = person.or(topic).unwrap_or_default();
            let message = format!("The memories have no person and no topic with the name \"{name}\".");
            return Err(ApiError::new("not_found", 1, message));
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn ids(&self, rows: &[i64]) -> ApiResult<Vec<String>> {
        let mut ids = Vec::with_capacity(rows.len());
        for row in rows {
            ids.extend(self.context.vault.reader().view_by_row(*row)?.map(|view| view.id_text()));
        }
        Ok(ids)
    }

    /// Lists pairs of memories that cannot both be true now, in descending order of confidence, and joins them into
    /// groups that are each about one thing. Also lists plans whose date has passed, except those that the person
    /// marked as true in the review.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn contradictions(&self, job: &Job) -> ApiResult<ContradictionList> {
        let _guard = self.context.snapshot_guard();
        let vault_contradictions = Insight::of(&self.context.vault).contradictions(&job.cancel_flag(), now())?;
        let mut list = ContradictionList::default();
        for pair in vault_contradictions.pairs {
            list.pairs.push(ContradictionInfo {
                a: pair.a.id_text(),
                b: pair.b.id_text(),
                sort: pair.sort.into(),
                newer: pair.newer,
                confidence: round_confidence(pair.confidence),
                items: vec![self.item(&pair.a)?, self.item(&pair.b)?],
            });
        }
        for group in vault_contradictions.groups {
            list.groups.push(ContradictionGroup {
                memories: group.memories.iter().map(RowView::id_text).collect(),
                pairs: group.pairs.into_iter().filter_map(|n| u32::try_from(n).ok()).collect(),
            });
        }
        let review = self.context.vault.editor().review();
        for view in &vault_contradictions.past_plans {
            if !matches!(review.answer_to(view)?, Some((Answer::True, _))) {
                list.past_plans.push(self.item(view)?);
            }
        }
        Ok(list)
    }

    /// Stores the person's decision that both memories of a pair are true. If `both` is false, removes such a decision.
    ///
    /// # Errors
    /// `not_found`; `usage` if `a` and `b` are the same memory.
    pub fn keep_both(&self, a: &str, b: &str, both: bool) -> ApiResult<Ids> {
        let _guard = self.context.write_guard();
        Insight::of(&self.context.vault).keep_both(a, b, both, now())?;
        Ok(Ids { ids: vec![a.into(), b.into()] })
    }

    /// Stores review answers for memories that contradict each other. The memory `right` is true. Each of the others is
    /// marked as outdated if it is older than `right`, and otherwise as wrong, and is moved to the Trash. Either all of
    /// this is done or nothing.
    ///
    /// # Errors
    /// `not_found`; `usage` for a kind of record that the review does not cover, or if `right` is one of the others.
    pub fn resolve(&self, request: &ResolveRequest) -> ApiResult<Applied<Resolved>> {
        if request.others.contains(&request.right) {
            let message = "A memory does not contradict itself. Nothing was changed.";
            return Err(ApiError::usage(message));
        }
        let _guard = self.context.write_guard();
        let vault = &self.context.vault;
        let review = vault.editor().review();
        let (mut before, mut answers, mut right_date) = (Vec::new(), Vec::new(), None);
        for id in std::iter::once(&request.right).chain(&request.others) {
            let view = vault.reader().view(id)?;
            let times = vault.reader().content(&view)?.times;
            let date = times.created.or(times.updated);
            let answer = match (answers.is_empty(), date, right_date) {
                (true, ..) => Answer::True,
                (false, Some(date), Some(right)) if date < right => Answer::Outdated,
                _ => Answer::Wrong,
            };
            if answers.is_empty() {
                right_date = date;
            }
            let answer_before = review.answer_to(&view)?.map_or("none", |(answer, _)| answer.as_str());
            before.push(ReviewAnswer { id: id.clone(), answer: answer_before.into() });
            answers.push((id.clone(), Some(answer)));
        }
        Ok(review.answer_and_trash(&answers, &request.others, now())?.map(|()| Resolved { before }))
    }

    fn item(&self, view: &RowView) -> ApiResult<ListItem> {
        RowViews::new(&self.context.vault).item(view)
    }
}
