//! Reads the content blocks of a message: its text, and the other blocks, which the app shows collapsed and can search.
use super::artifacts;
use super::wire::{Object, decode_string, list};
pub(super) use mementory_formats_shared::nested_text::nested_strings;
use mementory_json::Tree;
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;

/// The content of a message.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// The texts of all text blocks, separated by blank lines.
    pub text: String,
    /// All blocks that are not text, as `{type, name?, text}`.
    pub blocks: Vec<Value>,
    /// Citations of all text blocks, as in the source.
    pub citations: Vec<Value>,
    /// One of `text`, `thinking`, `tool_call`, `tool_result` and `context`.
    pub content_type: &'static str,
    /// Id and name of each file in the `document` and `image` blocks.
    pub files: Vec<(String, Option<String>)>,
}

/// Text that an export contains in place of a block that the user's version of Claude's app cannot display.
const UNSUPPORTED_BLOCK_TEXT: &str = "This block is not supported on your current device";

/// Beginning of the text that an export contains in place of the result of a tool, if the result is too large.
const TOO_LARGE_TEXT: &str = "Tool result too large";

/// Reads the `content` of a message. `flat` returns the member `text` of the message, which is used if no block
/// contains text.
pub(super) fn read<'a>(content: Option<&'a RawValue>, flat: impl FnOnce() -> Option<Cow<'a, str>>) -> Content {
    let mut out = Content::default();
    match content {
        Some(raw) if raw.get().starts_with('"') => {
            let text = decode_string(raw).unwrap_or_default();
            // In some exports, the content is a string that contains the list of blocks as JSON.
            let blocks: Option<Vec<&RawValue>> =
                if text.trim_start().starts_with("[{") { serde_json::from_str(&text).ok() } else { None };
            match blocks.filter(|blocks| blocks.iter().all(|block| is_block(block))) {
                Some(blocks) => blocks.into_iter().for_each(|block| read_block(block, &mut out)),
                None => push_text(&mut out.text, &text),
            }
        }
        Some(raw) => {
            for block in list(raw).unwrap_or_else(|| vec![raw]) {
                read_block(block, &mut out);
            }
        }
        None => {}
    }
    if out.text.trim().is_empty()
        && let Some(flat) = flat()
        && (out.blocks.is_empty() || !flat.contains(UNSUPPORTED_BLOCK_TEXT))
        && !has_block(&out, "context")
    {
        out.text = flat.into_owned();
    }
    out.content_type = content_type(&out);
    out
}

fn has_block(content: &Content, kind: &str) -> bool {
    content.blocks.iter().any(|b| b.get("type").and_then(Value::as_str) == Some(kind))
}

fn is_block(raw: &RawValue) -> bool {
    Object::parse(raw.get()).is_some_and(|object| object.text("type").is_some())
}

fn content_type(content: &Content) -> &'static str {
    let has = |kind: &str| has_block(content, kind);
    if !content.text.trim().is_empty() || content.blocks.is_empty() {
        "text"
    } else if has("tool_call") {
        "tool_call"
    } else if has("tool_result") {
        "tool_result"
    } else if has("thinking") {
        "thinking"
    } else if has("context") && content.files.is_empty() {
        "context"
    } else {
        "text"
    }
}

fn read_block(raw: &RawValue, out: &mut Content) {
    if let Some(text) = decode_string(raw) {
        return push_text(&mut out.text, &text);
    }
    let Some(block) = Object::parse(raw.get()) else { return };
    let kind = block.text("type").unwrap_or(Cow::Borrowed("unknown"));
    match kind.as_ref() {
        "text" => {
            push_text(&mut out.text, &block.text("text").unwrap_or_default());
            for citation in block.list("citations").into_iter().flatten() {
                out.citations.extend(serde_json::from_str::<Value>(citation.get()).ok());
            }
        }
        "thinking" => {
            let text = block.non_blank_text("thinking").map_or_else(
                || block.raw_value("summaries").map_or_else(String::new, |r| nested_strings(r, &["summary", "text"])),
                Cow::into_owned,
            );
            let mut thinking = collapsed_block("thinking", None, text);
            if block.is_true("thinking_hidden")
                && let Value::Object(members) = &mut thinking
            {
                members.insert("thinking_hidden".into(), true.into());
            }
            out.blocks.push(thinking);
        }
        "tool_use" => {
            let input = || block.raw_value("input").map_or_else(String::new, |r| json_text(r).into_owned());
            let input = artifacts::readable(raw).unwrap_or_else(input);
            out.blocks.push(collapsed_block("tool_call", block.text("name"), input));
        }
        "tool_result" => {
            let mut text = block.raw_value("content").map_or_else(String::new, result_text);
            // For a result that is too large, `content` contains only a notice.
            if (text.trim().is_empty() || text.starts_with(TOO_LARGE_TEXT))
                && let Some(data) = block.raw_value("structured_content")
            {
                push_text(&mut text, &unknown_text(data));
            }
            // The app's text for a result is often shortened, and `message` only says what the tool did. So these two
            // are used only if there is no other text.
            for shown in ["display_content", "message"] {
                if text.trim().is_empty()
                    && let Some(shown) = block.raw_value(shown)
                {
                    push_text(&mut text, &decode_string(shown).map_or_else(|| unknown_text(shown), Cow::into_owned));
                }
            }
            out.blocks.push(collapsed_block("tool_result", block.text("name"), text));
        }
        // The app inserts this text, such as a snapshot of the memory or a date. The person neither typed nor saw the
        // text.
        "injected_prompt_block" => {
            let text = block.text("prompt").map_or_else(|| unknown_text(raw), Cow::into_owned);
            out.blocks.push(collapsed_block("context", block.text("injection_source"), text));
        }
        "voice_note" => {
            let inner = block.object("voice_note");
            let transcript = block.non_blank_text("transcript").or_else(|| inner?.non_blank_text("transcript"));
            match transcript {
                // A text block often repeats the words of the voice note.
                Some(transcript) if out.text.contains(transcript.as_ref()) => {}
                Some(transcript) => push_text(&mut out.text, &transcript),
                None => out.blocks.push(collapsed_block("voice_note", None, unknown_text(raw))),
            }
        }
        "document" | "image" => {
            let source = block.object("source");
            let member = |key: &str| {
                block.non_blank_text(key).or_else(|| source.as_ref()?.non_blank_text(key)).map(Cow::into_owned)
            };
            let name = member("title").or_else(|| member("file_name"));
            if let Some(id) = member("file_uuid") {
                out.files.push((id, name));
            } else {
                // A picture that is stored in the message itself has no file. Only the verbatim contains its bytes.
                let text = name.or_else(|| member("text")).or_else(|| member("extracted_content"));
                out.blocks.push(collapsed_block(kind.as_ref(), None, text.unwrap_or_default()));
            }
        }
        "token_budget" | "flag" => {}
        other => out.blocks.push(collapsed_block(other, None, unknown_text(raw))),
    }
}

/// Returns the JSON of a block that the app shows collapsed.
pub(super) fn collapsed_block(kind: &str, name: Option<Cow<'_, str>>, text: String) -> Value {
    let mut map = serde_json::Map::new();
    map.insert("type".into(), kind.into());
    if let Some(name) = name {
        map.insert("name".into(), name.into_owned().into());
    }
    map.insert("text".into(), text.into());
    Value::Object(map)
}

pub(super) fn push_text(out: &mut String, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(text);
}

/// Returns the JSON text of a value. `\u` escapes are decoded, so that a search finds the text.
pub(super) fn json_text(raw: &RawValue) -> Cow<'_, str> {
    if !raw.get().contains("\\u") {
        return Cow::Borrowed(raw.get());
    }
    match Tree::from_raw(raw, 64) {
        Ok(tree) => {
            let mut out = String::new();
            tree.write(&mut out);
            Cow::Owned(out)
        }
        Err(_) => Cow::Borrowed(raw.get()),
    }
}

fn result_text(raw: &RawValue) -> String {
    if let Some(text) = decode_string(raw) {
        return text.into_owned();
    }
    let mut out = String::new();
    for item in list(raw).unwrap_or_else(|| vec![raw]) {
        let Some(object) = Object::parse(item.get()) else {
            push_text(&mut out, &decode_string(item).unwrap_or_default());
            continue;
        };
        match object.text("type").as_deref() {
            Some("text") => push_text(&mut out, &object.text("text").unwrap_or_default()),
            Some("knowledge") => {
                let parts: Vec<_> = ["title", "url", "text"].iter().filter_map(|k| object.non_blank_text(k)).collect();
                push_text(&mut out, &parts.join("\n"));
            }
            _ => push_text(&mut out, &unknown_text(item)),
        }
    }
    out
}

/// Returns the text in a value of unknown shape: the strings under names that usually contain text or, if there are
/// none, all strings except ids and times.
pub(super) fn unknown_text(raw: &RawValue) -> String {
    let text_under_known_names = nested_strings(raw, &["text", "content", "output", "title", "message"]);
    if text_under_known_names.is_empty() { nested_strings(raw, &[]) } else { text_under_known_names }
}
