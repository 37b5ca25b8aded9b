//! Reads chats that the browser extension Gemini Voyager exports: `{format, url, title, items[{user, assistant,
//! starred}]}`.
use super::activity::SCOPE;
use mementory_format::{FormatError, JsonHead, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    object::{Object, content_id, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
};
use mementory_model::{AttachmentRef, DroppedAs, Kind, RecordKey, Verbatim};
use serde_json::value::RawValue;

/// Beginning of the value of `format`, without the version of the format.
const FORMAT_NAME: &[u8] = b"\"gemini-voyager.chat.";
/// Name of this layout. It is the version in claims and in the origin of records.
pub(super) const LAYOUT: &str = "voyager";
/// Members of a chat for which the model has a field. `READ_ITEM_MEMBERS` are those of an item.
const READ_MEMBERS: [&str; 5] = ["format", "title", "count", "items", "provider"];
const READ_ITEM_MEMBERS: [&str; 3] = ["user", "assistant", "attachments"];
/// Sites other than Gemini on which the extension works, with the names of their platforms.
const SITES: [(&str, &str); 3] =
    [("chatgpt.com", "chatgpt"), ("claude.ai", "claude"), ("m365.cloud.microsoft", "copilot")];

/// True if the beginning of a file is that of a chat that Gemini Voyager exported.
pub(super) fn is_chat(head: &JsonHead) -> bool {
    let keys = &head.keys;
    keys.has("items") && keys.has("format") && memchr::memmem::find(&head.bytes(), FORMAT_NAME).is_some()
}

/// Reads a file with one chat or with a list of chats.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    reader.objects(member, &[], Kind::Conversation, |reader, element| chat(reader, member, element))?;
    Ok(())
}

fn chat(reader: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Result<(), FormatError> {
    let object = &element.object;
    let raw_items = object.raw_value("items");
    let Some(items) = raw_items.and_then(list) else {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "not_a_conversation: no list of items";
        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let mut turns = Vec::with_capacity(2 * items.len());
    for (index, raw) in items.into_iter().enumerate() {
        let pointer = format!("{}/items/{index}", element.pointer);
        let item_turns =
            Object::parse(raw.get()).map(|item| prompt_and_answer(&item, raw, index, &pointer)).unwrap_or_default();
        if item_turns.is_empty() {
            let place = format!("{}#{pointer}", member.place);
            let reason = "not_a_message: neither a prompt nor an answer";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
        }
        turns.extend(item_turns);
    }
    let url = object.text("url").unwrap_or_default();
    let cuts: Vec<(&RawValue, &str)> = raw_items.map(|raw| (raw, "[]")).into_iter().collect();
    let mut chat = Chat {
        id: Some(chat_id(&url, &turns)),
        title: object.non_blank_text("title").map(Into::into),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &cuts))),
        turns,
        ..Chat::default()
    };
    for (name, raw) in object.members().filter(|(name, _)| !READ_MEMBERS.contains(name)) {
        chat.fields.extend(serde_json::from_str(raw.get()).ok().map(|value| (name.to_owned(), value)));
    }
    let file = ChatFile { format: SCOPE, platform: platform(&url), version: Some(LAYOUT), container: &member.place };
    let mut issues = Vec::new();
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

/// Returns the prompt and the answer of an item. Either may be missing.
fn prompt_and_answer(item: &Object<'_>, raw: &RawValue, index: usize, pointer: &str) -> Vec<Turn> {
    let texts: Vec<_> = ["user", "assistant"]
        .into_iter()
        .filter_map(|role| Some((role, item.non_blank_text(role)?.into_owned(), item.raw_value(role)?)))
        .collect();
    // Each text is only in the verbatim of its own message, so erasing that message erases the text completely. The
    // remaining members of the item are in the verbatim of the first message.
    let later_texts: Vec<(&RawValue, &str)> = texts.iter().skip(1).map(|(_, _, own)| (*own, "\"\"")).collect();
    let mut out = Vec::new();
    for (number, (role, text, own)) in texts.into_iter().enumerate() {
        let source = if number == 0 { with_replaced_values(raw.get(), &later_texts) } else { own.get().to_owned() };
        out.push(Turn {
            id: Some(format!("{role}/{index}")),
            role: role.into(),
            text,
            content_type: "text".into(),
            pointer: pointer.to_owned(),
            verbatim: Some(Verbatim::json(source)),
            ..Turn::default()
        });
    }
    let Some(first) = out.first_mut() else { return out };
    for entry in item.list("attachments").unwrap_or_default() {
        let Some(entry) = Object::parse(entry.get()) else { continue };
        let Some(name) = entry.non_blank_text("name") else { continue };
        first.attachments.push(AttachmentRef {
            key: RecordKey::new(SCOPE, format!("file/{name}")),
            origin_id: None,
            name: name.into_owned(),
            media_type: entry.non_blank_text("type").filter(|kind| kind.contains('/')).map(Into::into),
            size: None,
            text: None,
        });
    }
    for (name, raw) in item.members().filter(|(name, _)| !READ_ITEM_MEMBERS.contains(name)) {
        if !matches!(raw.get(), "null" | "false") {
            first.fields.extend(serde_json::from_str(raw.get()).ok().map(|value| (name.to_owned(), value)));
        }
    }
    out
}

/// Returns the chat id at the end of the address, or else a digest of the first message.
fn chat_id(url: &str, turns: &[Turn]) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let id = path.rsplit('/').next().filter(|id| id.len() >= 8 && !id.contains('.'));
    let first = || content_id(turns.first().map_or("", |turn| turn.text.as_str()));
    format!("{LAYOUT}/{}", id.map_or_else(first, str::to_owned))
}

fn platform(url: &str) -> &'static str {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    SITES.iter().find(|(site, _)| host.starts_with(site)).map_or(SCOPE, |(_, platform)| platform)
}
