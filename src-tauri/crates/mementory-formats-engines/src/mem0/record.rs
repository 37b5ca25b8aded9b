//! Converts memories and relations of mem0 to records.
use super::record_key;
use mementory_formats_shared::memory_rows::{RowValues, spaced};
use mementory_formats_shared::object::Object;
use mementory_model::{Kind, Record};

/// Converts an object to a memory. None if it has no text.
pub(super) fn memory(object: &Object<'_>) -> Option<Record> {
    // A point of the vector store contains the members of the memory in its payload.
    if let Some(payload) = object.object("payload").filter(|payload| payload.has("data")) {
        let mut record = memory(&payload)?;
        let id = object.id("id").or(record.origin_id);
        record.key = record_key(id.as_deref(), &record.text);
        record.origin_id = id;
        return Some(record);
    }
    let (name, content) =
        ["memory", "text", "data"].into_iter().find_map(|key| Some((key, object.first_text(&[key])?)))?;
    let id = object.id("id");
    let mut record = Record::new(Kind::Memory, record_key(id.as_deref(), &content), content);
    record.origin_id = id;
    record.times.created = object.time("created_at");
    record.times.updated = object.time("updated_at");
    record.times.valid_to = object.time("expiration_date");
    record.tags = object.texts("categories");
    record.source.account = object.id("user_id");
    record.source.conversation = object.id("run_id");
    // A response to new messages also lists the memories that were deleted because of them.
    let is_deleted = object.first_text(&["event"]).is_some_and(|event| event.eq_ignore_ascii_case("delete"));
    record.status = is_deleted.then(|| "deleted".to_owned());
    // A memory that this program wrote states its method. All other memories were extracted from conversations by a
    // model.
    record.source.method = match object.object("metadata").filter(|metadata| metadata.has("source_platform")) {
        Some(metadata) => metadata.first_text(&["source_method"]),
        None => Some("extracted".into()),
    };
    let used_members = [name, "id", "created_at", "updated_at", "expiration_date", "categories", "user_id", "run_id"];
    record.fields = object.other_fields(&used_members);
    Some(record)
}

/// Converts an object with `source`, `relationship` (or `relation`) and `target` (or `destination`) to a relation. None
/// if one of the three is missing.
pub(super) fn relation(object: &Object<'_>) -> Option<Record> {
    let (from, relationship) = (object.first_text(&["source"])?, object.first_text(&["relationship", "relation"])?);
    let to = object.first_text(&["target", "destination"])?;
    let sentence = format!("{from} {} {to}", spaced(&relationship));
    let mut record = Record::new(Kind::Relation, record_key(None, &format!("{from}|{relationship}|{to}")), sentence);
    record.record_type = Some(relationship);
    record.fields = object.other_fields(&[]);
    Some(record)
}
