//! Reads sessions of Vibe: `meta.json` and `messages.jsonl` in one folder, or both in one file, as early versions wrote
//! them.
use super::{MISTRAL, VIBE};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::is_tool_type;
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    object::{Object, list, with_replaced_values},
    reader::FileReader,
    values::{block, first_id, first_text, first_time, id, other_fields, readable},
};
use mementory_model::{DroppedAs, Kind, Source, Times, Verbatim};
use serde_json::{Value, value::RawValue};

/// Members of the metadata that have a field in the model, or are deliberately not stored.
const METADATA_MEMBERS: [&str; 9] = [
    "session_id",
    "start_time",
    "end_time",
    "title",
    "username",
    "config",
    "agent_config",
    "tools_available",
    "system_prompt",
];
/// Members of a message that have a field in the model.
const MESSAGE_MEMBERS: [&str; 5] = ["role", "content", "message_id", "reasoning_content", "tool_calls"];

/// Reads a session whose messages are in a separate file in the same folder.
pub(super) fn read_folder(
    reader: &mut FileReader<'_>,
    member: &Member,
    messages: Option<&Member>,
    version: Option<&str>,
) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    let Some(metadata) = Object::parse(&text) else {
        return Err(FormatError::invalid("malformed", &member.place, "the metadata of this session is not an object"));
    };
    let mut chat = chat(reader, member, &text, &metadata, &[]);
    let model = model(&metadata);
    let container = messages.map_or(&member.place, |messages| &messages.place);
    if let Some(messages) = messages {
        reader.lines(messages, Kind::Message, |_, element| {
            chat.turns.push(turn(element.text, &element.object, element.pointer.clone(), model.as_deref()));
            Ok(())
        })?;
    }
    send(reader, chat, container, version)
}

/// Reads a session in one file: `{metadata, messages}`.
pub(super) fn read_whole(
    reader: &mut FileReader<'_>,
    member: &Member,
    version: Option<&str>,
) -> Result<(), FormatError> {
    reader.objects(member, &[], Kind::Conversation, |reader, element| {
        let metadata = element.object.object("metadata").unwrap_or_default();
        let raw_messages = element.object.raw_value("messages");
        let replaced: Vec<(&RawValue, &str)> = raw_messages.into_iter().map(|raw| (raw, "[]")).collect();
        let mut chat = chat(reader, member, element.text, &metadata, &replaced);
        let model = model(&metadata);
        for (index, raw) in raw_messages.and_then(list).into_iter().flatten().enumerate() {
            let pointer = format!("{}/messages/{index}", element.pointer);
            match Object::parse(raw.get()) {
                Some(object) => chat.turns.push(turn(raw.get(), &object, pointer, model.as_deref())),
                None => {
                    let reason = "not_an_object: this entry is not a message";
                    let place = format!("{}#{pointer}", member.place);
                    reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
                }
            }
        }
        send(reader, chat, &member.place, version)
    })?;
    Ok(())
}

/// Reads the metadata of a session into a conversation without messages. The settings of the agent are not stored,
/// because they may contain API keys.
fn chat(
    reader: &mut FileReader<'_>,
    member: &Member,
    text: &str,
    metadata: &Object<'_>,
    replaced: &[(&RawValue, &str)],
) -> Chat {
    let mut replaced = replaced.to_vec();
    for key in ["config", "agent_config"] {
        if let Some(raw) = metadata.raw_value(key) {
            let place = format!("{}#/{key}", member.place);
            let reason = "not_imported: settings of the agent, which may contain keys";
            reader.report_dropped(place, DroppedAs::Skipped, reason, None);
            replaced.push((raw, "null"));
        }
    }
    let mut turns = Vec::new();
    if let Some(raw) = metadata.raw_value("system_prompt") {
        let prompt = Object::parse(raw.get());
        let words = prompt.as_ref().and_then(|prompt| first_text(prompt, &["content"]));
        turns.push(Turn {
            key: Some("system_prompt".into()),
            role: "system".into(),
            text: words.unwrap_or_else(|| readable(raw)),
            content_type: "context".into(),
            hidden: true,
            pointer: "/system_prompt".into(),
            verbatim: Some(Verbatim::json(raw.get())),
            ..Turn::default()
        });
        replaced.push((raw, "null"));
    }
    let folder = metadata.object("environment").and_then(|e| first_text(&e, &["working_directory"]));
    Chat {
        id: id(metadata, "session_id"),
        title: first_text(metadata, &["title"]),
        times: Times {
            created: first_time(metadata, &["start_time"]),
            updated: first_time(metadata, &["end_time"]),
            ..Times::default()
        },
        source: Source { account: first_text(metadata, &["username"]), project: folder, ..Source::default() },
        fields: other_fields(metadata, &METADATA_MEMBERS),
        verbatim: Some(Verbatim::json(with_replaced_values(text, &replaced))),
        turns,
        ..Chat::default()
    }
}

fn model(metadata: &Object<'_>) -> Option<String> {
    ["config", "agent_config"].iter().find_map(|key| first_text(&metadata.object(key)?, &["active_model"]))
}

fn send(reader: &mut FileReader<'_>, chat: Chat, container: &str, version: Option<&str>) -> Result<(), FormatError> {
    let mut issues = Vec::new();
    let unit = chat.into_unit(ChatFile { format: MISTRAL, platform: VIBE, version, container }, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

/// Returns the turn of a message. If the agent inserted the text in the name of the person, the content type is
/// `context`.
fn turn(text: &str, message: &Object<'_>, pointer: String, model: Option<&str>) -> Turn {
    let stated_role = first_text(message, &["role"]).map_or_else(|| "unknown".into(), |role| role.to_lowercase());
    let is_context = message.is_true("injected") || stated_role == "system";
    let mut blocks = Vec::new();
    if let Some(thoughts) = message.raw_value("reasoning_content").map(words).filter(|text| !text.is_empty()) {
        blocks.push(block("thinking", None, thoughts));
    }
    for raw in message.list("tool_calls").into_iter().flatten() {
        let function = Object::parse(raw.get()).and_then(|call| call.object("function"));
        let name = function.as_ref().and_then(|function| first_text(function, &["name"]));
        let arguments = function.as_ref().and_then(|f| f.raw_value("arguments")).map(readable);
        blocks.push(block("tool_call", name.as_deref(), arguments.unwrap_or_else(|| readable(raw))));
    }
    let body = message.raw_value("content").map(words).unwrap_or_default();
    let content_type = match (stated_role.as_str(), blocks.last()) {
        _ if is_context => "context",
        ("tool", _) => "tool_result",
        (_, Some(last)) if body.trim().is_empty() => last.get("type").and_then(Value::as_str).unwrap_or("text"),
        _ => "text",
    };
    let is_only_tool = is_tool_type(content_type);
    let mut fields = other_fields(message, &MESSAGE_MEMBERS);
    let content_type = content_type.to_owned();
    if !blocks.is_empty() {
        fields.insert("blocks".into(), Value::Array(blocks));
    }
    Turn {
        id: first_id(message, &["message_id"]),
        model: model.filter(|_| stated_role == "assistant").map(Into::into),
        role: if is_context { "system".into() } else { stated_role },
        text: body,
        content_type,
        hidden: is_context || is_only_tool,
        times: Times { created: first_time(message, &["timestamp", "created_at"]), ..Times::default() },
        pointer,
        verbatim: Some(Verbatim::json(text)),
        fields,
        ..Turn::default()
    }
}

/// Returns the text of a message's content, which is a string or a list of parts.
fn words(raw: &RawValue) -> String {
    let Some(parts) = list(raw) else { return readable(raw) };
    let text = |raw: &&RawValue| {
        let part = Object::parse(raw.get());
        part.and_then(|part| first_text(&part, &["text"])).unwrap_or_else(|| readable(raw))
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}
