//! Reads one item of a log as a message.
use mementory_formats_shared::agent_content::{AgentContent, named_text, nested_text, push_text, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::object::Object;
use serde_json::value::RawValue;

/// Heading that the editor extension puts before the person's request.
const REQUEST_HEADING: &str = "## My request for Codex:";

/// Tag that Codex writes after a picture that the person attached.
const PICTURE_END: &str = "</image>";

/// A text without the tags that Codex writes, as separate parts, around each picture (`<image name=[Image #1]>`).
fn without_picture_tags(text: &str) -> String {
    let is_tag = |line: &str| line == PICTURE_END || line.starts_with("<image") && line.ends_with('>');
    let paragraphs = text.split("\n\n").filter(|paragraph| !is_tag(paragraph.trim()));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The message in an item of the model's API. None for items that are not part of the conversation.
pub(super) fn message(item: &Object<'_>) -> Option<(Turn, AgentContent)> {
    let kind = item.non_blank_text("type");
    let kind = kind.as_deref().unwrap_or(if item.has("role") { "message" } else { "unknown" });
    let mut turn = Turn { id: item.non_blank_text("id").map(|t| t.into_owned()), ..Turn::default() };
    let mut content = AgentContent::default();
    let text_of = |keys: &[&str]| keys.iter().find_map(|k| item.raw_value(k)).map_or_else(String::new, value_text);
    let name = item.non_blank_text("name").or_else(|| item.non_blank_text("tool_name"));
    match kind {
        "message" => {
            turn.role = match item.text("role").as_deref() {
                Some("user") => "user",
                Some("assistant") => "assistant",
                Some("tool") => "tool",
                _ => "system",
            }
            .into();
            if let Some(raw) = item.raw_value("content") {
                content.push(raw);
            }
            if !content.files.is_empty() && content.text.contains(PICTURE_END) {
                content.text = without_picture_tags(&content.text);
            }
        }
        "reasoning" => {
            turn.role = "assistant".into();
            for raw in ["summary", "content"].into_iter().filter_map(|k| item.raw_value(k)) {
                push_text(&mut content.text, &reasoning_parts(raw).join("\n\n"));
            }
            if item.has("encrypted_content") {
                turn.fields.insert("encrypted".into(), true.into());
            }
        }
        "function_call"
        | "custom_tool_call"
        | "local_shell_call"
        | "web_search_call"
        | "tool_search_call"
        | "image_generation_call" => {
            turn.role = "assistant".into();
            let name = name.as_deref().unwrap_or(kind);
            content.push_block("tool_call", Some(name), text_of(&["arguments", "input", "action", "prompt"]));
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" | "tool_search_output" => {
            turn.role = "tool".into();
            let files = item.raw_value("output").filter(|raw| raw.get().starts_with('['));
            let mut inner = AgentContent::default();
            if let Some(raw) = files {
                inner.push(raw);
            }
            content.files = inner.files;
            let text = if inner.text.is_empty() { text_of(&["output", "tools", "result"]) } else { inner.text };
            content.push_block("tool_result", name.as_deref(), text);
        }
        "ghost_snapshot" => return None,
        _ => {
            turn.role = if kind == "agent_message" { "assistant" } else { "system" }.into();
            turn.hidden = true;
            let raw = ["content", "message", "text", "output"].into_iter().find_map(|k| item.raw_value(k));
            content.text = raw.map(|raw| decoded(raw, &mut turn)).unwrap_or_default();
        }
    }
    finish(&mut turn, &mut content, kind);
    Some((turn, content))
}

/// The text of a value. If it contains encrypted content, marks the turn as encrypted.
fn decoded(raw: &RawValue, turn: &mut Turn) -> String {
    if raw.get().contains("encrypted_content") {
        turn.fields.insert("encrypted".into(), true.into());
        return named_text(raw);
    }
    nested_text(raw)
}

/// Moves text that a program added to a prompt into a separate block, and then moves the content into the turn.
pub(super) fn finish(turn: &mut Turn, content: &mut AgentContent, kind: &str) {
    if turn.role == "user" {
        if let Some((before, request)) = content.text.split_once(REQUEST_HEADING) {
            let (before, request) = (before.trim().to_owned(), request.trim().to_owned());
            content.text = request;
            content.push_block("context", None, before);
        } else if content.separate_harness_text() {
            turn.role = "system".into();
        }
    }
    *content = std::mem::take(content).fill_session_turn(turn);
    if turn.role == "system" {
        return;
    }
    if kind == "reasoning" {
        turn.content_type = "thinking".into();
        turn.hidden = turn.text.is_empty();
    } else if kind == "agent_message" {
        turn.content_type = kind.into();
    }
}

/// The texts of a reasoning item.
pub(super) fn reasoning_parts(raw: &RawValue) -> Vec<String> {
    let items = mementory_formats_shared::object::list(raw).unwrap_or_else(|| vec![raw]);
    let text = |raw: &RawValue| match Object::parse(raw.get()) {
        Some(part) => part.raw_value("text").map_or_else(String::new, value_text),
        None => value_text(raw),
    };
    items.into_iter().map(text).filter(|t| !t.trim().is_empty()).collect()
}
