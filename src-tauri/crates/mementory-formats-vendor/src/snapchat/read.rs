//! Reads the chat with My AI as one conversation. Each entry that My AI remembers becomes a memory.
use super::detect::{CHAT, HISTORY, HISTORY_ROLE, MEMORY};
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_formats_shared::chat::{Chat, Turn, put_oldest_first, times_of};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, each_row_in, object_of};
use mementory_formats_shared::message::send;
use mementory_formats_shared::object::{Object, content_id, decode_string};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::roles;
use mementory_model::{DroppedAs, Issue, Kind, Times, Verbatim};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Id and title of the conversation. An account has only one such conversation, and the file does not name it.
const NAME: &str = "My AI";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, None);
    // Time and text of the messages in `chat_history.json`. Only this file states who wrote a message, so it is read
    // first, and the same messages in `snapchat_ai.json` are skipped.
    let mut messages_in_history: HashSet<(Option<i64>, String)> = HashSet::new();
    files.each_file(detected, |files, member, role| {
        if role == HISTORY_ROLE {
            return read_history(&rows, files, member, &mut messages_in_history);
        }
        let (mut turns, mut bytes, mut is_empty) = (Vec::new(), 0, true);
        each_row(files, member, &[CHAT, MEMORY], Kind::Message, &mut |files, row| {
            is_empty &= ![MEMORY, CHAT].contains(&row.list_name());
            if row.list_name() == MEMORY {
                return read_memory(&mut rows, files, row);
            }
            // In a file without these lists, the whole object is passed as a row, which is not a message.
            if row.list_name() != CHAT {
                return Ok(());
            }
            // All messages are in memory until the end of the file, because they may be in any order.
            bytes += row.text.len() as u64;
            if bytes > files.context.limits.element_bytes {
                rows.fail(files, row, "too_large: the messages of this file", Kind::Message);
            } else if let Some(object) = object_of(files, row, Kind::Message) {
                match turn(row, &object) {
                    Some(turn) => turns.push(turn),
                    None => rows.fail(files, row, "no_content: no text in it", Kind::Message),
                }
            }
            Ok(())
        })?;
        if is_empty {
            files.sink.note(Issue::new("empty", &member.place, "neither messages nor memories of My AI"));
        }
        let count = turns.len();
        turns.retain(|turn| !messages_in_history.contains(&time_and_text(turn)));
        if turns.len() < count {
            let reason = format!("duplicate: {} messages are in the chats of the account too", count - turns.len());
            files.report_dropped(member.place.clone(), DroppedAs::Skipped, &reason, None);
        }
        if turns.is_empty() {
            return Ok(());
        }
        send_chat(files, member, NAME, CHAT, turns)
    })
}

/// Returns the time in microseconds and the text of a message, by which the same message is found in both files.
fn time_and_text(turn: &Turn) -> (Option<i64>, String) {
    (turn.times.created.map(|time| time.as_micros()), turn.text.clone())
}

/// Reads the chat with My AI in `chat_history.json`, and adds its messages to `messages_in_history`. Chats with people
/// are not read.
fn read_history(
    rows: &RowSender,
    files: &mut FileReader<'_>,
    member: &Member,
    messages_in_history: &mut HashSet<(Option<i64>, String)>,
) -> Result<(), FormatError> {
    let (mut turns, mut bytes) = (Vec::new(), 0);
    let catalog = files.catalog;
    // The text around the list contains the chats with people, so it is not stored.
    catalog.read(member, |reader| {
        each_row_in(files, member, reader, &[HISTORY], Kind::Message, &mut |files, row| {
            bytes += row.text.len() as u64;
            if bytes > files.context.limits.element_bytes {
                rows.fail(files, row, "too_large: the messages of this file", Kind::Message);
            } else if let Some(object) = object_of(files, row, Kind::Message) {
                turns.push(history_turn(row, &object));
            }
            Ok(())
        })
    })?;
    let message = "only the chat with My AI is read; the chats with people in this file are not";
    files.sink.note(Issue::new("chats_with_people", &member.place, message));
    messages_in_history.extend(turns.iter().map(time_and_text));
    if turns.is_empty() {
        return Ok(());
    }
    send_chat(files, member, HISTORY, HISTORY, turns)
}

/// Sends the conversation to the sink. `list` is the name of its list in the file.
fn send_chat(
    files: &mut FileReader<'_>,
    member: &Member,
    id: &str,
    list: &str,
    mut turns: Vec<Turn>,
) -> Result<(), FormatError> {
    number_repeats(&mut turns);
    put_oldest_first(&mut turns);
    let mut chat = Chat { id: Some(id.into()), title: Some(NAME.into()), is_log: true, ..Chat::default() };
    chat.pointer = format!("/{list}");
    chat.times = times_of(&turns);
    chat.turns = turns;
    send(files, member, chat, PLATFORM, None)
}

/// Appends a number to the keys of equal messages in the same second. The position in the file is not used, because a
/// later export may lack the oldest messages.
fn number_repeats(turns: &mut [Turn]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for key in turns.iter_mut().filter_map(|turn| turn.key.as_mut()) {
        let count = counts.entry(key.clone()).or_default();
        *count += 1;
        if *count > 1 {
            *key = format!("{key}~{count}");
        }
    }
}

/// Returns the turn of a message in `chat_history.json`, which states who sent the message.
fn history_turn(row: &Row<'_>, object: &Object<'_>) -> Turn {
    let text = object.first_text(&["Content", "Text"]).unwrap_or_default();
    let member = |key: &str| object.first_text(&[key]).unwrap_or_default();
    let time = object.id("Created(microseconds)").unwrap_or_else(|| member("Created"));
    let is_of_person = match object.raw_value("IsSender") {
        Some(raw) => raw.get() == "true",
        None => member("From") != HISTORY,
    };
    let mut turn = Turn {
        key: Some(content_id(&format!("{time}\n{is_of_person}\n{text}"))),
        role: if is_of_person { roles::USER } else { roles::ASSISTANT }.into(),
        text,
        content_type: "text".into(),
        times: Times { created: object.time("Created"), ..Times::default() },
        pointer: row.pointer.clone(),
        verbatim: Some(Verbatim::json(row.text)),
        ..Turn::default()
    };
    for (name, key) in [("type", "Media Type"), ("media", "Media IDs")] {
        let value = member(key);
        if !value.is_empty() {
            turn.fields.insert(name.into(), value.into());
        }
    }
    turn
}

/// Returns the turn of a message in `snapchat_ai.json`. Its key is a digest and not its position, because a later
/// export may lack the oldest messages. The author is unknown, unless the type of the message states it.
fn turn(row: &Row<'_>, object: &Object<'_>) -> Option<Turn> {
    let text = object.first_text(&["Content"])?;
    let kind = object.first_text(&["Type"]).unwrap_or_default();
    let time = object.first_text(&["Timestamp"]).unwrap_or_default();
    let mut turn = Turn {
        key: Some(content_id(&format!("{time}\n{kind}\n{text}"))),
        role: roles::role(&kind).map_or_else(|| roles::role_or_name(""), str::to_owned),
        text,
        content_type: "text".into(),
        times: Times { created: object.time("Timestamp"), ..Times::default() },
        pointer: row.pointer.clone(),
        verbatim: Some(Verbatim::json(row.text)),
        ..Turn::default()
    };
    if !kind.is_empty() {
        turn.fields.insert("type".into(), kind.into());
    }
    Some(turn)
}

/// Reads an entry that My AI remembers, which is an object or a text, and sends it as a memory.
fn read_memory(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let plain_text = serde_json::from_str::<&RawValue>(row.text).ok().and_then(decode_string);
    let object = match &plain_text {
        Some(_) => Object::default(),
        None => match object_of(files, row, Kind::Memory) {
            Some(object) => object,
            None => return Ok(()),
        },
    };
    let plain_text = plain_text.filter(|text| !text.trim().is_empty()).map(|text| text.into_owned());
    let Some(text) = plain_text.or_else(|| object.first_text(&["Memory", "Content"])) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    let mut record = rows.record(Kind::Memory, None, &text, text.clone());
    record.times.created = object.time("Timestamp");
    record.fields = object.other_fields(&["Memory", "Content", "Timestamp", "IP Address"]);
    rows.send(files, row, record)
}
