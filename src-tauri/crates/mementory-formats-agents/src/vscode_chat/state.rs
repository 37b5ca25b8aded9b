//! Reads the chats of 2023, which VS Code stored as one list in the database of a workspace (`state.vscdb`, key
//! `interactive.sessions`). Also reads such a list from a file.
use super::session::Session;
use memchr::memmem;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{unreadable, write_ahead_log};
use mementory_formats_shared::sqlite_rows::{self, Schema};
use mementory_model::{DroppedAs, Kind};
use rusqlite::OptionalExtension;
use serde_json::value::RawValue;

/// Table of the database, and the key of its row with the chats.
const TABLE: &str = "ItemTable";
const SETTING_KEY: &str = "interactive.sessions";
/// Table that only Cursor, which is based on VS Code, adds to the database.
const CURSOR_TABLE: &str = "cursorDiskKV";
/// Number of bytes at the start of the database, and of its log, that are searched for the key.
const HEAD_BYTES: usize = 1 << 20;
/// Name of the list of requests.
const REQUESTS: &str = "requests";

/// True for a database with chats.
pub(super) fn is_state(catalog: &Catalog, member: &Member) -> bool {
    let Some(schema) = Schema::of(catalog, member) else { return false };
    if !schema.has_table(TABLE, &["key", "value"]) || schema.has_table(CURSOR_TABLE, &["key"]) {
        return false;
    }
    let log = write_ahead_log(catalog, member);
    [Some(member), log].into_iter().flatten().any(|file| {
        let head = catalog.head(file, HEAD_BYTES).unwrap_or_default();
        memmem::find(&head, SETTING_KEY.as_bytes()).is_some()
    })
}

/// Sends the chats in a database. The database is neither locked nor changed.
pub(super) fn read_state(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(reader, member)?;
    let limit = i64::try_from(reader.context.limits.element_bytes).unwrap_or(i64::MAX);
    let sql = format!("SELECT CAST(value AS BLOB) FROM {TABLE} WHERE key = ?1 AND length(value) <= ?2");
    let value =
        database.connection.query_row(&sql, rusqlite::params![SETTING_KEY, limit], |row| row.get::<_, Vec<u8>>(0));
    let value = value.optional().map_err(|error| unreadable(member, &error))?;
    let text = value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let chats: Vec<&RawValue> = match serde_json::from_str::<&RawValue>(&text) {
        Ok(raw) => list(raw).or_else(|| Some(Object::parse(raw.get())?.members().map(|(_, raw)| raw).collect())),
        Err(_) => None,
    }
    .unwrap_or_default();
    if chats.is_empty() {
        let reason = "no_content: the database has no chats, or they are larger than an element may be";
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Conversation));
    }
    for (index, raw) in chats.into_iter().enumerate() {
        let pointer = format!("{SETTING_KEY}/{index}");
        match Object::parse(raw.get()) {
            Some(chat) => send(reader, member, raw.get(), &chat, &pointer)?,
            None => {
                let place = format!("{}#{pointer}", member.place);
                let reason = "not_an_object: this entry is not an object";
                reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            }
        }
    }
    Ok(())
}

/// Sends the chats in a list.
pub(super) fn read_list(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    reader.objects(member, &[], Kind::Conversation, |reader, element| {
        send(reader, member, element.text, &element.object, &element.pointer)
    })?;
    Ok(())
}

fn send(
    reader: &mut FileReader<'_>,
    member: &Member,
    text: &str,
    chat: &Object<'_>,
    pointer: &str,
) -> Result<(), FormatError> {
    let mut session = Session::with_pointer(pointer);
    let requests = chat.raw_value(REQUESTS);
    for (index, raw) in requests.and_then(list).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{pointer}/{REQUESTS}/{index}");
        match Object::parse(raw.get()) {
            Some(request) => session.add(raw.get(), &request, &pointer),
            None => {
                let place = format!("{}#{pointer}", member.place);
                let reason = "not_an_object: this entry is not an object";
                reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            }
        }
    }
    let replaced: Vec<(&RawValue, &str)> = requests.into_iter().map(|raw| (raw, "[]")).collect();
    let header = with_replaced_values(text, &replaced);
    session.read_header(&Object::parse(&header).unwrap_or_default(), header.clone());
    session.send(reader, member)
}
