//! Reads the database of Hermes Agent (`~/.hermes/state.db`): a table of sessions and a table of messages.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows::{
    Row, Schema, each_row_in_order, open, report_other_tables, row_text, tables, text_in, turns_of_session,
};
use mementory_model::Verbatim;
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

/// Sends the sessions of a database. The database is neither locked nor changed.
pub(super) fn read_database(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = open(reader, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    each_row_in_order(reader, member, &database, ("sessions", "started_at"), |reader, row, number| {
        let id = text_in(&row, "id");
        let turns = id.as_deref().map(|id| turns_of_session(reader, member, &database, id, turn)).unwrap_or_default();
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
        // Not reported, because the index of the full-text search only repeats the messages.
        index if index.starts_with("messages_fts") => None,
        "system_prompts" => Some("the program wrote the instructions in it"),
        _ => Some("it has no messages"),
    });
    Ok(())
}

fn turn(mut row: Row, position: usize) -> Turn {
    let is_for_model = is_set(&row, "_compressed_summary");
    let is_undone = row.get("active").is_some_and(|value| *value == 0) && !is_set(&row, "compacted");
    let is_hidden = row.get("display_kind").is_some_and(|kind| kind == "hidden");
    let is_marked = decode_content(&mut row);
    let text = row_text(row, |column| JSON_COLUMNS.contains(&column) && (column != "content" || is_marked));
    let message = Object::parse(&text).unwrap_or_default();
    let mut turn = read_message(&message, &text, format!("messages/row {position}"), super::FORMAT);
    if is_for_model {
        turn.role = "system".into();
    }
    if is_undone {
        turn.fields.insert("undone".into(), true.into());
    }
    turn.hidden |= is_for_model || is_undone || is_hidden;
    turn
}

/// True for a column with a number other than zero.
fn is_set(row: &Row, column: &str) -> bool {
    row.get(column).and_then(Value::as_i64).is_some_and(|number| number != 0)
}

/// Removes the mark before a content that is JSON. Returns true if there was a mark.
fn decode_content(row: &mut Row) -> bool {
    let Some(Value::String(content)) = row.get_mut("content") else { return false };
    let Some(json) = CONTENT_MARKS.iter().find_map(|mark| content.strip_prefix(mark)).map(str::to_owned) else {
        return false;
    };
    *content = json;
    true
}
