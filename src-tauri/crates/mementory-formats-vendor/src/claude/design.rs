//! Reads design chats (vendors.md §3.2). Their keys vary between exports, so everything except plain text is stored in
//! collapsed blocks and in the verbatim.
use super::{
    blocks::{collapsed_block, json_text, nested_strings, push_text, unknown_text},
    conversation::source,
    wire::{Object, Place, ReadResult, content_id, decode_string, key, list, with_replaced_values},
};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, MessagePart, Record, RecordKey, Source, Times, Unit, Verbatim};
use serde_json::{Value, value::RawValue};
use std::{borrow::Cow, collections::HashSet};

/// Reads one design chat into one unit. The error is a message for the user.
pub(super) fn read(text: &str, object: &Object<'_>, place: &Place<'_>) -> Result<ReadResult, String> {
    let raw = object.raw_value("messages");
    if raw.is_none() && object.non_blank_text("uuid").is_none() {
        return Err("not_a_conversation: no messages and no id".into());
    }
    let mut out = ReadResult::default();
    let messages = raw.and_then(list);
    let source_id = object.non_blank_text("uuid").map_or_else(|| content_id(text), Cow::into_owned);
    let id = format!("design/{source_id}");
    let mut chat = Record::new(Kind::Conversation, key(id.as_str()), "");
    chat.origin_id = object.non_blank_text("uuid").map(Cow::into_owned);
    let project = object.object("project");
    let project_name = project.as_ref().and_then(|p| p.non_blank_text("name")).map(Cow::into_owned);
    // All design chats are called "Chat", so the name of the project is a better title.
    chat.title = match (object.non_blank_text("title"), &project_name) {
        (Some(title), Some(name)) if title == "Chat" => Some(name.clone()),
        (title, name) => title.map(Cow::into_owned).or_else(|| name.clone()),
    };
    chat.namespace = Some("design".into());
    chat.times =
        Times { created: object.timestamp("created_at"), updated: object.timestamp("updated_at"), ..Times::default() };
    chat.source = source(object);
    chat.origin = place.origin("");
    if let Some(name) = project_name {
        chat.fields.insert("project_name".into(), name.into());
    }
    chat.verbatim = Some(Verbatim::json(match (raw, &messages) {
        (Some(raw), Some(_)) => with_replaced_values(text, &[(raw, "[]")]),
        _ => text.to_owned(),
    }));
    if raw.is_some() && messages.is_none() {
        out.dropped.push(dropped_entry(place.text("/messages"), "malformed: the messages are not a list"));
    }
    let from = Source { conversation: Some(id.clone()), ..chat.source.clone() };
    let mut records = vec![chat];
    let mut parent: Option<RecordKey> = None;
    let mut seen = HashSet::new();
    for (index, raw) in messages.into_iter().flatten().enumerate() {
        let pointer = format!("/messages/{index}");
        let Some(object) = Object::parse(raw.get()) else {
            out.dropped.push(dropped_entry(place.text(&pointer), "not_an_object: this entry is not a message object"));
            continue;
        };
        let source_id = object.non_blank_text("uuid").or_else(|| object.non_blank_text("id")).map(Cow::into_owned);
        let mut uuid = source_id.clone().unwrap_or_else(|| content_id(&format!("{index}\n{}", raw.get())));
        if !seen.insert(uuid.clone()) {
            let message = "two messages have the same id; both are imported";
            out.issues.push(Issue::new("duplicate_id", place.text(&pointer), message));
            uuid = format!("{uuid}~{index}");
            seen.insert(uuid.clone());
        }
        let (text_part, blocks) = read_content(&object);
        let mut message = Record::new(Kind::Message, key(format!("{id}/{uuid}")), text_part);
        message.origin_id = source_id;
        message.namespace = Some("design".into());
        message.times = Times {
            created: object.timestamp("created_at"),
            updated: object.timestamp("updated_at"),
            ..Times::default()
        };
        message.source = from.clone();
        message.origin = place.origin(&pointer);
        message.parent = Some(key(id.as_str()));
        message.verbatim = Some(Verbatim::json(raw.get()));
        let role = object.text("role").or_else(|| object.text("sender")).unwrap_or(Cow::Borrowed("unknown"));
        message.message = Some(MessagePart {
            role: if role == "human" { "user".into() } else { role.to_lowercase() },
            parent: parent.replace(message.key.clone()),
            position: u32::try_from(index).unwrap_or(u32::MAX),
            hidden: false,
            active: true,
            model: object.non_blank_text("model").map(Cow::into_owned),
            content_type: "text".into(),
        });
        if !blocks.is_empty() {
            message.fields.insert("blocks".into(), Value::Array(blocks));
        }
        records.push(message);
    }
    out.units.push(Unit { records });
    Ok(out)
}

/// Text and other blocks of a message.
fn read_content(message: &Object<'_>) -> (String, Vec<Value>) {
    let Some(raw) = message.raw_value("content") else {
        return (message.text("text").map(Cow::into_owned).unwrap_or_default(), vec![]);
    };
    if let Some(text) = decode_string(raw) {
        return (text.into_owned(), vec![]);
    }
    let Some(object) = Object::parse(raw.get()) else {
        let (mut text, mut blocks) = (String::new(), vec![]);
        for item in list(raw).unwrap_or_default() {
            read_block(item, &mut text, &mut blocks);
        }
        return (text, blocks);
    };
    let (mut text, mut blocks) = (String::new(), Vec::new());
    let items = object.list("contentBlocks").or_else(|| object.list("content_blocks"));
    for item in items.into_iter().flatten() {
        read_block(item, &mut text, &mut blocks);
    }
    if text.is_empty() {
        text = object.text("content").or_else(|| object.text("text")).map(Cow::into_owned).unwrap_or_default();
    }
    // Attached texts have neither id nor size, so they become blocks of the message.
    for raw in object.list("attachments").into_iter().flatten() {
        let attachment = Object::parse(raw.get()).unwrap_or_default();
        let name = attachment.non_blank_text("name").or_else(|| attachment.non_blank_text("file_name"));
        let text_part = nested_strings(raw, &["content", "text", "extracted_content"]);
        blocks.push(collapsed_block("attachment", name, text_part));
    }
    (text, blocks)
}

fn read_block(raw: &RawValue, text: &mut String, blocks: &mut Vec<Value>) {
    if let Some(text_part) = decode_string(raw) {
        return push_text(text, &text_part);
    }
    let Some(object) = Object::parse(raw.get()) else { return };
    let kind = object.text("type").unwrap_or(Cow::Borrowed("unknown"));
    match kind.as_ref() {
        "text" => push_text(text, &object.text("text").or_else(|| object.text("content")).unwrap_or_default()),
        "thinking" => {
            if let Some(text_part) = object.non_blank_text("thinking").or_else(|| object.non_blank_text("text")) {
                blocks.push(collapsed_block("thinking", None, text_part.into_owned()));
            }
        }
        "tool_call" => {
            let call = object.raw_value("toolCall").or_else(|| object.raw_value("tool_call")).unwrap_or(raw);
            let inner = Object::parse(call.get()).unwrap_or_default();
            blocks.push(collapsed_block("tool_call", inner.non_blank_text("name"), json_text(call).into_owned()));
        }
        other => blocks.push(collapsed_block(other, None, unknown_text(raw))),
    }
}

fn dropped_entry(place: String, reason: &str) -> Dropped {
    Dropped { place, outcome: DroppedAs::Failed, reason: reason.into(), kind: Some(Kind::Message) }
}
