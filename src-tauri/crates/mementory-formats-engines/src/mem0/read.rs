//! Reads responses of mem0's API, exports, tables and databases, one memory at a time.
use super::record::{memory, relation};
use super::{ID, history, markdown, table};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, each_row, object_of};
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;
use serde_json::value::RawValue;

/// Keys of the lists of memories, and of the list of relations in responses of versions with a graph.
const LIST_KEYS: [&str; 5] = ["results", "memories", "data", "relations", "points"];

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
        each_row(files, member, &LIST_KEYS, Kind::Memory, &mut |files, row| read_row(&mut rows, files, row))
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

/// Reads the response of a vector store, which is `{"result": {"points": […]}}` or, in some versions, `{"result":
/// […]}`.
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
