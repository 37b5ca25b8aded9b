//! Reads `opencode.db`: tables of sessions, messages and parts. Messages and parts are JSON in one column.
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{self, Database};
use mementory_model::{DroppedAs, Issue, Kind, Verbatim};
use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};
use serde_json::{Map, Value};

/// Reads all sessions of a database.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite::open(reader.catalog, member, &reader.context.limits)?;
    if database.is_log_unread {
        let message = "the database is too large to read its log as well: the last changes are missing. Quit OpenCode and import again";
        reader.sink.note(Issue::new("log_not_read", &member.place, message));
    }
    for table in ["session", "message", "part"] {
        if !database.has_table(table) {
            let message = format!("the database has no table `{table}`");
            return Err(FormatError::invalid("database_unreadable", &member.place, message));
        }
    }
    let unreadable_error =
        |e: rusqlite::Error| FormatError::invalid("database_unreadable", &member.place, e.to_string());
    let mut ids: Vec<String> = Vec::new();
    {
        let sql = "SELECT id FROM session UNION SELECT DISTINCT session_id FROM message ORDER BY 1";
        let mut statement = database.connection.prepare(sql).map_err(unreadable_error)?;
        let mut rows = statement.query([]).map_err(unreadable_error)?;
        while let Some(row) = rows.next().map_err(unreadable_error)? {
            if ids.len() as u64 > database.max_rows {
                return Err(FormatError::invalid(
                    "database_unreadable",
                    &member.place,
                    "more rows than fit into the file",
                ));
            }
            ids.extend(row.get_ref(0).ok().and_then(sqlite::column_text));
        }
    }
    let order = |table: &str| match has_column(&database, table, "time_created") {
        true => "time_created, id",
        false => "id",
    };
    let sql = "SELECT * FROM session WHERE id = ?1";
    let mut sessions = database.connection.prepare(sql).map_err(unreadable_error)?;
    let sql = format!("SELECT * FROM message WHERE session_id = ?1 ORDER BY {}", order("message"));
    let mut messages = database.connection.prepare(&sql).map_err(unreadable_error)?;
    let sql = format!("SELECT * FROM part WHERE message_id = ?1 ORDER BY {}", order("part"));
    let mut parts = database.connection.prepare(&sql).map_err(unreadable_error)?;
    for id in ids {
        read_session(reader, member, &id, (&mut sessions, &mut messages, &mut parts)).or_else(|e| match e {
            FormatError::Invalid { message, .. } => {
                let reason = format!("database_unreadable: {message}");
                let place = format!("{}#session/{id}", member.place);
                reader.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Conversation));
                Ok(())
            }
            other => Err(other),
        })?;
    }
    Ok(())
}

fn has_column(database: &Database, table: &str, column: &str) -> bool {
    let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
    database.connection.query_row(sql, [table, column], |row| row.get::<_, i64>(0)).is_ok_and(|n| n > 0)
}

fn read_session(
    reader: &mut FileReader<'_>,
    member: &Member,
    id: &str,
    (sessions, messages, parts): (&mut Statement<'_>, &mut Statement<'_>, &mut Statement<'_>),
) -> Result<(), FormatError> {
    let unreadable_error =
        |e: rusqlite::Error| FormatError::invalid("database_unreadable", &member.place, e.to_string());
    let text = match sessions.query([id]).map_err(unreadable_error)?.next().map_err(unreadable_error)? {
        Some(row) => Some(row_text(row, None).map_err(unreadable_error)?),
        None => None,
    };
    let mut session = Session::new(Some(id), text.as_deref());
    let mut budget = reader.context.limits.element_bytes;
    let mut rows = messages.query([id]).map_err(unreadable_error)?;
    while let Some(row) = rows.next().map_err(unreadable_error)? {
        let message = row.get_ref("id").ok().and_then(sqlite::column_text).unwrap_or_default();
        let info = row_text(row, Some("data")).map_err(unreadable_error)?;
        let mut texts = Vec::new();
        let mut part_rows = parts.query([&message]).map_err(unreadable_error)?;
        let mut bytes = info.len() as u64;
        while let Some(row) = part_rows.next().map_err(unreadable_error)? {
            let text = row_text(row, Some("data")).map_err(unreadable_error)?;
            bytes += text.len() as u64;
            if bytes > budget {
                break;
            }
            texts.push(text);
        }
        let pointer = format!("message/{message}");
        if bytes > budget {
            let place = format!("{}#{pointer}", member.place);
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        }
        budget -= bytes;
        let verbatim = format!("{{\"info\":{info},\"parts\":[{}]}}", texts.join(","));
        let objects: Vec<Object<'_>> = texts.iter().filter_map(|text| Object::parse(text)).collect();
        let info = Object::parse(&info).unwrap_or_default();
        session.add(reader, member, (&info, &objects), (Verbatim::json(verbatim), pointer))?;
    }
    session.send(reader, &member.place)
}

/// A row as JSON: its columns, and the members of the JSON object in the column `inner`. If a member has the same name
/// as a column, it replaces the column.
fn row_text(row: &Row<'_>, inner: Option<&str>) -> Result<String, rusqlite::Error> {
    let mut columns = Map::new();
    let mut members = String::new();
    for (n, name) in row.as_ref().column_names().enumerate() {
        let value = row.get_ref(n)?;
        if Some(name) == inner
            && let Some(text) = sqlite::column_text(value)
            && Object::parse(text.trim()).is_some()
        {
            let inside = text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}'));
            members = inside.unwrap_or_default().trim().to_owned();
            continue;
        }
        let value = match value {
            ValueRef::Null => continue,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => Value::from(number),
            other => sqlite::column_text(other).map_or(Value::Null, Value::String),
        };
        columns.insert(name.to_owned(), value);
    }
    let columns = Value::Object(columns).to_string();
    // If a JSON object has the same key twice, parsers use the last one. Members come last, so they override columns.
    Ok(match (columns.strip_suffix('}'), columns.as_str(), members.is_empty()) {
        (_, _, true) => columns,
        (_, "{}", false) => format!("{{{members}}}"),
        (open, ..) => format!("{},{members}}}", open.unwrap_or_default()),
    })
}
