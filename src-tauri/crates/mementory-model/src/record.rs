//! Records and their fields.
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// Fields that are not part of the model, in the order of the source.
pub type Fields = serde_json::Map<String, serde_json::Value>;

/// The kind of a record. The command line and the store use its stable name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A text that an assistant remembers: a saved memory, custom instructions, a note about the person.
    Memory,
    /// A conversation. Its messages refer to it.
    Conversation,
    /// One message, on any branch. Hidden messages and tool calls are messages too.
    Message,
    /// A description of the user or the assistant: core blocks, identity, principals.
    Profile,
    /// A person, place or thing.
    Entity,
    /// A typed relation between two entities.
    Relation,
    /// One statement, often extracted from a longer text.
    Fact,
    /// A document.
    Resource,
    /// A part of a document.
    Chunk,
    /// Instructions for doing something.
    Procedure,
    /// A task.
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
    /// Every kind, in the order in which reports list them.
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

/// Key of a record at its source. The vault derives the record's id from the key with a keyed hash, so the same source
/// record always has the same id in this vault, and the id reveals nothing about the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordKey {
    /// Scope of `value`: `chatgpt`, `claude`, `mem`, `alf:<agent id>` …
    pub scope: String,
    /// The id at the source. If the source has no id, the value is derived from position and content.
    pub value: String,
}

impl RecordKey {
    /// Creates a key.
    pub fn new(scope: impl Into<String>, value: impl Into<String>) -> Self {
        Self { scope: scope.into(), value: value.into() }
    }
}

/// The times that a source may state. Times that it does not state are None.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Times {
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the record was created.
    pub created: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the record last changed at the source.
    pub updated: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the fact was observed.
    pub observed: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the fact became true.
    pub valid_from: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the fact stopped being true.
    pub valid_to: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// When the assistant last read the record.
    pub last_accessed: Option<Timestamp>,
}

impl Times {
    /// The time of creation or, if it is not known, the nearest known time: of the observation, of the last change, or
    /// when the fact became true. None if none of these times is known.
    pub fn nearest_to_creation(&self) -> Option<Timestamp> {
        self.created.or(self.observed).or(self.updated).or(self.valid_from)
    }
}

/// Account, platform, conversation and project from which a record comes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// `chatgpt`, `claude`, `me` … The source filter of the search uses it.
    pub platform: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Account id at the source.
    pub account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Id of the conversation at the source.
    pub conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Id of the message at the source.
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// How the record was created: `bio_write`, `model_set_context`, `custom_instructions`, `pasted` …
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Project id or name.
    pub project: Option<String>,
}

/// A named entity in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityRef {
    /// Name of the entity.
    pub name: String,
    /// Type of the entity, as the source names it.
    #[serde(rename = "type")]
    pub entity_type: Option<String>,
    /// Role of the entity in the record.
    pub role: Option<String>,
}

/// A link to another record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Name of the relation: `derived_from`, `supersedes`, `member_of`, or a name that the source uses.
    pub relation: String,
    /// Kind of the target.
    pub kind: Kind,
    /// Key of the target, which need not be in the vault.
    pub target: RecordKey,
}

/// An embedding vector from the source. It is stored and exported unchanged. Mementory's own vectors do not use this
/// type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// Model name.
    pub model: String,
    /// The embedding as JSON, unchanged from the source.
    pub json: String,
}

/// A file that a record refers to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttachmentRef {
    /// Key of the file, which is the same in all records that refer to the file.
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
    /// Text that the source extracted from the file (Claude's `extracted_content`).
    pub text: Option<String>,
}

/// Fields that only messages have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessagePart {
    /// `user`, `assistant`, `system`, `tool`.
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Key of the parent message in the same conversation; None for the first message.
    pub parent: Option<RecordKey>,
    /// Position of the message in the source.
    pub position: u32,
    /// True if the program from which the message comes does not show it to the person.
    pub hidden: bool,
    /// True if the message is on the branch that the user saw last.
    pub active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Model that wrote the message.
    pub model: Option<String>,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context`, or the term of the source.
    pub content_type: String,
}

/// The exact place from which a record was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// Id of the format.
    pub format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Version or layout of the format.
    pub version: Option<String>,
    /// Name of the file. For an entry of an archive, the name of the entry follows after `!/`, and so on for archives
    /// inside archives. Folders of this computer are left out.
    pub container: String,
    /// JSON pointer, line or byte offset inside the container.
    pub pointer: String,
}

/// The original text of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verbatim {
    /// Media type: `application/json` for a JSON value, `text/plain`, `text/markdown`.
    pub media_type: String,
    /// The exact text, with numbers, key order, escapes and white space unchanged.
    pub text: String,
}

impl Verbatim {
    /// Creates the original text of a record whose source is JSON.
    pub fn json(text: impl Into<String>) -> Self {
        Self { media_type: "application/json".into(), text: text.into() }
    }
}

/// One record, independent of formats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The kind.
    pub kind: Kind,
    /// The key from which the vault derives the id.
    pub key: RecordKey,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The id at the source, unchanged.
    pub origin_id: Option<String>,
    /// The text that is shown to the user. May be empty.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Title or name.
    pub title: Option<String>,
    #[serde(default)]
    /// Times that the source gives.
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
    /// Confidence, from 0 to 1.
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Importance, from 0 to 1.
    pub importance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The sensitivity, as the source names it.
    pub sensitivity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Namespace or scope at the source.
    pub namespace: Option<String>,
    #[serde(default)]
    /// Account, platform, conversation and project from which the record comes.
    pub source: Source,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Entities that the record names.
    pub entities: Vec<EntityRef>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Links to other records.
    pub links: Vec<Link>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Embedding vectors from the source.
    pub embeddings: Vec<Embedding>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    /// Files that the record refers to.
    pub attachments: Vec<AttachmentRef>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// Fields that only messages have.
    pub message: Option<MessagePart>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// For a message, the key of its conversation. For a chunk, the key of its resource.
    pub parent: Option<RecordKey>,
    #[serde(default)]
    /// The exact place from which the record was read.
    pub origin: Origin,
    #[serde(skip_serializing_if = "Fields::is_empty", default)]
    /// Fields that are not part of the model.
    pub fields: Fields,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    /// The original text.
    pub verbatim: Option<Verbatim>,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    /// True if the record was edited in a vault, which then exported it in a format other than that of the verbatim.
    /// Text, title, tags, type or status then differ from the verbatim.
    pub edited: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    /// True if the source contains the same record more than once, such as custom instructions in each conversation.
    /// Repetitions within one import are merged and not reported, and their links are combined.
    pub repeats: bool,
}

impl Record {
    /// Creates a record that only has a text.
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
            edited: false,
            repeats: false,
        }
    }

    /// Reads a record that `serde_json` wrote, however deep its fields are nested: readers permit more levels
    /// (`Limits::json_depth`) than `serde_json` reads by default.
    ///
    /// # Errors
    /// Fails if the bytes are not a record.
    pub fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        deserializer.disable_recursion_limit();
        let record = Self::deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(record)
    }
}

/// Records that are imported together or not at all: a conversation with its messages, or a single record.
#[derive(Debug, Clone, Default)]
pub struct Unit {
    /// The records; if there is a conversation, it comes first.
    pub records: Vec<Record>,
}

impl From<Record> for Unit {
    fn from(record: Record) -> Self {
        Self { records: vec![record] }
    }
}
