//! Reads memory documents, and splits them into statements.
use super::{
    front_matter, split,
    wire::{ElementPlace, Object, ReadResult, SCOPE, content_id, decode_string, key, list, unread_members},
};
use mementory_formats_shared::export_files::slot::{self, Slot};
use mementory_model::{
    Dropped, DroppedAs, Kind, Link, Record, RecordKey, Source, Timestamp, Unit, Verbatim, normal_text,
};
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::HashSet};

/// The members of a memory object that are read. All others are stored together in a passthrough file.
const READ_MEMBERS: [&str; 4] = ["conversations_memory", "project_memories", "memory_files", "account_uuid"];

/// A memory document.
struct Document<'a> {
    key: RecordKey,
    method: &'static str,
    account: Option<String>,
    project: Option<String>,
    title: Option<String>,
    text: Cow<'a, str>,
    created: Option<Timestamp>,
    updated: Option<Timestamp>,
    verbatim: &'a RawValue,
    pointer: String,
}

/// Reads a memory object, or a row of an older export, in which each memory is one row. `account` is the account id in
/// the file name. Also returns a JSON object with the members that were not read.
pub(super) fn read(
    text: &str,
    object: &Object<'_>,
    account: Option<&str>,
    place: &ElementPlace<'_>,
) -> Result<(ReadResult, Option<String>), String> {
    let account = object.non_blank_text("account_uuid").map(Cow::into_owned).or_else(|| account.map(str::to_owned));
    let mut out = ReadResult::default();
    if !READ_MEMBERS[..3].iter().any(|k| object.has(k)) {
        out.units.push(read_row(text, object, account, place)?);
        return Ok((out, None));
    }
    let prefix = format!("memory/{}", account.as_deref().unwrap_or("unknown"));
    let updated = object.timestamp("updated_at");
    let new_document = |k: String, method, verbatim, pointer: String, text| Document {
        key: key(format!("{prefix}/{k}")),
        method,
        account: account.clone(),
        project: None,
        title: None,
        text,
        created: None,
        updated: None,
        verbatim,
        pointer,
    };
    let mut documents: Vec<Document<'_>> = Vec::new();
    if let Some(raw) = object.raw_value("conversations_memory") {
        match text_of(raw) {
            Some(text) => {
                let document = new_document(
                    "conversations".into(),
                    "conversations_memory",
                    raw,
                    "/conversations_memory".into(),
                    text,
                );
                documents.push(Document { updated, ..document });
            }
            None => out.dropped.push(dropped_entry(place.text("/conversations_memory"))),
        }
    }
    let projects = object.raw_value("project_memories").map(project_entries);
    if let Some(None) = projects {
        out.dropped.push(dropped_entry(place.text("/project_memories")));
    }
    for (project, raw, pointer) in projects.into_iter().flatten().flatten() {
        let Some(text) = text_of(raw) else {
            out.dropped.push(dropped_entry(place.text(&pointer)));
            continue;
        };
        let document = new_document(format!("project/{project}"), "project_memory", raw, pointer, text);
        documents.push(Document { project: Some(project), updated, ..document });
    }
    let files = object.raw_value("memory_files").map(file_entries);
    if let Some(None) = files {
        out.dropped.push(dropped_entry(place.text("/memory_files")));
    }
    let mut paths = HashSet::new();
    for File { path, raw, pointer } in files.into_iter().flatten().flatten() {
        let file = Object::parse(raw.get()).unwrap_or_default();
        let Some(text) = text_of(raw) else {
            out.dropped.push(dropped_entry(place.text(&pointer)));
            continue;
        };
        let path =
            path.or_else(|| file.non_blank_text("path").map(Cow::into_owned)).unwrap_or_else(|| content_id(raw.get()));
        // A second file with the same path gets an id of its own.
        let id = if paths.insert(path.clone()) { path.clone() } else { format!("{path}~{}", content_id(raw.get())) };
        let document = new_document(format!("file/{id}"), "memory_file", raw, pointer, text);
        let (created, updated) = (file.timestamp("created_at"), file.timestamp("updated_at"));
        documents.push(Document { title: Some(path), created, updated, ..document });
    }
    out.units.extend(documents.into_iter().filter(|d| !d.text.trim().is_empty()).map(|d| document_unit(d, place)));
    Ok((out, unread_members(object, &READ_MEMBERS)))
}

/// Returns the records of a memory file that a tool result in a chat contains. The records have the same shape as those
/// of a memory file in `memories-NNN.zip`.
pub(super) fn file_document(
    path: &str,
    text: &str,
    account: Option<&str>,
    updated: Option<Timestamp>,
    raw: &RawValue,
    pointer: String,
    place: &ElementPlace<'_>,
) -> Unit {
    let document = Document {
        key: key(format!("memory/{}/file/{path}", account.unwrap_or("unknown"))),
        method: "memory_file",
        account: account.map(str::to_owned),
        project: None,
        title: Some(path.to_owned()),
        text: text.into(),
        created: None,
        updated,
        verbatim: raw,
        pointer,
    };
    document_unit(document, place)
}

/// Returns the project id, the JSON and the JSON pointer of each project memory. `raw` is a map from project ids to
/// texts, or a list of objects. None for any other value.
fn project_entries(raw: &RawValue) -> Option<Vec<(String, &RawValue, String)>> {
    if let Some(items) = list(raw) {
        let id = |raw: &RawValue| {
            let object = Object::parse(raw.get())?;
            object.non_blank_text("project_uuid").or_else(|| object.non_blank_text("uuid")).map(Cow::into_owned)
        };
        let entry = |(i, raw)| {
            let id = id(raw).unwrap_or_else(|| content_id(raw.get()));
            (id, raw, format!("/project_memories/{i}"))
        };
        return Some(items.into_iter().enumerate().map(entry).collect());
    }
    let object = Object::parse(raw.get())?;
    let entry = |(id, raw)| (String::from(id), raw, format!("/project_memories/{}", escape_pointer_segment(id)));
    Some(object.members().map(entry).collect())
}

/// A memory file, as an entry of `memory_files`.
struct File<'a> {
    /// Path of the file, if it is the key of the entry. None if the entry is in a list.
    path: Option<String>,
    raw: &'a RawValue,
    pointer: String,
}

/// Returns the entries of `memory_files`, which is a list of objects, or a map from paths to texts or objects. None for
/// any other value.
fn file_entries(raw: &RawValue) -> Option<Vec<File<'_>>> {
    if let Some(items) = list(raw) {
        let entry = |(i, raw)| File { path: None, raw, pointer: format!("/memory_files/{i}") };
        return Some(items.into_iter().enumerate().map(entry).collect());
    }
    let object = Object::parse(raw.get())?;
    let entry = |(path, raw)| File {
        path: Some(String::from(path)),
        raw,
        pointer: format!("/memory_files/{}", escape_pointer_segment(path)),
    };
    Some(object.members().map(entry).collect())
}

fn escape_pointer_segment(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

/// Returns the text of a memory: a string, or the first text that an object has under one of the usual names.
fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    decode_string(raw).or_else(|| {
        let object = Object::parse(raw.get())?;
        ["content", "memory", "text"].iter().find_map(|k| object.text(k))
    })
}

/// Reads one row of an older export.
fn read_row(
    text: &str,
    object: &Object<'_>,
    account: Option<String>,
    place: &ElementPlace<'_>,
) -> Result<Unit, String> {
    let content = ["content", "memory", "text", "value"].iter().find_map(|k| object.non_blank_text(k));
    let row_text = content.ok_or("not_a_memory: no text in this entry")?;
    let id = object.non_blank_text("uuid").or_else(|| object.non_blank_text("id")).map(Cow::into_owned);
    let value = format!("memory/row/{}", id.clone().unwrap_or_else(|| content_id(text)));
    let raw: &RawValue = serde_json::from_str(text).map_err(|e| format!("malformed: {e}"))?;
    let mut unit = document_unit(
        Document {
            key: key(value),
            method: "memory_row",
            account: account.or_else(|| object.object("account")?.non_blank_text("uuid").map(Cow::into_owned)),
            project: object.non_blank_text("project_uuid").map(Cow::into_owned),
            title: object.non_blank_text("title").map(Cow::into_owned),
            text: row_text,
            created: object.timestamp("created_at"),
            updated: object.timestamp("updated_at"),
            verbatim: raw,
            pointer: String::new(),
        },
        place,
    );
    unit.records[0].origin_id = id;
    // A row is a single statement already, so only the record of the row itself is returned.
    unit.records.truncate(1);
    Ok(unit)
}

/// Returns the record of a document and the records of its statements, each with a link to the document.
fn document_unit(document: Document<'_>, place: &ElementPlace<'_>) -> Unit {
    let source = Source {
        platform: SCOPE.into(),
        account: document.account,
        method: Some(document.method.into()),
        project: document.project.clone(),
        ..Source::default()
    };
    let (head, text) = front_matter::split(&document.text);
    let mut record = Record::new(Kind::Memory, document.key.clone(), text);
    record.fields = head;
    record.title = document.title;
    record.record_type = Some("notes".into());
    record.times.created = document.created;
    record.times.updated = document.updated;
    record.source = source.clone();
    record.origin = place.origin(&document.pointer);
    record.verbatim = Some(Verbatim::json(document.verbatim.get()));
    if let Some(project) = document.project {
        record.links.push(Link {
            relation: "member_of".into(),
            kind: Kind::Profile,
            target: key(format!("project/{project}")),
        });
    }
    if let Some(Slot::Record(restored)) = slot::restore(document.verbatim.get(), &record, &[]) {
        return Unit::from(*restored);
    }
    let mut records = vec![record];
    let mut seen = HashSet::new();
    for statement in split::split_document(text) {
        let id = content_id(&normal_text(&statement.text));
        if !seen.insert(id.clone()) {
            continue;
        }
        let mut fact = Record::new(Kind::Fact, key(format!("{}/fact/{id}", document.key.value)), statement.text);
        fact.title = statement.heading;
        fact.times.updated = document.updated;
        fact.source = source.clone();
        // A bullet of a memory file begins with the origin of the statement, such as `[stated]`.
        if statement_tag(&fact.text) == Some("stated") {
            fact.source.method = Some("explicit_user_input".into());
        }
        fact.origin = place.origin(&document.pointer);
        let target = document.key.clone();
        fact.links.push(Link { relation: "derived_from".into(), kind: Kind::Memory, target });
        records.push(fact);
    }
    Unit { records }
}

/// Returns the word in brackets at the beginning of a statement, which is `stated` in `[stated] Works nights`.
fn statement_tag(text: &str) -> Option<&str> {
    Some(text.strip_prefix('[')?.split_once(']')?.0)
}

fn dropped_entry(place: String) -> Dropped {
    let reason = "malformed: a memory without text".into();
    Dropped { place, outcome: DroppedAs::Failed, reason, kind: Some(Kind::Memory) }
}
