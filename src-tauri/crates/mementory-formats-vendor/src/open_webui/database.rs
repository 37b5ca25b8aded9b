//! Reads the database `webui.db`: chats, memories and notes. The data of the server, such as accounts, passwords and
//! settings with API keys, is not stored.
use super::chat::{Folders, PLATFORM, read_chat};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::message::read_message;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Row, each_row, report_other_tables, row_of, tables, text_or_number_in,
};
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Verbatim};
use serde_json::Value;

const READ_TABLES: [&str; 5] = ["chat", "memory", "note", "folder", "chat_message"];

/// Reads a database, and sends its records to the sink. The database is neither locked nor changed.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let tables = tables(&database).map_err(|error| unreadable(member, &error))?;
    let has = |table: &str| tables.iter().any(|name| name == table);
    let mut folders = Folders::new();
    if has("folder") {
        each_row(files, member, &database, "folder", |_, row, _| {
            if let (Some(id), Some(name)) = (text_or_number_in(&row, "id"), text_or_number_in(&row, "name")) {
                folders.insert(id, name);
            }
            Ok(())
        })?;
    }
    if has("memory") {
        each_row(files, member, &database, "memory", |files, row, number| send_memory(files, member, &row, number))?;
    }
    if has("note") {
        each_row(files, member, &database, "note", |files, row, number| send_note(files, member, &row, number))?;
    }
    if has("chat") {
        let has_message_table = has("chat_message");
        each_row(files, member, &database, "chat", |files, row, number| {
            let stored =
                if has_message_table && !has_messages(&row) { stored_messages(&database, files, &row) } else { vec![] };
            let pointer = format!("chat/row {number}");
            let text = row_text(row);
            read_chat(files, member, &text, &pointer, Some("database"), &folders, stored)
        })?;
    }
    report_other_tables(files, member, &database, &tables, why_not_read);
    Ok(())
}

/// True if the column `chat` of a row contains messages.
fn has_messages(row: &Row) -> bool {
    let Some(chat) = row.get("chat").and_then(Value::as_str).and_then(Object::parse) else { return false };
    let history = chat.object("history").and_then(|history| history.object("messages"));
    let has_history = history.is_some_and(|messages| messages.members().next().is_some());
    has_history || chat.list("messages").is_some_and(|list| !list.is_empty())
}

/// Returns the messages of a chat from the table `chat_message`, which only newer versions have.
fn stored_messages(database: &Database, files: &FileReader<'_>, chat: &Row) -> Vec<Turn> {
    let Some(id) = text_or_number_in(chat, "id") else { return Vec::new() };
    let sql = "SELECT * FROM chat_message WHERE chat_id = ?1 ORDER BY created_at, id";
    let Ok(mut statement) = database.connection.prepare(sql) else { return Vec::new() };
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut out = Vec::new();
    let Ok(mut rows) = statement.query([id]) else { return out };
    let max_messages = usize::try_from(database.max_rows).unwrap_or(usize::MAX);
    while let Ok(Some(row)) = rows.next() {
        if out.len() >= max_messages {
            break;
        }
        let mut row = row_of(row, &names);
        // The column `content` contains JSON, which is a list of parts or a string.
        if let Some(content) =
            text_or_number_in(&row, "content").and_then(|text| serde_json::from_str::<String>(&text).ok())
        {
            row.insert("content".into(), content.into());
        }
        let text = row_text(row);
        if let Some(object) = Object::parse(&text) {
            out.push(read_message(&object, &text, format!("chat_message/row {}", out.len()), files.format));
        }
    }
    out
}

fn send_memory(files: &mut FileReader<'_>, member: &Member, row: &Row, number: usize) -> Result<(), FormatError> {
    let pointer = format!("memory/row {number}");
    let Some(content) = text_or_number_in(row, "content") else {
        let place = format!("{}#{pointer}", member.place);
        files.report_dropped(place, DroppedAs::Failed, "no_content: this memory has no text", Some(Kind::Memory));
        return Ok(());
    };
    let record = record(Kind::Memory, "memory", row, content, member, pointer);
    files.sink.unit(record.into())
}

/// Sends a note, whose text is in the member `content.md` of the column `data`.
fn send_note(files: &mut FileReader<'_>, member: &Member, row: &Row, number: usize) -> Result<(), FormatError> {
    let pointer = format!("note/row {number}");
    let data = text_or_number_in(row, "data");
    let data = data.as_deref().and_then(Object::parse);
    let content = data.as_ref().and_then(|data| data.object("content"));
    let content = content.and_then(|content| content.text("md").map(std::borrow::Cow::into_owned));
    let mut record = record(Kind::Resource, "note", row, content.unwrap_or_default(), member, pointer);
    record.title = text_or_number_in(row, "title");
    record.record_type = Some("note".into());
    files.sink.unit(record.into())
}

fn record(kind: Kind, table: &str, row: &Row, content: String, member: &Member, pointer: String) -> Record {
    let id = text_or_number_in(row, "id");
    let digest = || mementory_formats_shared::object::content_id(&content);
    let key = RecordKey::new(PLATFORM, format!("{table}/{}", id.clone().unwrap_or_else(digest)));
    let mut record = Record::new(kind, key, content);
    record.origin_id = id;
    record.times.created = text_or_number_in(row, "created_at").as_deref().and_then(text_time);
    record.times.updated = text_or_number_in(row, "updated_at").as_deref().and_then(text_time);
    record.source.platform = PLATFORM.into();
    record.source.account = text_or_number_in(row, "user_id");
    record.origin =
        Origin { format: PLATFORM.into(), version: Some("database".into()), container: member.place.clone(), pointer };
    record.verbatim = Some(Verbatim::json(row_text(row.clone())));
    record
}

/// Returns the reason why a table is not imported. None for a table that is imported.
fn why_not_read(table: &str) -> Option<&'static str> {
    match table {
        _ if READ_TABLES.contains(&table) => None,
        "auth" | "config" | "api_key" | "oauth_session" => Some("it has passwords, keys or settings of the server"),
        "user" => Some("it has the accounts of the server"),
        _ => Some("it has neither chats nor memories"),
    }
}

/// Returns a row as JSON, in the shape of a row of an export. Columns that contain JSON become JSON values.
fn row_text(row: Row) -> String {
    sqlite_rows::row_text(row, |_| true)
}
