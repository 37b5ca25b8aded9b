//! Reads the memories in the database. Each memory gets links to its associated memories.
use super::ID;
use super::memory::memory_of;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, link};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows::{self, each_row, report_other_tables, row_of, row_text, tables};
use mementory_model::{Kind, Record};
use rusqlite::Statement;
use serde_json::Value;

/// Columns that contain JSON as text.
const JSON_COLUMNS: [&str; 2] = ["metadata", "connection_types"];
/// The member of an association that states the id of the other memory, which becomes the target of a link.
const TARGET_MEMBER: &str = "target_hash";

/// Reads a database. The database is neither locked nor changed.
pub(super) fn read(rows: &mut RowSender, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let tables = tables(&database).map_err(|error| unreadable(member, &error))?;
    let has_graph = tables.iter().any(|table| table == "memory_graph");
    if !tables.iter().any(|table| table == "memories") {
        return Err(FormatError::invalid("database_unreadable", &member.place, "the database has no table `memories`"));
    }
    let sql = "SELECT * FROM memory_graph WHERE source_hash = ?1 ORDER BY target_hash";
    let mut graph = if has_graph { database.connection.prepare(sql).ok() } else { None };
    each_row(files, member, &database, "memories", |files, row, number| {
        let text = row_text(row, |column| JSON_COLUMNS.contains(&column));
        let row = Row { member, text: &text, pointer: format!("memories/row {number}") };
        let object = Object::parse(&text).unwrap_or_default();
        let Some(mut record) = memory_of(rows, &object) else {
            rows.fail(files, &row, "no_content: no text in it", Kind::Memory);
            return Ok(());
        };
        if record.status.is_none() && object.id("superseded_by").is_some() {
            record.status = Some("superseded".into());
        }
        record.links.extend(object.id("superseded_by").map(|id| link("superseded_by", Kind::Memory, ID, id)));
        record.links.extend(object.id("parent_id").map(|id| link("version_of", Kind::Memory, ID, id)));
        if let Some(graph) = &mut graph {
            add_associations(graph, database.max_rows, &mut record);
        }
        rows.send(files, &row, record)
    })?;
    report_other_tables(files, member, &database, &tables, |table| match table {
        "memories" | "memory_graph" => None,
        _ if table.starts_with("memory_content_fts") || table.starts_with("memory_embeddings") => {
            Some("it is an index of the memories")
        }
        "metadata" => Some("it has settings of the program"),
        _ if table.starts_with("oauth") => Some("it has keys of the server"),
        _ => Some("it has no memories"),
    });
    Ok(())
}

/// Adds links to the memories that are associated with the memory of `record`. The values of each association, such as
/// the similarity, become fields of `record`.
fn add_associations(graph: &mut Statement<'_>, max_rows: u64, record: &mut Record) {
    let names: Vec<String> = graph.column_names().map(str::to_owned).collect();
    let Ok(mut rows) = graph.query([&record.key.value]) else { return };
    let max_associations = usize::try_from(max_rows).unwrap_or(usize::MAX);
    let mut associations = Vec::new();
    while let Ok(Some(row)) = rows.next() {
        if associations.len() >= max_associations {
            break;
        }
        let text = row_text(row_of(row, &names), |column| JSON_COLUMNS.contains(&column));
        let Some(object) = Object::parse(&text) else { continue };
        let Some(target) = object.id(TARGET_MEMBER) else { continue };
        let relation = object.first_text(&["relationship_type"]).unwrap_or_else(|| "related".into());
        record.links.push(link(&relation, Kind::Memory, ID, target));
        associations.push(Value::Object(object.other_fields(&["source_hash"])));
    }
    if !associations.is_empty() {
        record.fields.insert("associations".into(), associations.into());
    }
}
