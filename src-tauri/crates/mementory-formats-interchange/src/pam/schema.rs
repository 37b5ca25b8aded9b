//! The format's objects as data (spec §3–§18, §25): members with their types. Checking is driven by these tables.
use super::forms::Form;

/// Type of a member.
#[derive(Debug)]
pub(super) enum Ty {
    Text,
    /// At least one character.
    Filled,
    /// Exactly this text.
    Const(&'static str),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Text of a form.
    Like(Form),
    /// RFC 3339.
    Time,
    Bool,
    /// Whole number from this on.
    Int(i64),
    /// Number in 0..1.
    Unit,
    Number,
    /// Object with members of its own choice.
    Open,
    /// Object or text.
    OpenOrText,
    Object(&'static Shape),
    List(&'static Ty),
    /// List without repeats, with at least so many items.
    Set(&'static Ty, usize),
}

/// Whether a member has to be there, and whether it may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
    Nullable,
}

/// One member.
#[derive(Debug)]
pub(super) struct Field(pub &'static str, pub Ty, pub Need);

/// One object.
#[derive(Debug)]
pub(super) struct Shape {
    pub fields: &'static [Field],
    /// Other members are welcome.
    pub open: bool,
}

use Need::{Nullable as N, Optional as O, Required as R};

/// Memory types (§5).
pub(super) const TYPES: [&str; 11] = [
    "fact",
    "preference",
    "skill",
    "context",
    "relationship",
    "goal",
    "instruction",
    "identity",
    "environment",
    "project",
    "custom",
];
/// Lifecycle (§7).
pub(super) const STATUSES: [&str; 5] = ["active", "superseded", "deprecated", "retracted", "archived"];
/// How a memory came about (§11.3).
pub(super) const METHODS: [&str; 5] =
    ["llm_inference", "explicit_user_input", "api_export", "browser_extraction", "manual"];
/// Relations of memories (§13.2).
pub(super) const RELATIONS: [&str; 6] =
    ["supports", "contradicts", "extends", "supersedes", "related_to", "derived_from"];
/// Roles of messages (§25.3).
pub(super) const ROLES: [&str; 4] = ["user", "assistant", "system", "tool"];
/// Signature algorithms (§18.2).
pub(super) const ALGORITHMS: [&str; 6] = ["Ed25519", "ES256", "ES384", "RS256", "RS384", "RS512"];
const STORAGES: [&str; 5] = ["file", "database", "object_storage", "vector_db", "uri"];

/// The three documents by their `schema`.
pub(super) const STORE_SCHEMA: &str = "portable-ai-memory";
pub(super) const CONVERSATION_SCHEMA: &str = "portable-ai-memory-conversation";
pub(super) const EMBEDDINGS_SCHEMA: &str = "portable-ai-memory-embeddings";

/// `memory-store.json`; the arrays of records are checked one by one.
pub(super) static STORE: Shape = Shape {
    fields: &[
        Field("schema", Ty::Const(STORE_SCHEMA), R),
        Field("schema_version", Ty::Like(Form::Version), R),
        Field("spec_uri", Ty::Text, N),
        Field("export_id", Ty::Text, N),
        Field("exported_by", Ty::Like(Form::System), N),
        Field("export_date", Ty::Time, O),
        Field("owner", Ty::Object(&OWNER), R),
        Field("memories", Ty::List(&Ty::Object(&MEMORY)), R),
        Field("relations", Ty::List(&Ty::Object(&RELATION)), O),
        Field("conversations_index", Ty::List(&Ty::Object(&INDEX)), O),
        Field("integrity", Ty::Object(&INTEGRITY), O),
        Field("export_type", Ty::OneOf(&["full", "incremental"]), O),
        Field("base_export_id", Ty::Text, N),
        Field("since", Ty::Time, N),
        Field("type_registry", Ty::Text, N),
        Field("signature", Ty::Object(&SIGNATURE), N),
    ],
    open: false,
};

static OWNER: Shape = Shape {
    fields: &[Field("id", Ty::Filled, R), Field("did", Ty::Like(Form::Did), N), Field("created_at", Ty::Time, O)],
    open: false,
};

/// A memory (§4).
pub(super) static MEMORY: Shape = Shape {
    fields: &[
        Field("id", Ty::Filled, R),
        Field("type", Ty::OneOf(&TYPES), R),
        Field("custom_type", Ty::Filled, N),
        Field("status", Ty::OneOf(&STATUSES), O),
        Field("content", Ty::Filled, R),
        Field("content_hash", Ty::Like(Form::Hash), R),
        Field("summary", Ty::Text, N),
        Field("tags", Ty::Set(&Ty::Like(Form::Tag), 0), O),
        Field("confidence", Ty::Object(&CONFIDENCE), O),
        Field("temporal", Ty::Object(&TEMPORAL), R),
        Field("provenance", Ty::Object(&PROVENANCE), R),
        Field("access", Ty::Object(&ACCESS), O),
        Field("embedding_ref", Ty::Text, N),
        Field("metadata", Ty::Object(&METADATA), O),
    ],
    open: false,
};

static CONFIDENCE: Shape = Shape {
    fields: &[
        Field("initial", Ty::Unit, O),
        Field("current", Ty::Unit, O),
        Field("decay_model", Ty::OneOf(&["time_linear", "time_exponential", "none"]), N),
        Field("last_reinforced", Ty::Time, N),
    ],
    open: false,
};

static TEMPORAL: Shape = Shape {
    fields: &[
        Field("created_at", Ty::Time, R),
        Field("updated_at", Ty::Time, N),
        Field("valid_from", Ty::Time, N),
        Field("valid_until", Ty::Time, N),
        Field("superseded_by", Ty::Text, N),
    ],
    open: false,
};

static PROVENANCE: Shape = Shape {
    fields: &[
        Field("platform", Ty::Like(Form::Platform), R),
        Field("platform_user_id", Ty::Text, N),
        Field("conversation_ref", Ty::Text, N),
        Field("message_ref", Ty::Text, N),
        Field("extraction_method", Ty::OneOf(&METHODS), N),
        Field("extracted_at", Ty::Time, N),
        Field("extractor", Ty::Like(Form::System), N),
    ],
    open: false,
};

static ACCESS: Shape = Shape {
    fields: &[
        Field("visibility", Ty::OneOf(&["private", "shared", "public"]), O),
        Field("exportable", Ty::Bool, O),
        Field("shared_with", Ty::List(&Ty::Object(&GRANT)), O),
    ],
    open: false,
};

static GRANT: Shape = Shape {
    fields: &[
        Field("entity", Ty::Filled, R),
        Field("permissions", Ty::Set(&Ty::OneOf(&["read", "write", "delete"]), 1), R),
    ],
    open: false,
};

static METADATA: Shape =
    Shape { fields: &[Field("language", Ty::Like(Form::Language), N), Field("domain", Ty::Text, N)], open: true };

/// A relation (§13).
pub(super) static RELATION: Shape = Shape {
    fields: &[
        Field("id", Ty::Filled, R),
        Field("from", Ty::Filled, R),
        Field("to", Ty::Filled, R),
        Field("type", Ty::OneOf(&RELATIONS), R),
        Field("confidence", Ty::Unit, N),
        Field("created_at", Ty::Time, R),
    ],
    open: false,
};

/// An entry of the conversations index (§14).
pub(super) static INDEX: Shape = Shape {
    fields: &[
        Field("id", Ty::Filled, R),
        Field("platform", Ty::Like(Form::Platform), R),
        Field("title", Ty::Text, N),
        Field("message_count", Ty::Int(0), N),
        Field("temporal", Ty::Object(&SPAN), R),
        Field("tags", Ty::List(&Ty::Like(Form::Tag)), O),
        Field("derived_memories", Ty::List(&Ty::Filled), O),
        Field("storage", Ty::Object(&STORAGE), O),
    ],
    open: false,
};

static SPAN: Shape =
    Shape { fields: &[Field("created_at", Ty::Time, R), Field("updated_at", Ty::Time, N)], open: false };

static STORAGE: Shape = Shape {
    fields: &[Field("type", Ty::OneOf(&STORAGES), R), Field("ref", Ty::Filled, R), Field("format", Ty::Text, N)],
    open: false,
};

static INTEGRITY: Shape = Shape {
    fields: &[
        Field("canonicalization", Ty::Const("RFC8785"), O),
        Field("checksum", Ty::Like(Form::Hash), R),
        Field("total_memories", Ty::Int(0), R),
    ],
    open: false,
};

static SIGNATURE: Shape = Shape {
    fields: &[
        Field("algorithm", Ty::OneOf(&ALGORITHMS), R),
        Field("public_key", Ty::Filled, R),
        Field("value", Ty::Filled, R),
        Field("signed_at", Ty::Time, R),
        Field("key_id", Ty::Text, N),
    ],
    open: false,
};

/// A conversation file (§25).
pub(super) static CONVERSATION: Shape = Shape {
    fields: &[
        Field("schema", Ty::Const(CONVERSATION_SCHEMA), R),
        Field("schema_version", Ty::Like(Form::Version), R),
        Field("id", Ty::Filled, R),
        Field("provider", Ty::Object(&PROVIDER), R),
        Field("title", Ty::Text, N),
        Field("temporal", Ty::Object(&SPAN), R),
        Field("participants", Ty::List(&Ty::Object(&PARTICIPANT)), O),
        Field("messages", Ty::List(&Ty::Object(&MESSAGE)), R),
        Field("model", Ty::Text, N),
        Field("system_instruction", Ty::Text, N),
        Field("is_archived", Ty::Bool, O),
        Field("tags", Ty::List(&Ty::Like(Form::Tag)), O),
        Field("raw_metadata", Ty::Open, O),
        Field("import_metadata", Ty::Object(&IMPORT), O),
    ],
    open: false,
};

static PROVIDER: Shape = Shape {
    fields: &[
        Field("name", Ty::Like(Form::Platform), R),
        Field("conversation_id", Ty::Text, N),
        Field("account_id", Ty::Text, N),
        Field("export_format_version", Ty::Text, N),
    ],
    open: false,
};

static PARTICIPANT: Shape = Shape {
    fields: &[Field("role", Ty::OneOf(&ROLES), R), Field("name", Ty::Text, N), Field("provider_id", Ty::Text, N)],
    open: false,
};

/// A message.
pub(super) static MESSAGE: Shape = Shape {
    fields: &[
        Field("id", Ty::Filled, R),
        Field("provider_message_id", Ty::Text, N),
        Field("role", Ty::OneOf(&ROLES), R),
        Field("content", Ty::Object(&CONTENT), O),
        Field("created_at", Ty::Time, R),
        Field("parent_id", Ty::Text, N),
        Field("children_ids", Ty::List(&Ty::Filled), O),
        Field("model", Ty::Text, N),
        Field("is_thought", Ty::Bool, O),
        Field("token_count", Ty::Int(0), N),
        Field("attachments", Ty::List(&Ty::Object(&ATTACHMENT)), O),
        Field("citations", Ty::List(&Ty::Object(&CITATION)), O),
        Field("tool_calls", Ty::List(&Ty::Object(&TOOL_CALL)), O),
        Field("raw_metadata", Ty::Open, O),
    ],
    open: false,
};

static CONTENT: Shape = Shape {
    fields: &[
        Field("type", Ty::OneOf(&["text", "multipart"]), R),
        Field("text", Ty::Text, N),
        Field("parts", Ty::List(&Ty::Object(&PART)), O),
    ],
    open: false,
};

static PART: Shape = Shape {
    fields: &[
        Field("type", Ty::OneOf(&["text", "image", "code", "file", "audio", "video"]), R),
        Field("text", Ty::Text, N),
        Field("language", Ty::Text, N),
        Field("mime_type", Ty::Text, N),
        Field("ref", Ty::Text, N),
    ],
    open: false,
};

static ATTACHMENT: Shape = Shape {
    fields: &[
        Field("type", Ty::OneOf(&["file", "image", "audio", "video", "document"]), R),
        Field("name", Ty::Text, N),
        Field("mime_type", Ty::Text, N),
        Field("size_bytes", Ty::Int(0), N),
        Field("ref", Ty::Text, N),
        Field("provider_id", Ty::Text, N),
    ],
    open: false,
};

static CITATION: Shape = Shape {
    fields: &[Field("title", Ty::Text, N), Field("url", Ty::Text, N), Field("snippet", Ty::Text, N)],
    open: false,
};

static TOOL_CALL: Shape = Shape {
    fields: &[
        Field("id", Ty::Text, N),
        Field("name", Ty::Filled, R),
        Field("input", Ty::OpenOrText, N),
        Field("output", Ty::Text, N),
    ],
    open: false,
};

static IMPORT: Shape = Shape {
    fields: &[
        Field("importer", Ty::Like(Form::System), N),
        Field("importer_version", Ty::Text, N),
        Field("imported_at", Ty::Time, N),
        Field("source_file", Ty::Text, N),
        Field("source_checksum", Ty::Like(Form::Hash), N),
    ],
    open: false,
};

/// `embeddings.json` (§12).
pub(super) static EMBEDDINGS: Shape = Shape {
    fields: &[
        Field("schema", Ty::Const(EMBEDDINGS_SCHEMA), R),
        Field("schema_version", Ty::Like(Form::Version), R),
        Field("embeddings", Ty::List(&Ty::Object(&EMBEDDING)), R),
    ],
    open: false,
};

/// One vector.
pub(super) static EMBEDDING: Shape = Shape {
    fields: &[
        Field("id", Ty::Filled, R),
        Field("memory_id", Ty::Filled, R),
        Field("model", Ty::Filled, R),
        Field("dimensions", Ty::Int(1), R),
        Field("created_at", Ty::Time, R),
        Field("vector", Ty::List(&Ty::Number), N),
        Field("storage", Ty::Object(&VECTOR_STORAGE), N),
    ],
    open: false,
};

static VECTOR_STORAGE: Shape =
    Shape { fields: &[Field("type", Ty::OneOf(&STORAGES), R), Field("ref", Ty::Filled, R)], open: false };
