//! Reads design chats. Their JSON keys vary between exports, so only plain text becomes the text of a message.
//! Everything else is stored in collapsed blocks and in the verbatim.
use super::{
    blocks::{collapsed_block, json_text, nested_strings, push_text, unknown_text},
    conversation::source,
    wire::{ElementPlace, Object, ReadResult, content_id, decode_string, key, list, with_replaced_values},
};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, MessagePart, Record, RecordKey, Source, Times, Unit, Verbatim};
use serde_json::{Value, value::RawValue};
use std::{borrow::Cow, collections::HashSet};

/// Reads a design chat into one unit of records.
///
/// # Errors
/// Returns a message for the user if the object is not a design chat.
pub(super) fn read(text: &str, object: &Object<'_>, place: &ElementPlace<'_>) -> Result<ReadResult, String> {
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
    // Every design chat has the title "Chat", so the name of the project is used as a better title.
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
    let messages = messages.unwrap_or_default();
    let repeated_indexes = repeated_rows(&messages);
    for (index, raw) in messages.into_iter().enumerate() {
        let pointer = format!("/messages/{index}");
        let Some(object) = Object::parse(raw.get()) else {
            out.dropped.push(dropped_entry(place.text(&pointer), "not_an_object: this entry is not a message object"));
            continue;
        };
        if repeated_indexes.contains(&index) {
            let reason = "duplicate: the same message is stored in two rows";
            let entry = dropped_entry(place.text(&pointer), reason);
            out.dropped.push(Dropped { outcome: DroppedAs::Skipped, ..entry });
            continue;
        }
        let inner = object.object("content").unwrap_or_default();
        let source_id = object.non_blank_text("uuid").or_else(|| object.non_blank_text("id")).map(Cow::into_owned);
        let mut uuid = source_id.clone().unwrap_or_else(|| content_id(&format!("{index}\n{}", raw.get())));
        if !seen.insert(uuid.clone()) {
            let message = "two messages have the same id; both are imported";
            out.issues.push(Issue::new("duplicate_id", place.text(&pointer), message));
            uuid = format!("{uuid}~{index}");
            seen.insert(uuid.clone());
        }
        let (mut text_part, mut blocks) = read_content(&object);
        let role = object.text("role").or_else(|| object.text("sender")).unwrap_or(Cow::Borrowed("unknown"));
        let role = if role == "human" { "user".to_owned() } else { role.to_lowercase() };
        if role == "user" {
            let (context, rest) = split_context(&text_part);
            if !context.is_empty() {
                blocks.push(collapsed_block("context", None, context.to_owned()));
                text_part = rest.to_owned();
            }
        }
        let kind = inner.non_blank_text("kind").filter(|kind| kind != "chat");
        for (name, kind_of_form) in [("questionRecord", "question-record"), ("questionReceipt", "question-receipt")] {
            if kind.as_deref() == Some(kind_of_form)
                && text_part.trim().is_empty()
                && let Some(form) = inner.raw_value(name)
            {
                text_part = form_text(form);
            }
        }
        // A row with `pill` is a notice that an automation wrote, not a person.
        let is_notice = inner.is_true("pill") || object.is_true("pill");
        let mut message = Record::new(Kind::Message, key(format!("{id}/{uuid}")), text_part);
        message.origin_id = source_id;
        message.namespace = Some("design".into());
        message.times = Times {
            created: object.timestamp("created_at").or_else(|| inner.timestamp("timestamp")),
            updated: object.timestamp("updated_at"),
            ..Times::default()
        };
        message.source = from.clone();
        if let Some(author) = inner.non_blank_text("authorAccountUuid") {
            message.source.account = Some(author.into_owned());
        }
        for name in ["authorName", "snipState", "turnChanges"] {
            let value = inner.raw_value(name).and_then(|raw| serde_json::from_str(raw.get()).ok());
            message.fields.extend(value.map(|value: Value| (name.to_owned(), value)));
        }
        message.origin = place.origin(&pointer);
        message.parent = Some(key(id.as_str()));
        message.verbatim = Some(Verbatim::json(raw.get()));
        message.message = Some(MessagePart {
            role: if is_notice { "system".into() } else { role },
            parent: parent.replace(message.key.clone()),
            position: u32::try_from(index).unwrap_or(u32::MAX),
            hidden: is_notice,
            active: true,
            model: object.non_blank_text("model").map(Cow::into_owned),
            content_type: match kind {
                _ if is_notice => "context".into(),
                Some(kind) => kind.into_owned(),
                None => "text".into(),
            },
        });
        if !blocks.is_empty() {
            message.fields.insert("blocks".into(), Value::Array(blocks));
        }
        records.push(message);
    }
    out.units.push(Unit { records });
    Ok(out)
}

/// Returns the positions of rows that only repeat the row next to them. Two adjacent rows are repetitions if they have
/// the same `content.id` and role. Of such a pair, the second row is a repetition, unless only the second row has an
/// author.
fn repeated_rows(messages: &[&RawValue]) -> HashSet<usize> {
    let row = |raw: &&RawValue| {
        let content = Object::parse(raw.get())?.object("content")?;
        let id = content.non_blank_text("id")?.into_owned();
        Some((id, content.text("role").map(Cow::into_owned), content.has("authorAccountUuid")))
    };
    let rows: Vec<_> = messages.iter().map(row).collect();
    let mut out = HashSet::new();
    for (index, pair) in rows.windows(2).enumerate() {
        if let [Some((first, first_role, first_has_author)), Some((second, second_role, second_has_author))] = pair
            && first == second
            && first_role == second_role
        {
            out.insert(if *second_has_author && !*first_has_author { index } else { index + 1 });
        }
    }
    out
}

/// Splits the text of a prompt into the context that the program inserted at its beginning (`<system-info …>`,
/// `<attached_files>`, comments) and the words of the person.
fn split_context(text: &str) -> (&str, &str) {
    let mut rest = text.trim_start();
    loop {
        let end = if let Some(after) = rest.strip_prefix("<!--") {
            after.find("-->").map(|at| 4 + at + 3)
        } else if rest.starts_with("<system-info") {
            // `<system-info …>` is a single tag, or it is closed by `</system-info>`.
            let tag = rest.find('>').map(|at| at + 1);
            let element = rest.find("</system-info>").map(|at| at + "</system-info>".len());
            element.or(tag)
        } else if rest.starts_with("<attached_files") {
            rest.find("</attached_files>").map(|at| at + "</attached_files>".len())
        } else {
            None
        };
        let Some(end) = end else { break };
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    let context = text.get(..text.len() - rest.len()).unwrap_or_default().trim();
    if context.is_empty() { ("", text) } else { (context, rest) }
}

/// Returns the text of a form, which contains questions (`spec`) or answers (`payload`).
fn form_text(form: &RawValue) -> String {
    let object = Object::parse(form.get()).unwrap_or_default();
    let words = object.raw_value("spec").or_else(|| object.raw_value("payload")).unwrap_or(form);
    nested_strings(words, &[])
}

/// Returns the text and the other blocks of a message.
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
    // Attached texts have neither an id nor a size, so they become blocks of the message and not attachments.
    for raw in object.list("attachments").into_iter().flatten() {
        let attachment = Object::parse(raw.get()).unwrap_or_default();
        let name = attachment.non_blank_text("name").or_else(|| attachment.non_blank_text("file_name"));
        let attached_text = nested_strings(raw, &["content", "text", "extracted_content"]);
        blocks.push(collapsed_block("attachment", name, attached_text));
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
