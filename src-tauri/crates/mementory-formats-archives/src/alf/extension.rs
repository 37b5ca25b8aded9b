//! The extension slot contains the values of a record for which ALF has no field, so that the whole record can be
//! restored. The slot is the member `raw_source_format.mementory` (memory lines), `mementory` (list rows) or
//! `raw_source.mementory` (identity).
use super::vocabulary;
use mementory_format::extension::{self, EXPORT_ID_MEMBER};
use mementory_model::{AttachmentRef, Record};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use sha2::{Digest, Sha256};

/// Version of the content of the slot.
const SLOT_VERSION: u32 = 1;

#[derive(Serialize)]
struct WrittenSlot<'a> {
    v: u32,
    content_sha256: &'a str,
    text_in_content: bool,
    export_id: &'a str,
    record: WrittenRecord<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenRecord<'a> {
    Record(&'a Record),
    /// The members of a record with deeply nested fields. The JSON of all its fields is a single text.
    Folded(Map<String, Value>),
}

/// The slot of a memory line. `R` is the type of the record, or of its JSON.
#[derive(Deserialize)]
pub(super) struct ReadSlot<R> {
    v: u32,
    content_sha256: String,
    text_in_content: bool,
    /// Export id of the record. None in files that earlier versions of Mementory wrote.
    export_id: Option<String>,
    record: R,
}

/// The record that was restored from a slot.
pub(super) struct Restored {
    /// The original record. If another program changed content, tags, type or status, the record has the new values
    /// under its original key. The caller then stores the line, which still contains the original verbatim, as the new
    /// verbatim.
    pub record: Record,
    /// Export id that the record had in the vault that wrote the line.
    pub export_id: Option<String>,
}

/// JSON of the slot for a record whose line has this content. The slot does not repeat a text that equals the content.
pub(super) fn slot(record: &Record, export_id: &str, content: &str) -> String {
    let text_in_content = record.text == content;
    let digest = hex::encode(Sha256::digest(content));
    let mut stored_record = record.clone();
    if text_in_content {
        stored_record.text = String::new();
    }
    let record = match extension::has_deep_fields(&stored_record) {
        true => WrittenRecord::Folded(record_members(&stored_record)),
        false => WrittenRecord::Record(&stored_record),
    };
    let out = WrittenSlot { v: SLOT_VERSION, content_sha256: &digest, text_in_content, export_id, record };
    serde_json::to_string(&out).unwrap_or_else(|_| "null".into())
}

/// Restores the record in a slot if no other program changed its line. `line_record` has the content, type, status and
/// tags of the line. If the line was changed, returns the slot as `Err`. None if the slot has a different version.
pub(super) fn restore_unchanged(slot: ReadSlot<Record>, line_record: &Record) -> Option<Result<Restored, ChangedSlot>> {
    let slot = Some(slot).filter(|slot| slot.v == SLOT_VERSION)?;
    let has_same_text = hex::encode(Sha256::digest(&line_record.text)) == slot.content_sha256;
    let ReadSlot { text_in_content, export_id, mut record, .. } = slot;
    if text_in_content {
        record.text.clone_from(&line_record.text);
    }
    let is_same = has_same_text
        && line_record.record_type.as_deref() == Some(vocabulary::memory_type(&record))
        && line_record.status.as_deref() == Some(vocabulary::status(&record))
        && line_record.tags == record.tags;
    let restored = Restored { record, export_id };
    Some(if is_same { Ok(restored) } else { Err(ChangedSlot { restored, has_same_text }) })
}

/// A slot in a line that another program changed.
pub(super) struct ChangedSlot {
    restored: Restored,
    has_same_text: bool,
}

impl ChangedSlot {
    /// Returns the record in the slot with the changes that the other program made to the line. `line_record` is the
    /// record as read from the line without the slot.
    pub(super) fn restore(self, line_record: &Record) -> Restored {
        let Self { mut restored, has_same_text } = self;
        let record = &mut restored.record;
        // A member that differs from what we wrote was changed by another program, so its new value is used. All other
        // members keep their original values.
        if !has_same_text {
            record.text.clone_from(&line_record.text);
        }
        if line_record.record_type.as_deref() != Some(vocabulary::memory_type(record)) {
            record.record_type.clone_from(&line_record.record_type);
        }
        if line_record.status.as_deref() != Some(vocabulary::status(record)) {
            record.status.clone_from(&line_record.status);
        }
        record.tags.clone_from(&line_record.tags);
        record.times.updated = line_record.times.updated;
        record.edited = false; // the line becomes the verbatim
        restored
    }
}

/// Reads a slot and its record. Most records are read in one pass; the others have deep fields. None if the slot is not
/// ours.
pub(super) fn read_slot(json: &str) -> Option<ReadSlot<Record>> {
    if !may_have_fields_text(json)
        && let Ok(slot) = serde_json::from_str(json)
    {
        return Some(slot);
    }
    let ReadSlot { v, content_sha256, text_in_content, export_id, record } =
        serde_json::from_str::<ReadSlot<&RawValue>>(json).ok()?;
    Some(ReadSlot { v, content_sha256, text_in_content, export_id, record: restore_row(record)? })
}

/// JSON of the slot for a row of a list document: the record and its export id. Unlike [`slot`], it has no digest to
/// detect changes by other programs.
pub(super) fn row_slot(record: &Record, export_id: &str) -> String {
    with_export_id(record_members(record), export_id)
}

/// JSON of the slot for the row of a file: the reference to the file and its export id.
pub(super) fn file_slot(reference: &AttachmentRef, export_id: &str) -> String {
    match serde_json::to_value(reference) {
        Ok(Value::Object(members)) => with_export_id(members, export_id),
        _ => "null".into(),
    }
}

fn record_members(record: &Record) -> Map<String, Value> {
    let mut members = extension::members(record);
    if extension::has_deep_fields(record) {
        extension::fold_deep_fields(&mut members);
    }
    members
}

/// The record in the slot of a row.
pub(super) fn restore_row(raw: &RawValue) -> Option<Record> {
    let has_text = may_have_fields_text(raw.get());
    let members: Option<Map<String, Value>> = if has_text { extension::parse(raw.get()) } else { None };
    match members.filter(|members| members.contains_key(extension::FIELDS_TEXT_MEMBER)) {
        Some(mut members) => {
            extension::unfold_fields(&mut members);
            serde_json::from_value(Value::Object(members)).ok()
        }
        None => extension::parse(raw.get()),
    }
}

/// True if the JSON contains the name [`FIELDS_TEXT_MEMBER`](extension::FIELDS_TEXT_MEMBER) anywhere, even in a text.
pub(super) fn may_have_fields_text(json: &str) -> bool {
    memchr::memmem::find(json.as_bytes(), extension::FIELDS_TEXT_MEMBER.as_bytes()).is_some()
}

fn with_export_id(mut members: Map<String, Value>, export_id: &str) -> String {
    members.insert(EXPORT_ID_MEMBER.into(), export_id.into());
    Value::Object(members).to_string()
}

/// The export id in the slot of a row. None in files that earlier versions of Mementory wrote.
pub(super) fn row_export_id(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Identity {
        export_id: Option<String>,
    }
    serde_json::from_str::<Identity>(raw.get()).ok()?.export_id
}
