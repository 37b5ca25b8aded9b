//! Reads an event of OpenHands as a message.
use mementory_formats_shared::agent_content::{AgentContent, nested_text, push_text, value_text};
use mementory_formats_shared::object::Object;

/// What an event contributes to the conversation.
pub(super) enum Message {
    /// A message with its role.
    Turn(&'static str, AgentContent),
    /// A part of a text that a later event contains as a whole.
    Progress,
    /// No message: a change of the program's state, for example.
    None,
}

/// Actions and observations of the versions before 1 that are not messages.
const NON_MESSAGE_NAMES: [&str; 5] =
    ["null", "agent_state_changed", "change_agent_state", "recall", "condensation_request"];

/// Reads an event of any version.
pub(super) fn message(event: &Object<'_>) -> Message {
    let kind = event.text("kind");
    let read = match kind.as_deref() {
        Some("StreamingDeltaEvent") => return Message::Progress,
        Some(kind) => event_of_kind(kind, event),
        None => match event.non_blank_text("action") {
            Some(action) => action_of(&action, event),
            None => event.non_blank_text("observation").and_then(|name| observation_of(&name, event)),
        },
    };
    read.map_or(Message::None, |(role, content)| Message::Turn(role, content))
}

/// An event of version 1.
fn event_of_kind(kind: &str, event: &Object<'_>) -> Option<(&'static str, AgentContent)> {
    let mut content = AgentContent::default();
    let tool = event.non_blank_text("tool_name");
    match kind {
        "MessageEvent" => {
            let message = event.object("llm_message")?;
            push_thoughts(&mut content, &message);
            message.raw_value("content").into_iter().for_each(|raw| push_content(&mut content, raw));
            for raw in event.list("extended_content").into_iter().flatten() {
                content.push_block("context", None, nested_text(raw));
            }
            let role = match (message.text("role").as_deref(), event.text("source").as_deref()) {
                (Some("user"), Some("user") | None) => "user",
                (Some("assistant"), _) | (_, Some("agent")) => "assistant",
                (Some("tool"), _) => "tool",
                _ => "system",
            };
            Some((role, content))
        }
        "ActionEvent" => {
            push_thoughts(&mut content, event);
            event.raw_value("thought").into_iter().for_each(|raw| push_content(&mut content, raw));
            let action = event.object("action");
            let text_of = |key: &str| action.as_ref().and_then(|action| action.non_blank_text(key));
            match (tool.as_deref(), text_of("message"), text_of("thought")) {
                (Some("finish"), Some(message), _) => push_text(&mut content.text, &message),
                (Some("think"), _, Some(thought)) => content.push_block("thinking", None, thought),
                _ => content.push_block("tool_call", tool.as_deref(), arguments_of(event)),
            }
            Some(("assistant", content))
        }
        "ObservationEvent" => {
            let raw = event.raw_value("observation")?;
            let inner = Object::parse(raw.get())
                .and_then(|observation| ["content", "output"].into_iter().find_map(|key| observation.raw_value(key)));
            let mut output = AgentContent::default();
            push_content(&mut output, inner.unwrap_or(raw));
            content.files = output.files;
            content.push_block("tool_result", tool.as_deref(), output.text);
            content.blocks.extend(output.blocks);
            Some(("tool", content))
        }
        "UserRejectObservation" | "AgentErrorEvent" => {
            let text = ["rejection_reason", "error"].into_iter().find_map(|key| event.text(key));
            content.push_block("tool_result", tool.as_deref(), text.unwrap_or_default());
            Some(("tool", content))
        }
        "SystemPromptEvent" => {
            let parts = ["system_prompt", "dynamic_context"].into_iter().filter_map(|key| event.raw_value(key));
            parts.for_each(|raw| content.push(raw));
            Some(("system", content))
        }
        "Condensation" | "CondensationSummaryEvent" => {
            content.text = event.non_blank_text("summary")?.into_owned();
            Some(("system", content))
        }
        "ConversationErrorEvent" | "ServerErrorEvent" => {
            content.text = event.non_blank_text("detail").or_else(|| event.non_blank_text("code"))?.into_owned();
            Some(("system", content))
        }
        _ => None,
    }
}

/// The arguments of a call as the model wrote them. If there are none, the action that the program created from the
/// call.
fn arguments_of(event: &Object<'_>) -> String {
    let call = event.object("tool_call").unwrap_or_default();
    let function = call.object("function");
    let arguments = function.as_ref().and_then(|function| function.raw_value("arguments"));
    let arguments = arguments.or_else(|| call.raw_value("arguments")).or_else(|| event.raw_value("action"));
    arguments.map_or_else(String::new, value_text)
}

/// Adds the thoughts of a model, in the notations of the providers. Encrypted thoughts are only in the verbatim.
fn push_thoughts(content: &mut AgentContent, object: &Object<'_>) {
    if let Some(thought) = object.non_blank_text("reasoning_content") {
        return content.push_block("thinking", None, thought);
    }
    object.raw_value("thinking_blocks").into_iter().for_each(|raw| content.push(raw));
    if let Some(item) = object.object("responses_reasoning_item") {
        item.raw_value("summary").into_iter().for_each(|raw| content.push_block("thinking", None, value_text(raw)));
    }
}

/// Adds the content of a message. A part can contain several pictures.
fn push_content(content: &mut AgentContent, raw: &serde_json::value::RawValue) {
    for part in mementory_formats_shared::object::list(raw).unwrap_or_else(|| vec![raw]) {
        match Object::parse(part.get()).filter(|part| part.list("image_urls").is_some()) {
            Some(part) => push_images(content, &part),
            None => content.push(part),
        }
    }
}

/// Adds the pictures in `image_urls`.
fn push_images(content: &mut AgentContent, object: &Object<'_>) {
    for raw in object.list("image_urls").into_iter().flatten() {
        let text = format!("{{\"url\":{}}}", raw.get());
        content.push_file(&Object::parse(&text).unwrap_or_default(), "image");
    }
}

/// An action of the versions before 1: what the person or the agent did.
fn action_of(action: &str, event: &Object<'_>) -> Option<(&'static str, AgentContent)> {
    let mut content = AgentContent::default();
    let args = event.object("args").unwrap_or_default();
    let is_person = event.text("source").as_deref() == Some("user");
    let first_text = |keys: &[&str]| keys.iter().find_map(|key| args.non_blank_text(key));
    match action {
        "message" => {
            push_thoughts(&mut content, &args);
            content.text = args.text("content").unwrap_or_default().into_owned();
            push_images(&mut content, &args);
            Some((if is_person { "user" } else { "assistant" }, content))
        }
        "system" => {
            content.text = args.text("content").unwrap_or_default().into_owned();
            Some(("system", content))
        }
        "condensation" => {
            content.text = args.non_blank_text("summary")?.into_owned();
            Some(("system", content))
        }
        "finish" | "reject" => {
            let text = first_text(&["final_thought", "thought"]).or_else(|| event.non_blank_text("message"))?;
            content.text = text.into_owned();
            Some(("assistant", content))
        }
        "think" => {
            content.push_block("thinking", None, first_text(&["thought"])?);
            Some(("assistant", content))
        }
        action if NON_MESSAGE_NAMES.contains(&action) => None,
        action => {
            push_text(&mut content.text, &first_text(&["thought"]).unwrap_or_default());
            let call = event.object("tool_call_metadata").unwrap_or_default();
            let name = call.non_blank_text("function_name");
            let input = ["command", "code", "url", "browser_actions", "path", "task", "arguments"];
            let input = match event.raw_value("args") {
                // Only the text of a command is shown. Other actions are shown with all their arguments.
                Some(raw) if !matches!(action, "run" | "run_ipython") => value_text(raw),
                _ => first_text(&input).unwrap_or_default().into_owned(),
            };
            content.push_block("tool_call", Some(name.as_deref().unwrap_or(action)), input);
            // A command that the person ran is not a message of the agent.
            Some((if is_person { "tool" } else { "assistant" }, content))
        }
    }
}

/// An observation of the versions before 1: what the program answered to an action.
fn observation_of(name: &str, event: &Object<'_>) -> Option<(&'static str, AgentContent)> {
    if NON_MESSAGE_NAMES.contains(&name) {
        return None;
    }
    let mut content = AgentContent::default();
    let text = event.raw_value("content").map_or_else(String::new, value_text);
    if name == "condense" {
        content.text = text;
        return Some(("system", content));
    }
    content.push_block("tool_result", Some(name), text);
    let extras = event.object("extras").unwrap_or_default();
    push_images(&mut content, &extras);
    Some(("tool", content))
}
