//! Finds who said a memory, and the messages from which it was made.
use super::{context::Context, filter::said_by_name, meaning::Meaning, round_confidence};
use crate::{ApiResult, types::*};
use mementory_model::Timestamp;
use mementory_vault::{EvidenceMessage as Found, FoundEvidence};

/// Largest number of characters of a sentence in an answer.
const MAX_SENTENCE_CHARS: usize = 400;

/// Finds who said a memory, and the messages from which it was made.
#[derive(Clone, Copy)]
pub struct MemoryEvidenceFinder<'s> {
    context: &'s Context,
}

impl<'s> MemoryEvidenceFinder<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl MemoryEvidenceFinder<'_> {
    /// Returns who said a memory, profile note or fact, and the messages from which it was made.
    ///
    /// # Errors
    /// `not_found`; `usage` for another kind of record.
    pub fn of(&self, id: &str) -> ApiResult<MemoryEvidence> {
        let encoder = Meaning::new(self.context).encoder_if_installed();
        let evidence = self.context.vault.reader().evidence().of(id, encoder.as_deref())?;
        self.answer(id, &evidence)
    }

    pub(super) fn answer(&self, id: &str, found: &FoundEvidence) -> ApiResult<MemoryEvidence> {
        Ok(MemoryEvidence {
            id: id.to_owned(),
            said_by: said_by_name(found.said_by).into(),
            uncertain: found.is_uncertain(),
            trace: found.trace.as_str().into(),
            messages: found.messages.iter().map(|message| self.message(message)).collect::<ApiResult<_>>()?,
        })
    }

    fn message(&self, found: &Found) -> ApiResult<EvidenceMessage> {
        let conversation = match found.view.owner {
            Some(owner) => self.context.vault.reader().view_by_row(owner)?,
            None => None,
        };
        let length = (found.end.saturating_sub(found.start) as usize).min(MAX_SENTENCE_CHARS);
        Ok(EvidenceMessage {
            id: found.view.id_text(),
            origin_id: found.record.origin_id.clone(),
            start: found.start,
            end: found.end,
            how: found.found_by.as_str().into(),
            confidence: round_confidence(found.confidence),
            role: found.record.message.as_ref().map(|part| part.role.clone()).unwrap_or_default(),
            said_by: said_by_name(found.record.said_by()).into(),
            text: found.record.text.chars().skip(found.start as usize).take(length).collect(),
            source: found.view.source.clone(),
            created_at: found.record.times.created.map(Timestamp::to_rfc3339),
            conversation_id: conversation.as_ref().map(mementory_vault::RowView::id_text),
            conversation_title: conversation.and_then(|view| view.title),
        })
    }
}
