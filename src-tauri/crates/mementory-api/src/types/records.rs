//! Types for lists, single records, conversations, search and edits.
use super::{TsNumber, Warning};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Filter of `list`, `search` and `export`. A record must meet all conditions that are given.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct Filter {
    /// `memory`, `conversation`, `message`, `fact`, `profile`, `attachment` …
    pub kind: Option<String>,
    /// Platform: `chatgpt`, `claude`, `me` …
    pub source: Option<String>,
    pub status: Option<String>,
    pub tag: Option<String>,
    /// The type that the source gives the record (`preference`, `semantic` …). An empty text selects records without a
    /// type.
    pub record_type: Option<String>,
    /// Who said the content of the record: `user`, `assistant`, `system`, or `unknown` if the source does not say.
    pub said_by: Option<String>,
    /// Earliest time or date (RFC 3339), inclusive.
    pub since: Option<String>,
    /// Latest time or date (RFC 3339), inclusive.
    pub until: Option<String>,
    /// True to select the records in the Trash instead of the records outside of it.
    pub trash: bool,
    /// If given, only records with these ids.
    pub ids: Option<Vec<String>>,
    /// Status of the record relative to the newest export of its assistant: `new`, `changed`, or `gone` (no longer in
    /// the export).
    pub export_diff_status: Option<String>,
    /// If given, only attachments of this kind: `picture`, `document`, `code`, `sound`, `video`, `other`, or `missing`
    /// (referenced, but not in the vault).
    pub file_kind: Option<String>,
    /// If given, only records of the import batches with these ids.
    pub batch: Option<Vec<String>>,
    /// If given, only memories about this subject: `who_you_are`, `people`, `work`, `projects`, `health`, `money`,
    /// `places_travel`, `home`, `food`, `tastes`, `beliefs`, `plans` or `how_to_answer`. An empty text selects memories
    /// without a suggested subject.
    pub about: Option<String>,
    /// If given, only memories in this special category: `health`, `beliefs`, `politics`, `origin`, `sexuality`,
    /// `biometrics`, `union`, `money`, `minors`, `exact_address`, or `any` of them.
    pub special: Option<String>,
}

/// What a memory is about.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AboutInfo {
    /// One of the subjects in [`Filter::about`].
    pub kind: String,
    /// Confidence, from 0 to 1.
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// `suggested`, or `person` if the person decided the subject of this memory, or of another memory with the same
    /// text.
    pub by: String,
}

/// Request to store the person's decision on what memories are about.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct AboutRequest {
    pub ids: Vec<String>,
    /// One of the subjects in [`Filter::about`], or `suggested` to remove a previous decision.
    pub about: String,
}

/// Request for one page of a list. `sort` is `newest` (default), `oldest`, `title`, `changed` (the most recently changed
/// in the vault first), or `trashed` (the most recently moved to the Trash first).
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ListRequest {
    pub filter: Filter,
    pub sort: Option<String>,
    /// Largest number of rows to return, from 1 to 1000. Default: 50.
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
    /// The first 500 characters of the text.
    pub text: String,
    pub source: String,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub status: Option<String>,
    pub tags: Vec<String>,
    /// Who said the content of the record: `user`, `assistant`, `system` or `unknown`.
    pub said_by: String,
    /// Number of stored versions, including the current one.
    pub versions: u32,
    pub redacted: bool,
    /// When the record last changed in the vault. `cause` says by what: `import`, `edit`, `restore` or `written`.
    pub changed_at: String,
    pub cause: String,
    /// For conversations: number of messages. The fields below contain the numbers of memories and attachments, and
    /// whether the conversation branches.
    pub message_count: u32,
    pub memory_count: u32,
    pub attachment_count: u32,
    pub branched: bool,
    /// For records in the Trash: when the record was moved there. `expires_at` says when it will be erased.
    pub trashed_at: Option<String>,
    pub expires_at: Option<String>,
    /// For attachments: size in bytes. The fields below contain the media type, and whether the bytes are in the vault.
    #[specta(type = Option<TsNumber>)]
    pub size: Option<u64>,
    pub media_type: Option<String>,
    pub present: Option<bool>,
    /// For attachments: kind of file, as in [`Filter::file_kind`].
    pub file_kind: Option<String>,
    pub conversation_id: Option<String>,
    /// True if the record contains a sensitive value that the last scan found and the person has not reviewed yet.
    pub sensitive: bool,
    /// Status of the record relative to the newest export of its assistant: `new`, `changed` or `gone`. Null if the
    /// record is unchanged, or if there was no earlier export to compare with.
    pub export_diff_status: Option<String>,
    /// For memories: the subject of the memory, suggested from its words or decided by the person.
    pub about: Option<AboutInfo>,
    /// For memories: the special categories of the memory, as in [`Filter::special`].
    pub special: Vec<String>,
}

/// One page of a list. `total` counts all records that match the filter.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Page {
    pub items: Vec<ListItem>,
    pub next_cursor: Option<String>,
    pub total: u32,
}

/// Numbers of records for the filter menus, by source, type, tag and speaker. The empty name counts records without a
/// type. Attachments are counted by kind of file instead of type.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Facets {
    pub sources: BTreeMap<String, u32>,
    pub types: BTreeMap<String, u32>,
    pub tags: BTreeMap<String, u32>,
    pub said_by: BTreeMap<String, u32>,
    pub file_kinds: BTreeMap<String, FileCount>,
    /// Number of memories by subject. The empty name counts memories without a suggested subject.
    pub about: BTreeMap<String, u32>,
    /// Number of memories by special category. `any` counts each memory with a special category once.
    pub special: BTreeMap<String, u32>,
}

/// Number of files of one kind, and the total size in bytes of those whose content is in the vault.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct FileCount {
    pub count: u32,
    #[specta(type = TsNumber)]
    pub bytes: u64,
}

/// Summary of several records.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Summary {
    /// Number of all stored versions of the records.
    pub versions: u32,
    /// Number of distinct sensitive values in these records that the person has not reviewed yet, by class.
    pub findings: BTreeMap<String, u32>,
    /// Number of conversations in the vault from which the records were derived.
    pub conversations: u32,
    /// Number of records with a date. `first` and `last` are the earliest and the latest of these dates.
    pub dated: u32,
    pub first: Option<String>,
    pub last: Option<String>,
}

/// The place from which a record was imported.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct OriginInfo {
    pub format: String,
    pub version: Option<String>,
    /// The file, followed by the names of the nested archive entries, joined by `!/`.
    pub container: String,
    /// JSON pointer, line or offset of the record inside the container.
    pub pointer: String,
    pub digest: Option<String>,
    pub batch: Option<String>,
    /// When the record was first imported.
    pub imported_at: String,
}

/// A link from one record to another.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct LinkInfo {
    /// `derived_from`, `supersedes`, `same_words`, `related` …
    pub relation: String,
    /// Id of the target. Null if the target is in the Trash or not in the vault.
    pub id: Option<String>,
    pub origin_id: Option<String>,
    pub kind: Option<String>,
    pub title: Option<String>,
    pub text: Option<String>,
    pub source: Option<String>,
    pub conversation_id: Option<String>,
    /// True if the target is in the Trash. Only its kind and its source are then given, and its conversation if the
    /// conversation is not in the Trash.
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
    /// False if the export references the file but does not contain it.
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
    /// Who said the content of the record: `user`, `assistant`, `system` or `unknown`.
    pub said_by: String,
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
    /// For memories: the subject of the memory, suggested from its words or decided by the person.
    pub about: Option<AboutInfo>,
    pub special: Vec<String>,
    /// The fields that only this kind of record has, as JSON text.
    pub fields: String,
}

/// A version of a record. In a list of versions, the first entry is the current one.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct VersionInfo {
    pub version: u32,
    pub text: String,
    pub title: Option<String>,
    pub tags: Vec<String>,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    /// When this version became the current one.
    pub from: String,
    /// When a newer version replaced this version. Null for the current version.
    pub to: Option<String>,
    /// What created this version: `import`, `edit`, `restore` or `written`.
    pub cause: String,
}

/// Answer of `show`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ShownRecord {
    pub record: RecordView,
    pub history: Option<Vec<VersionInfo>>,
    /// The original text of the record in its source.
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
    /// 0 if the message is on the active path of the conversation, otherwise the number of its branch.
    pub branch: u32,
    pub attachments: Vec<AttachmentInfo>,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context` …
    pub content_type: String,
    pub model: Option<String>,
    /// At a branch point: ids of all alternatives in order, including this message. Otherwise empty.
    pub siblings: Vec<String>,
    /// Memories derived from this message.
    pub memories: Vec<LinkInfo>,
    /// Blocks of the message besides its text: thinking, tool calls and their results.
    pub steps: Vec<Step>,
}

/// One block of a message besides its text, such as a tool call. The window shows it collapsed by default.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Step {
    /// Type of the block, as in [`ThreadMessage::content_type`].
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
    /// Largest number of hits to return, from 1 to 1000. Default: 20.
    pub limit: Option<u32>,
    pub offset: Option<u32>,
    /// True while the person is typing. The last word of the query then also matches longer words that start with it.
    #[serde(default)]
    pub typing: bool,
}

/// A search hit.
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
    /// Ranges of `snippet` to highlight, as start and end in Unicode code points.
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
    /// Number of all matching records.
    pub total: u32,
    #[specta(type = TsNumber)]
    pub took_ms: f64,
    pub hits: Vec<Hit>,
}

/// A hit of a search by words and meaning.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MeaningHit {
    #[serde(flatten)]
    pub hit: Hit,
    /// `words`, or `meaning` if the record was found only by its meaning.
    pub how: String,
}

/// Result of a search by words and meaning.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MeaningResult {
    pub query: String,
    /// Number of all records that were found by words or by meaning, including those on other pages.
    pub total: u32,
    pub took_ms: f64,
    pub hits: Vec<MeaningHit>,
    /// The warning `weights_missing` or `weights_damaged` if search by meaning was not possible.
    pub warnings: Vec<Warning>,
}

/// Request for records that mean nearly the same as a text or a record.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct SimilarRequest {
    /// The text to compare with. Ignored if there is an `id`.
    pub query: String,
    /// Id of the record to compare with.
    pub id: Option<String>,
    pub filter: Filter,
    /// Largest number of records to return, from 1 to 100. Default: 10.
    pub limit: Option<u32>,
}

/// A record with nearly the same meaning as the requested text or record.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SimilarRow {
    #[serde(flatten)]
    pub item: ListItem,
    /// Similarity, from 0 to 1.
    #[specta(type = TsNumber)]
    pub score: f64,
}

/// Answer of `similar`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Similar {
    /// The similar records, best first.
    pub rows: Vec<SimilarRow>,
    /// Number of records that are not encoded yet and therefore cannot be found.
    pub left: u32,
    /// Problem of the encoder's weights: `missing` or `damaged`. Null if there is none.
    pub weights: Option<String>,
}

/// Answer of `encode`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Encoded {
    /// Number of records that were encoded.
    pub records: u32,
    /// Problem of the encoder's weights: `missing` or `damaged`. Null if there is none.
    pub weights: Option<String>,
}

/// A row of a searched list.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FoundRow {
    #[serde(flatten)]
    pub item: ListItem,
    /// Text around the hit. Null for a conversation that was found only by its title.
    pub snippet: Option<String>,
    /// Ranges of `snippet` to highlight, as start and end in Unicode code points.
    pub highlights: Vec<(u32, u32)>,
    /// Id of the message that matched, if the row is a conversation.
    pub message: Option<String>,
}

/// Answer of `search_rows`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Found {
    pub rows: Vec<FoundRow>,
    /// Number of all hits. In a list of conversations, the number of matching messages.
    pub total: u32,
    /// Offset of the next page. Null if this is the last one.
    pub next_offset: Option<u32>,
}

/// Request to add a memory written by hand.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct AddRequest {
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub text: String,
    pub tags: Vec<String>,
}

/// Request to write a new version of a record. Absent fields stay unchanged.
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

/// Request to add a tag to many records, or to remove it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct TagRequest {
    pub ids: Vec<String>,
    pub tag: String,
    /// True to add the tag, false to remove it.
    pub on: bool,
}

/// Memories with the same or nearly the same text, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct DuplicateGroup {
    /// True if the texts differ only in case, spaces and punctuation.
    pub same: bool,
    pub items: Vec<ListItem>,
}

/// All groups of duplicates that the person has not reviewed yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Duplicates {
    pub groups: Vec<DuplicateGroup>,
}
