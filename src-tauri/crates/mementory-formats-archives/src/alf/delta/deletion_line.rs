//! Delta lines that delete records which the vault no longer has.
use super::super::manifest::Manifest;
use super::super::wire::{self, INVALID_VALUES_MEMBER};
use super::operation::{Operation, add_operation};
use mementory_format::extension::{EXPORT_ID_MEMBER, VENDOR};
use mementory_json::write_string;
use mementory_model::RecordKey;

/// Returns the delta line that deletes a record, where `text` is the record's line in the base archive. The result has
/// the required members, but not the record's content. None if `text` is not the line of a record.
///
/// The member `mementory` identifies the record that a vault must remove. This is needed because a vault that has the
/// record from our `.alf`, or from the record's own source, knows neither the id of the line nor the vault that wrote
/// it.
pub(super) fn deletion_line(text: &str, base: &Manifest) -> Option<String> {
    let m = wire::members(text)?;
    let id = wire::get(&m, "id").and_then(wire::string)?.into_owned();
    let nested_member = |object: &str, key: &str| {
        let raw = wire::get(&m, object)?;
        Some(wire::get(&wire::members(raw.get())?, key).and_then(wire::string)?.into_owned())
    };
    let text_of = |key: &str| wire::get(&m, key).and_then(wire::string).map(|t| t.into_owned());
    let mut out = String::from("{\"id\":");
    write_string(&id, &mut out);
    for (key, value) in [
        ("agent_id", text_of("agent_id").unwrap_or_default()),
        ("content", "(deleted)".into()),
        ("memory_type", text_of("memory_type").unwrap_or_else(|| "semantic".into())),
    ] {
        out.push_str(&format!(",\"{key}\":"));
        write_string(&value, &mut out);
    }
    out.push_str(",\"source\":{\"runtime\":");
    write_string(&nested_member("source", "runtime").unwrap_or_else(|| "mementory".into()), &mut out);
    out.push_str("},\"temporal\":{\"created_at\":");
    write_string(&nested_member("temporal", "created_at").unwrap_or_else(|| "1970-01-01T00:00:00Z".into()), &mut out);
    out.push_str("},\"status\":\"deleted\",\"namespace\":\"default\"");
    // If the original id is not a UUID, the line has a different id, and readers delete the record with the original
    // id. The original id is written even if it contains words of the record, because archives name the record only by
    // this id.
    if let Some(original) = wire::original_id(&m).filter(|original| *original != wire::folded_id(&id)) {
        out.push_str(&format!(",\"raw_source_format\":{{\"{INVALID_VALUES_MEMBER}\":{{\"/id\":"));
        write_string(&original, &mut out);
        out.push_str("}}");
    }
    out.push_str(&format!(",\"{VENDOR}\":{{\"erased\":true"));
    if let Ok(line) = wire::read_line(text, true, |id, agent| base.scope_of(id, agent)) {
        if let Some(export_id) = &line.export_id {
            out.push_str(&format!(",\"{EXPORT_ID_MEMBER}\":"));
            write_string(export_id, &mut out);
        }
        if let Some(RecordKey { scope, value }) = line.record.key_without_words(&[]) {
            out.push_str(",\"key\":{\"scope\":");
            write_string(scope, &mut out);
            out.push_str(",\"value\":");
            write_string(value, &mut out);
            out.push('}');
        }
    }
    out.push_str("}}");
    Some(add_operation(&out, Operation::Delete))
}
