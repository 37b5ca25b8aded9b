//! Reads `group_chats.json`, which contains chats of several people with ChatGPT. Each chat is a plain list of
//! messages, not a tree. The export does not say which of the people wrote a message.
use super::{
    attachments,
    conversation::{self, ConversationPlace, Outcome},
};
use mementory_format::{Catalog, JsonHead, Member, plain_name};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    message,
    object::{Object, list, with_replaced_values},
    roles,
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_json::repair;
use mementory_model::{AttachmentRef, Kind, Record, Source, Times, Verbatim};
use std::borrow::Cow;

const RECORD_TYPE: &str = "group_chat";
/// Name of the side file that contains the group chats.
const FILE: &str = "group_chats.json";
/// Members of a chat that have a field in the model.
const CHAT_MEMBERS: [&str; 6] = ["id", "name", "created_at", "updated_at", "last_action_at", "messages"];
/// Members of a message that have a field in the model.
const MESSAGE_MEMBERS: [&str; 8] =
    ["id", "role", "text", "content", "parts", "created_at", "updated_at", "attachments"];

/// True if the name of a file is that of the file with group chats.
pub(super) fn is_file(member: &Member) -> bool {
    plain_name(&member.name) == FILE
}

/// True if the file contains group chats. For an account without group chats, the file contains an empty list.
pub(super) fn has_chats(catalog: &Catalog, member: &Member) -> bool {
    is_file(member) && JsonHead::of(catalog, member).is_some_and(|head| head.keys.has("chats.messages"))
}

/// Returns the keys under which a file may list its conversations.
pub(super) fn list_keys(member: &Member) -> &'static [&'static str] {
    if is_file(member) { &["chats"] } else { &["conversations", "items", "data"] }
}

/// True for the record of a group chat and for the records of its messages. The messages of all other conversations
/// come from nodes of a `mapping`.
pub(super) fn is_group_chat_record(record: &Record) -> bool {
    match record.kind {
        Kind::Message => record.origin.pointer.contains("/messages/") && !record.origin.pointer.contains("/mapping/"),
        _ => record.record_type.as_deref() == Some(RECORD_TYPE),
    }
}

/// Reads one chat of the file. A chat without a list of messages is read like any other conversation.
pub(super) fn read(bytes: &[u8], place: &ConversationPlace<'_>) -> Outcome {
    let mut out = Outcome::default();
    let valid_text = std::str::from_utf8(bytes).ok().filter(|text| Object::parse(text).is_some());
    let text = match valid_text {
        Some(text) => Cow::Borrowed(text),
        None => match repair(bytes) {
            Some((repaired, codes)) => {
                for code in codes {
                    let message = "repaired while reading; the stored original is the repaired text";
                    out.add_issue(code, place, place.pointer, message);
                }
                Cow::Owned(repaired)
            }
            None => return conversation::read(bytes, place),
        },
    };
    if !add_chat(&text, place, &mut out) {
        return conversation::read(bytes, place);
    }
    out
}

fn add_chat(text: &str, place: &ConversationPlace<'_>, out: &mut Outcome) -> bool {
    let Some(object) = Object::parse(text) else { return false };
    let Some((raw, messages)) = object.raw_value("messages").and_then(|raw| Some((raw, list(raw)?))) else {
        return false;
    };
    let mut chat = Chat {
        id: first_id(&object, &["id"]),
        title: first_text(&object, &["name"]),
        times: Times {
            created: first_time(&object, &["created_at"]),
            updated: first_time(&object, &["updated_at", "last_action_at"]),
            ..Times::default()
        },
        source: Source { account: place.account.map(str::to_owned), ..Source::default() },
        record_type: Some(RECORD_TYPE.into()),
        pointer: place.pointer.to_owned(),
        verbatim: Some(Verbatim::json(with_replaced_values(text, &[(raw, "[]")]))),
        fields: other_fields(&object, &CHAT_MEMBERS),
        is_log: true,
        ..Chat::default()
    };
    for (index, raw) in messages.into_iter().enumerate() {
        let pointer = format!("{}/messages/{index}", place.pointer);
        match Object::parse(raw.get()) {
            Some(message) => chat.turns.push(turn(&message, raw.get(), pointer, place)),
            None => out.drop_with_raw(place, pointer, Kind::Message, "not a message object", raw.get()),
        }
    }
    let file = ChatFile { format: "chatgpt", platform: "chatgpt", version: place.version, container: place.container };
    out.unit = Some(chat.into_unit(file, &mut out.issues));
    true
}

fn turn(message: &Object<'_>, text: &str, pointer: String, place: &ConversationPlace<'_>) -> Turn {
    let role = roles::role_or_name(&first_text(message, &["role"]).unwrap_or_default());
    Turn {
        id: first_id(message, &["id"]),
        hidden: role == roles::SYSTEM || role == roles::TOOL,
        role,
        text: message::content(message).text,
        content_type: "text".into(),
        times: message::times(message),
        pointer,
        verbatim: Some(Verbatim::json(text)),
        attachments: files(message, place),
        fields: other_fields(message, &MESSAGE_MEMBERS),
        ..Turn::default()
    }
}

/// Returns the files of a message. An address such as `sediment://file_1` ends with the file id.
fn files(message: &Object<'_>, place: &ConversationPlace<'_>) -> Vec<AttachmentRef> {
    let entries = message.list("attachments").unwrap_or_default();
    let objects = entries.iter().filter_map(|raw| Object::parse(raw.get()));
    let reference = |file: Object<'_>| {
        let name = first_text(&file, &["file_name", "name"]);
        let address = first_text(&file, &["asset_pointer"]);
        let id = first_id(&file, &["file_id", "id"])
            .or_else(|| address.as_deref()?.rsplit_once("://").map(|(_, id)| id.to_owned()))
            .or_else(|| Some(place.names.id_by_name(name.as_deref()?)?.to_owned()));
        let key = id.clone().or_else(|| name.as_deref().map(attachments::id_of_name))?;
        Some(AttachmentRef {
            name: name.or_else(|| place.names.name(&key).map(str::to_owned)).unwrap_or_else(|| key.clone()),
            media_type: first_text(&file, &["mime_type", "mimeType"]),
            size: file.whole_number("size_bytes").or_else(|| file.whole_number("size")),
            text: None,
            origin_id: id,
            key: attachments::file_key(&key),
        })
    };
    objects.filter_map(reference).collect()
}
