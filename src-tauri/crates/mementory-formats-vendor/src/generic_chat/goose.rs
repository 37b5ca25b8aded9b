//! Reads the database of Goose: a table of sessions and a table of messages.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Schema, each_row, report_other_tables, row_of, row_text, tables, text_in,
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
    let mut seen = HashSet::new();
    each_row(files, member, &database, "sessions", |files, row, number| {
        let model = text_in(&row, "model_config_json").and_then(|text| {
            let config = Object::parse(&text)?;
            config.non_blank_text("model_name").map(|name| name.into_owned())
        });
        let id = text_in(&row, "id");
        if !seen.insert(id.clone()) {
            let place = format!("{}#sessions/row {number}", member.place);
            let reason = "duplicate: a session with the same id was read before it";
            files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
            return Ok(());
        }
        let turns = id.as_deref().map(|id| turns_of(files, member, &database, id)).unwrap_or_default();
        let mut chat = Chat {
            title: text_in(&row, "name").or_else(|| text_in(&row, "description")),
            model,
            is_log: true,
            pointer: format!("sessions/row {number}"),
            turns,
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

/// The messages of a session, in the order in which they were written. Messages that cannot be read are reported.
fn turns_of(files: &mut FileReader<'_>, member: &Member, database: &Database, session: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    let failed = match read_turns(database, session, files.context.limits.element_bytes, &mut out) {
        Ok(true) => return out,
        Ok(false) => "too_large: the rest of this session is larger than the limit".to_owned(),
        Err(error) => format!("database_unreadable: {error}"),
    };
    let place = format!("{}#messages of {session}", member.place);
    files.report_dropped(place, DroppedAs::Failed, &failed, Some(Kind::Message));
    out
}

/// Adds the messages of a session, until their total size exceeds `max_bytes`. Returns false in that case.
fn read_turns(database: &Database, session: &str, max_bytes: u64, out: &mut Vec<Turn>) -> rusqlite::Result<bool> {
    let mut statement = database.connection.prepare("SELECT * FROM messages WHERE session_id = ?1 ORDER BY id")?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([session])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let text = row_text(row_of(row, &names), |column| JSON_COLUMNS.contains(&column));
        bytes += text.len() as u64;
        if bytes > max_bytes || out.len() as u64 >= database.max_rows {
            return Ok(false);
        }
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
        let mut turn = read_message(&message, &text, format!("messages/row {}", out.len()), FORMAT_ID);
        turn.id = row.non_blank_text("message_id").map(|id| id.into_owned());
        // When Goose is updated, it gives messages without ids an id of this form. The key is therefore the same before
        // and after.
        turn.key = row.raw_value("id").map(|raw| format!("msg_{session}_{}", raw.get())).filter(|_| turn.id.is_none());
        out.push(turn);
    }
    Ok(true)
}
