//! Reads the database of Hermes Agent (`~/.hermes/state.db`): a table of sessions and a table of messages.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    Row, Schema, each_row_in_order, open, report_other_tables, row_of, row_text, tables, text_in,
};
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::Value;

const PLATFORM: &str = "hermes";
/// Marks before the JSON of a content with pictures, in older and newer versions.
const CONTENT_MARKS: [&str; 2] = ["\0json:", "\u{1}json:"];
/// Columns whose text is JSON.
const JSON_COLUMNS: [&str; 4] = ["content", "tool_calls", "reasoning_details", "display_metadata"];

/// True for the database of Hermes Agent.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table("sessions", &["id", "source", "parent_session_id", "started_at"])
        && schema.has_table("messages", &["id", "session_id", "role", "content", "tool_calls", "timestamp"])
}

/// Sends the sessions of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = open(reader, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    each_row_in_order(reader, member, &database, ("sessions", "started_at"), |reader, row, number| {
        let id = text_in(&row, "id");
        let turns = id.as_deref().map(|id| turns_of(reader, member, &database, id)).unwrap_or_default();
        let mut chat = Chat {
            title: text_in(&row, "title").or_else(|| text_in(&row, "display_name")),
            model: text_in(&row, "model"),
            is_log: true,
            pointer: format!("sessions/row {number}"),
            status: is_set(&row, "archived").then(|| "archived".into()),
            turns,
            id,
            ..Chat::default()
        };
        for column in ["source", "parent_session_id"] {
            chat.fields.extend(text_in(&row, column).map(|text| (column.to_owned(), text.into())));
        }
        chat.source.project = text_in(&row, "cwd");
        let text = row_text(row, |column| column == "model_config");
        let object = Object::parse(&text).unwrap_or_default();
        chat.times.created = any_time(&object, "started_at");
        chat.times.updated = any_time(&object, "last_activity_at").or_else(|| any_time(&object, "ended_at"));
        chat.verbatim = Some(Verbatim::json(text));
        send(reader, member, chat, PLATFORM, Some("database"))
    })?;
    report_other_tables(reader, member, &database, &names, |table| match table {
        "sessions" | "messages" | "schema_version" => None,
        // The index of the full-text search repeats the messages.
        index if index.starts_with("messages_fts") => None,
        "system_prompts" => Some("the program wrote the instructions in it"),
        _ => Some("it has no messages"),
    });
    Ok(())
}

/// The messages of a session, in the order in which they were written. Messages that cannot be read are reported.
fn turns_of(reader: &mut FileReader<'_>, member: &Member, database: &Database, session: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    let failed = match read_turns(database, session, reader.context.limits.element_bytes, &mut out) {
        Ok(true) => return out,
        Ok(false) => "too_large: the rest of this session is larger than the limit".to_owned(),
        Err(error) => format!("database_unreadable: {error}"),
    };
    let place = format!("{}#messages of {session}", member.place);
    reader.report_dropped(place, DroppedAs::Failed, &failed, Some(Kind::Message));
    out
}

/// Adds the messages of a session, until their total size exceeds `max_bytes`. Returns false in that case.
fn read_turns(database: &Database, session: &str, max_bytes: u64, out: &mut Vec<Turn>) -> rusqlite::Result<bool> {
    let mut statement = database.connection.prepare("SELECT * FROM messages WHERE session_id = ?1 ORDER BY id")?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([session])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let mut row = row_of(row, &names);
        let is_for_model = is_set(&row, "_compressed_summary");
        let is_undone = row.get("active").is_some_and(|value| *value == 0) && !is_set(&row, "compacted");
        let is_hidden = row.get("display_kind").is_some_and(|kind| kind == "hidden");
        let is_marked = decode_content(&mut row);
        let text = row_text(row, |column| JSON_COLUMNS.contains(&column) && (column != "content" || is_marked));
        bytes += text.len() as u64;
        if bytes > max_bytes || out.len() as u64 >= database.max_rows {
            return Ok(false);
        }
        let message = Object::parse(&text).unwrap_or_default();
        let mut turn = read_message(&message, &text, format!("messages/row {}", out.len()), super::FORMAT);
        if is_for_model {
            turn.role = "system".into();
        }
        if is_undone {
            turn.fields.insert("undone".into(), true.into());
        }
        turn.hidden |= is_for_model || is_undone || is_hidden;
        out.push(turn);
    }
    Ok(true)
}

/// True for a column with a number other than zero.
fn is_set(row: &Row, column: &str) -> bool {
    row.get(column).and_then(Value::as_i64).is_some_and(|number| number != 0)
}

/// Removes the mark before a content that is JSON. True if there was one.
fn decode_content(row: &mut Row) -> bool {
    let Some(Value::String(content)) = row.get_mut("content") else { return false };
    let Some(json) = CONTENT_MARKS.iter().find_map(|mark| content.strip_prefix(mark)).map(str::to_owned) else {
        return false;
    };
    *content = json;
    true
}
