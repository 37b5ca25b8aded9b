//! Reads the database of Goose: a table of sessions and a table of messages.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows::{
    self, Row, Schema, each_row, report_other_tables, row_text, tables, text_in, turns_of_session,
};
use mementory_model::{DroppedAs, Kind, Verbatim};
use std::collections::HashSet;

const PLATFORM: &str = "goose";
/// Columns whose text is JSON.
const JSON_COLUMNS: [&str; 2] = ["content_json", "metadata_json"];

/// True for the database of Goose.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table("sessions", &["id", "working_dir"])
        && schema.has_table("messages", &["id", "session_id", "role", "content_json", "created_timestamp"])
}

/// Sends the sessions of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let mut seen_ids = HashSet::new();
    each_row(files, member, &database, "sessions", |files, row, number| {
        let model = text_in(&row, "model_config_json").and_then(|text| {
            let config = Object::parse(&text)?;
            config.non_blank_text("model_name").map(|name| name.into_owned())
        });
        let id = text_in(&row, "id");
        if !seen_ids.insert(id.clone()) {
            let place = format!("{}#sessions/row {number}", member.place);
            let reason = "duplicate: a session with the same id was read before it";
            files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
            return Ok(());
        }
        let turns = id
            .as_deref()
            .map(|id| turns_of_session(files, member, &database, id, |row, position| turn(row, position, id)));
        let mut chat = Chat {
            title: text_in(&row, "name").or_else(|| text_in(&row, "description")),
            model,
            is_log: true,
            pointer: format!("sessions/row {number}"),
            turns: turns.unwrap_or_default(),
            ..Chat::default()
        };
        chat.id = id;
        chat.source.project = text_in(&row, "working_dir");
        chat.times.created = text_in(&row, "created_at").as_deref().and_then(text_time);
        chat.times.updated = text_in(&row, "updated_at").as_deref().and_then(text_time);
        chat.verbatim = Some(Verbatim::json(row_text(row, |_| false)));
        send(files, member, chat, PLATFORM, Some("database"))
    })?;
    report_other_tables(files, member, &database, &names, |table| match table {
        "sessions" | "messages" => None,
        _ => Some("it has no messages"),
    });
    Ok(())
}

fn turn(row: Row, position: usize, session: &str) -> Turn {
    let text = row_text(row, |column| JSON_COLUMNS.contains(&column));
    let row = Object::parse(&text).unwrap_or_default();
    // Converts the row into the form of a message in the logs of earlier versions.
    let value = |key: &str| row.raw_value(key).map_or("null", |raw| raw.get());
    let message = format!(
        r#"{{"role":{},"created":{},"content":{},"metadata":{}}}"#,
        value("role"),
        value("created_timestamp"),
        value("content_json"),
        value("metadata_json")
    );
    let message = Object::parse(&message).unwrap_or_default();
    let mut turn = read_message(&message, &text, format!("messages/row {position}"), FORMAT_ID);
    turn.id = row.non_blank_text("message_id").map(|id| id.into_owned());
    // When Goose is updated, it gives messages without ids an id of this form. The key is therefore the same before
    // and after.
    turn.key = row.raw_value("id").map(|raw| format!("msg_{session}_{}", raw.get())).filter(|_| turn.id.is_none());
    turn
}
