//! Reads a chat, whose file is a list of messages. Each message states the id of its chat. If a message has several
//! versions, the highest version is on the active branch.
use super::{MISTRAL, content};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn, TurnParent},
    files::{file_name, folder},
    object::content_id,
    reader::{FileReader, ObjectElement},
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_model::{DroppedAs, Issue, Kind, Times, Verbatim};
use serde_json::Value;
use std::collections::HashMap;

/// Members of a message that have a field in the model.
const MESSAGE_MEMBERS: [&str; 10] =
    ["id", "version", "chatId", "role", "content", "contentChunks", "createdAt", "updatedAt", "files", "canvas"];

/// Returns the chat id and the file name in the path of a file in `chat-<id>-files/`. None for any other path.
pub(super) fn file_of_chat(path: &str) -> Option<(&str, &str)> {
    let chat = file_name(folder(path)).strip_prefix("chat-")?.strip_suffix("-files")?;
    Some((chat, file_name(path)))
}

/// A message whose parent is not determined yet.
struct Message {
    turn: Turn,
    id: Option<String>,
    version: u64,
}

/// The messages of a file, grouped by chat. The chats are in the order of their first messages.
#[derive(Default)]
struct Chats {
    list: Vec<(Option<String>, Vec<Message>)>,
    positions: HashMap<Option<String>, usize>,
    bytes: u64,
}

/// Reads a file of messages and sends its chats to the sink.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member, version: Option<&str>) -> Result<(), FormatError> {
    let mut chats = Chats::default();
    let count = reader.objects(member, &["messages"], Kind::Message, |reader, element| {
        if ["id", "role", "content", "contentChunks"].iter().all(|key| element.object.raw_value(key).is_none()) {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "not_a_message: none of the members of a message";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let chat = first_id(&element.object, &["chatId"]);
        let message = message(element, chat.as_deref().unwrap_or_default());
        let position = *chats.positions.entry(chat.clone()).or_insert(chats.list.len());
        if position == chats.list.len() {
            chats.list.push((chat, Vec::new()));
        }
        if let Some((_, messages)) = chats.list.get_mut(position) {
            messages.push(message);
        }
        chats.bytes += element.text.len() as u64;
        if chats.bytes > reader.context.limits.element_bytes {
            let message = "this file is larger than the limit for one chat and was read in pieces";
            reader.sink.note(Issue::new("split", &member.place, message));
            return send(reader, member, version, std::mem::take(&mut chats));
        }
        Ok(())
    })?;
    if count == 0 {
        reader.sink.note(Issue::new("empty", &member.place, "this chat has no messages"));
    }
    send(reader, member, version, chats)
}

fn message(element: &ObjectElement<'_>, chat: &str) -> Message {
    let object = &element.object;
    let content = content::read(object, chat);
    let mut fields = other_fields(object, &MESSAGE_MEMBERS);
    if fields.get("reaction").and_then(Value::as_str) == Some("neutral") {
        fields.remove("reaction");
    }
    let content_type = match content.blocks.first().filter(|_| content.text.trim().is_empty()) {
        Some(first) => first.get("type").and_then(Value::as_str).unwrap_or("text").to_owned(),
        None => "text".to_owned(),
    };
    if !content.blocks.is_empty() {
        fields.insert("blocks".into(), Value::Array(content.blocks));
    }
    if !content.citations.is_empty() {
        fields.insert("citations".into(), Value::Array(content.citations));
    }
    let id = first_id(object, &["id"]);
    let version = object.whole_number("version").unwrap_or_default();
    if version > 0 {
        fields.insert("version".into(), version.into());
    }
    let turn = Turn {
        key: id.as_ref().filter(|_| version > 0).map(|id| format!("{id}~v{version}")),
        id: id.clone(),
        role: first_text(object, &["role"]).map_or_else(|| "unknown".into(), |role| role.to_lowercase()),
        text: content.text,
        content_type,
        model: first_text(object, &["model", "modelName"]),
        times: Times {
            created: first_time(object, &["createdAt", "created_at"]),
            updated: first_time(object, &["updatedAt"]),
            ..Times::default()
        },
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(element.text)),
        attachments: content.attachments,
        fields,
        ..Turn::default()
    };
    Message { turn, id, version }
}

fn send(reader: &mut FileReader<'_>, member: &Member, version: Option<&str>, chats: Chats) -> Result<(), FormatError> {
    for (id, mut messages) in chats.list {
        // A file may list the messages in any order, so they are sorted by time.
        if messages.iter().all(|message| message.turn.times.created.is_some()) {
            messages.sort_by_key(|message| message.turn.times.created);
        }
        let (turns, leaf) = with_parents(messages);
        let times = || turns.iter().filter_map(|turn| turn.times.created);
        let chat = Chat {
            times: Times { created: times().min(), updated: times().max(), ..Times::default() },
            // Besides the messages, the file contains only the id of a chat, which becomes the verbatim.
            verbatim: Some(Verbatim::json(
                id.as_ref().map_or_else(|| "null".into(), |id| Value::from(id.as_str()).to_string()),
            )),
            pointer: turns.first().map(|turn| turn.pointer.clone()).unwrap_or_default(),
            id,
            turns,
            leaf,
            ..Chat::default()
        };
        let mut issues = Vec::new();
        let file = ChatFile { format: MISTRAL, platform: MISTRAL, version, container: &member.place };
        let unit = chat.into_unit(file, &mut issues);
        issues.into_iter().for_each(|issue| reader.sink.note(issue));
        reader.sink.unit(unit)?;
    }
    Ok(())
}

/// Returns the turns with their parents, and the key of the last turn on the active branch. The parent of all versions
/// of a message is the highest version of the previous message.
fn with_parents(messages: Vec<Message>) -> (Vec<Turn>, Option<String>) {
    // A message without an id gets a key, so that it can be the parent of other messages.
    let keyed_messages: Vec<(String, Message)> = messages
        .into_iter()
        .enumerate()
        .map(|(index, mut message)| {
            let turn = &mut message.turn;
            if message.id.is_none() {
                turn.key = Some(content_id(&format!("{index}\n{}\n{}", turn.role, turn.text)));
            }
            let key = turn.key.clone().or_else(|| turn.id.clone()).unwrap_or_default();
            (key, message)
        })
        .collect();
    // The key and number of the highest version of each message. Messages are in the order of their first versions.
    let mut order: Vec<(String, u64)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut position_of: Vec<usize> = Vec::with_capacity(keyed_messages.len());
    for (key, message) in &keyed_messages {
        let position = match message.id.as_deref().and_then(|id| positions.get(id)) {
            Some(position) => *position,
            None => {
                order.push((key.clone(), message.version));
                order.len() - 1
            }
        };
        if let Some(id) = message.id.as_deref() {
            positions.entry(id).or_insert(position);
        }
        if let Some(best) = order.get_mut(position).filter(|(_, version)| *version <= message.version) {
            *best = (key.clone(), message.version);
        }
        position_of.push(position);
    }
    let leaf = order.last().map(|(key, _)| key.clone());
    let turns = keyed_messages.into_iter().zip(position_of).map(|((_, message), position)| {
        let parent = position.checked_sub(1).and_then(|before| order.get(before));
        let parent = parent.map_or(TurnParent::Root, |(key, _)| TurnParent::Id(key.clone()));
        Turn { parent, ..message.turn }
    });
    (turns.collect(), leaf)
}
