//! Records and their fields.
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// Fields of a kind that are not part of the model, in the order of the source.
pub type Fields = serde_json::Map<String, serde_json::Value>;

/// The kind of a record. The text form is the stable name on the command line and in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something an assistant remembers: saved memory, custom instructions, notes about the person.
    Memory,
    /// A conversation. Its messages refer to it.
    Conversation,
    /// One message, on any branch, hidden and tool traffic included.
    Message,
    /// Core blocks, identity, principals.
    Profile,
    /// A person, place or thing.
    Entity,
    /// A typed connection of two entities.
    Relation,
    /// One statement, often split out of a longer text.
    Fact,
    /// A document.
    Resource,
    /// A part of a document.
    Chunk,
    /// A way of doing something.
    Procedure,
    /// Something to do.
    Todo,
    /// A reference to a credential, never its value.
    Credential,
    /// A file that messages or projects refer to.
    Attachment,
    /// An event in the audit trail of the source.
    Audit,
    /// A record of an unknown kind, stored verbatim.
    Foreign,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Kind; 15] = [
        Kind::Memory,
        Kind::Conversation,
        Kind::Message,
        Kind::Profile,
        Kind::Entity,
        Kind::Relation,
        Kind::Fact,
        Kind::Resource,
        Kind::Chunk,
        Kind::Procedure,
        Kind::Todo,
        Kind::Credential,
        Kind::Attachment,
        Kind::Audit,
        Kind::Foreign,
    ];

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Memory => "memory",
            Kind::Conversation => "conversation",
            Kind::Message => "message",
            Kind::Profile => "profile",
            Kind::Entity => "entity",
            Kind::Relation => "relation",
            Kind::Fact => "fact",
            Kind::Resource => "resource",
            Kind::Chunk => "chunk",
            Kind::Procedure => "procedure",
            Kind::Todo => "todo",
            Kind::Credential => "credential",
            Kind::Attachment => "attachment",
            Kind::Audit => "audit",
            Kind::Foreign => "foreign",
        }
    }

    /// The kind with this stable name.
    pub fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The stable id of a record is derived from this and its kind. The vault hashes it with its own key, so the same
/// source gives the same id in this vault, and an id reveals nothing about the content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordKey {
    /// Id space: `chatgpt`, `claude`, `mem`, `alf:<agent id>` …
    pub scope: String,
    /// The id at the source, or position and content if there is none.
    pub value: String,
}

impl RecordKey {
    /// Creates a key.
    pub fn new(scope: impl Into<String>, value: impl Into<String>) -> Self {
        Self { scope: scope.into(), value: value.into() }
    }
}

/// The times that a source may give. Missing times stay missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Times {
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When it was created.
    pub created: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When it last changed at the source.
    pub updated: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the fact was observed.
    pub observed: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Start of validity.
    pub valid_from: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// End of validity.
    pub valid_to: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Last read by the assistant.
    pub last_accessed: Option<Timestamp>,
}

/// The origin of a record: the account, conversation and message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// `chatgpt`, `claude`, `me` …; also the "source" filter.
    pub platform: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Account id at the source.
    pub account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Id of its conversation at the source.
    pub conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Id of its message at the source.
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// How it was created: `bio_write`, `model_set_context`, `custom_instructions`, `pasted` …
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Project id or name.
    pub project: Option<String>,
}

/// A named thing in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityRef {
    /// Its name.
    pub name: String,
    /// Its type, open vocabulary.
    #[serde(rename = "type")]
    pub entity_type: Option<String>,
    /// Its role in the record.
    pub role: Option<String>,
}

/// A link to another record, by key (`derived_from`, `supersedes`, `member_of`, or the source's own relation).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Relation name.
    pub relation: String,
    /// Kind of the target.
    pub kind: Kind,
    /// Key of the target; it may be absent from the vault.
    pub target: RecordKey,
}

/// An embedding vector from the source. Stored and exported, never computed here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// Model name.
    pub model: String,
    /// The JSON of the embedding from the source.
    pub json: String,
}

/// A file that a record refers to. `key` is the same in all records that refer to the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttachmentRef {
    /// The identity of the file at the source.
    pub key: RecordKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The id at the source, unchanged.
    pub origin_id: Option<String>,
    /// The original name, or the id if the name is unknown.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Media type, if the source gives it.
    pub media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Size in bytes, if the source gives it.
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Text that the source extracted from it (Claude's `extracted_content`).
    pub text: Option<String>,
}

/// Fields of messages only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessagePart {
    /// `user`, `assistant`, `system`, `tool`.
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Key of the parent message within the conversation; None = a root.
    pub parent: Option<RecordKey>,
    /// Position in the order of the source.
    pub position: u32,
    /// Hidden in the source's user interface.
    pub hidden: bool,
    /// On the branch that the user saw last.
    pub active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Model that wrote it.
    pub model: Option<String>,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context`, or the term of the source.
    pub content_type: String,
}

/// The exact place from which a record was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// Format id as in cli.md.
    pub format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Version or layout.
    pub version: Option<String>,
    /// File, then entries inside archives, joined by `!/`. File names only, no folders of this machine.
    pub container: String,
    /// JSON pointer, line or offset inside it.
    pub pointer: String,
}

/// The original bytes of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verbatim {
    /// Media type: `application/json` for a JSON value, `text/plain`, `text/markdown`.
    pub media_type: String,
    /// The exact text, with numbers, key order, escapes and white space unchanged.
    pub text: String,
}

impl Verbatim {
    /// Verbatim JSON.
    pub fn json(text: impl Into<String>) -> Self {
        Self { media_type: "application/json".into(), text: text.into() }
    }
}

/// One record, neutral between formats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The kind.
    pub kind: Kind,
    /// The key from which its id is derived.
    pub key: RecordKey,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The id at the source, unchanged.
    pub origin_id: Option<String>,
    /// The text for the user. May be empty.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Title or name.
    pub title: Option<String>,
    #[serde(default)]
    /// Times.
    pub times: Times,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    /// The type given by the source or the user (`preference`, `semantic`, …).
    pub record_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The status at the source (`active`, `superseded`, `archived`, `deleted` …).
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Tags.
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// 0..1
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// 0..1
    pub importance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The sensitivity term of the source.
    pub sensitivity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Namespace or scope.
    pub namespace: Option<String>,
    #[serde(default)]
    /// The origin of a record: the account, conversation and message.
    pub source: Source,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Entities named in it.
    pub entities: Vec<EntityRef>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Links to other records.
    pub links: Vec<Link>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Embedding vectors from the source.
    pub embeddings: Vec<Embedding>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Files that it refers to.
    pub attachments: Vec<AttachmentRef>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Only for messages.
    pub message: Option<MessagePart>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Messages: key of their conversation. Chunks: key of their resource.
    pub parent: Option<RecordKey>,
    #[serde(default)]
    /// The exact place from which it was read.
    pub origin: Origin,
    #[serde(skip_serializing_if = "Fields::is_empty", default)]
    /// Fields of its kind that are not part of the model.
    pub fields: Fields,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The original bytes.
    pub verbatim: Option<Verbatim>,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    /// The source repeats it (custom instructions in each chat): repetitions within one import are merged with their
    /// links and not reported.
    pub repeats: bool,
}

impl Record {
    /// Creates a record with a text only.
    pub fn new(kind: Kind, key: RecordKey, text: impl Into<String>) -> Self {
        Self {
            kind,
            key,
            origin_id: None,
            text: text.into(),
            title: None,
            times: Times::default(),
            record_type: None,
            status: None,
            tags: vec![],
            confidence: None,
            importance: None,
            sensitivity: None,
            namespace: None,
            source: Source::default(),
            entities: vec![],
            links: vec![],
            embeddings: vec![],
            attachments: vec![],
            message: None,
            parent: None,
            origin: Origin::default(),
            fields: Fields::new(),
            verbatim: None,
            repeats: false,
        }
    }
}

/// Records that are imported together or not at all: a conversation with its messages, or a single record.
#[derive(Debug, Clone, Default)]
pub struct Unit {
    /// The conversation first.
    pub records: Vec<Record>,
}

impl From<Record> for Unit {
    fn from(record: Record) -> Self {
        Self { records: vec![record] }
    }
}
