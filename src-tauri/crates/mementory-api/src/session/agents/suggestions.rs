//! The person's decisions on suggestions of clients.
use super::Agents;
use crate::{
    ApiError, ApiResult, Applied,
    session::{now, time},
    types::*,
};
use mementory_vault::{Closing, FailedStep, Suggestion, SuggestionOp, VaultError};

impl Agents<'_> {
    /// The suggestions in the queue, each with the current text of the record that it would change or forget.
    pub fn suggestions(&self) -> ApiResult<SuggestionList> {
        let waiting = self.context.vault.suggestions().waiting()?;
        let items = waiting.into_iter().map(|suggestion| self.item(suggestion)).collect::<ApiResult<_>>()?;
        Ok(SuggestionList { items })
    }

    /// Accepts some suggestions and then refuses others, as the request says. Accepting a suggestion applies it: a new
    /// memory is added with its client as origin, a record gets a new version with the new text, or a record is moved
    /// to the Trash. In the same transaction, the suggestion is removed from the queue.
    ///
    /// # Errors
    /// `not_found` for an unknown suggestion; `changed_since` if a record has changed since the client saw it. After an
    /// error, nothing was changed. If a suggestion fails after others were accepted or refused, the result contains a
    /// warning instead.
    pub fn decide(&self, decision: &SuggestionDecision) -> ApiResult<Applied<ClosedSuggestions>> {
        let _guard = self.context.write_guard();
        let queue = self.context.vault.suggestions();
        let SuggestionDecision { accept, refuse, never } = decision;
        for id in accept.iter().map(|accepted| &accepted.id).chain(refuse).chain(never) {
            queue.get(id).map_err(|error| match error {
                VaultError::NotFound { .. } => {
                    ApiError::new("not_found", 1, "There is no such suggestion. Nothing was changed.").with("id", id)
                }
                other => other.into(),
            })?;
        }
        for accepted in accept {
            self.check_version(&queue.get(&accepted.id)?)?;
        }
        let mut closed = Applied::new(ClosedSuggestions::default());
        match self.close_all(decision, &mut closed) {
            Err(error) if closed.accepted.is_empty() && closed.refused.is_empty() => return Err(error),
            Err(_) => {
                closed.warnings.insert(FailedStep::OtherSuggestions);
            }
            Ok(()) => {}
        }
        Ok(closed)
    }

    /// Accepts and refuses suggestions until one fails. Adds each accepted or refused one to `closed`.
    fn close_all(&self, decision: &SuggestionDecision, closed: &mut Applied<ClosedSuggestions>) -> ApiResult<()> {
        let queue = self.context.vault.suggestions();
        for SuggestionAccept { id, text } in &decision.accept {
            let mut suggestion = queue.get(id)?;
            if let (Some(text), true) = (text, suggestion.op != SuggestionOp::Forget) {
                suggestion.text = Some(text.clone());
            }
            self.check_version(&suggestion)?;
            let record = queue.accept(suggestion, now())?;
            closed.warnings.extend(record.warnings);
            closed.accepted.push(AcceptedSuggestion { id: id.clone(), record: record.value });
        }
        for (ids, closing) in [(&decision.refuse, Closing::Refused), (&decision.never, Closing::RefusedForGood)] {
            for id in ids {
                queue.close(id, closing, now())?;
                closed.refused.push(id.clone());
            }
        }
        Ok(())
    }

    /// Fails if the record's version is not the one that the client saw.
    fn check_version(&self, suggestion: &Suggestion) -> ApiResult<()> {
        let Some((target, version)) = &suggestion.target else { return Ok(()) };
        if self.context.vault.reader().view(target)?.version != *version {
            let message = "The record has changed since this was suggested, so it was not applied. Refuse the suggestion, or edit the record yourself.";
            return Err(ApiError::new("changed_since", 6, message).with("id", &suggestion.id));
        }
        Ok(())
    }

    fn item(&self, suggestion: Suggestion) -> ApiResult<SuggestionItem> {
        let reader = self.context.vault.reader();
        let (before, changed_since) = match &suggestion.target {
            Some((id, version)) => match reader.view(id) {
                Ok(view) if view.trashed.is_none() => (Some(reader.content(&view)?.text), view.version != *version),
                Ok(_) | Err(VaultError::NotFound { .. }) => (None, true),
                Err(other) => return Err(other.into()),
            },
            None => (None, false),
        };
        Ok(SuggestionItem {
            id: suggestion.id,
            client: suggestion.client,
            grant: suggestion.grant,
            op: match suggestion.op {
                SuggestionOp::New => "new",
                SuggestionOp::Change => "change",
                SuggestionOp::Forget => "forget",
            }
            .into(),
            target: suggestion.target.map(|(id, _)| id),
            before,
            text: suggestion.text,
            record_type: suggestion.record_type,
            tags: suggestion.tags,
            reason: suggestion.reason,
            created_at: suggestion.created.map(time),
            changed_since,
            at: time(suggestion.at),
        })
    }
}
