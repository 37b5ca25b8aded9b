//! The objects of the format as tables (spec §3–§18, §25). Only `metadata` and `raw_metadata` may have additional
//! members.
use super::forms;
use mementory_json::schema::{
    Rule::{
        self, Any, Bool, ClosedObject, Form, List, Map, Number, Object, Set, Text, TextOrObject, Time, Unit, Whole,
        Word,
    },
    nullable, optional, required,
};

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
/// Lifecycle statuses (§7).
pub(super) const STATUSES: [&str; 5] = ["active", "superseded", "deprecated", "retracted", "archived"];
/// Extraction methods: how a memory was made (§11.3).
pub(super) const METHODS: [&str; 5] =
    ["llm_inference", "explicit_user_input", "api_export", "browser_extraction", "manual"];
/// Types of relations between memories (§13.2).
pub(super) const RELATIONS: [&str; 6] =
    ["supports", "contradicts", "extends", "supersedes", "related_to", "derived_from"];
/// Roles of messages (§25.3).
pub(super) const ROLES: [&str; 4] = ["user", "assistant", "system", "tool"];
/// Signature algorithms (§18.2).
pub(super) const ALGORITHMS: [&str; 6] = ["Ed25519", "ES256", "ES384", "RS256", "RS384", "RS512"];
const STORAGES: [&str; 5] = ["file", "database", "object_storage", "vector_db", "uri"];

/// Values of `schema` in the three documents.
pub(super) const STORE_SCHEMA: &str = "portable-ai-memory";
pub(super) const CONVERSATION_SCHEMA: &str = "portable-ai-memory-conversation";
pub(super) const EMBEDDINGS_SCHEMA: &str = "portable-ai-memory-embeddings";

/// `memory-store.json`. The elements of its lists are checked one by one with other rules.
pub(super) const STORE: Rule = ClosedObject(&[
    required("schema", Word(&[STORE_SCHEMA])),
    required("schema_version", Form(&forms::VERSION)),
    nullable("spec_uri", Text),
    nullable("export_id", Text),
    nullable("exported_by", Form(&forms::SYSTEM)),
    optional("export_date", Time),
    required("owner", OWNER),
    required("memories", List(&MEMORY)),
    optional("relations", List(&RELATION)),
    optional("conversations_index", List(&INDEX)),
    optional("integrity", INTEGRITY),
    optional("export_type", Word(&["full", "incremental"])),
    nullable("base_export_id", Text),
    nullable("since", Time),
    nullable("type_registry", Text),
    nullable("signature", SIGNATURE),
]);

const OWNER: Rule =
    ClosedObject(&[required("id", Rule::NOT_EMPTY), nullable("did", Form(&forms::DID)), optional("created_at", Time)]);

/// A memory (§4).
pub(super) const MEMORY: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("type", Word(&TYPES)),
    nullable("custom_type", Rule::NOT_EMPTY),
    optional("status", Word(&STATUSES)),
    required("content", Rule::NOT_EMPTY),
    required("content_hash", Form(&forms::HASH)),
    nullable("summary", Text),
    optional("tags", Set(&Form(&forms::TAG), 0)),
    optional("confidence", CONFIDENCE),
    required("temporal", TEMPORAL),
    required("provenance", PROVENANCE),
    optional("access", ACCESS),
    nullable("embedding_ref", Text),
    optional("metadata", METADATA),
]);

const CONFIDENCE: Rule = ClosedObject(&[
    optional("initial", Unit),
    optional("current", Unit),
    nullable("decay_model", Word(&["time_linear", "time_exponential", "none"])),
    nullable("last_reinforced", Time),
]);

const TEMPORAL: Rule = ClosedObject(&[
    required("created_at", Time),
    nullable("updated_at", Time),
    nullable("valid_from", Time),
    nullable("valid_until", Time),
    nullable("superseded_by", Text),
]);

const PROVENANCE: Rule = ClosedObject(&[
    required("platform", Form(&forms::PLATFORM)),
    nullable("platform_user_id", Text),
    nullable("conversation_ref", Text),
    nullable("message_ref", Text),
    nullable("extraction_method", Word(&METHODS)),
    nullable("extracted_at", Time),
    nullable("extractor", Form(&forms::SYSTEM)),
]);

const ACCESS: Rule = ClosedObject(&[
    optional("visibility", Word(&["private", "shared", "public"])),
    optional("exportable", Bool),
    optional("shared_with", List(&GRANT)),
]);

const GRANT: Rule = ClosedObject(&[
    required("entity", Rule::NOT_EMPTY),
    required("permissions", Set(&Word(&["read", "write", "delete"]), 1)),
]);

const METADATA: Rule = Object(&[nullable("language", Form(&forms::LANGUAGE)), nullable("domain", Text)]);

/// A relation (§13).
pub(super) const RELATION: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("from", Rule::NOT_EMPTY),
    required("to", Rule::NOT_EMPTY),
    required("type", Word(&RELATIONS)),
    nullable("confidence", Unit),
    required("created_at", Time),
]);

/// An entry of the conversations index (§14).
pub(super) const INDEX: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("platform", Form(&forms::PLATFORM)),
    nullable("title", Text),
    nullable("message_count", Whole(0)),
    required("temporal", SPAN),
    optional("tags", List(&Form(&forms::TAG))),
    optional("derived_memories", List(&Rule::NOT_EMPTY)),
    optional("storage", STORAGE),
]);

const SPAN: Rule = ClosedObject(&[required("created_at", Time), nullable("updated_at", Time)]);

const STORAGE: Rule =
    ClosedObject(&[required("type", Word(&STORAGES)), required("ref", Rule::NOT_EMPTY), nullable("format", Text)]);

const INTEGRITY: Rule = ClosedObject(&[
    optional("canonicalization", Word(&["RFC8785"])),
    required("checksum", Form(&forms::HASH)),
    required("total_memories", Whole(0)),
]);

const SIGNATURE: Rule = ClosedObject(&[
    required("algorithm", Word(&ALGORITHMS)),
    required("public_key", Rule::NOT_EMPTY),
    required("value", Rule::NOT_EMPTY),
    required("signed_at", Time),
    nullable("key_id", Text),
]);

/// A conversation file (§25).
pub(super) const CONVERSATION: Rule = ClosedObject(&[
    required("schema", Word(&[CONVERSATION_SCHEMA])),
    required("schema_version", Form(&forms::VERSION)),
    required("id", Rule::NOT_EMPTY),
    required("provider", PROVIDER),
    nullable("title", Text),
    required("temporal", SPAN),
    optional("participants", List(&PARTICIPANT)),
    required("messages", List(&MESSAGE)),
    nullable("model", Text),
    nullable("system_instruction", Text),
    optional("is_archived", Bool),
    optional("tags", List(&Form(&forms::TAG))),
    optional("raw_metadata", Map(&Any)),
    optional("import_metadata", IMPORT),
]);

const PROVIDER: Rule = ClosedObject(&[
    required("name", Form(&forms::PLATFORM)),
    nullable("conversation_id", Text),
    nullable("account_id", Text),
    nullable("export_format_version", Text),
]);

const PARTICIPANT: Rule =
    ClosedObject(&[required("role", Word(&ROLES)), nullable("name", Text), nullable("provider_id", Text)]);

pub(super) const MESSAGE: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    nullable("provider_message_id", Text),
    required("role", Word(&ROLES)),
    optional("content", CONTENT),
    required("created_at", Time),
    nullable("parent_id", Text),
    optional("children_ids", List(&Rule::NOT_EMPTY)),
    nullable("model", Text),
    optional("is_thought", Bool),
    nullable("token_count", Whole(0)),
    optional("attachments", List(&ATTACHMENT)),
    optional("citations", List(&CITATION)),
    optional("tool_calls", List(&TOOL_CALL)),
    optional("raw_metadata", Map(&Any)),
]);

const CONTENT: Rule = ClosedObject(&[
    required("type", Word(&["text", "multipart"])),
    nullable("text", Text),
    optional("parts", List(&PART)),
]);

const PART: Rule = ClosedObject(&[
    required("type", Word(&["text", "image", "code", "file", "audio", "video"])),
    nullable("text", Text),
    nullable("language", Text),
    nullable("mime_type", Text),
    nullable("ref", Text),
]);

const ATTACHMENT: Rule = ClosedObject(&[
    required("type", Word(&["file", "image", "audio", "video", "document"])),
    nullable("name", Text),
    nullable("mime_type", Text),
    nullable("size_bytes", Whole(0)),
    nullable("ref", Text),
    nullable("provider_id", Text),
]);

const CITATION: Rule = ClosedObject(&[nullable("title", Text), nullable("url", Text), nullable("snippet", Text)]);

const TOOL_CALL: Rule = ClosedObject(&[
    nullable("id", Text),
    required("name", Rule::NOT_EMPTY),
    nullable("input", TextOrObject),
    nullable("output", Text),
]);

const IMPORT: Rule = ClosedObject(&[
    nullable("importer", Form(&forms::SYSTEM)),
    nullable("importer_version", Text),
    nullable("imported_at", Time),
    nullable("source_file", Text),
    nullable("source_checksum", Form(&forms::HASH)),
]);

/// The embeddings file (§12).
pub(super) const EMBEDDINGS: Rule = ClosedObject(&[
    required("schema", Word(&[EMBEDDINGS_SCHEMA])),
    required("schema_version", Form(&forms::VERSION)),
    required("embeddings", List(&EMBEDDING)),
]);

/// One embedding.
pub(super) const EMBEDDING: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("memory_id", Rule::NOT_EMPTY),
    required("model", Rule::NOT_EMPTY),
    required("dimensions", Whole(1)),
    required("created_at", Time),
    nullable("vector", List(&Number)),
    nullable("storage", VECTOR_STORAGE),
]);

const VECTOR_STORAGE: Rule = ClosedObject(&[required("type", Word(&STORAGES)), required("ref", Rule::NOT_EMPTY)]);
