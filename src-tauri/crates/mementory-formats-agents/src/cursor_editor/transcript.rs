//! Transcripts of agents: JSON Lines with roles and contents, without ids and times.
use super::chat_file;
use super::store::message_turn;
use mementory_format::{FormatError, Member, is_uuid};
use mementory_formats_shared::chat::Chat;
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};

/// Reads a transcript as one conversation. Its id is the UUID that Cursor puts into the name of the file or its folder.
/// Without such a UUID, the id is derived from the first message.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut chat = Chat { is_log: true, record_type: Some("transcript".into()), ..Chat::default() };
    let mut bytes = 0;
    reader.lines(member, Kind::Message, |reader, line| {
        if !reader.add_message_size(&mut bytes, member, line, "transcript") {
            return Ok(());
        }
        let Some(message) = line.object.raw_value("message") else {
            let place = format!("{}#{}", member.place, line.pointer);
            let reason = "no_content: a line without a message";
            reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Message));
            return Ok(());
        };
        let inner = Object::parse(message.get()).unwrap_or_default();
        let source = if inner.has("role") { &inner } else { &line.object };
        let role = source.text("role").unwrap_or_default().into_owned();
        let (mut turn, mut content) = message_turn(line.text, &inner);
        if !inner.has("role") {
            // The role is next to the message object, not inside it.
            let outer = format!("{{\"role\":{},\"content\":{}}}", serde_json::Value::from(role), content_of(&inner));
            if let Some(object) = Object::parse(&outer) {
                (turn, content) = message_turn(&outer, &object);
            }
        }
        turn.verbatim = Some(Verbatim::json(line.text));
        reader.store_files(member, &mut content)?;
        turn.pointer.clone_from(&line.pointer);
        chat.turns.push(turn);
        Ok(())
    })?;
    let stem = without_extension(member.file_name());
    let folder = member.name.split('/').rev().nth(1).unwrap_or_default();
    let first = chat.turns.first().map(|turn| turn.text.clone()).unwrap_or_default();
    let id = [stem, folder].into_iter().find(|name| is_uuid(name)).map_or_else(|| content_id(&first), str::to_owned);
    chat.id = Some(format!("transcript/{id}"));
    reader.send_chat(chat, chat_file(&member.place))
}

fn content_of<'m>(message: &Object<'m>) -> &'m str {
    message.raw_value("content").map_or("null", |raw| raw.get())
}
