//! The import tool of a connected client. The memories in the client's document become suggestions. No record is
//! changed.
use super::calls::{AcceptedCall, ClientCalls, can_read};
use crate::{ApiError, ApiResult, session::now, types::*};
use mementory_model::Timestamp;
use mementory_vault::{
    OfferedDocument, OfferedMemory, QueueOutcome, Suggestion, SuggestionOp, VaultError, is_suggestible,
};
use std::collections::HashSet;

/// What to suggest for a memory that the vault already has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Merge {
    /// Nothing is suggested.
    SkipDuplicates,
    /// If the ids are equal, the document's text is suggested as the memory's new text.
    Overwrite,
    /// The memory is suggested as a new one.
    Rename,
}

impl ClientCalls<'_> {
    /// Suggests the memories in a document. Records that the client may not see are treated as if they did not exist:
    /// they are neither compared nor mentioned.
    ///
    /// # Errors
    /// As for [`search`](Self::search); `usage` for an unknown strategy, for a text that is not a document, and if the
    /// queue has no room for all suggestions; errors of the reader for a document that cannot be read. After an error,
    /// nothing is suggested.
    pub fn import_memory(&self, request: &ClientImport) -> ApiResult<ClientImported> {
        self.call(
            "client_import_memory",
            |grant| grant.rights.suggest,
            |accepted, _| {
                let merge = match request.merge_strategy.as_str() {
                    "skip_duplicates" => Merge::SkipDuplicates,
                    "overwrite" => Merge::Overwrite,
                    "rename" => Merge::Rename,
                    _ => {
                        return Err(super::usage_error(
                            "This strategy does not exist. Use skip_duplicates, overwrite or rename.".into(),
                        ));
                    }
                };
                let offered = OfferedDocument::read("import_memory", &request.data, now())?;
                let mut out = ClientImported::default();
                let mut count_skipped = |reason: &str, n: u32| {
                    if n > 0 {
                        *out.skipped.entry(reason.to_owned()).or_default() += n;
                    }
                };
                count_skipped("not_a_memory", offered.others);
                count_skipped("unreadable", offered.unreadable);
                let known = known_texts(accepted, merge, &offered.memories)?;
                let mut suggestions = Vec::new();
                for memory in offered.memories {
                    match suggestion(accepted, merge, &known, memory)? {
                        Ok(suggestion) => suggestions.push(suggestion),
                        Err(reason) => count_skipped(reason, 1),
                    }
                }
                for added in self.context.vault.suggestions().add_all(suggestions)? {
                    match added {
                        QueueOutcome::Waiting(id) => out.suggestions.push(id),
                        QueueOutcome::RefusedForGood => count_skipped("refused_for_good", 1),
                        QueueOutcome::Unfit => count_skipped("empty_or_too_long", 1),
                    }
                }
                Ok(out)
            },
        )
    }
}

/// Those texts of `memories` that a memory visible to the client already has.
fn known_texts(
    accepted: &mut AcceptedCall<'_>,
    merge: Merge,
    memories: &[OfferedMemory],
) -> ApiResult<HashSet<String>> {
    if merge == Merge::Rename || !can_read(&accepted.grant) {
        return Ok(HashSet::new());
    }
    let texts: Vec<&str> = memories.iter().map(|memory| memory.text.as_str()).collect();
    Ok(accepted.view.known_texts(&texts)?)
}

/// Returns the suggestion for a memory, or the reason why there is none as the inner error.
fn suggestion(
    accepted: &mut AcceptedCall<'_>,
    merge: Merge,
    known: &HashSet<String>,
    memory: OfferedMemory,
) -> ApiResult<Result<Suggestion, &'static str>> {
    let OfferedMemory { id, text, record_type, tags, created } = memory;
    let mut new = Suggestion {
        id: String::new(),
        grant: accepted.grant.id.clone(),
        client: accepted.grant.name.clone(),
        op: SuggestionOp::New,
        target: None,
        text: Some(text),
        record_type,
        tags,
        reason: None,
        created: created.map(Timestamp::as_micros),
        at: Timestamp::as_micros(now()),
    };
    if new.text.as_ref().is_some_and(|text| known.contains(text)) {
        return Ok(Err("duplicate"));
    }
    if merge == Merge::Rename || !can_read(&accepted.grant) {
        return Ok(Ok(new));
    }
    let Some(id) = id else { return Ok(Ok(new)) };
    match accepted.view.record(&id) {
        Err(VaultError::NotFound { .. }) => {}
        Err(other) => return Err(ApiError::from(other)),
        Ok(_) if merge == Merge::SkipDuplicates => return Ok(Err("duplicate")),
        Ok(record) if !is_suggestible(record.kind) => return Ok(Err("not_a_memory")),
        // The client saw marks instead of the masked values, so its text would overwrite the values with the marks.
        Ok(record) if record.covered => return Ok(Err("covered_values")),
        Ok(record) => {
            (new.op, new.target) = (SuggestionOp::Change, Some((record.id, record.version)));
            (new.record_type, new.tags, new.created) = (None, Vec::new(), None);
        }
    }
    Ok(Ok(new))
}
