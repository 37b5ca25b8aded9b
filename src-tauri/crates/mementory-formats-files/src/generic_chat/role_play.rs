//! Reads a chat with a character that Agnai or Risu exported.
use super::head_values::values_of;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, times_of};
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send};
use mementory_formats_shared::object::{Object, content_id, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_json::Keys;
use mementory_model::Verbatim;
use serde_json::value::RawValue;

const AGNAI: &str = "agnai";
const RISU: &str = "risuai";
/// Key of the messages in a chat of Agnai.
const AGNAI_MESSAGES: &str = "messages";
/// Keys of the object with a chat of Risu, and of the messages in it.
const RISU_CHAT: &str = "data";
const RISU_MESSAGES: &str = "message";
/// Keys of objects below which other programs write lists of messages.
const WRAPPERS: [&str; 3] = ["conversations", "projects", "data"];

/// True for the start of a file with a chat of Agnai or Risu.
pub(super) fn is_chat(keys: &Keys, text: &str) -> bool {
    is_agnai(keys, text) || is_risu(keys, text)
}

/// True for a chat of Agnai. Chats of other programs have ids of people too, so a message must be a character's: it
/// names the character, or its id of a person is empty. Messages of other programs have a role or a content as well.
fn is_agnai(keys: &Keys, text: &str) -> bool {
    let has = |key: &str| keys.has(&format!("{AGNAI_MESSAGES}.{key}"));
    // `Keys::has` also finds the members of these objects, in which `read` does not look.
    let is_wrapped = WRAPPERS.iter().any(|key| keys.has(&format!("{key}.{AGNAI_MESSAGES}")));
    let messages = text.find(&format!("\"{AGNAI_MESSAGES}\"")).and_then(|at| text.get(at..)).unwrap_or_default();
    let has_character = has("characterId") || values_of(messages, "\"userId\"").contains(&"");
    has("msg") && has("userId") && has_character && !(is_wrapped || has("role") || has("content"))
}

fn is_risu(keys: &Keys, text: &str) -> bool {
    let has = |key: &str| keys.has(&format!("{RISU_CHAT}.{RISU_MESSAGES}.{key}"));
    has("role") && has("data") && values_of(text, "\"type\"").contains(&"risuChat")
}

/// Sends the chat in an element.
pub(super) fn read(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let risu_chat = element.object.object(RISU_CHAT).filter(|chat| chat.has(RISU_MESSAGES));
    let (platform, object, at) = match &risu_chat {
        Some(chat) => (RISU, chat, format!("{}/{RISU_CHAT}/{RISU_MESSAGES}", element.pointer)),
        None => (AGNAI, &element.object, format!("{}/{AGNAI_MESSAGES}", element.pointer)),
    };
    let (messages_key, text_key) = if platform == RISU { (RISU_MESSAGES, "data") } else { (AGNAI_MESSAGES, "msg") };
    let entries = object.raw_value(messages_key);
    let title = first_text(object, &["name"]);
    let mut chat = Chat { title, is_log: true, pointer: element.pointer.clone(), ..Chat::default() };
    for (index, raw) in entries.and_then(list).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{at}/{index}");
        let Some(message) = Object::parse(raw.get()) else {
            report_no_message(files, member, &pointer);
            continue;
        };
        let mut turn = read_message(&message, raw.get(), pointer, files.format);
        turn.text = message.text(text_key).unwrap_or_default().into_owned();
        turn.content_type = "text".into();
        // Risu names the id of a message after the chat.
        turn.id = turn.id.or_else(|| first_text(&message, &["chatId"]));
        let is_person = if platform == RISU { turn.role == USER } else { message.non_blank_text("userId").is_some() };
        turn.role = if is_person { USER } else { ASSISTANT }.to_owned();
        chat.turns.push(turn);
    }
    if chat.turns.is_empty() {
        report_no_message(files, member, &at);
        return Ok(());
    }
    chat.id = first_text(object, &["_id", "id"]);
    chat.key = Some(format!("{platform}/{}", key_of(&chat)));
    chat.times = times_of(&chat.turns);
    let cuts: Vec<(&RawValue, &str)> = entries.map(|raw| (raw, "[]")).into_iter().collect();
    chat.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &cuts)));
    send(files, member, chat, platform, Some(platform))
}

/// What identifies a chat: its id, or else its name with the first message and the first id or time of a message. Chats
/// with a character often begin with the same texts, so without ids and times the whole chat identifies it.
fn key_of(chat: &Chat) -> String {
    if let Some(id) = &chat.id {
        return id.clone();
    }
    let first_id = chat.turns.iter().find_map(|turn| turn.id.clone());
    let first_time = chat.turns.iter().find_map(|turn| turn.times.created);
    let mark = first_id.or_else(|| Some(format!("{:?}", first_time?)));
    let content = match mark {
        Some(mark) => format!("{:?}\n{mark}\n{:?}", chat.title, chat.turns.first().map(|turn| &turn.text)),
        None => {
            let turns = chat.turns.iter().map(|turn| format!("{}: {:?}", turn.role, turn.text));
            format!("{:?}\n{}", chat.title, turns.collect::<Vec<_>>().join("\n"))
        }
    };
    content_id(&content)
}
