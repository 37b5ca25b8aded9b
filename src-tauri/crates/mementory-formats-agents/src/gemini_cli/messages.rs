//! Reads one message of a session, or one `Content` object of a checkpoint, as a turn.
use mementory_formats_shared::agent_content::{AgentContent, nested_text, push_text, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, list};
use mementory_model::Verbatim;

/// True for a message as Qwen Code exports it: its content is inside `message`, or it is the use of a tool.
pub(super) fn is_exported(object: &Object<'_>) -> bool {
    object.has("uuid") && (object.object("message").is_some() || object.object("toolCall").is_some())
}

/// Adds the content of a message that Qwen Code exported.
fn add_exported(object: &Object<'_>, content: &mut AgentContent) {
    if !is_exported(object) {
        return;
    }
    if let Some(message) = object.object("message")
        && let Some(raw) = ["parts", "content"].into_iter().find_map(|key| message.raw_value(key))
    {
        content.push(raw);
    }
    if let Some(call) = object.object("toolCall") {
        let name = call.non_blank_text("title").or_else(|| call.non_blank_text("kind"));
        let input = call.raw_value("rawInput").map_or_else(String::new, value_text);
        content.push_block("tool_call", name.as_deref(), input);
        if let Some(result) = call.raw_value("content") {
            content.push_block("tool_result", name.as_deref(), nested_text(result));
        }
    }
}

/// Converts a message of a session to a turn and its content.
pub(super) fn message(text: &str, object: &Object<'_>) -> (Turn, AgentContent) {
    let kind = object.text("type").unwrap_or_default();
    let mut turn = Turn {
        id: object.non_blank_text("id").or_else(|| object.non_blank_text("uuid")).map(|t| t.into_owned()),
        model: object.non_blank_text("model").map(|t| t.into_owned()),
        role: match kind.as_ref() {
            "user" => "user",
            "gemini" | "assistant" | "model" | "tool_call" => "assistant",
            _ => "system",
        }
        .into(),
        ..Turn::default()
    };
    turn.times.created = any_time(object, "timestamp");
    let mut content = AgentContent::default();
    for raw in object.list("thoughts").into_iter().flatten() {
        let mut words = String::new();
        match Object::parse(raw.get()) {
            Some(thought) => {
                for key in ["subject", "description", "text"] {
                    push_text(&mut words, &thought.text(key).unwrap_or_default());
                }
            }
            None => words = value_text(raw),
        }
        content.push_block("thinking", None, words);
    }
    // If `displayContent` is present, it is the text that the person typed, and `content` is this text together with
    // the files that the prompt mentions.
    let display_content = object.raw_value("displayContent");
    if let Some(raw) = object.raw_value("content") {
        content.push(raw);
    }
    add_exported(object, &mut content);
    if let Some(display_content) = display_content {
        let mut typed_content = AgentContent::default();
        typed_content.push(display_content);
        if !typed_content.text.trim().is_empty() && typed_content.text != content.text {
            let sent = std::mem::replace(&mut content.text, typed_content.text);
            content.push_block("context", None, sent);
        }
    }
    for raw in object.list("toolCalls").into_iter().flatten() {
        let Some(call) = Object::parse(raw.get()) else { continue };
        let name = call.non_blank_text("name").or_else(|| call.non_blank_text("displayName"));
        let args = call.raw_value("args").map_or_else(String::new, value_text);
        content.push_block("tool_call", name.as_deref(), args);
        let result = call.raw_value("result").or_else(|| call.raw_value("resultDisplay"));
        let Some(result) = result else { continue };
        let mut inner = AgentContent::default();
        inner.push(result);
        content.files.append(&mut inner.files);
        let has_results = !inner.blocks.is_empty();
        content.blocks.append(&mut inner.blocks);
        if !has_results {
            content.push_block("tool_result", name.as_deref(), inner.text);
        }
    }
    turn.verbatim = Some(Verbatim::json(text));
    finish(turn, content)
}

/// Converts a `Content` object of Google's API to a turn.
pub(super) fn content(text: &str, object: &Object<'_>) -> (Turn, AgentContent) {
    let role = match object.text("role").as_deref() {
        Some("user") => "user",
        Some("model" | "assistant") => "assistant",
        Some("function" | "tool") => "tool",
        _ => "system",
    };
    let mut turn = Turn { role: role.into(), verbatim: Some(Verbatim::json(text)), ..Turn::default() };
    let mut content = AgentContent::default();
    for raw in object.raw_value("parts").map(|raw| list(raw).unwrap_or_else(|| vec![raw])).into_iter().flatten() {
        content.push(raw);
    }
    turn.times.created = any_time(object, "timestamp");
    finish(turn, content)
}

fn finish(mut turn: Turn, mut content: AgentContent) -> (Turn, AgentContent) {
    if turn.role == "user" {
        if content.text.trim().is_empty() && content.content_type() == "tool_result" {
            turn.role = "tool".into();
        } else if content.separate_harness_text() {
            turn.role = "system".into();
        }
    }
    let files = content.fill_session_turn(&mut turn);
    (turn, files)
}
