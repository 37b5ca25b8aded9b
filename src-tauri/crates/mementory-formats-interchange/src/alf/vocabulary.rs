//! The words that ALF knows for types, statuses and methods, and the choice of one for a record.
use mementory_model::{Kind, Record};

/// Known memory types (spec §3.1.2); anything else acts as `semantic`.
pub(super) const MEMORY_TYPES: [&str; 5] = ["semantic", "episodic", "procedural", "preference", "summary"];
/// Known statuses; anything else acts as `active`.
pub(super) const STATUSES: [&str; 4] = ["active", "superseded", "archived", "deleted"];
/// Known extraction methods (no default in the spec).
pub(super) const METHODS: [&str; 4] = ["agent_written", "llm_extracted", "user_authored", "migrated"];
/// Known entity types; anything else acts as `other`.
pub(super) const ENTITY_TYPES: [&str; 7] =
    ["person", "organization", "project", "location", "tool", "service", "other"];

/// The memory type of a record: its own type where ALF has it, else one by kind (spec §3.1.2).
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

/// The status of a record in ALF's terms; an unknown one becomes active (spec §8.2).
pub(super) fn status(record: &Record) -> &'static str {
    let stated = record.status.as_deref();
    STATUSES.into_iter().find(|known| Some(*known) == stated).unwrap_or("active")
}
