//! Accepts a client's suggestion.
use crate::{
    VaultResult,
    applied::Applied,
    edit::{EditFields, Editor, NewMemory},
    suggestions::{Closing, Suggestion, SuggestionOp, Suggestions},
    trash::Trash,
};
use mementory_model::Timestamp;
use rusqlite::Connection;

impl Suggestions<'_> {
    /// Applies a suggestion and removes it from the queue. Both happen in one transaction, so that no suggestion is
    /// applied twice. The origin of a new memory names the client. Returns the id of the record that was added, changed
    /// or moved to the Trash.
    ///
    /// # Errors
    /// `NotFound` if the suggestion is not in the queue or its record is gone; `Usage` for an unchanged text or a
    /// record in the Trash.
    pub fn accept(&self, suggestion: Suggestion, now: Timestamp) -> VaultResult<Applied<String>> {
        let close_suggestion = |tx: &Connection| self.close_in_transaction(tx, &suggestion.id, Closing::Accepted, now);
        let text = suggestion.text.clone().unwrap_or_default();
        let editor = Editor::new(self.context);
        let Some((target, _)) = &suggestion.target else {
            let memory = NewMemory {
                text: &text,
                record_type: suggestion.record_type.clone(),
                tags: suggestion.tags.clone(),
                created: suggestion.created.and_then(Timestamp::from_micros),
                method: "suggested",
                container: &format!("suggested by {}", suggestion.client),
            };
            return editor.add_memory(memory, now, &close_suggestion);
        };
        Ok(match suggestion.op {
            SuggestionOp::Forget => Trash::new(self.context)
                .trash_with_extra_work(std::slice::from_ref(target), now, &close_suggestion)?
                .map(drop),
            _ => {
                let fields = EditFields { text: Some(text), ..EditFields::default() };
                editor.edit_with_extra_work(target, fields, now, &close_suggestion)?.map(drop)
            }
        }
        .map(|()| target.clone()))
    }
}
