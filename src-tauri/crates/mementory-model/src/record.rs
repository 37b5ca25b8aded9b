//! Records and what they carry.
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// Kind-specific fields that the model has no name for, in source order.
pub type Fields = serde_json::Map<String, serde_json::Value>;

/// What a record is. The text form is the stable name on the command line and in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something an assistant remembers: saved memory, custom instructions, notes about the person.
    Memory,
    /// A conversation; its messages point at it.
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
    /// A piece of a document.
    Chunk,
    /// A way of doing something.
    Procedure,
    /// Something to do.
    Todo,
    /// A credential's reference; never its value.
    Credential,
    /// A file that messages or projects name.
    Attachment,
    /// An event of the source's own audit trail.
    Audit,
    /// Kept verbatim, not understood.
    Foreign,
}

impl Kind {
    /// Every kind, in the order reports list them.
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

    /// Stable name.
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

/// From what a record's stable id is derived, together with its kind. The vault hashes it under a key of its own,
/// so the same source gives the same id in this vault and an id says nothing about content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordKey {
    /// Id space: `chatgpt`, `claude`, `mem`, `alf:<agent id>` …
    pub scope: String,
    /// The source's id there, or position + content where it has none.
    pub value: String,
}

impl RecordKey {
    /// A key.
    pub fn new(scope: impl Into<String>, value: impl Into<String>) -> Self {
        Self { scope: scope.into(), value: value.into() }
    }
}

/// All times a source may give. Absent stays absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Times {
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When it was made.
    pub created: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When it last changed at the source.
    pub updated: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the thing it tells of was observed.
    pub observed: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// True from.
    pub valid_from: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// True until.
    pub valid_to: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Last read by the assistant.
    pub last_accessed: Option<Timestamp>,
}

/// Who said it, and where.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// `chatgpt`, `claude`, `me` …; also the "source" filter.
    pub platform: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Account id at the source.
    pub account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Source id of the conversation it came from.
    pub conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Source id of the message it came from.
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// How it came about: `bio_write`, `model_set_context`, `custom_instructions`, `pasted` …
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

/// A vector that the source brought. Kept and handed on, never made here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// Model name.
    pub model: String,
    /// The source's own JSON of the embedding.
    pub json: String,
}

/// A file that a record names. `key` is the same in every record that names the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttachmentRef {
    /// Identity of the file at the source.
    pub key: RecordKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The source's id, as written there.
    pub origin_id: Option<String>,
    /// Original name, or the id where none is known.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Media type, if the source says.
    pub media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Size in bytes, if the source says.
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Text that the source extracted from it (Claude's `extracted_content`).
    pub text: Option<String>,
}

/// What only messages have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessagePart {
    /// `user`, `assistant`, `system`, `tool`.
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Key of the parent message within the conversation; None = a root.
    pub parent: Option<RecordKey>,
    /// Position in the source's own order.
    pub position: u32,
    /// Hidden in the source's own display.
    pub hidden: bool,
    /// On the branch the person last saw.
    pub active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Model that wrote it.
    pub model: Option<String>,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context`, or the source's own word.
    pub content_type: String,
}

/// Where exactly a record came from.
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

/// The source's own bytes of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verbatim {
    /// Media type: `application/json` for a JSON value, `text/plain`, `text/markdown`.
    pub media_type: String,
    /// The exact text: number text, key order, escapes and white space inside the value kept.
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
    /// What it is.
    pub kind: Kind,
    /// From what its id is derived.
    pub key: RecordKey,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The source's own id, as written there.
    pub origin_id: Option<String>,
    /// The text a person reads. May be empty.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Title or name.
    pub title: Option<String>,
    #[serde(default)]
    /// Times.
    pub times: Times,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    /// The source's or the person's type (`preference`, `semantic`, …).
    pub record_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The source's status (`active`, `superseded`, `archived`, `deleted` …).
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
    /// The source's own sensitivity word.
    pub sensitivity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Namespace or scope.
    pub namespace: Option<String>,
    #[serde(default)]
    /// Who said it, and where.
    pub source: Source,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Named things in it.
    pub entities: Vec<EntityRef>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Links to other records.
    pub links: Vec<Link>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Vectors that the source brought.
    pub embeddings: Vec<Embedding>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Files it names.
    pub attachments: Vec<AttachmentRef>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Only for messages.
    pub message: Option<MessagePart>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Messages: key of their conversation. Chunks: key of their resource.
    pub parent: Option<RecordKey>,
    #[serde(default)]
    /// Where exactly it came from.
    pub origin: Origin,
    #[serde(skip_serializing_if = "Fields::is_empty", default)]
    /// Kind-specific fields without a name in the model.
    pub fields: Fields,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The source's own bytes.
    pub verbatim: Option<Verbatim>,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    /// Said again and again by the source (custom instructions in each chat): repeats inside one import are merged
    /// (links added up) and not reported.
    pub repeats: bool,
}

impl Record {
    /// A record with a text and nothing else.
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

/// Records that stand or fall together: a conversation first and its messages, or one record alone.
#[derive(Debug, Clone, Default)]
pub struct Unit {
    /// The head first.
    pub records: Vec<Record>,
}

impl From<Record> for Unit {
    fn from(record: Record) -> Self {
        Self { records: vec![record] }
    }
}
