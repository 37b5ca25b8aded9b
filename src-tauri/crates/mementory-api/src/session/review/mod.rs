//! The guided review of memories.
mod forgetting_guide;
mod todo;

pub(super) use forgetting_guide::ForgetGuide;

use super::{
    context::Context, filter::insight_filter, meaning::Meaning, memory_evidence::MemoryEvidenceFinder, now,
    view::RowViews,
};
use crate::{ApiError, ApiResult, types::*};
use mementory_vault::{Answer, CachingEncoder, Insight, InsightFilter, ReviewFilter, ReviewItem as Reviewed};

/// Conducts the guided review of memories, and lists the memories that the person should delete in the assistants.
#[derive(Clone, Copy)]
pub struct Review<'s> {
    pub(super) context: &'s Context,
}

impl<'s> Review<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Review<'_> {
    /// Returns the requested memory, or the next one without an answer, together with its evidence. Memories with
    /// sensitive values come before the others; both groups begin with the oldest memory.
    ///
    /// # Errors
    /// `not_found` for an unknown id; `usage` for an unknown subject or special category.
    pub fn next(&self, request: &ReviewRequest) -> ApiResult<ReviewState> {
        let filter = ReviewFilter {
            source: request.source.clone(),
            sensitive: request.sensitive,
            among: self.rows_on_topic(request)?,
            skip: request.skip.clone(),
        };
        let review = self.context.vault.editor().review();
        let item = match &request.id {
            _ if request.counts_only => None,
            Some(id) => Some(review.item(id)?),
            None => review.next(&filter)?,
        };
        let answers = review.counts(&filter)?;
        Ok(ReviewState {
            item: item.map(|item| self.item(&item)).transpose()?,
            left: review.unanswered_count(&filter)?,
            total: review.total(&filter)?,
            answers: answers.into_iter().map(|(answer, n)| (answer.as_str().to_owned(), n)).collect(),
        })
    }

    /// Returns the rows of the memories on the requested subject and in the requested special category, or None if the
    /// request has neither.
    fn rows_on_topic(&self, request: &ReviewRequest) -> ApiResult<Option<Vec<i64>>> {
        let filter = Filter { about: request.about.clone(), special: request.special.clone(), ..Filter::default() };
        let insight = insight_filter(&filter)?;
        if insight == InsightFilter::default() {
            return Ok(None);
        }
        Ok(Some(Insight::of(&self.context.vault).rows(&insight)?))
    }

    /// Stores answers, or removes them. Either all of the answers are changed or none.
    ///
    /// # Errors
    /// `not_found`; `usage` for an unknown answer, or for a record that is not a memory.
    pub fn answer(&self, answers: &[ReviewAnswer]) -> ApiResult<Ids> {
        let parsed = answers.iter().map(parse_answer).collect::<ApiResult<Vec<_>>>()?;
        let _guard = self.context.write_guard();
        self.context.vault.editor().review().answer(&parsed, now())?;
        Ok(Ids { ids: parsed.into_iter().map(|(id, _)| id).collect() })
    }

    fn item(&self, reviewed: &Reviewed) -> ApiResult<ReviewItem> {
        let vault = &self.context.vault;
        let record = vault.reader().content(&reviewed.view)?;
        let encoder = Meaning::new(self.context).encoder_if_installed();
        let encoder = encoder.as_deref().map(CachingEncoder::new);
        let evidence = vault.reader().evidence().of_record(&reviewed.view, &record, encoder.as_ref())?;
        Ok(ReviewItem {
            evidence: MemoryEvidenceFinder::new(self.context).answer(&reviewed.view.id_text(), &evidence)?,
            record: RowViews::new(vault).item_of(&reviewed.view, &record)?,
            text: record.text,
            answer: reviewed.answer.map(|answer| answer.as_str().into()),
            sensitive: reviewed.sensitive,
        })
    }
}

fn parse_answer(given: &ReviewAnswer) -> ApiResult<(String, Option<Answer>)> {
    let answer = match given.answer.as_str() {
        "none" => None,
        name => Some(Answer::parse(name).ok_or_else(|| {
            ApiError::usage(format!(
                "{name} is not an answer. Nothing was changed. Use true, outdated, wrong, private or none."
            ))
        })?),
    };
    Ok((given.id.clone(), answer))
}
