//! Reads the chat with My AI as one conversation, and what My AI remembers as memories.
use super::detect::{CHAT, MEMORY};
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::chat::{Chat, Turn, put_oldest_first, times_of};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, object_of};
use mementory_formats_shared::message::send;
use mementory_formats_shared::object::{Object, content_id, decode_string};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::roles;
use mementory_model::{Issue, Kind, Times, Verbatim};
use serde_json::value::RawValue;

/// Id and title of the conversation. There is only one, and the file has no name for it.
const NAME: &str = "My AI";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, None);
    files.each_file(detected, |files, member, _| {
        let (mut turns, mut bytes, mut is_empty) = (Vec::new(), 0, true);
        each_row(files, member, &[CHAT, MEMORY], Kind::Message, &mut |files, row| {
            is_empty &= ![MEMORY, CHAT].contains(&row.list_name());
            if row.list_name() == MEMORY {
                return read_memory(&mut rows, files, row);
            }
            // An export without a list is a single object, which is not a message.
            if row.list_name() != CHAT {
                return Ok(());
            }
            // The messages of the conversation are in memory until the end of the file, because they may be in any order.
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
        if turns.is_empty() {
            return Ok(());
        }
        put_oldest_first(&mut turns);
        let mut chat = Chat { id: Some(NAME.into()), title: Some(NAME.into()), is_log: true, ..Chat::default() };
        chat.pointer = format!("/{CHAT}");
        chat.times = times_of(&turns);
        chat.turns = turns;
        send(files, member, chat, PLATFORM, None)
    })
}

/// A message. The oldest messages may be missing from a later export, so its key is a digest and not its position. The
/// file does not say who wrote the message, unless the message's type says it.
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

/// Something that My AI remembers, as an object or as a text.
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
