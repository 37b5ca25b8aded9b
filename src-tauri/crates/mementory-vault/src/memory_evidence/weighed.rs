//! A message that a memory may come from, with the parts of the memory that it contains, and its rank.
use crate::memory_evidence::{FoundBy, candidates::Candidate};
use mementory_evidence::Sentence;
use mementory_model::{SaidBy, Timestamp};

/// Added to the rank of a message of the person if the messages were compared by meaning, since the assistant repeats
/// what the person said.
const PERSON_BONUS: f32 = 0.06;
/// Subtracted from the rank of a system message that was compared by meaning, since system messages mention many
/// subjects.
const SYSTEM_PENALTY: f32 = 0.06;

/// Added to the rank of a message from just before the memory was made, if the messages were compared by meaning.
const NEAR_BONUS: f32 = 0.35;

/// Facts about the memory that affect the weight of a message.
pub(super) struct MemoryFacts<'f> {
    pub(super) method: Option<&'f str>,
    /// Who said the content of the memory, if its source states this.
    pub(super) record_said_by: Option<SaidBy>,
    pub(super) created: Option<Timestamp>,
    /// When the text of the memory last changed. The text can contain nothing that was said later.
    pub(super) changed: Option<Timestamp>,
    pub(super) source: &'f str,
}

impl MemoryFacts<'_> {
    /// Returns who said the content of the memory, according to its source. None for a pasted list of memories, since
    /// the person who pasted the list did not say its content.
    pub(super) fn written_by(&self) -> Option<SaidBy> {
        self.record_said_by.filter(|_| self.method != Some("pasted"))
    }
}

/// A candidate, and the parts of the memory that it says.
pub(super) struct WeighedCandidate {
    pub(super) candidate: Candidate,
    pub(super) sentence: Sentence,
    pub(super) said_by: Option<SaidBy>,
    pub(super) confidence: f32,
    /// The confidence from the words alone.
    pub(super) words_confidence: f32,
    /// Indices of the parts of the memory that the candidate says.
    pub(super) parts: Vec<usize>,
    /// True if the candidate is in the named conversation, or from just before the memory was made.
    pub(super) near: bool,
}

impl WeighedCandidate {
    /// True if the export states this message as the source of the memory.
    pub(super) fn is_linked(&self) -> bool {
        self.candidate.found_by == FoundBy::Linked
    }

    /// True for a tool call, such as a call to the memory tool. Such a call shows that the assistant wrote the memory
    /// down, but not that the assistant said its content.
    pub(super) fn is_tool_call(&self) -> bool {
        self.candidate.record.message.as_ref().is_some_and(|part| part.content_type == "tool_call")
    }

    /// Returns the rank of the candidate: its confidence, adjusted for its speaker and its time if it was compared by
    /// meaning.
    pub(super) fn rank(&self) -> f32 {
        let speaker_bonus = match (self.candidate.nearest_sentence.is_some(), self.said_by) {
            (true, Some(SaidBy::User)) => PERSON_BONUS,
            (true, Some(SaidBy::System)) => -SYSTEM_PENALTY,
            _ => 0.0,
        };
        let near_bonus = if self.candidate.nearest_sentence.is_some() && self.near { NEAR_BONUS } else { 0.0 };
        self.confidence + speaker_bonus + near_bonus
    }
}
