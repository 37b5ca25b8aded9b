//! Where memories come from, the guided review, and what is to be done at the assistants.
use super::{ListItem, TsNumber};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// A message that a memory comes from.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct EvidenceMessage {
    pub id: String,
    pub origin_id: Option<String>,
    /// The sentence, in code points of the message's text (end exclusive).
    pub start: u32,
    pub end: u32,
    /// `linked` (the export names it), `words` or `meaning`.
    pub how: String,
    /// From 0 to 1.
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// `user`, `assistant`, `system` …
    pub role: String,
    /// Who said it: `user`, `assistant`, `system` or `unknown`.
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
    /// `user` (the person said it), `assistant` (it concluded it), `system` (a program put it there) or `unknown`.
    pub said_by: String,
    /// `found`; `none`: no conversation with this assistant says it; `unknown`: there are no conversations to look in.
    pub trace: String,
    /// First those that show who said it, then those that the export names.
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
    /// Not these for now, by id.
    pub skip: Vec<String>,
    /// Show this memory instead of the next one.
    pub id: Option<String>,
    /// True to leave out the memory itself and its evidence: only the numbers.
    pub counts_only: bool,
}

/// A memory to review.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReviewItem {
    pub record: ListItem,
    /// All of its text.
    pub text: String,
    pub evidence: MemoryEvidence,
    /// The answer that was given before, if any.
    pub answer: Option<String>,
    /// True if it has a sensitive value.
    pub sensitive: bool,
}

/// The state of the review.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReviewState {
    /// The memory to answer; null if none is left.
    pub item: Option<ReviewItem>,
    /// Number of memories without an answer.
    pub left: u32,
    /// Number of memories with and without an answer.
    pub total: u32,
    /// Number of answers by name.
    pub answers: BTreeMap<String, u32>,
}

/// A memory to delete at its assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TodoItem {
    pub id: String,
    /// The assistant's own text, as it was last imported.
    pub text: String,
    /// The way to it.
    #[serde(rename = "where")]
    pub place: String,
    /// `outdated`, `wrong` or `private`.
    pub answer: String,
    /// What later imports say: `not_checked`, `gone`, `still_there` or `back_again`.
    pub state: String,
    /// True if it is in this vault's Trash.
    pub trashed: bool,
    pub created_at: Option<String>,
}

/// Number of memories to delete at an assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TodoCount {
    pub assistant: String,
    /// Those that are not gone yet, and all.
    pub open: u32,
    pub items: u32,
}

/// What is to be done at an assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Todo {
    /// Null if there is nothing to do anywhere.
    pub assistant: Option<String>,
    /// Its name, as people know it.
    pub name: Option<String>,
    /// In the assistant's own order, oldest first.
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
pub struct ReportMade {
    pub path: String,
    pub memories: u32,
}
