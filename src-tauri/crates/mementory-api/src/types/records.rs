//! Lists, records, threads, search, edits.
use super::TsNumber;
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Filters of `list`, `search` and `export`. All given ones must hold.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct Filter {
    /// `memory`, `conversation`, `message`, `fact`, `profile`, `attachment` …
    pub kind: Option<String>,
    /// Platform: `chatgpt`, `claude`, `me` …
    pub source: Option<String>,
    pub status: Option<String>,
    pub tag: Option<String>,
    /// The record's own type (`preference`, `semantic` …); empty: records without one.
    pub record_type: Option<String>,
    /// RFC 3339 or a date; inclusive.
    pub since: Option<String>,
    /// RFC 3339 or a date; inclusive.
    pub until: Option<String>,
    /// List the Trash instead.
    pub trash: bool,
    /// Only these ids.
    pub ids: Option<Vec<String>>,
    /// By the newest export of their assistant: `new`, `changed`, or `gone` there.
    pub standing: Option<String>,
    /// Attachments only: `picture`, `document`, `code`, `sound`, `video`, `other`, or `missing` (named, but not held).
    pub file_kind: Option<String>,
    /// Brought by one of these imports, by their batches.
    pub batch: Option<Vec<String>>,
}

/// Page request. `sort`: `newest` (default), `oldest`, `title`, `changed` (what was changed last in the vault first).
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ListRequest {
    pub filter: Filter,
    pub sort: Option<String>,
    /// 1..1000, default 50.
    pub limit: Option<u32>,
    pub cursor: Option<String>,
}

/// One row.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ListItem {
    pub id: String,
    pub origin_id: Option<String>,
    pub kind: String,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub title: Option<String>,
    /// The text, at most 500 characters of it.
    pub text: String,
    pub source: String,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub status: Option<String>,
    pub tags: Vec<String>,
    /// Versions kept, the current one included.
    pub versions: u32,
    pub redacted: bool,
    /// When it last changed in the vault, and by what: `import`, `edit`, `restore`, `written`.
    pub changed_at: String,
    pub cause: String,
    /// Conversations: messages in it, its memories, attachments and whether it branches.
    pub message_count: u32,
    pub memory_count: u32,
    pub attachment_count: u32,
    pub branched: bool,
    /// Trash only: when it was deleted and when it goes for good.
    pub trashed_at: Option<String>,
    pub expires_at: Option<String>,
    /// Attachments: size, media type, and whether the bytes are in the vault.
    #[specta(type = Option<TsNumber>)]
    pub size: Option<u64>,
    pub media_type: Option<String>,
    pub present: Option<bool>,
    /// Attachments: their kind, as the filter names it.
    pub file_kind: Option<String>,
    pub conversation_id: Option<String>,
    /// The last look found a value in it that nothing was decided on.
    pub sensitive: bool,
    /// By the newest export of its assistant, as far as there was one before: `new`, `changed`, `gone`.
    pub standing: Option<String>,
}

/// One page; `total` counts all that the filter finds.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Page {
    pub items: Vec<ListItem>,
    pub next_cursor: Option<String>,
    pub total: u32,
}

/// Numbers beside the filters: how many by source, type (the empty one: none), tag; of attachments by their kind instead
/// of their type.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Facets {
    pub sources: BTreeMap<String, u32>,
    pub types: BTreeMap<String, u32>,
    pub tags: BTreeMap<String, u32>,
    pub file_kinds: BTreeMap<String, FileCount>,
}

/// Files of a kind, and the bytes of them that the vault holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct FileCount {
    pub count: u32,
    #[specta(type = TsNumber)]
    pub bytes: u64,
}

/// What can be said of several records at once.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Summary {
    /// All versions that are kept of them.
    pub versions: u32,
    /// Different sensitive values that the last look found in them and that nothing was decided on, by class.
    pub findings: BTreeMap<String, u32>,
    /// Conversations that they were taken from, as far as those are in the vault.
    pub conversations: u32,
    /// How many have a date of their own, and the first and the last of those.
    pub dated: u32,
    pub first: Option<String>,
    pub last: Option<String>,
}

/// Where exactly a record came from.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct OriginInfo {
    pub format: String,
    pub version: Option<String>,
    /// File, then entries inside, joined by `!/`.
    pub container: String,
    /// JSON pointer, line or offset inside it.
    pub pointer: String,
    pub digest: Option<String>,
    pub batch: Option<String>,
    /// When the vault took it in.
    pub imported_at: String,
}

/// A link from one record to another.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct LinkInfo {
    /// `derived_from`, `supersedes`, `same_words`, `related` …
    pub relation: String,
    /// Null for what is in the Trash, or not in the vault.
    pub id: Option<String>,
    pub origin_id: Option<String>,
    pub kind: Option<String>,
    pub title: Option<String>,
    pub text: Option<String>,
    pub source: Option<String>,
    pub conversation_id: Option<String>,
    /// In the Trash: then only kind, source and a conversation that is not there itself are told.
    pub trashed: bool,
}

/// An attachment of a record.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AttachmentInfo {
    pub id: String,
    pub name: String,
    pub media_type: Option<String>,
    #[specta(type = Option<TsNumber>)]
    pub size: Option<u64>,
    /// False: named by the export, not in it.
    pub present: bool,
}

/// Where a memory came from, in words.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct SourceFields {
    pub platform: String,
    pub account: Option<String>,
    pub conversation: Option<String>,
    pub message: Option<String>,
    /// `bio_write`, `model_set_context`, `custom_instructions`, `conversations_memory`, `pasted`, `written` …
    pub method: Option<String>,
    pub project: Option<String>,
}

/// One record, whole.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct RecordView {
    pub id: String,
    pub origin_id: Option<String>,
    pub kind: String,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub title: Option<String>,
    pub text: String,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub observed_at: Option<String>,
    pub valid_from: Option<String>,
    pub valid_to: Option<String>,
    pub last_accessed_at: Option<String>,
    pub status: Option<String>,
    pub tags: Vec<String>,
    pub confidence: Option<f64>,
    pub importance: Option<f64>,
    pub sensitivity: Option<String>,
    pub namespace: Option<String>,
    pub source: SourceFields,
    pub conversation_id: Option<String>,
    pub conversation_title: Option<String>,
    pub role: Option<String>,
    pub links: Vec<LinkInfo>,
    pub attachments: Vec<AttachmentInfo>,
    pub origin: OriginInfo,
    pub version: u32,
    pub trashed_at: Option<String>,
    pub redacted: bool,
    /// Kind-specific fields, as JSON text.
    pub fields: String,
}

/// One version of a record; the first entry is the current one.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct VersionInfo {
    pub version: u32,
    pub text: String,
    pub title: Option<String>,
    pub tags: Vec<String>,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    /// When this version became current.
    pub from: String,
    /// When it was superseded; null for the current one.
    pub to: Option<String>,
    /// `import`, `edit`, `restore`, `redact`.
    pub cause: String,
}

/// `show`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Shown {
    pub record: RecordView,
    pub history: Option<Vec<VersionInfo>>,
    /// The source's own text of this record.
    pub verbatim: Option<String>,
}

/// One message of a thread.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ThreadMessage {
    pub id: String,
    pub origin_id: Option<String>,
    pub parent_id: Option<String>,
    /// `user`, `assistant`, `system`, `tool`.
    pub role: String,
    pub text: String,
    pub created_at: Option<String>,
    pub hidden: bool,
    /// 0 = on the active path, else the number of the branch.
    pub branch: u32,
    pub attachments: Vec<AttachmentInfo>,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context` …
    pub content_type: String,
    pub model: Option<String>,
    /// At a branch point: its siblings in order, this one included. Else empty.
    pub siblings: Vec<String>,
    /// Memories taken from this message.
    pub memories: Vec<LinkInfo>,
    /// What stands beside its own text: thinking, tool calls and their results.
    pub steps: Vec<Step>,
}

/// Something that was done for a message, folded away when it is read.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Step {
    /// As of a message.
    pub content_type: String,
    /// Of the tool.
    pub name: Option<String>,
    pub text: String,
}

/// A conversation with all its branches.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Thread {
    pub conversation: RecordView,
    pub messages: Vec<ThreadMessage>,
    pub active_path: Vec<String>,
}

/// Search request.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct SearchRequest {
    pub query: String,
    pub filter: Filter,
    /// 1..1000, default 20.
    pub limit: Option<u32>,
    pub offset: Option<u32>,
    /// The last word is still being typed: words that start with it count.
    #[serde(default)]
    pub typing: bool,
}

/// One hit.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Hit {
    pub id: String,
    pub origin_id: Option<String>,
    pub kind: String,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub conversation_id: Option<String>,
    pub title: Option<String>,
    pub snippet: String,
    /// Ranges in code points of `snippet`.
    pub highlights: Vec<(u32, u32)>,
    #[specta(type = TsNumber)]
    pub score: f64,
    pub created_at: Option<String>,
    pub source: String,
}

/// Answer of `search`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SearchResult {
    pub query: String,
    /// All matching records.
    pub total: u32,
    #[specta(type = TsNumber)]
    pub took_ms: f64,
    pub hits: Vec<Hit>,
}

/// A row of a list in which something is searched for.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FoundRow {
    #[serde(flatten)]
    pub item: ListItem,
    /// Where the words stand; null for a conversation that was found by its title alone.
    pub snippet: Option<String>,
    /// Ranges in code points of `snippet`.
    pub highlights: Vec<(u32, u32)>,
    /// The message that says it, where the row is a conversation.
    pub message: Option<String>,
}

/// Answer of `find`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Found {
    pub rows: Vec<FoundRow>,
    /// All hits; of conversations, the messages that match.
    pub total: u32,
    /// Where the next page begins.
    pub next_offset: Option<u32>,
}

/// A memory written by hand.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct AddRequest {
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub text: String,
    pub tags: Vec<String>,
}

/// A new version; absent fields stay as they are.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct EditRequest {
    pub id: String,
    pub text: Option<String>,
    pub title: Option<String>,
    pub tags: Option<Vec<String>>,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
}

/// Result of an edit.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Edited {
    pub id: String,
    pub version: u32,
}

/// One tag for many records, or from many.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct TagRequest {
    pub ids: Vec<String>,
    pub tag: String,
    /// False: take it from them.
    pub on: bool,
}

/// Memories that say the same, or much the same; oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct DuplicateGroup {
    /// The same words, but for case, spaces and punctuation.
    pub same: bool,
    pub items: Vec<ListItem>,
}

/// All groups that the person did not decide on.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Duplicates {
    pub groups: Vec<DuplicateGroup>,
}
