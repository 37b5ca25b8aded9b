//! The types, statuses and methods that ALF defines, and functions that choose the type and status for a record.
use mementory_model::{Kind, Record};

/// Known memory types (spec §3.1.2). Any other type is treated as `semantic`.
pub(super) const MEMORY_TYPES: [&str; 5] = ["semantic", "episodic", "procedural", "preference", "summary"];
/// Known statuses. Any other status is treated as `active`.
pub(super) const MEMORY_STATUSES: [&str; 4] = ["active", "superseded", "archived", "deleted"];
/// Known extraction methods. The specification defines no default.
pub(super) const EXTRACTION_METHODS: [&str; 4] = ["agent_written", "llm_extracted", "user_authored", "migrated"];
/// Known entity types. Any other type is treated as `other`.
pub(super) const ENTITY_TYPES: [&str; 7] =
    ["person", "organization", "project", "location", "tool", "service", "other"];

/// Memory type of a record: the record's type if ALF defines it, otherwise the type for its kind (spec §3.1.2).
pub(super) fn memory_type(record: &Record) -> &'static str {
    if let Some(stated) = record.record_type.as_deref()
        && let Some(known) = MEMORY_TYPES.into_iter().find(|k| *k == stated)
    {
        return known;
    }
    match record.kind {
        Kind::Conversation => "summary",
        Kind::Message | Kind::Audit => "episodic",
        Kind::Procedure => "procedural",
        _ if record.source.method.as_deref() == Some("custom_instructions") => "preference",
        _ => "semantic",
    }
}

/// Status of a record: the record's status if ALF defines it, otherwise `active` (spec §8.2).
pub(super) fn status(record: &Record) -> &'static str {
    let stated_status = record.status.as_deref();
    MEMORY_STATUSES.into_iter().find(|known| Some(*known) == stated_status).unwrap_or("active")
}

/// Content of a record that has neither a text nor a title. ALF does not allow empty content.
pub(super) const EMPTY_CONTENT: &str = "(empty)";
