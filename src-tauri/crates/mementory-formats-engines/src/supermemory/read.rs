//! Reads memories with their earlier versions, and documents with the memories that were extracted from them.
use super::detect::LIST_KEYS;
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Link, Record, Verbatim};

/// The member of a document that contains its memories.
const ENTRIES: &str = "memoryEntries";
/// The member of a memory that contains its earlier versions.
const HISTORY_MEMBER: &str = "history";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        each_row(files, member, &LIST_KEYS, Kind::Memory, &mut |files, row| {
            let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
            if object.has("memory") {
                return read_memory(&mut rows, files, row, &object, None);
            }
            read_document(&mut rows, files, row, &object)
        })
    })
}

/// Reads a memory and its earlier versions. `document` is the id of the document that contains the memory.
fn read_memory(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
    document: Option<&str>,
) -> Result<(), FormatError> {
    let is_old = object.raw_value("isLatest").is_some_and(|raw| raw.get() == "false");
    let Some(mut record) = version(rows, files, row, object, is_old) else { return Ok(()) };
    record.times.valid_to = object.time("forgetAfter");
    record.namespace = object.first_text(&["spaceContainerTag"]);
    let ids = object.texts("documentIds");
    let documents = ids.iter().map(String::as_str).chain(document);
    record.links = documents.map(|id| link("derived_from", Kind::Resource, ID, id)).collect();
    record.links.extend(parent(object));
    let used_members = ["id", "memory", "createdAt", "updatedAt", "forgetAfter", "isForgotten", "isLatest"];
    let links = ["spaceContainerTag", "documentIds", "parentMemoryId", HISTORY_MEMBER];
    record.fields = object.other_fields(&[&used_members[..], &links].concat());
    // Each version is only in the verbatim of its own record, so erasing the record erases the version's text
    // completely.
    let verbatim = without_list(object, row.text, HISTORY_MEMBER);
    rows.send_with(files, row, record, verbatim)?;
    for (number, raw) in object.list(HISTORY_MEMBER).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/{HISTORY_MEMBER}/{number}", row.pointer);
        read_version(rows, files, &Row { member: row.member, text: raw.get(), pointer })?;
    }
    Ok(())
}

/// Reads an earlier version of a memory, which has an id of its own.
fn read_version(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    let Some(mut record) = version(rows, files, row, &object, true) else { return Ok(()) };
    record.links.extend(parent(&object));
    record.fields =
        object.other_fields(&["id", "memory", "createdAt", "updatedAt", "isForgotten", "isLatest", "parentMemoryId"]);
    rows.send(files, row, record)
}

/// Reads the members that every version of a memory has. A version without a text is reported as dropped, and the
/// result is None.
fn version(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
    is_old: bool,
) -> Option<Record> {
    let Some(text) = object.first_text(&["memory"]) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return None;
    };
    let mut record = rows.record(Kind::Memory, object.id("id"), row.text, text);
    record.times.created = object.time("createdAt");
    record.times.updated = object.time("updatedAt");
    let status = if object.is_true("isForgotten") { Some("forgotten") } else { is_old.then_some("superseded") };
    record.status = status.map(str::to_owned);
    // The service extracts memories from documents and chats.
    record.source.method = Some("extracted".into());
    Some(record)
}

/// Returns a link to the version that a memory replaces. None if the memory replaces no other.
fn parent(object: &Object<'_>) -> Option<Link> {
    object.id("parentMemoryId").map(|id| link("supersedes", Kind::Memory, ID, id))
}

/// Reads a document and its memories. A document without a text is imported if it has a title or memories.
fn read_document(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    let entries = object.list(ENTRIES).unwrap_or_default();
    let text = object.first_text(&["content", "summary"]);
    let title = object.first_text(&["title"]);
    if text.is_none() && title.is_none() && entries.is_empty() {
        rows.fail(files, row, "no_content: no text in it", Kind::Resource);
        return Ok(());
    }
    let id = object.id("id");
    let mut record = rows.record(Kind::Resource, id.clone(), row.text, text.unwrap_or_default());
    record.title = title;
    record.times.created = object.time("createdAt");
    record.times.updated = object.time("updatedAt");
    record.record_type = object.first_text(&["type"]);
    record.status = object.first_text(&["status"]);
    record.namespace = Some(object.texts("containerTags").join(", ")).filter(|tags| !tags.is_empty());
    let used_members = ["id", "title", "createdAt", "updatedAt", "type", "status", "containerTags", "content", ENTRIES];
    record.fields = object.other_fields(&used_members);
    let verbatim = without_list(object, row.text, ENTRIES);
    rows.send_with(files, row, record, verbatim)?;
    for (number, raw) in entries.into_iter().enumerate() {
        let pointer = format!("{}/{ENTRIES}/{number}", row.pointer);
        let inner = Row { member: row.member, text: raw.get(), pointer };
        if let Some(memory) = object_of(files, &inner, Kind::Memory) {
            read_memory(rows, files, &inner, &memory, id.as_deref())?;
        }
    }
    Ok(())
}

/// Returns the verbatim of a row with an empty list under `key`, because the entries of this list have verbatims of
/// their own.
fn without_list(object: &Object<'_>, text: &str, key: &str) -> Verbatim {
    let list: Vec<_> =
        object.raw_value(key).filter(|_| object.list(key).is_some()).map(|raw| (raw, "[]")).into_iter().collect();
    Verbatim::json(with_replaced_values(text, &list))
}
