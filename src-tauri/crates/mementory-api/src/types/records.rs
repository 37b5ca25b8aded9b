//! Lists, records, threads, search, edits.
use super::TsNumber;
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Filters of `list`, `search` and `export`. A record has to match all that are given.
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
    /// Status by the newest export of the assistant: `new`, `changed`, or `gone` (no longer in it).
    pub standing: Option<String>,
    /// Attachments only: `picture`, `document`, `code`, `sound`, `video`, `other`, or `missing` (referenced, but not in the vault).
    pub file_kind: Option<String>,
    /// Ids of import batches: only records of these imports.
    pub batch: Option<Vec<String>>,
}

/// Page request. `sort`: `newest` (default), `oldest`, `title`, `changed` (last changed in the vault first).
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ListRequest {
    pub filter: Filter,
    pub sort: Option<String>,
    /// 1..1000, default 50.
    pub limit: Option<u32>,
    pub cursor: Option<String>,
}

/// One row of a list.
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
    /// Number of stored versions, including the current one.
    pub versions: u32,
    pub redacted: bool,
    /// When and how it last changed in the vault: `import`, `edit`, `restore`, `written`.
    pub changed_at: String,
    pub cause: String,
    /// Conversations: numbers of messages, memories and attachments, and whether it branches.
    pub message_count: u32,
    pub memory_count: u32,
    pub attachment_count: u32,
    pub branched: bool,
    /// Trash only: when it was moved there, and when it will be erased.
    pub trashed_at: Option<String>,
    pub expires_at: Option<String>,
    /// Attachments: size, media type, and whether the bytes are in the vault.
    #[specta(type = Option<TsNumber>)]
    pub size: Option<u64>,
    pub media_type: Option<String>,
    pub present: Option<bool>,
    /// Attachments: their kind, as in the filter.
    pub file_kind: Option<String>,
    pub conversation_id: Option<String>,
    /// The last scan found a sensitive value in it that is still to be reviewed.
    pub sensitive: bool,
    /// Status by the newest export of its assistant, if there was an earlier one: `new`, `changed`, `gone`.
    pub standing: Option<String>,
}

/// One page; `total` counts all records that match the filter.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Page {
    pub items: Vec<ListItem>,
    pub next_cursor: Option<String>,
    pub total: u32,
}

/// Counts for the filter menus, by source, type (empty name: no type) and tag; attachments are counted by kind instead of
/// type.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Facets {
    pub sources: BTreeMap<String, u32>,
    pub types: BTreeMap<String, u32>,
    pub tags: BTreeMap<String, u32>,
    pub file_kinds: BTreeMap<String, FileCount>,
}

/// Number of files of a kind, and how many of their bytes are in the vault.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct FileCount {
    pub count: u32,
    #[specta(type = TsNumber)]
    pub bytes: u64,
}

/// Summary of several records.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Summary {
    /// Number of all their stored versions.
    pub versions: u32,
    /// Distinct sensitive values in them that are still to be reviewed, by class.
    pub findings: BTreeMap<String, u32>,
    /// Conversations in the vault that they were derived from.
    pub conversations: u32,
    /// How many have a date, and the first and last of these dates.
    pub dated: u32,
    pub first: Option<String>,
    pub last: Option<String>,
}

/// Where exactly a record came from.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct OriginInfo {
    pub format: String,
    pub version: Option<String>,
    /// The file, then the entries inside archives, joined by `!/`.
    pub container: String,
    /// JSON pointer, line or offset inside it.
    pub pointer: String,
    pub digest: Option<String>,
    pub batch: Option<String>,
    /// When it was imported.
    pub imported_at: String,
}

/// A link from one record to another.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct LinkInfo {
    /// `derived_from`, `supersedes`, `same_words`, `related` …
    pub relation: String,
    /// Null for a record that is in the Trash or not in the vault.
    pub id: Option<String>,
    pub origin_id: Option<String>,
    pub kind: Option<String>,
    pub title: Option<String>,
    pub text: Option<String>,
    pub source: Option<String>,
    pub conversation_id: Option<String>,
    /// In the Trash: then only kind and source are given, and the conversation if that is not in the Trash.
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
    /// False: referenced by the export, but not in it.
    pub present: bool,
}

/// Origin of a memory, as the source describes it.
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

/// One complete record.
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
    /// The original text of this record in its source.
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
    /// 0 = on the active path, otherwise the number of its branch.
    pub branch: u32,
    pub attachments: Vec<AttachmentInfo>,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context` …
    pub content_type: String,
    pub model: Option<String>,
    /// At a branch point: its siblings in order, including itself. Otherwise empty.
    pub siblings: Vec<String>,
    /// Memories derived from this message.
    pub memories: Vec<LinkInfo>,
    /// Blocks beside its text: thinking, tool calls and their results.
    pub steps: Vec<Step>,
}

/// A step taken for a message, collapsed by default in the reader.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Step {
    /// As for a message.
    pub content_type: String,
    /// Name of the tool.
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

/// A row of a searched list.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FoundRow {
    #[serde(flatten)]
    pub item: ListItem,
    /// Text around the hit; null for a conversation that was found only by its title.
    pub snippet: Option<String>,
    /// Ranges in code points of `snippet`.
    pub highlights: Vec<(u32, u32)>,
    /// The message that matched, if the row is a conversation.
    pub message: Option<String>,
}

/// Answer of `find`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Found {
    pub rows: Vec<FoundRow>,
    /// Number of all hits; for conversations, of matching messages.
    pub total: u32,
    /// Offset of the next page.
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

/// Add one tag to many records, or remove it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct TagRequest {
    pub ids: Vec<String>,
    pub tag: String,
    /// False: remove the tag.
    pub on: bool,
}

/// Memories with the same or nearly the same text; oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct DuplicateGroup {
    /// Equal except for case, spaces and punctuation.
    pub same: bool,
    pub items: Vec<ListItem>,
}

/// All groups that were not reviewed yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Duplicates {
    pub groups: Vec<DuplicateGroup>,
}
