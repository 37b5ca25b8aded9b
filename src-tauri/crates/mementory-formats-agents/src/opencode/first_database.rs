//! Reads the database of an earlier program with the name OpenCode, written in Go. It has tables of sessions and
//! messages; a column of a message contains its parts as JSON. Crush is this program under its later name.
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{self, Row, Schema, row_of, row_text};
use mementory_model::{DroppedAs, Kind, Verbatim};
use rusqlite::Statement;

/// Name of the platform of Crush, and columns of messages that only Crush has.
const CRUSH: &str = "crush";
const CRUSH_COLUMNS: [&str; 2] = ["provider", "is_summary_message"];

/// True for a database of the earlier OpenCode or of Crush. The tables of the current OpenCode have different names.
pub(super) fn is_first_database(schema: &Schema) -> bool {
    schema.has_table("messages", &["session_id", "role", "parts"])
        && schema.has_table("sessions", &["parent_session_id", "title"])
}

/// Reads all sessions. The database is neither locked nor changed.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(reader, member)?;
    let tables = sqlite_rows::tables(&database).map_err(|error| unreadable(member, &error))?;
    let sql = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY created_at, rowid";
    let mut messages = database.connection.prepare(sql).map_err(|error| unreadable(member, &error))?;
    sqlite_rows::each_row(reader, member, &database, "sessions", |reader, row, _| {
        read_session(reader, member, &database, row, &mut messages)
    })?;
    sqlite_rows::report_other_tables(reader, member, &database, &tables, |table| match table {
        "sessions" | "messages" => None,
        "files" => Some("they are versions of the files of a project"),
        "goose_db_version" => Some("it has the version of the tables"),
        "read_files" => Some("it has the times at which files of a project were read"),
        _ => Some("it has no sessions"),
    });
    Ok(())
}

fn read_session(
    reader: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    row: Row,
    messages: &mut Statement<'_>,
) -> Result<(), FormatError> {
    let id = row.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
    let mut session = Session::new(Some(&id), Some(&row_text(row, |_| false)));
    let names: Vec<String> = messages.column_names().map(str::to_owned).collect();
    session.fork = names.iter().any(|name| CRUSH_COLUMNS.contains(&name.as_str())).then_some(CRUSH);
    let mut budget = reader.context.limits.element_bytes;
    let place = format!("{}#sessions/{id}", member.place);
    let mut rows = messages.query([&id]).map_err(|error| unreadable(member, &error))?;
    for _ in 0..database.max_rows {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            // The session is sent with the messages that were read before the error.
            Err(error) => {
                let reason = format!("database_unreadable: {error}");
                reader.report_dropped(place.clone(), DroppedAs::Failed, &reason, Some(Kind::Message));
                break;
            }
        };
        let text = row_text(row_of(row, &names), |column| column == "parts");
        let bytes = text.len() as u64;
        if bytes > budget {
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(place.clone(), DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        }
        budget -= bytes;
        let info = Object::parse(&text).unwrap_or_default();
        let parts = info.list("parts").unwrap_or_default();
        let parts: Vec<Object<'_>> = parts.iter().filter_map(|part| Object::parse(part.get())).collect();
        let pointer = format!("messages/{}", info.text("id").unwrap_or_default());
        session.add(reader, member, (&info, &parts), (Verbatim::json(text.as_str()), pointer))?;
    }
    session.send(reader, &member.place)
}
