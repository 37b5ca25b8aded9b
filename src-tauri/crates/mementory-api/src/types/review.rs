//! Types for the origin of memories, for the guided review, and for the memories that the person should delete in the
//! assistants.
use super::{ListItem, TsNumber};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// A message from which a memory was made.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct EvidenceMessage {
    pub id: String,
    pub origin_id: Option<String>,
    /// Position of the sentence in the message's text, in Unicode code points (end exclusive).
    pub start: u32,
    pub end: u32,
    /// How the message was found: `linked` (the export links the memory to the message), `words` or `meaning`.
    pub how: String,
    /// Confidence, from 0 to 1.
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// Role of the message: `user`, `assistant`, `system` …
    pub role: String,
    /// Who said the sentence: `user`, `assistant`, `system` or `unknown`.
    pub said_by: String,
    /// The text of the sentence, at most 400 characters.
    pub text: String,
    pub source: String,
    pub created_at: Option<String>,
    pub conversation_id: Option<String>,
    pub conversation_title: Option<String>,
}

/// The origin of a memory: who said it, and the messages from which it was made.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct MemoryEvidence {
    pub id: String,
    /// Who said the content of the memory: `user` (the person), `assistant` (which concluded it), `system` (a program
    /// wrote it) or `unknown`.
    pub said_by: String,
    /// True if `said_by` follows only from messages with a similar meaning, which may be about something else.
    pub uncertain: bool,
    /// `found`, if messages say the memory. `none`, if the memory was compared with all conversations of its time and
    /// none of them says it. `unknown`, if neither could be shown.
    pub trace: String,
    /// The messages that show who said the memory, followed by the other messages to which the export links the memory.
    pub messages: Vec<EvidenceMessage>,
}

/// The person's answer to a memory in the review.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ReviewAnswer {
    pub id: String,
    /// `true`, `outdated`, `wrong`, `private`, or `none` to remove the answer.
    pub answer: String,
}

/// Request for a memory to review.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ReviewRequest {
    /// If given, only memories of this assistant.
    pub source: Option<String>,
    /// True for only memories with a sensitive value.
    pub sensitive: bool,
    /// If given, only memories about this subject, as `about` in the filter of a list.
    pub about: Option<String>,
    /// If given, only memories in this special category, as `special` in the filter of a list.
    pub special: Option<String>,
    /// Ids of memories to leave out for now.
    pub skip: Vec<String>,
    /// Id of a memory to return instead of the next one.
    pub id: Option<String>,
    /// True to return only the counts, without a memory and its evidence.
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

/// The state of the review. `left` and `total` count only memories that match the request's `source`, `sensitive`,
/// `about` and `special`. `answers` counts the same memories, except that `sensitive` does not apply, and that memories in
/// the Trash count unless the request has a subject or a special category.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReviewState {
    /// The memory to review. Null if none is left or only the counts were requested.
    pub item: Option<ReviewItem>,
    /// Number of memories without an answer.
    pub left: u32,
    /// Number of all memories, with or without an answer.
    pub total: u32,
    /// Number of memories by answer.
    pub answers: BTreeMap<String, u32>,
}

/// A memory that the person should delete in the assistant that has it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TodoItem {
    pub id: String,
    /// The text of the memory in the assistant, as it was last imported.
    pub text: String,
    /// How to find the memory in the assistant.
    #[serde(rename = "where")]
    pub place: String,
    /// `outdated`, `wrong` or `private`.
    pub answer: String,
    /// Whether the memory is still in the assistant, according to later imports: `not_checked`, `gone`, `still_there`
    /// or `back_again`.
    pub state: String,
    /// True if the memory is in this vault's Trash.
    pub trashed: bool,
    pub created_at: Option<String>,
}

/// Number of memories to delete in an assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TodoCount {
    pub assistant: String,
    /// Number of memories that are not gone from the assistant yet. `items` also counts the memories that are gone.
    pub open: u32,
    pub items: u32,
}

/// The memories that the person should delete in an assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Todo {
    /// Id of the assistant. Null if there is nothing to delete in any assistant.
    pub assistant: Option<String>,
    /// Display name of the assistant.
    pub name: Option<String>,
    /// The memories to delete, oldest first as in the assistant's own list.
    pub items: Vec<TodoItem>,
    /// A text to paste into a chat with the assistant. Empty if nothing is left to delete.
    pub message: String,
    /// All assistants with memories to delete.
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
