//! Reads the database of Ollama's app: a table of chats, a table of messages, and the tool calls and files of the
//! messages.
use super::FORMAT_ID;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mementory_format::{AttachmentFile, FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Schema, each_row, report_other_tables, row_of, row_text, tables, text_in,
};
use mementory_model::{AttachmentRef, DroppedAs, Issue, Kind, RecordKey, Verbatim};
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

const PLATFORM: &str = "ollama";
/// Table of the tool calls.
const CALLS: &str = "tool_calls";
/// Table of the files.
const FILES: &str = "attachments";

/// An open database, and whether it has the tables of tool calls and files.
struct Store<'d> {
    database: &'d Database,
    has_calls: bool,
    has_files: bool,
}

/// True for the database of Ollama's app.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table("chats", &["id", "title", "created_at"])
        && schema.has_table("messages", &["id", "chat_id", "role", "content", "thinking", "model_name"])
}

/// Sends the chats of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let has_table = |table: &str| names.iter().any(|name| name == table);
    // Databases of earlier versions have neither tool calls nor files.
    let store = Store { database: &database, has_calls: has_table(CALLS), has_files: has_table(FILES) };
    each_row(files, member, &database, "chats", |files, row, number| {
        let id = text_in(&row, "id");
        let turns = match &id {
            Some(id) => turns_of(files, member, &store, id)?,
            None => Vec::new(),
        };
        let mut chat = Chat {
            id,
            title: text_in(&row, "title"),
            pointer: format!("chats/row {number}"),
            turns,
            ..Chat::default()
        };
        chat.times.created = text_in(&row, "created_at").as_deref().and_then(text_time);
        chat.verbatim = Some(Verbatim::json(row_text(row, |_| false)));
        send(files, member, chat, PLATFORM, Some("database"))
    })?;
    report_other_tables(files, member, &database, &names, |table| match table {
        "chats" | "messages" | CALLS | FILES => None,
        _ => Some("it has no messages"),
    });
    Ok(())
}

/// The messages of a chat, in the order in which they were written. Messages that cannot be read are reported.
fn turns_of(
    files: &mut FileReader<'_>,
    member: &Member,
    store: &Store<'_>,
    chat: &str,
) -> Result<Vec<Turn>, FormatError> {
    let mut out = Vec::new();
    let mut damaged = Vec::new();
    let failure = match read_turns(store, chat, files.context.limits.element_bytes, &mut out, &mut damaged) {
        Ok(true) => None,
        Ok(false) => Some("too_large: the rest of this chat is larger than the limit".to_owned()),
        Err(error) => Some(format!("database_unreadable: {error}")),
    };
    if let Some(reason) = failure {
        let place = format!("{}#messages of {chat}", member.place);
        files.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Message));
    }
    for (message, reason) in damaged {
        let place = format!("{}#{CALLS} of message {message}", member.place);
        files.sink.note(Issue::new("tool_calls_damaged", place, reason));
    }
    if store.has_files {
        for turn in &mut out {
            add_files(files, member, store.database, chat, turn)?;
        }
    }
    Ok(out)
}

/// Adds the messages of a chat. If their texts have more than `max_bytes`, returns false and does not read the
/// remaining messages. Messages with damaged tool calls are added to `damaged`, with the fault.
fn read_turns(
    store: &Store<'_>,
    chat: &str,
    max_bytes: u64,
    out: &mut Vec<Turn>,
    damaged: &mut Vec<(i64, String)>,
) -> rusqlite::Result<bool> {
    let database = store.database;
    let mut statement = database.connection.prepare("SELECT * FROM messages WHERE chat_id = ?1 ORDER BY id")?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([chat])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let mut row = row_of(row, &names);
        let mut calls = Vec::new();
        if let Some(message) = row.get("id").and_then(Value::as_i64).filter(|_| store.has_calls) {
            match read_calls(database, message, &mut calls) {
                Ok(true) => {}
                Ok(false) => {
                    let reason = "a tool call has a value that is not text; its bytes are kept in base64";
                    damaged.push((message, reason.to_owned()));
                }
                Err(error) => damaged.push((message, format!("some tool calls cannot be read: {error}"))),
            }
        }
        if !calls.is_empty() {
            row.insert(CALLS.into(), calls.into());
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

/// Adds the tool calls of a message, in the shape of the API. Returns false if a value of a call is not text. If an
/// error occurs, the calls before the error have been added.
fn read_calls(database: &Database, message: i64, out: &mut Vec<Value>) -> rusqlite::Result<bool> {
    let sql = "SELECT type, function_name, function_arguments, function_result FROM tool_calls \
               WHERE message_id = ?1 ORDER BY id";
    let mut statement = database.connection.prepare_cached(sql)?;
    let mut rows = statement.query([message])?;
    let mut is_text = true;
    while let Some(row) = rows.next()? {
        if out.len() as u64 >= database.max_rows {
            break;
        }
        let mut cells = [const { Value::Null }; 4];
        for (index, cell) in cells.iter_mut().enumerate() {
            *cell = cell_value(row.get_ref(index)?);
            is_text &= matches!(cell, Value::Null | Value::String(_));
        }
        let [kind, name, arguments, result] = cells;
        let function = json!({ "name": name, "arguments": arguments });
        out.push(json!({ "type": kind, "function": function, "result": result }));
    }
    Ok(is_text)
}

/// A cell as JSON. Bytes that are not text become `{"base64": …}`, so that nothing of a damaged cell is lost.
fn cell_value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => json!({ "base64": STANDARD.encode(bytes) }),
        },
    }
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
        let place = format!("{}#{FILES} of message {message}", member.place);
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
            let attachment = AttachmentFile { key, origin_id: None, name: file.name, media_type: None, place };
            files.sink.attachment(attachment, &mut bytes.as_slice())?;
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
