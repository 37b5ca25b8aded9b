//! Reads the database of Ollama's app: a table of chats, a table of messages, and the tool calls and files of the
//! messages.
use super::shape::FORMAT_ID;
use mementory_format::{AttachmentFile, FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, column_text, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Row, Schema, each_row, report_other_tables, row_of, row_text, tables,
};
use mementory_model::{AttachmentRef, DroppedAs, Kind, RecordKey, Verbatim};
use serde_json::{Value, json};

const PLATFORM: &str = "ollama";

/// True for the database of Ollama's app.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table("chats", &["id", "title", "created_at"])
        && schema.has_table("messages", &["id", "chat_id", "role", "content", "thinking", "model_name"])
}

/// Sends the chats of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    each_row(files, member, &database, "chats", |files, row, number| {
        let id = column(&row, "id");
        let turns = match &id {
            Some(id) => turns_of(files, member, &database, id)?,
            None => Vec::new(),
        };
        let mut chat =
            Chat { id, title: column(&row, "title"), pointer: format!("chats/row {number}"), turns, ..Chat::default() };
        chat.times.created = column(&row, "created_at").as_deref().and_then(text_time);
        chat.verbatim = Some(Verbatim::json(row_text(row, |_| false)));
        send(files, member, chat, PLATFORM, Some("database"))
    })?;
    report_other_tables(files, member, &database, &names, |table| match table {
        "chats" | "messages" | "tool_calls" | "attachments" => None,
        _ => Some("it has no messages"),
    });
    Ok(())
}

fn column(row: &Row, name: &str) -> Option<String> {
    row.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// The messages of a chat, in the order in which they were written. Messages that cannot be read are reported.
fn turns_of(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    chat: &str,
) -> Result<Vec<Turn>, FormatError> {
    let mut out = Vec::new();
    let failed = match read_turns(database, chat, files.context.limits.element_bytes, &mut out) {
        Ok(true) => None,
        Ok(false) => Some("too_large: the rest of this chat is larger than the limit".to_owned()),
        Err(error) => Some(format!("database_unreadable: {error}")),
    };
    if let Some(reason) = failed {
        let place = format!("{}#messages of {chat}", member.place);
        files.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Message));
    }
    for turn in &mut out {
        add_files(files, member, database, chat, turn)?;
    }
    Ok(out)
}

/// Adds the messages of a chat, until their total size exceeds `max_bytes`. Returns false in that case.
fn read_turns(database: &Database, chat: &str, max_bytes: u64, out: &mut Vec<Turn>) -> rusqlite::Result<bool> {
    let mut statement = database.connection.prepare("SELECT * FROM messages WHERE chat_id = ?1 ORDER BY id")?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([chat])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let mut row = row_of(row, &names);
        let calls = row.get("id").and_then(Value::as_i64).map(|id| calls_of(database, id).unwrap_or_default());
        if let Some(calls) = calls.filter(|calls| !calls.is_empty()) {
            row.insert("tool_calls".into(), calls.into());
        }
        let text = row_text(row, |_| false);
        bytes += text.len() as u64;
        if bytes > max_bytes || out.len() as u64 >= database.max_rows {
            return Ok(false);
        }
        let message = Object::parse(&text).unwrap_or_default();
        out.push(read_message(&message, &text, format!("messages/row {}", out.len()), FORMAT_ID));
    }
    Ok(true)
}

/// The tool calls of a message, in the shape of the API.
fn calls_of(database: &Database, message: i64) -> rusqlite::Result<Vec<Value>> {
    let sql = "SELECT type, function_name, function_arguments, function_result FROM tool_calls \
               WHERE message_id = ?1 ORDER BY id";
    let mut statement = database.connection.prepare_cached(sql)?;
    let calls = statement.query_map([message], |row| {
        let cell = |index: usize| row.get_ref(index).ok().and_then(column_text);
        let function = json!({ "name": cell(1), "arguments": cell(2) });
        Ok(json!({ "type": cell(0), "function": function, "result": cell(3) }))
    })?;
    calls.collect()
}

/// A file of a message. The bytes are None for a file that is larger than an element may be.
struct File {
    id: i64,
    name: String,
    size: i64,
    bytes: Option<Vec<u8>>,
}

/// Adds the files of a message and sends their bytes.
fn add_files(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    chat: &str,
    turn: &mut Turn,
) -> Result<(), FormatError> {
    let Some(message) = turn.id.as_deref().and_then(|id| id.parse::<i64>().ok()) else { return Ok(()) };
    let limit = i64::try_from(files.context.limits.element_bytes).unwrap_or(i64::MAX);
    let found = read_files(database, message, limit).unwrap_or_else(|error| {
        // Databases of earlier versions have no table of files.
        if tables(database).is_ok_and(|names| !names.iter().any(|name| name == "attachments")) {
            return Vec::new();
        }
        let place = format!("{}#attachments of message {message}", member.place);
        let reason = format!("database_unreadable: {error}");
        files.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Attachment));
        Vec::new()
    });
    for file in found {
        let key = RecordKey::new(FORMAT_ID, format!("file/{chat}/{}", file.id));
        turn.attachments.push(AttachmentRef {
            key: key.clone(),
            origin_id: None,
            name: file.name.clone(),
            media_type: None,
            size: u64::try_from(file.size).ok(),
            text: None,
        });
        if let Some(bytes) = file.bytes {
            let place = member.place.clone();
            let stored = AttachmentFile { key, origin_id: None, name: file.name, media_type: None, place };
            files.sink.attachment(stored, &mut bytes.as_slice())?;
        }
    }
    Ok(())
}

fn read_files(database: &Database, message: i64, limit: i64) -> rusqlite::Result<Vec<File>> {
    let sql = "SELECT id, filename, length(data), CASE WHEN length(data) <= ?2 THEN CAST(data AS BLOB) END \
               FROM attachments WHERE message_id = ?1 ORDER BY id";
    let mut statement = database.connection.prepare_cached(sql)?;
    let found = statement.query_map([message, limit], |row| {
        Ok(File { id: row.get(0)?, name: row.get(1)?, size: row.get(2)?, bytes: row.get(3)? })
    })?;
    found.collect()
}
