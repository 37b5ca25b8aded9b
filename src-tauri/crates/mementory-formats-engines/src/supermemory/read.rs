//! Reads memories with their earlier versions, and documents with the memories that were extracted from them.
use super::detect::{LIST_KEYS, PROFILE, PROFILE_LISTS, RESULTS};
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of, pass_through_rest};
use mementory_formats_shared::object::{Object, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Link, Record, Verbatim};
use serde_json::value::RawValue;

/// The member of a document that contains its memories.
const ENTRIES: &str = "memoryEntries";
/// The member of a memory that contains its earlier versions.
const HISTORY_MEMBER: &str = "history";
/// The member of a profile with lists that the person or program named.
const BUCKETS: &str = "buckets";
/// The member of a profile's answer with the memories that a search found.
const SEARCH_RESULTS: &str = "searchResults";

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
            match object.object(PROFILE) {
                Some(profile) => read_profile(&mut rows, files, row, &object, &profile),
                None => read_entry(&mut rows, files, row, &object),
            }
        })
    })
}

/// Reads a memory or a document.
fn read_entry(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    if object.has("memory") {
        return read_memory(rows, files, row, object, None);
    }
    if object.has("chunk") {
        rows.skip(files, row, "not_a_memory: a part of a document that a search found", Kind::Chunk);
        return Ok(());
    }
    read_document(rows, files, row, object)
}

/// Reads the sentences of a profile as memories, and the memories that a search found beside it.
fn read_profile(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
    profile: &Object<'_>,
) -> Result<(), FormatError> {
    let mut cuts: Vec<(&RawValue, &str)> = Vec::new();
    let buckets = profile.object(BUCKETS).unwrap_or_default();
    let named = PROFILE_LISTS.iter().filter_map(|name| Some((*name, *name, profile.raw_value(name)?)));
    let named: Vec<(String, &str, &RawValue)> = named
        .map(|(path, name, raw)| (path.to_owned(), name, raw))
        .chain(buckets.members().map(|(name, raw)| (format!("{BUCKETS}/{}", pointer_part(name)), name, raw)))
        .collect();
    for (path, name, raw) in &named {
        let Some(items) = list(raw) else { continue };
        cuts.push((*raw, "[]"));
        for (number, item) in items.into_iter().enumerate() {
            let pointer = format!("{}/{PROFILE}/{path}/{number}", row.pointer);
            read_sentence(rows, files, &Row { member: row.member, text: item.get(), pointer }, item, name)?;
        }
    }
    let found = object.object(SEARCH_RESULTS).unwrap_or_default();
    if let Some(items) = found.list(RESULTS) {
        cuts.extend(found.raw_value(RESULTS).map(|raw| (raw, "[]")));
        for (number, item) in items.into_iter().enumerate() {
            let pointer = format!("{}/{SEARCH_RESULTS}/{RESULTS}/{number}", row.pointer);
            let inner = Row { member: row.member, text: item.get(), pointer };
            if let Some(entry) = object_of(files, &inner, Kind::Memory) {
                read_entry(rows, files, &inner, &entry)?;
            }
        }
    }
    pass_through_rest(files, row, &cuts)
}

/// Reads a sentence of a profile. `name` is the name of its list.
fn read_sentence(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    raw: &RawValue,
    name: &str,
) -> Result<(), FormatError> {
    let Some(text) = decode_string(raw).filter(|text| !text.trim().is_empty()) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    // The key does not contain the name of the list, because a sentence may move from one list to another.
    let mut record = rows.record(Kind::Memory, None, text.trim(), text.trim());
    record.record_type = Some(name.to_owned());
    record.source.method = Some("extracted".into());
    rows.send(files, row, record)
}

/// A name as a part of a JSON pointer (RFC 6901, section 3).
fn pointer_part(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
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
    // The similarity belongs to the search that found the memory.
    let links = ["spaceContainerTag", "documentIds", "parentMemoryId", HISTORY_MEMBER, "similarity"];
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
