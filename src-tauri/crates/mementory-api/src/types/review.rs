//! Where memories come from, the guided review, and what the person should delete in the assistants.
use super::{ListItem, TsNumber};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// A message that a memory comes from.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct EvidenceMessage {
    pub id: String,
    pub origin_id: Option<String>,
    /// Position of the sentence in the message's text, in Unicode code points (end exclusive).
    pub start: u32,
    pub end: u32,
    /// `linked` (the export links the memory to it), `words` or `meaning`.
    pub how: String,
    /// Confidence, from 0 to 1.
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// `user`, `assistant`, `system` …
    pub role: String,
    /// Who said the sentence: `user`, `assistant`, `system` or `unknown`.
    pub said_by: String,
    /// The sentence itself, at most 400 characters.
    pub text: String,
    pub source: String,
    pub created_at: Option<String>,
    pub conversation_id: Option<String>,
    pub conversation_title: Option<String>,
}

/// Where a memory comes from.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct MemoryEvidence {
    pub id: String,
    /// `user` (the person said it), `assistant` (the assistant concluded it), `system` (a program put it there) or
    /// `unknown`.
    pub said_by: String,
    /// True if `said_by` follows only from messages with a similar meaning, which may be about something else.
    pub uncertain: bool,
    /// `found`; `none` if the memory was compared with all conversations of its time and none of them says it;
    /// `unknown` if neither could be shown.
    pub trace: String,
    /// First the messages that show who said the memory, then the other messages that the export links the memory to.
    pub messages: Vec<EvidenceMessage>,
}

/// An answer to a memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ReviewAnswer {
    pub id: String,
    /// `true`, `outdated`, `wrong`, `private`, or `none` to take the answer back.
    pub answer: String,
}

/// What to review.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ReviewRequest {
    /// Only memories of this assistant.
    pub source: Option<String>,
    /// Only memories with a sensitive value.
    pub sensitive: bool,
    /// Ids of memories to leave out for now.
    pub skip: Vec<String>,
    /// Show this memory instead of the next one.
    pub id: Option<String>,
    /// True to return only the numbers, without a memory and its evidence.
    pub counts_only: bool,
}

/// A memory to review.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReviewItem {
    pub record: ListItem,
    /// The complete text of the memory.
    pub text: String,
    pub evidence: MemoryEvidence,
    /// The previous answer of the person, if there is one.
    pub answer: Option<String>,
    /// True if the memory contains a sensitive value.
    pub sensitive: bool,
}

/// The state of the review.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReviewState {
    /// The memory to answer; null if none is left.
    pub item: Option<ReviewItem>,
    /// Number of memories without an answer.
    pub left: u32,
    /// Number of all memories, with or without an answer.
    pub total: u32,
    /// Number of answers by name.
    pub answers: BTreeMap<String, u32>,
}

/// A memory that the person should delete in the assistant that has it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TodoItem {
    pub id: String,
    /// The text in the assistant, as it was last imported.
    pub text: String,
    /// How to find the memory in the assistant.
    #[serde(rename = "where")]
    pub place: String,
    /// `outdated`, `wrong` or `private`.
    pub answer: String,
    /// What later imports say: `not_checked`, `gone`, `still_there` or `back_again`.
    pub state: String,
    /// True if the memory is in this vault's Trash.
    pub trashed: bool,
    pub created_at: Option<String>,
}

/// Number of memories to delete at an assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TodoCount {
    pub assistant: String,
    /// Number of memories that are not gone from the assistant yet. `items` also counts those that are gone.
    pub open: u32,
    pub items: u32,
}

/// What the person has to do at an assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Todo {
    /// Null if there is nothing to do anywhere.
    pub assistant: Option<String>,
    /// Display name of the assistant.
    pub name: Option<String>,
    /// The memories to delete, oldest first as in the assistant's own list.
    pub items: Vec<TodoItem>,
    /// A text to paste into a chat with the assistant; empty if nothing is left to delete.
    pub message: String,
    /// All assistants with something to do.
    pub assistants: Vec<TodoCount>,
}

/// Request for the printable report.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ReportRequest {
    /// `en` (default), `de` or `ja`.
    pub language: Option<String>,
}

/// A report that was written.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct WrittenReport {
    pub path: String,
    pub memories: u32,
}
