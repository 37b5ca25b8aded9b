//! Reads a shared session in the form in which its page receives it. In current versions, this is a list of the
//! session, its messages and their parts (`{type, data}`). In older versions, it is an object with the messages by
//! their ids.
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Issue, Kind, Verbatim};
use std::collections::HashMap;

/// A message or the session, as it is in the file.
struct Item {
    id: String,
    /// Time of creation, in microseconds.
    time: i64,
    text: String,
    pointer: String,
    parts: Vec<String>,
}

/// Reads a list of items.
pub(super) fn read_list(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut header = None;
    let mut messages: Vec<Item> = Vec::new();
    let mut parts: HashMap<String, Vec<String>> = HashMap::new();
    let (limit, mut bytes) = (reader.context.limits.element_bytes, 0);
    reader.objects(member, &[], Kind::Message, |reader, element| {
        bytes += element.text.len() as u64;
        let place = format!("{}#{}", member.place, element.pointer);
        if bytes > limit {
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let kind = element.object.text("type").unwrap_or_default();
        let Some((raw, data)) = element.object.raw_value("data").zip(element.object.object("data")) else {
            // Changes of files and lists of models are not messages.
            if !matches!(kind.as_ref(), "session_diff" | "model") {
                let reason = "no_content: an entry without an object";
                reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            }
            return Ok(());
        };
        match kind.as_ref() {
            "session" => header = Some(raw.get().to_owned()),
            "message" => messages.push(item(&data, raw.get(), format!("{}/data", element.pointer))),
            "part" => {
                let message = data.text("messageID").unwrap_or_default().into_owned();
                parts.entry(message).or_default().push(raw.get().to_owned());
            }
            _ => {}
        }
        Ok(())
    })?;
    for message in &mut messages {
        message.parts = parts.remove(&message.id).unwrap_or_default();
    }
    let lost = parts.values().map(Vec::len).sum::<usize>();
    if lost > 0 {
        let message = format!("{lost} parts belong to messages that are not in the file");
        reader.sink.note(Issue::new("message_missing", &member.place, message));
    }
    send(reader, member, header.as_deref(), messages)
}

/// Reads an object with the messages by their ids.
pub(super) fn read_map(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    reader.objects(member, &[], Kind::Conversation, |reader, element| {
        let header = element.object.raw_value("info").map(|raw| raw.get());
        let mut items = Vec::new();
        for (id, raw) in element.object.object("messages").unwrap_or_default().members() {
            let pointer = format!("{}/messages/{id}", element.pointer);
            match Object::parse(raw.get()) {
                Some(message) => items.push(item(&message, raw.get(), pointer)),
                None => {
                    let place = format!("{}#{pointer}", member.place);
                    let reason = "not_a_message: an entry that is not an object";
                    reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
                }
            }
        }
        send(reader, member, header, items)
    })?;
    Ok(())
}

fn item(object: &Object<'_>, text: &str, pointer: String) -> Item {
    let metadata = object.object("metadata").unwrap_or_default();
    let time = object.object("time").or_else(|| metadata.object("time"));
    let time = time.and_then(|time| any_time(&time, "created"));
    Item {
        id: object.text("id").unwrap_or_default().into_owned(),
        time: time.map_or(i64::MAX, |time| time.as_micros()),
        text: text.to_owned(),
        pointer,
        parts: Vec::new(),
    }
}

fn send(
    reader: &mut FileReader<'_>,
    member: &Member,
    header: Option<&str>,
    mut messages: Vec<Item>,
) -> Result<(), FormatError> {
    if messages.is_empty() {
        let reason = "no_content: a session without messages";
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Conversation));
        return Ok(());
    }
    messages.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
    let mut session = Session::new(None, header);
    for Item { text, pointer, parts, .. } in messages {
        let info = Object::parse(&text).unwrap_or_default();
        let objects: Vec<Object<'_>> = parts.iter().filter_map(|part| Object::parse(part)).collect();
        let verbatim = match parts.is_empty() {
            true => Verbatim::json(text.as_str()),
            // The parts are elsewhere in the file, so the verbatim contains the message and each part on separate
            // lines.
            false => Verbatim {
                media_type: "application/x-ndjson".into(),
                text: std::iter::once(&text).chain(&parts).map(String::as_str).collect::<Vec<_>>().join("\n"),
            },
        };
        session.add(reader, member, (&info, &objects), (verbatim, pointer))?;
    }
    session.send(reader, &member.place)
}
