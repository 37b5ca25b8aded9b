//! Schema rules of the objects of the format (spec §3–§18, §25). Only `metadata` and `raw_metadata` may have additional
//! members.
use super::forms;
use mementory_json::schema::{
    Rule::{
        self, Any, Bool, ClosedObject, Form, List, Map, Number, Object, Set, Text, TextOrObject, Time, UnitInterval,
        Whole, Word,
    },
    nullable, optional, required,
};

/// The memory types that the format defines (§5).
pub(super) const MEMORY_TYPES: [&str; 11] = [
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
pub(super) const MEMORY_STATUSES: [&str; 5] = ["active", "superseded", "deprecated", "retracted", "archived"];
/// Extraction methods: how a memory was created (§11.3).
pub(super) const EXTRACTION_METHODS: [&str; 5] =
    ["llm_inference", "explicit_user_input", "api_export", "browser_extraction", "manual"];
/// Types of relations between memories (§13.2).
pub(super) const RELATION_TYPES: [&str; 6] =
    ["supports", "contradicts", "extends", "supersedes", "related_to", "derived_from"];
/// Roles of messages (§25.3).
pub(super) const MESSAGE_ROLES: [&str; 4] = ["user", "assistant", "system", "tool"];
/// Signature algorithms (§18.2).
pub(super) const SIGNATURE_ALGORITHMS: [&str; 6] = ["Ed25519", "ES256", "ES384", "RS256", "RS384", "RS512"];
const STORAGE_TYPES: [&str; 5] = ["file", "database", "object_storage", "vector_db", "uri"];

/// Values of the member `schema` in the three kinds of documents.
pub(super) const STORE_SCHEMA: &str = "portable-ai-memory";
pub(super) const CONVERSATION_SCHEMA: &str = "portable-ai-memory-conversation";
pub(super) const EMBEDDINGS_SCHEMA: &str = "portable-ai-memory-embeddings";

/// Rule for `memory-store.json`. The elements of its lists are checked with other rules.
pub(super) const STORE_RULE: Rule = ClosedObject(&[
    required("schema", Word(&[STORE_SCHEMA])),
    required("schema_version", Form(&forms::VERSION_FORM)),
    nullable("spec_uri", Form(&forms::URI_FORM)),
    nullable("export_id", Text),
    nullable("exported_by", Form(&forms::SYSTEM_FORM)),
    optional("export_date", Time),
    required("owner", OWNER_RULE),
    required("memories", List(&MEMORY_RULE)),
    optional("relations", List(&RELATION_RULE)),
    optional("conversations_index", List(&INDEX_RULE)),
    optional("integrity", INTEGRITY_RULE),
    optional("export_type", Word(&["full", "incremental"])),
    nullable("base_export_id", Text),
    nullable("since", Time),
    nullable("type_registry", Form(&forms::URI_FORM)),
    nullable("signature", SIGNATURE_RULE),
]);

const OWNER_RULE: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    nullable("did", Form(&forms::DID_FORM)),
    optional("created_at", Time),
]);

/// Rule for a memory (§4).
pub(super) const MEMORY_RULE: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("type", Word(&MEMORY_TYPES)),
    nullable("custom_type", Rule::NOT_EMPTY),
    optional("status", Word(&MEMORY_STATUSES)),
    required("content", Rule::NOT_EMPTY),
    required("content_hash", Form(&forms::HASH_FORM)),
    nullable("summary", Text),
    optional("tags", Set(&Form(&forms::TAG_FORM), 0)),
    optional("confidence", CONFIDENCE_RULE),
    required("temporal", TEMPORAL_RULE),
    required("provenance", PROVENANCE_RULE),
    optional("access", ACCESS_RULE),
    nullable("embedding_ref", Text),
    optional("metadata", METADATA_RULE),
]);

const CONFIDENCE_RULE: Rule = ClosedObject(&[
    optional("initial", UnitInterval),
    optional("current", UnitInterval),
    nullable("decay_model", Word(&["time_linear", "time_exponential", "none"])),
    nullable("last_reinforced", Time),
]);

const TEMPORAL_RULE: Rule = ClosedObject(&[
    required("created_at", Time),
    nullable("updated_at", Time),
    nullable("valid_from", Time),
    nullable("valid_until", Time),
    nullable("superseded_by", Text),
]);

const PROVENANCE_RULE: Rule = ClosedObject(&[
    required("platform", Form(&forms::PLATFORM_FORM)),
    nullable("platform_user_id", Text),
    nullable("conversation_ref", Text),
    nullable("message_ref", Text),
    nullable("extraction_method", Word(&EXTRACTION_METHODS)),
    nullable("extracted_at", Time),
    nullable("extractor", Form(&forms::SYSTEM_FORM)),
]);

const ACCESS_RULE: Rule = ClosedObject(&[
    optional("visibility", Word(&["private", "shared", "public"])),
    optional("exportable", Bool),
    optional("shared_with", List(&GRANT_RULE)),
]);

const GRANT_RULE: Rule = ClosedObject(&[
    required("entity", Rule::NOT_EMPTY),
    required("permissions", Set(&Word(&["read", "write", "delete"]), 1)),
]);

const METADATA_RULE: Rule = Object(&[nullable("language", Form(&forms::LANGUAGE_FORM)), nullable("domain", Text)]);

/// Rule for a relation (§13).
pub(super) const RELATION_RULE: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("from", Rule::NOT_EMPTY),
    required("to", Rule::NOT_EMPTY),
    required("type", Word(&RELATION_TYPES)),
    nullable("confidence", UnitInterval),
    required("created_at", Time),
]);

/// Rule for an entry of the conversations index (§14).
pub(super) const INDEX_RULE: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("platform", Form(&forms::PLATFORM_FORM)),
    nullable("title", Text),
    nullable("message_count", Whole(0)),
    required("temporal", SPAN_RULE),
    optional("tags", List(&Form(&forms::TAG_FORM))),
    optional("derived_memories", List(&Rule::NOT_EMPTY)),
    optional("storage", STORAGE_RULE),
]);

const SPAN_RULE: Rule = ClosedObject(&[required("created_at", Time), nullable("updated_at", Time)]);

const STORAGE_RULE: Rule =
    ClosedObject(&[required("type", Word(&STORAGE_TYPES)), required("ref", Rule::NOT_EMPTY), nullable("format", Text)]);

const INTEGRITY_RULE: Rule = ClosedObject(&[
    optional("canonicalization", Word(&["RFC8785"])),
    required("checksum", Form(&forms::HASH_FORM)),
    required("total_memories", Whole(0)),
]);

const SIGNATURE_RULE: Rule = ClosedObject(&[
    required("algorithm", Word(&SIGNATURE_ALGORITHMS)),
    required("public_key", Rule::NOT_EMPTY),
    required("value", Rule::NOT_EMPTY),
    required("signed_at", Time),
    nullable("key_id", Text),
]);

/// Rule for a conversation file (§25).
pub(super) const CONVERSATION_RULE: Rule = ClosedObject(&[
    required("schema", Word(&[CONVERSATION_SCHEMA])),
    required("schema_version", Form(&forms::VERSION_FORM)),
    required("id", Rule::NOT_EMPTY),
    required("provider", PROVIDER_RULE),
    nullable("title", Text),
    required("temporal", SPAN_RULE),
    optional("participants", List(&PARTICIPANT_RULE)),
    required("messages", List(&MESSAGE_RULE)),
    nullable("model", Text),
    nullable("system_instruction", Text),
    optional("is_archived", Bool),
    optional("tags", List(&Form(&forms::TAG_FORM))),
    optional("raw_metadata", Map(&Any)),
    optional("import_metadata", IMPORT_RULE),
]);

const PROVIDER_RULE: Rule = ClosedObject(&[
    required("name", Form(&forms::PLATFORM_FORM)),
    nullable("conversation_id", Text),
    nullable("account_id", Text),
    nullable("export_format_version", Text),
]);

const PARTICIPANT_RULE: Rule =
    ClosedObject(&[required("role", Word(&MESSAGE_ROLES)), nullable("name", Text), nullable("provider_id", Text)]);

pub(super) const MESSAGE_RULE: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    nullable("provider_message_id", Text),
    required("role", Word(&MESSAGE_ROLES)),
    optional("content", CONTENT_RULE),
    required("created_at", Time),
    nullable("parent_id", Text),
    optional("children_ids", List(&Rule::NOT_EMPTY)),
    nullable("model", Text),
    optional("is_thought", Bool),
    nullable("token_count", Whole(0)),
    optional("attachments", List(&ATTACHMENT_RULE)),
    optional("citations", List(&CITATION_RULE)),
    optional("tool_calls", List(&TOOL_CALL_RULE)),
    optional("raw_metadata", Map(&Any)),
]);

const CONTENT_RULE: Rule = ClosedObject(&[
    required("type", Word(&["text", "multipart"])),
    nullable("text", Text),
    optional("parts", List(&PART_RULE)),
]);

const PART_RULE: Rule = ClosedObject(&[
    required("type", Word(&["text", "image", "code", "file", "audio", "video"])),
    nullable("text", Text),
    nullable("language", Text),
    nullable("mime_type", Text),
    nullable("ref", Text),
]);

const ATTACHMENT_RULE: Rule = ClosedObject(&[
    required("type", Word(&["file", "image", "audio", "video", "document"])),
    nullable("name", Text),
    nullable("mime_type", Text),
    nullable("size_bytes", Whole(0)),
    nullable("ref", Text),
    nullable("provider_id", Text),
]);

const CITATION_RULE: Rule =
    ClosedObject(&[nullable("title", Text), nullable("url", Form(&forms::URI_FORM)), nullable("snippet", Text)]);

const TOOL_CALL_RULE: Rule = ClosedObject(&[
    nullable("id", Text),
    required("name", Rule::NOT_EMPTY),
    nullable("input", TextOrObject),
    nullable("output", Text),
]);

const IMPORT_RULE: Rule = ClosedObject(&[
    nullable("importer", Form(&forms::SYSTEM_FORM)),
    nullable("importer_version", Text),
    nullable("imported_at", Time),
    nullable("source_file", Text),
    nullable("source_checksum", Form(&forms::HASH_FORM)),
]);

/// Rule for the embeddings file (§12).
pub(super) const EMBEDDINGS_RULE: Rule = ClosedObject(&[
    required("schema", Word(&[EMBEDDINGS_SCHEMA])),
    required("schema_version", Form(&forms::VERSION_FORM)),
    required("embeddings", List(&EMBEDDING_RULE)),
]);

/// Rule for one embedding.
pub(super) const EMBEDDING_RULE: Rule = ClosedObject(&[
    required("id", Rule::NOT_EMPTY),
    required("memory_id", Rule::NOT_EMPTY),
    required("model", Rule::NOT_EMPTY),
    required("dimensions", Whole(1)),
    required("created_at", Time),
    nullable("vector", List(&Number)),
    nullable("storage", VECTOR_STORAGE_RULE),
]);

const VECTOR_STORAGE_RULE: Rule =
    ClosedObject(&[required("type", Word(&STORAGE_TYPES)), required("ref", Rule::NOT_EMPTY)]);
