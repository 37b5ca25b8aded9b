//! Converts a memory of an export, of a backup, or of a row of the database.
use mementory_formats_shared::memory_rows::{RowSender, RowValues};
use mementory_formats_shared::object::Object;
use mementory_model::{Kind, Record, Timestamp};

/// Members for which the model has a field, in the current version and in older ones.
const USED_MEMBERS: [&str; 15] = [
    "content",
    "document",
    "content_hash",
    "tags",
    "tags_str",
    "memory_type",
    "type",
    "created_at",
    "created_at_iso",
    "updated_at",
    "updated_at_iso",
    "timestamp",
    "timestamp_float",
    "timestamp_str",
    "deleted_at",
];

/// Converts an object to a memory. None if it has no text.
pub(super) fn memory_of(rows: &RowSender, memory: &Object<'_>) -> Option<Record> {
    let is_backup = !memory.has("content") && memory.has("document");
    let text = memory.first_text(&["content", "document"])?;
    // In backups of versions with ChromaDB, everything except the text is in the metadata.
    let metadata = memory.object("metadata").filter(|_| is_backup);
    let values = metadata.as_ref().unwrap_or(memory);
    let id = values.id("content_hash").or_else(|| memory.id("id").filter(|_| is_backup));
    let mut record = rows.record(Kind::Memory, id, &text, text.clone());
    let is_current_version = values.has("memory_type");
    record.record_type = values.first_text(if is_current_version { &["memory_type"] } else { &["type"] });
    record.tags = tags(values);
    record.times.created =
        first_time(values, &["created_at", "created_at_iso", "timestamp_float", "timestamp_str", "timestamp"]);
    record.times.updated = first_time(values, &["updated_at", "updated_at_iso"]);
    // The database contains deleted memories for some time after their deletion.
    record.status = values.time("deleted_at").map(|_| "deleted".into());
    record.fields = values.other_fields(&USED_MEMBERS);
    if is_backup {
        record.fields.extend(memory.other_fields(&["document", "metadata", "embedding", "id"]));
    }
    Some(record)
}

/// Returns the tags, which the source states as a list, as a text with commas, or as a list inside a text.
fn tags(values: &Object<'_>) -> Vec<String> {
    let key = if values.has("tags") { "tags" } else { "tags_str" };
    let inside = values.text(key).filter(|text| text.trim_start().starts_with('['));
    let list = inside.and_then(|text| serde_json::from_str::<Vec<String>>(&text).ok());
    list.unwrap_or_else(|| values.texts(key))
}

fn first_time(values: &Object<'_>, keys: &[&str]) -> Option<Timestamp> {
    keys.iter().find_map(|key| values.time(key))
}
