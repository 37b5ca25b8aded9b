//! Reads the content of a message of Le Chat: the whole text, and chunks with thoughts, tools, citations and files.
use super::MISTRAL;
use mementory_formats_shared::{
    object::{Object, content_id, decode_string},
    values::{block, first_id, first_text, readable},
};
use mementory_model::{AttachmentRef, RecordKey};
use serde_json::{Value, value::RawValue};

/// The content of a message.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Text of the message. Does not contain the text of `blocks`.
    pub text: String,
    /// Thoughts, tools, canvases and unknown chunks, which the app shows collapsed.
    pub blocks: Vec<Value>,
    /// The sources that the text cites.
    pub citations: Vec<Value>,
    /// Files that the message names. The export may not contain all of them.
    pub attachments: Vec<AttachmentRef>,
}

/// Returns the key of the record of a file. The key contains the chat, because file names are unique only within a
/// chat.
pub(super) fn file_key(chat: &str, name: &str) -> RecordKey {
    RecordKey::new(MISTRAL, format!("file/{chat}/{name}"))
}

pub(super) fn read(message: &Object<'_>, chat: &str) -> Content {
    let mut out = Content::default();
    let mut chunk_text = String::new();
    for raw in message.list("contentChunks").into_iter().flatten() {
        read_chunk(raw, chat, &mut chunk_text, &mut out);
    }
    // `content` repeats the text of all chunks, so the chunks are used only if there is no `content`.
    out.text = match message.non_blank_text("content") {
        Some(content) => content.into_owned(),
        None => chunk_text,
    };
    if out.text.trim().is_empty()
        && let Some(raw) = message.raw_value("content").filter(|raw| decode_string(raw).is_none())
    {
        out.text = readable(raw);
    }
    for raw in message.list("canvas").into_iter().flatten() {
        let canvas = Object::parse(raw.get()).unwrap_or_default();
        let text = first_text(&canvas, &["content", "text"]).unwrap_or_else(|| readable(raw));
        out.blocks.push(block("canvas", first_text(&canvas, &["title", "name"]).as_deref(), text));
    }
    for raw in message.list("files").into_iter().flatten() {
        push_file(raw, chat, &mut out.attachments);
    }
    out
}

fn read_chunk(raw: &RawValue, chat: &str, text: &mut String, out: &mut Content) {
    let Some(chunk) = Object::parse(raw.get()) else {
        text.push_str(&decode_string(raw).unwrap_or_default());
        return;
    };
    let kind = first_text(&chunk, &["type"]).unwrap_or_default();
    let context = chunk.object("_context").and_then(|context| first_text(&context, &["type"]));
    let words = chunk.text("text").unwrap_or_default();
    match (kind.as_str(), context.as_deref()) {
        ("text", Some("reasoning")) | ("thinking" | "reasoning", _) => {
            let thoughts = if words.is_empty() { readable(raw) } else { words.into_owned() };
            out.blocks.push(block("thinking", None, thoughts));
        }
        ("text", _) => text.push_str(&words),
        ("", _) if !words.is_empty() => text.push_str(&words),
        ("tool_call" | "tool_result" | "tool_response", _) => {
            let function = chunk.object("function");
            let object_with_name = function.as_ref().unwrap_or(&chunk);
            let name =
                first_text(object_with_name, &["name", "toolName", "tool"]).or_else(|| first_text(&chunk, &["name"]));
            let kind = if kind == "tool_call" { "tool_call" } else { "tool_result" };
            out.blocks.push(block(kind, name.as_deref(), readable(raw)));
        }
        ("reference", _) => out.citations.extend(serde_json::from_str::<Value>(raw.get()).ok()),
        ("image_url", _) => out.attachments.extend(image(&chunk)),
        ("file_reference" | "file", _) if push_file(raw, chat, &mut out.attachments) => {}
        (other, _) => out.blocks.push(block(if other.is_empty() { "unknown" } else { other }, None, readable(raw))),
    }
}

/// Reads an image that is given by its address. Only the verbatim contains the bytes in a `data:` address.
fn image(chunk: &Object<'_>) -> Option<AttachmentRef> {
    let nested = chunk.object("image_url").or_else(|| chunk.object("imageUrl"));
    let address = nested
        .as_ref()
        .and_then(|nested| first_text(nested, &["url"]))
        .or_else(|| first_text(chunk, &["image_url", "imageUrl", "url"]))?;
    let is_inside = address.starts_with("data:");
    let path = address.split(['?', '#']).next().unwrap_or(&address);
    let id = if is_inside { content_id(&address) } else { path.to_owned() };
    let name = path.rsplit('/').next().filter(|name| !is_inside && !name.is_empty()).unwrap_or("image").to_owned();
    Some(AttachmentRef {
        key: RecordKey::new(MISTRAL, format!("link/{id}")),
        origin_id: (!is_inside).then_some(address),
        name,
        media_type: None,
        size: None,
        text: None,
    })
}

/// Adds a file. Without a name, the id becomes the name. Returns false if the value has neither a name nor an id.
fn push_file(raw: &RawValue, chat: &str, out: &mut Vec<AttachmentRef>) -> bool {
    let file = Object::parse(raw.get()).unwrap_or_default();
    let id = first_id(&file, &["id", "fileId", "file_id"]);
    let name = first_text(&file, &["name", "fileName", "file_name"]).or_else(|| decode_string(raw).map(Into::into));
    let Some(name) = name.or_else(|| id.clone()).filter(|name| !name.trim().is_empty()) else { return false };
    let key = file_key(chat, &name);
    if !out.iter().any(|known| known.key == key) {
        out.push(AttachmentRef {
            key,
            origin_id: id,
            name,
            media_type: first_text(&file, &["mimeType", "mime_type"]),
            size: file.whole_number("size"),
            text: None,
        });
    }
    true
}
