//! Reads the events that `codex exec --json` prints: the items of a thread. The events have no timestamps and do not
//! include the prompt.
use super::items::finish;
use mementory_formats_shared::agent_content::{AgentContent, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::object::{Object, list};

/// True for a line of `codex exec --json`.
pub(super) fn is_event(line: &Object<'_>) -> bool {
    match line.text("type").as_deref() {
        Some("thread.started" | "thread.resumed") => line.has("thread_id"),
        Some("item.started" | "item.updated" | "item.completed") => {
            line.object("item").is_some_and(|item| item.has("id") && (item.has("type") || item.has("item_type")))
        }
        Some("turn.completed") => line.object("usage").is_some_and(|usage| usage.has("output_tokens")),
        _ => false,
    }
}

/// The message of an item. An item contains a command or tool call together with its result, so both are one message.
pub(super) fn message(item: &Object<'_>) -> (Turn, AgentContent) {
    let mut turn = Turn { role: "assistant".into(), ..Turn::default() };
    let mut content = AgentContent::default();
    let text_of = |key: &str| item.raw_value(key).map_or_else(String::new, value_text);
    // In 2025, the member was named `item_type`.
    let kind = item.non_blank_text("type").or_else(|| item.non_blank_text("item_type"));
    let kind = kind.as_deref().unwrap_or("unknown");
    match kind {
        "agent_message" | "assistant_message" => content.text = text_of("text"),
        "reasoning" => {
            content.text = text_of("text");
            finish(&mut turn, &mut content, "reasoning");
            return (turn, content);
        }
        "command_execution" => {
            content.push_block("tool_call", Some("shell"), text_of("command"));
            push_result(&mut content, "shell", text_of("aggregated_output"));
        }
        "mcp_tool_call" => {
            let name = format!("{}.{}", text_of("server"), text_of("tool"));
            content.push_block("tool_call", Some(&name), text_of("arguments"));
            let result = if item.raw_value("result").is_some() { text_of("result") } else { text_of("error") };
            push_result(&mut content, &name, result);
        }
        "file_change" => content.push_block("tool_call", Some(kind), rows(item, "changes", &["kind", "path"])),
        "web_search" => content.push_block("tool_call", Some(kind), text_of("query")),
        "todo_list" => content.push_block("tool_call", Some(kind), rows(item, "items", &["text"])),
        _ => {
            (turn.role, turn.hidden) = ("system".into(), true);
            content.text = if item.has("message") { text_of("message") } else { text_of("text") };
        }
    }
    finish(&mut turn, &mut content, "message");
    (turn, content)
}

/// The message that reports a failed turn, or an error of the whole run.
pub(super) fn failure(line: &Object<'_>) -> Option<(Turn, AgentContent)> {
    let error = line.object("error");
    let text = error.as_ref().unwrap_or(line).non_blank_text("message")?.into_owned();
    let mut turn = Turn { role: "system".into(), ..Turn::default() };
    let mut content = AgentContent { text, ..AgentContent::default() };
    finish(&mut turn, &mut content, "message");
    Some((turn, content))
}

fn push_result(content: &mut AgentContent, name: &str, text: String) {
    if !text.is_empty() {
        content.push_block("tool_result", Some(name), text);
    }
}

/// One line for each element of a list, with the values of these members.
fn rows(item: &Object<'_>, key: &str, members: &[&str]) -> String {
    let row = |raw: &&serde_json::value::RawValue| {
        let element = Object::parse(raw.get())?;
        let texts: Vec<String> = members.iter().filter_map(|key| Some(element.text(key)?.into_owned())).collect();
        Some(texts.join(" "))
    };
    let elements = item.raw_value(key).and_then(list).unwrap_or_default();
    elements.iter().filter_map(row).collect::<Vec<_>>().join("\n")
}
