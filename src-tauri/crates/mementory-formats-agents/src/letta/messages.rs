//! The messages of an agent as a conversation.
use super::is_local_id;
use super::{ID, PLATFORM};
use mementory_format::FormatError;
use mementory_formats_shared::chat::{Chat, ChatFile, Turn, times_of};
use mementory_formats_shared::memory_rows::{Row, RowValues};
use mementory_formats_shared::object::{Object, content_id, decode_string, list};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::{Value, value::RawValue};

/// Tags around text that the program inserts into a prompt and that the person does not see.
const REMINDER_TAGS: [&str; 2] = ["<system-reminder>", "</system-reminder>"];

/// Sends the messages of an agent as a conversation. Sends nothing if there are no messages.
pub(super) fn read(
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    agent: &Object<'_>,
    key: &str,
) -> Result<(), FormatError> {
    let messages = agent.list("messages").unwrap_or_default();
    if messages.is_empty() {
        return Ok(());
    }
    // All prompts of a sleep-time agent come from the program.
    let has_person = !agent.text("agent_type").unwrap_or_default().contains("sleeptime");
    let mut turns = Vec::with_capacity(messages.len());
    for (n, raw) in messages.into_iter().enumerate() {
        let pointer = format!("{}/messages/{n}", row.pointer);
        match Object::parse(raw.get()) {
            Some(message) => turns.extend(turns_of(&message, raw, &pointer, has_person)),
            None => {
                let place = format!("{}#{pointer}", row.member.place);
                let reason = "not_an_object: this entry is not an object";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            }
        }
    }
    // Agent files of the first generation list the messages in no particular order.
    if agent.has("core_memory") && turns.iter().all(|turn| turn.times.created.is_some()) {
        turns.sort_by_key(|turn| turn.times.created);
    }
    let mut chat = Chat {
        id: Some(format!("{key}/messages")),
        title: agent.first_text(&["name"]),
        pointer: format!("{}/messages", row.pointer),
        verbatim: Some(Verbatim::json(serde_json::json!({ "name": agent.first_text(&["name"]) }).to_string())),
        ..Chat::default()
    };
    chat.times = times_of(&turns);
    chat.turns = turns;
    let mut issues = Vec::new();
    let file = ChatFile { format: ID, platform: PLATFORM, version: None, container: &row.member.place };
    let mut unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| files.sink.note(issue));
    // Keys that this reader generated are not ids of the source, so they are not stored as origin ids.
    let is_generated = |id: &String| id.starts_with("agent/") || id.starts_with("content/");
    unit.records
        .iter_mut()
        .for_each(|record| record.origin_id = record.origin_id.take().filter(|id| !is_generated(id)));
    files.sink.unit(unit)
}

/// The turns of a message: first the text that the program inserted, then the message itself.
fn turns_of(message: &Object<'_>, raw: &RawValue, pointer: &str, has_person: bool) -> Vec<Turn> {
    let parts = Parts::of(message);
    let mut turn = Turn {
        id: Some(message_key(message, raw)),
        pointer: pointer.to_owned(),
        verbatim: Some(Verbatim::json(raw.get())),
        model: message.first_text(&["model"]),
        ..Turn::default()
    };
    turn.times.created = message.time("created_at").or_else(|| message.time("date"));
    turn.times.updated = message.time("updated_at");
    let role = message.text("role").unwrap_or_default().to_ascii_lowercase();
    let reminders = if role == "user" { parts.reminders.clone() } else { Vec::new() };
    fill(&mut turn, message, &role, parts);
    if turn.role == "user" && !has_person {
        (turn.role, turn.content_type, turn.hidden) = ("system".into(), "context".into(), true);
    }
    split_reminders(turn, reminders)
}

/// Returns a separate turn with the text that the program inserted, and then the message.
pub(super) fn split_reminders(turn: Turn, reminders: Vec<String>) -> Vec<Turn> {
    if reminders.is_empty() {
        return vec![turn];
    }
    let text = reminders.join("\n\n");
    let context = Turn {
        id: turn.id.as_ref().map(|id| format!("{id}/context")),
        key: turn.key.as_ref().map(|key| format!("{key}/context")),
        role: "system".into(),
        content_type: "context".into(),
        hidden: true,
        times: turn.times.clone(),
        pointer: turn.pointer.clone(),
        // The verbatim contains only the inserted text, so that erasing the message erases all of the person's words.
        verbatim: Some(Verbatim::json(Value::from(text.as_str()).to_string())),
        text,
        ..Turn::default()
    };
    // The program inserted the whole text, so there is no second turn.
    if turn.text.trim().is_empty() {
        return vec![Turn { id: turn.id, key: turn.key, verbatim: turn.verbatim, ..context }];
    }
    vec![context, turn]
}

/// The id of a message, or a digest of the message if its id is valid only in this file.
fn message_key(message: &Object<'_>, raw: &RawValue) -> String {
    if let Some(id) = message.id("id").filter(|id| !is_local_id(id)) {
        return id;
    }
    let text = |key: &str| message.raw_value(key).map(RawValue::get).unwrap_or_default();
    let content =
        [text("role"), text("created_at"), text("content"), text("tool_calls"), text("tool_call_id")].concat();
    format!("content/{}", content_id(if content.is_empty() { raw.get() } else { &content }))
}

/// Text parts of a message, grouped by their origin.
#[derive(Default)]
pub(super) struct Parts {
    texts: Vec<String>,
    pub(super) reminders: Vec<String>,
    thoughts: Vec<String>,
}

impl Parts {
    fn of(message: &Object<'_>) -> Self {
        let mut parts = Self::default();
        let Some(content) = message.raw_value("content").or_else(|| message.raw_value("text")) else { return parts };
        if let Some(text) = decode_string(content) {
            parts.add(&text);
        }
        for raw in list(content).unwrap_or_default() {
            let part = Object::parse(raw.get()).unwrap_or_default();
            if let Some(text) = decode_string(raw) {
                parts.add(&text);
            } else if let Some(thought) = part.first_text(&["reasoning", "thinking", "summary"]) {
                parts.thoughts.push(thought);
            } else if let Some(text) = part.first_text(&["text", "content"]) {
                parts.add(&text);
            }
        }
        parts
    }

    /// The parts of an entry in a list of messages. Its thought or summary is next to the content.
    pub(super) fn of_entry(message: &Object<'_>) -> Self {
        let mut parts = Self::of(message);
        parts.thoughts.extend(message.first_text(&["reasoning", "hidden_reasoning"]));
        parts.texts.extend(message.first_text(&["summary"]));
        parts
    }

    fn add(&mut self, text: &str) {
        let mut rest = text;
        let mut own_text = String::new();
        while let Some((before, after)) = rest.split_once(REMINDER_TAGS[0]) {
            own_text.push_str(before);
            let (inside, next) = after.split_once(REMINDER_TAGS[1]).unwrap_or((after, ""));
            self.reminders.push(inside.trim().to_owned());
            rest = next;
        }
        own_text.push_str(rest);
        if !own_text.trim().is_empty() {
            self.texts.push(own_text.trim().to_owned());
        }
    }
}

/// Fills role, text and content type of a turn.
pub(super) fn fill(turn: &mut Turn, message: &Object<'_>, role: &str, parts: Parts) {
    let text = parts.texts.join("\n\n");
    (turn.role, turn.content_type, turn.text) = ("system".into(), "context".into(), text.clone());
    turn.hidden = true;
    match role {
        "user" => fill_prompt(turn, &text),
        "assistant" => fill_answer(turn, message, text, parts.thoughts),
        "tool" | "function" => {
            (turn.role, turn.content_type) = ("tool".into(), "tool_result".into());
            if turn.text.is_empty() {
                turn.text = results(message);
            }
        }
        // An approval without calls is the person's answer. An approval with calls is the agent's request.
        "approval" if calls(message).is_empty() => {
            turn.content_type = "approval".into();
            let is_denied = message.raw_value("approve").is_some_and(|raw| raw.get() == "false");
            let reason = message.first_text(&["denial_reason", "reason"]);
            turn.text = reason.unwrap_or_else(|| if is_denied { "denied" } else { "approved" }.into());
        }
        "approval" => fill_answer(turn, message, text, parts.thoughts),
        "system" => {}
        other => turn.content_type = if other.is_empty() { "unknown".into() } else { other.to_owned() },
    }
}

/// Reads a prompt. Older agents put it into a JSON object that states the kind of event. A known kind other than
/// `user_message` is not from the person.
fn fill_prompt(turn: &mut Turn, text: &str) {
    let event = Object::parse(text);
    let kind = event.as_ref().and_then(|event| event.first_text(&["type"]));
    match kind.as_deref() {
        Some("user_message") => {
            turn.text = event.and_then(|event| event.first_text(&["message"])).unwrap_or_default();
        }
        Some("heartbeat" | "login" | "system_alert" | "system_message" | "memory_alert" | "package_message") => {
            turn.text =
                event.and_then(|event| event.first_text(&["reason", "message"])).unwrap_or_else(|| text.to_owned());
            return;
        }
        _ => {}
    }
    (turn.role, turn.content_type, turn.hidden) = ("user".into(), "text".into(), false);
}

/// Reads an answer with its thoughts. Older agents answer by calling the tool `send_message`, so the text of their
/// answer is in the arguments of the call.
fn fill_answer(turn: &mut Turn, message: &Object<'_>, text: String, mut thoughts: Vec<String>) {
    let calls = calls(message);
    let sent_texts: Vec<String> = calls
        .iter()
        .filter(|(name, _)| name == "send_message")
        .filter_map(|(_, arguments)| Object::parse(arguments)?.first_text(&["message"]))
        .collect();
    let others: Vec<String> = calls
        .iter()
        .filter(|(name, _)| name != "send_message")
        .map(|(name, arguments)| format!("{name}({arguments})"))
        .collect();
    turn.role = "assistant".into();
    turn.text = text;
    if !sent_texts.is_empty() {
        thoughts.splice(0..0, Some(std::mem::take(&mut turn.text)).filter(|text| !text.is_empty()));
        turn.text = sent_texts.join("\n\n");
    }
    (turn.content_type, turn.hidden) = ("text".into(), false);
    if turn.text.is_empty() && !others.is_empty() {
        (turn.content_type, turn.text, turn.hidden) = ("tool_call".into(), others.join("\n"), true);
    } else if turn.text.is_empty() && !thoughts.is_empty() {
        (turn.content_type, turn.text, turn.hidden) = ("thinking".into(), thoughts.join("\n\n"), true);
        return;
    } else if !others.is_empty() {
        turn.fields.insert("tool_calls".into(), others.into());
    }
    if !thoughts.is_empty() {
        turn.fields.insert("thinking".into(), Value::String(thoughts.join("\n\n")));
    }
}

/// Names and arguments of the tools that a message calls.
fn calls(message: &Object<'_>) -> Vec<(String, String)> {
    let listed = message.list("tool_calls").unwrap_or_default();
    let single_call = message.raw_value("tool_call").into_iter();
    let call = |raw: &RawValue| {
        let call = Object::parse(raw.get())?;
        let function = call.object("function").unwrap_or(call);
        let arguments = function.raw_value("arguments")?;
        let text = decode_string(arguments).map_or_else(|| arguments.get().to_owned(), |text| text.into_owned());
        Some((function.first_text(&["name"])?, text))
    };
    listed.into_iter().chain(single_call).filter_map(call).collect()
}

fn results(message: &Object<'_>) -> String {
    let result = |raw: &RawValue| Object::parse(raw.get())?.first_text(&["func_response", "stdout", "tool_return"]);
    let listed = message.list("tool_returns").unwrap_or_default();
    let texts: Vec<String> = listed.into_iter().filter_map(result).collect();
    if texts.is_empty() { message.first_text(&["tool_return"]).unwrap_or_default() } else { texts.join("\n") }
}
