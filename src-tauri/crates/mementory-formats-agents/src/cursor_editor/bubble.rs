//! Converts a bubble, which is Cursor's name for a message, to a turn.
use mementory_formats_shared::agent_content::{AgentContent, nested_text, push_text, value_text};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, decode_string};
use mementory_model::Verbatim;

/// Converts a bubble to a turn and its content.
pub(super) fn turn(text: &str, bubble: &Object<'_>) -> (Turn, AgentContent) {
    let mut turn = Turn { verbatim: Some(Verbatim::json(text)), ..Turn::default() };
    turn.id = ["bubbleId", "id"].into_iter().find_map(|key| bubble.non_blank_text(key)).map(|t| t.into_owned());
    turn.role = role_of(bubble).into();
    turn.model = model_of(bubble);
    turn.times.created = any_time(bubble, "createdAt").or_else(|| any_time(bubble, "timestamp")).or_else(|| {
        let timing_info = bubble.object("timingInfo")?;
        ["clientStartTime", "clientRpcSendTime", "clientSettleTime"]
            .into_iter()
            .find_map(|key| any_time(&timing_info, key))
    });
    let mut content = AgentContent::default();
    let stated_text = ["text", "rawText", "content"].into_iter().find_map(|key| bubble.non_blank_text(key));
    content.text = stated_text.map_or_else(|| rich_text(bubble), |text| text.into_owned());
    read_blocks(bubble, &mut content);
    if turn.role == "user" && content.separate_harness_text() {
        turn.role = "system".into();
    }
    let files = content.fill_session_turn(&mut turn);
    (turn, files)
}

fn role_of(bubble: &Object<'_>) -> &'static str {
    let kind = bubble.raw_value("type").or_else(|| bubble.raw_value("role")).map(|raw| raw.get().trim_matches('"'));
    match kind {
        Some("1" | "user" | "human") => "user",
        Some("2" | "ai" | "assistant") => "assistant",
        _ => "system",
    }
}

/// The model that wrote a bubble.
fn model_of(object: &Object<'_>) -> Option<String> {
    let inner = ["modelInfo", "modelConfig"].into_iter().find_map(|key| object.object(key));
    let name = inner.and_then(|m| m.non_blank_text("modelName").map(|t| t.into_owned()));
    let name = name.or_else(|| object.non_blank_text("modelType").map(|t| t.into_owned()));
    name.filter(|name| name != "default")
}

/// Adds the thinking, tool calls, code and pictures of a message to `content`.
fn read_blocks(bubble: &Object<'_>, content: &mut AgentContent) {
    let thinking =
        bubble.raw_value("thinking").into_iter().chain(bubble.list("allThinkingBlocks").into_iter().flatten());
    let mut thoughts: Vec<String> = Vec::new();
    for raw in thinking {
        let text = match Object::parse(raw.get()) {
            Some(block) => {
                ["text", "thinking"].into_iter().find_map(|k| block.text(k)).unwrap_or_default().into_owned()
            }
            None => decode_string(raw).unwrap_or_default().into_owned(),
        };
        if !text.trim().is_empty() && !thoughts.contains(&text) {
            content.push_block("thinking", None, text.clone());
            thoughts.push(text);
        }
    }
    if let Some(tool) = bubble.object("toolFormerData") {
        let name = tool.non_blank_text("name");
        let value = |keys: &[&str]| {
            let tool_text =
                keys.iter().filter_map(|k| tool.raw_value(k)).map(value_text).find(|t| !t.trim().is_empty());
            tool_text.unwrap_or_default()
        };
        if name.is_some() || tool.has("rawArgs") || tool.has("params") {
            content.push_block("tool_call", name.as_deref().or(Some("tool")), value(&["rawArgs", "params", "args"]));
        }
        content.push_block("tool_result", None, value(&["result", "error"]));
    }
    for raw in bubble.list("codeBlocks").into_iter().flatten() {
        let Some(block) = Object::parse(raw.get()) else { continue };
        let code = block.text("content").or_else(|| block.text("code")).unwrap_or_default();
        if !content.text.contains(code.trim()) {
            content.push_block("code", block.non_blank_text("languageId").as_deref(), code.clone());
        }
    }
    for raw in bubble.list("images").into_iter().flatten() {
        match Object::parse(raw.get()) {
            Some(image) => content.push_block("image", None, nested_place(&image)),
            None => {
                content.push_block("image", None, decode_string(raw).filter(|t| t.len() < 4096).unwrap_or_default())
            }
        }
    }
    for raw in bubble.list("attachedCodeChunks").into_iter().flatten() {
        content.push_block("context", None, nested_text(raw));
    }
}

fn nested_place(image: &Object<'_>) -> String {
    let text = ["path", "name", "uuid", "uri"].into_iter().find_map(|key| image.non_blank_text(key));
    text.map(|t| t.into_owned()).unwrap_or_default()
}

/// The text in `richText`, the editor's internal representation of a message, which is JSON in a string.
fn rich_text(bubble: &Object<'_>) -> String {
    let Some(raw) = bubble.raw_value("richText") else { return String::new() };
    let inner = decode_string(raw).map_or_else(|| raw.get().to_owned(), |t| t.into_owned());
    let mut out = String::new();
    // Malicious input must not exhaust memory or stack, so depth and number of nodes are limited, and a list of pending
    // nodes is used instead of recursion.
    let Ok(root) = serde_json::from_str::<&serde_json::value::RawValue>(&inner) else { return inner };
    let mut pending = vec![(root, 0u32)];
    while let Some((value, depth)) = pending.pop() {
        if depth > 64 || pending.len() > 100_000 {
            continue;
        }
        if let Some(items) = mementory_formats_shared::object::list(value) {
            pending.extend(items.into_iter().rev().map(|item| (item, depth + 1)));
        } else if let Some(node) = Object::parse(value.get()) {
            push_text(&mut out, &node.text("text").unwrap_or_default());
            let child_values = ["root", "children"].into_iter().filter_map(|key| node.raw_value(key));
            pending.extend(child_values.map(|value| (value, depth + 1)));
        }
    }
    out
}

/// Sets the title, times, status and model of a conversation.
pub(super) fn fill_chat(chat: &mut Chat, object: &Object<'_>) {
    let text = |key: &str| object.non_blank_text(key).map(|t| t.into_owned());
    chat.title = text("name").or_else(|| text("chatTitle"));
    chat.times.created = any_time(object, "createdAt");
    chat.times.updated = any_time(object, "lastUpdatedAt").or_else(|| any_time(object, "lastSendTime"));
    chat.status = if object.is_true("isArchived") { Some("archived".into()) } else { text("status") };
    chat.record_type = text("unifiedMode").or_else(|| text("forceMode"));
    chat.model = model_of(object);
    let summary = object.object("latestConversationSummary").and_then(|s| s.object("summary"));
    let summary = summary.and_then(|s| s.non_blank_text("summary").map(|t| t.into_owned()));
    chat.summary = summary.or_else(|| text("subtitle")).unwrap_or_default();
    let folder = object.object("workspaceIdentifier").and_then(|w| w.object("uri"));
    chat.source.project = folder
        .and_then(|uri| ["fsPath", "path"].into_iter().find_map(|k| uri.non_blank_text(k).map(|t| t.into_owned())));
}
