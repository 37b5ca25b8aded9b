//! Our extension slot: what ALF has no field for travels in `raw_source_format.mementory` (memory lines), in
//! `mementory` (list rows) or in `raw_source.mementory` (identity), and restores the whole record at home.
use super::vocabulary;
use mementory_model::Record;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// Version of the slot.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Out<'a> {
    v: u32,
    content_sha256: &'a str,
    text_in_content: bool,
    record: &'a Record,
}

#[derive(Deserialize)]
struct In {
    v: u32,
    content_sha256: String,
    text_in_content: bool,
    record: Record,
}

/// What came back.
pub(super) enum Restored {
    /// Nobody changed the line: the original record.
    Same(Box<Record>),
    /// Another program changed content, tags, type or status: its values under the original key. The caller keeps
    /// the line as verbatim; the original's own verbatim stays inside that line.
    Changed(Box<Record>),
}

/// JSON of the slot for a record whose line says `content`. A text equal to the content is not written twice.
pub(super) fn slot(record: &Record, content: &str) -> String {
    let text_in_content = record.text == content;
    let digest = hex::encode(Sha256::digest(content));
    let mut bare = record.clone();
    if text_in_content {
        bare.text = String::new();
    }
    let out = Out { v: VERSION, content_sha256: &digest, text_in_content, record: &bare };
    serde_json::to_string(&out).unwrap_or_else(|_| "null".into())
}

/// The record inside a slot. `seen` is the line as any other program reads it. None = not a slot of ours.
pub(super) fn restore(raw: &RawValue, seen: &Record) -> Option<Restored> {
    let slot: In = serde_json::from_str(raw.get()).ok().filter(|s: &In| s.v == VERSION)?;
    let mut record = slot.record;
    if slot.text_in_content {
        record.text.clone_from(&seen.text);
    }
    let same = hex::encode(Sha256::digest(&seen.text)) == slot.content_sha256
        && seen.record_type.as_deref() == Some(vocabulary::memory_type(&record))
        && seen.status.as_deref() == Some(vocabulary::status(&record))
        && seen.tags == record.tags;
    if same {
        return Some(Restored::Same(Box::new(record)));
    }
    // Only what differs from what we wrote is someone's change; the rest of the original stays.
    if hex::encode(Sha256::digest(&seen.text)) != slot.content_sha256 {
        record.text.clone_from(&seen.text);
    }
    if seen.record_type.as_deref() != Some(vocabulary::memory_type(&record)) {
        record.record_type.clone_from(&seen.record_type);
    }
    if seen.status.as_deref() != Some(vocabulary::status(&record)) {
        record.status.clone_from(&seen.status);
    }
    record.tags.clone_from(&seen.tags);
    record.times.updated = seen.times.updated;
    Some(Restored::Changed(Box::new(record)))
}

/// JSON of the slot for a row that no other program edits field by field.
pub(super) fn row_slot(record: &Record) -> String {
    serde_json::to_string(record).unwrap_or_else(|_| "null".into())
}

/// The record inside a row's slot.
pub(super) fn restore_row(raw: &RawValue) -> Option<Record> {
    serde_json::from_str(raw.get()).ok()
}
