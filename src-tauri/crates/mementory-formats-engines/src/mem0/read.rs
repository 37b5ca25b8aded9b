//! Reads responses of the API and exports of mem0, one memory at a time.
use super::{ID, history, markdown, record_key, table};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, object_of, spaced};
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Record};
use serde_json::value::RawValue;

/// Lists of memories, and the list of relations in responses of versions with a graph.
const LISTS: [&str; 5] = ["results", "memories", "data", "relations", "points"];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, ID, None);
    files.each_file(detected, |files, member, role| {
        match role {
            Role::Manifest => return history::read(&mut rows, files, member),
            Role::Records => return table::read(&mut rows, files, member),
            Role::Junk => return Ok(()),
            _ => {}
        }
        if markdown::is_export(catalog, member) {
            return markdown::read(&mut rows, files, member);
        }
        each_row(files, member, &LISTS, Kind::Memory, &mut |files, row| read_row(&mut rows, files, row))
    })
}

fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let is_relation = row.list_name() == "relations";
    let kind = if is_relation { Kind::Relation } else { Kind::Memory };
    let Some(object) = object_of(files, row, kind) else { return Ok(()) };
    if let Some(points) = object.raw_value("result").filter(|_| row.list_name().is_empty()) {
        return read_points(rows, files, row, points);
    }
    let (record, reason) = if is_relation {
        (relation(&object), "malformed: not a relation between two things")
    } else {
        (memory(&object), "no_content: no text in it")
    };
    match record {
        Some(record) => rows.send(files, row, record),
        None => {
            rows.fail(files, row, reason, kind);
            Ok(())
        }
    }
}

/// Reads the response of a vector store: `{"result": {"points": […]}}`, in some versions `{"result": […]}`.
fn read_points(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    result: &RawValue,
) -> Result<(), FormatError> {
    let inner = Object::parse(result.get()).and_then(|result| result.list("points"));
    let at = if inner.is_some() { "/result/points" } else { "/result" };
    for (index, point) in inner.or_else(|| list(result)).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}{at}/{index}", row.pointer);
        read_row(rows, files, &Row { member: row.member, text: point.get(), pointer })?;
    }
    Ok(())
}

/// Converts an object to a memory. None if it has no text.
pub(super) fn memory(object: &Object<'_>) -> Option<Record> {
    // A point of the vector store has the members of the memory in its payload.
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
    // The response to a new conversation also lists the memories that were deleted because of it.
    let is_deleted = object.first_text(&["event"]).is_some_and(|event| event.eq_ignore_ascii_case("delete"));
    record.status = is_deleted.then(|| "deleted".to_owned());
    // A memory that Mementory wrote states its method. All other memories were extracted from conversations by a model.
    record.source.method = match object.object("metadata").filter(|metadata| metadata.has("source_platform")) {
        Some(metadata) => metadata.first_text(&["source_method"]),
        None => Some("extracted".into()),
    };
    let used = [name, "id", "created_at", "updated_at", "expiration_date", "categories", "user_id", "run_id"];
    record.fields = object.other_fields(&used);
    Some(record)
}

/// A relation from `source`, `relationship` (or `relation`) and `target` (or `destination`). None if one of the three
/// is missing.
pub(super) fn relation(object: &Object<'_>) -> Option<Record> {
    let (from, what) = (object.first_text(&["source"])?, object.first_text(&["relationship", "relation"])?);
    let to = object.first_text(&["target", "destination"])?;
    let sentence = format!("{from} {} {to}", spaced(&what));
    let mut record = Record::new(Kind::Relation, record_key(None, &format!("{from}|{what}|{to}")), sentence);
    record.record_type = Some(what);
    record.fields = object.other_fields(&[]);
    Some(record)
}
