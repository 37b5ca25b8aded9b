//! Reads the content of a message, which consists of fragments or, in older exports, of `content` and
//! `reasoning_content`.
use super::DEEPSEEK;
use mementory_formats_shared::{
    object::{Object, decode_string, list},
    values::{block, first_id, first_text, push_paragraph, readable},
};
use mementory_model::{AttachmentRef, RecordKey};
use serde_json::{Value, value::RawValue};

/// The content of a message.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// The role (`user` or `assistant`) that the types of the fragments show. None if they show no role.
    pub role: Option<&'static str>,
    /// Text of the message. Does not contain the text of `blocks`.
    pub text: String,
    /// Thoughts, searches and tools, which the app shows collapsed.
    pub blocks: Vec<Value>,
    /// Files that the message refers to.
    pub attachments: Vec<AttachmentRef>,
}

/// Reads the content of a message. The key of a file without an id contains the id of the `conversation`.
pub(super) fn read(message: &Object<'_>, conversation: &str) -> Content {
    let mut out = Content::default();
    for raw in message.list("fragments").into_iter().flatten() {
        read_fragment(raw, conversation, &mut out);
    }
    if out.text.trim().is_empty() {
        let content = message.raw_value("content").map(readable).unwrap_or_default();
        push_paragraph(&mut out.text, &content);
    }
    let has =
        |out: &Content, kind: &str| out.blocks.iter().any(|b| b.get("type").and_then(Value::as_str) == Some(kind));
    let thoughts = first_text(message, &["reasoning_content", "thinking_content"]);
    if let Some(thoughts) = thoughts.filter(|_| !has(&out, "thinking")) {
        out.blocks.insert(0, block("thinking", None, thoughts));
        out.role = out.role.or(Some("assistant"));
    }
    if let Some(results) = message.raw_value("search_results").filter(|_| !has(&out, "tool_result")) {
        out.blocks.extend(search_block("search", results));
        out.role = out.role.or(Some("assistant"));
    }
    for raw in message.list("files").into_iter().flatten() {
        push_file(raw, conversation, &mut out.attachments);
    }
    out
}

fn read_fragment(raw: &RawValue, conversation: &str, out: &mut Content) {
    let Some(fragment) = Object::parse(raw.get()) else {
        if let Some(text) = decode_string(raw) {
            push_paragraph(&mut out.text, &text);
        }
        return;
    };
    let kind = first_text(&fragment, &["type"]).unwrap_or_default().to_uppercase();
    let content = fragment.raw_value("content").map(readable).unwrap_or_default();
    let role = match kind.as_str() {
        "REQUEST" => {
            push_paragraph(&mut out.text, &content);
            Some("user")
        }
        "FILE" => {
            if !push_file(raw, conversation, &mut out.attachments) {
                out.blocks.push(block("file", None, readable(raw)));
            }
            None
        }
        "" => {
            push_paragraph(&mut out.text, &content);
            None
        }
        "THINK" => {
            out.blocks.push(block("thinking", None, content));
            Some("assistant")
        }
        kind if kind.ends_with("RESPONSE") => {
            push_paragraph(&mut out.text, &content);
            Some("assistant")
        }
        kind if kind.contains("SEARCH") || kind.starts_with("TOOL") => {
            let name = kind.to_lowercase();
            let results = fragment.raw_value("results").or_else(|| fragment.raw_value("result"));
            let call = without_results(&fragment);
            if !call.is_empty() || results.is_none() {
                out.blocks.push(block("tool_call", Some(&name), call));
            }
            out.blocks.extend(results.and_then(|results| search_block(&name, results)));
            Some("assistant")
        }
        other => {
            out.blocks.push(block(&other.to_lowercase(), None, readable(raw)));
            None
        }
    };
    // A fragment without a role, such as a file, leaves the role unchanged. A fragment with a request shows that the
    // person wrote the message, whatever the other fragments are.
    if role == Some("user") || out.role.is_none() {
        out.role = role.or(out.role);
    }
}

/// Returns the members of a tool's fragment as lines, without its type and its results.
fn without_results(fragment: &Object<'_>) -> String {
    let rest = fragment.members().filter(|(key, _)| !matches!(*key, "type" | "results" | "result"));
    let lines: Vec<String> =
        rest.filter(|(_, raw)| raw.get() != "null").map(|(key, raw)| format!("{key}: {}", readable(raw))).collect();
    lines.join("\n")
}

/// Returns a block with the title, address and text of each search result. None if there are no results.
fn search_block(name: &str, results: &RawValue) -> Option<Value> {
    let Some(results) = list(results) else {
        return Some(block("tool_result", Some(name), readable(results)));
    };
    let mut text = String::new();
    for raw in &results {
        let lines = Object::parse(raw.get()).map(|result| {
            let texts = ["title", "url", "snippet"].iter().filter_map(|key| first_text(&result, &[key]));
            texts.collect::<Vec<_>>().join("\n")
        });
        push_paragraph(&mut text, &lines.filter(|lines| !lines.is_empty()).unwrap_or_else(|| readable(raw)));
    }
    (!results.is_empty()).then(|| block("tool_result", Some(name), text))
}

/// Adds a file to `out`. Returns false if the value contains neither a name nor an id.
fn push_file(raw: &RawValue, conversation: &str, out: &mut Vec<AttachmentRef>) -> bool {
    let object = Object::parse(raw.get()).unwrap_or_default();
    let id = first_id(&object, &["file_id", "id"]);
    let name = first_text(&object, &["file_name", "name", "filename"]).or_else(|| decode_string(raw).map(Into::into));
    let Some(name) = name.or_else(|| id.clone()).filter(|name| !name.trim().is_empty()) else { return false };
    // If a file has no id, its key contains the conversation, because names are not unique in an account.
    let value = id.as_ref().map_or_else(|| format!("{conversation}/file/{name}"), |id| format!("file/{id}"));
    let key = RecordKey::new(DEEPSEEK, value);
    if !out.iter().any(|known| known.key == key) {
        out.push(AttachmentRef {
            key,
            origin_id: id,
            name,
            media_type: first_text(&object, &["mime_type", "content_type"]),
            size: object.whole_number("file_size").or_else(|| object.whole_number("size")),
            text: None,
        });
    }
    true
}
