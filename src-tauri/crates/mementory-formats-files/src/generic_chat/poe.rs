//! Reads chats with Poe as its page receives them: an answer of GraphQL that contains a `messagesConnection` at any
//! level. Scripts save one answer for each page of messages, or a list of answers.
use super::page_answer::{Messages, send_answer};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, read_message};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, USER};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind};

const PLATFORM: &str = "poe";
/// Member with the messages of a chat, and the list in it. Each entry has a message in its `node`.
const CONNECTION: &str = "messagesConnection";
const EDGES: &str = "edges";
/// Largest number of nested objects around a chat. A chat that is nested more deeply is not found.
const MAX_NESTING: usize = 4;
/// Author of the messages that the person wrote.
const PERSON: &str = "human";
/// Author of the line that ends the context of a chat.
const BREAK: &str = "chat_break";

/// True if the keys are those of a chat whose messages have a time, and an author or an author's name.
pub(super) fn is_chat(keys: &Keys, text: &str) -> bool {
    let has_member = |names: &[&str]| names.iter().any(|name| text.contains(&format!("\"{name}\"")));
    keys.has_at_any_level(&format!("{CONNECTION}.{EDGES}"))
        && has_member(&["author", "authorNickname"])
        && has_member(&["creationTime"])
        && has_member(&["messageId"])
}

/// Sends the chats in an element.
pub(super) fn read(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let mut chats = Vec::new();
    find_chats(element.text, &element.pointer, MAX_NESTING, &mut chats);
    if chats.is_empty() {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "no_messages: this entry has no messages";
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
    }
    for chat in chats {
        let edges = chat.object.object(CONNECTION).and_then(|connection| connection.raw_value(EDGES));
        let at = format!("{}/{CONNECTION}/{EDGES}", chat.pointer);
        // An entry has no number, but the messages have times.
        let messages = Messages { list: edges, pointer: at, number: "", read: turn };
        let head = Chat {
            id: first_text(&chat.object, &["chatCode", "chatId", "id"]),
            title: first_text(&chat.object, &["title"]),
            ..Chat::default()
        };
        send_answer(files, member, &chat, &messages, head, PLATFORM)?;
    }
    Ok(())
}

/// Finds the objects with messages in a JSON text.
fn find_chats<'e>(text: &'e str, pointer: &str, nesting: usize, out: &mut Vec<ObjectElement<'e>>) {
    let Some(object) = Object::parse(text) else { return };
    if object.has(CONNECTION) {
        out.push(ObjectElement { text, object, pointer: pointer.to_owned() });
        return;
    }
    for (key, raw) in object.members().filter(|_| nesting > 0) {
        find_chats(raw.get(), &format!("{pointer}/{key}"), nesting - 1, out);
    }
}

fn turn(files: &FileReader<'_>, edge: &Object<'_>, text: &str, pointer: String) -> Turn {
    let node = edge.object("node").unwrap_or_default();
    let mut turn = read_message(&node, text, pointer, files.format);
    let author = first_text(&node, &["author", "authorNickname"]).unwrap_or_default();
    turn.role = match author.as_str() {
        PERSON => USER,
        BREAK => SYSTEM,
        _ => ASSISTANT,
    }
    .to_owned();
    turn.hidden = turn.role == SYSTEM;
    turn.model = Some(author).filter(|name| turn.role == ASSISTANT && !name.is_empty());
    turn
}
