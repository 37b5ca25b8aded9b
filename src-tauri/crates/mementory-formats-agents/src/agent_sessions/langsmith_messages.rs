//! Finds the messages in the inputs and outputs of a run. Each program has its own names for them: lists of messages as
//! OpenAI, Anthropic or LangChain write them, possibly inside `generations` or `choices`, or a single text.
use mementory_formats_shared::agent_content::{AgentContent, value_text};
use mementory_formats_shared::object::{Object, decode_string, list};
use mementory_formats_shared::roles::{self, ASSISTANT, TOOL, USER};
use mementory_formats_shared::values::{first_text, id};
use serde_json::value::RawValue;

/// Members that may contain messages.
const MESSAGE_KEYS: [&str; 7] = ["messages", "generations", "choices", "message", "output", "input", "chat_history"];
/// Largest number of objects and lists around a message.
const MAX_LEVELS: u32 = 6;
/// Members of inputs and outputs with a single text.
const QUESTION_KEYS: [&str; 8] = ["input", "question", "query", "prompt", "text", "message", "user_input", "content"];
const ANSWER_KEYS: [&str; 9] =
    ["output", "answer", "response", "result", "text", "message", "content", "final_answer", "generation"];
/// Ends of the names of LangChain's classes of messages.
const CLASS_ENDS: [&str; 2] = ["messagechunk", "message"];

/// A message of a run.
pub(super) struct RunMessage<'a> {
    /// The source text of the message.
    pub raw: &'a RawValue,
    /// JSON that stands for the message in the source text of the run.
    pub replacement: &'static str,
    pub role: &'static str,
    pub id: Option<String>,
    pub model: Option<String>,
    pub content: AgentContent,
}

/// The messages in the inputs or outputs of a run.
pub(super) fn messages_of<'a>(run: &Object<'a>, key: &str, is_answer: bool) -> Vec<RunMessage<'a>> {
    let Some(value) = run.raw_value(key) else { return Vec::new() };
    let mut found = Vec::new();
    collect(value, MAX_LEVELS, &mut found);
    let messages: Vec<RunMessage<'a>> = found.into_iter().filter_map(message).collect();
    if messages.is_empty() { single_text(value, is_answer).into_iter().collect() } else { messages }
}

fn collect<'a>(value: &'a RawValue, levels: u32, out: &mut Vec<&'a RawValue>) {
    if levels == 0 {
        return;
    }
    if let Some(items) = list(value) {
        items.into_iter().for_each(|item| collect(item, levels - 1, out));
        return;
    }
    let Some(object) = Object::parse(value.get()) else { return };
    if role_of(&object).is_some() {
        return out.push(value);
    }
    for inner in MESSAGE_KEYS.iter().filter_map(|key| object.raw_value(key)) {
        collect(inner, levels - 1, out);
        if !out.is_empty() {
            return;
        }
    }
}

/// The role of a message: its role, its type, or the name of its class. None for an object that is no message.
fn role_of(object: &Object<'_>) -> Option<&'static str> {
    let is_message = ["content", "kwargs", "data", "tool_calls"].iter().any(|key| object.has(key));
    let class = object.list("id").and_then(|path| Some(decode_string(path.last()?)?.into_owned()));
    let name = first_text(object, &["role"]).or(class).or_else(|| first_text(object, &["type"]))?.to_lowercase();
    let name = CLASS_ENDS.iter().find_map(|end| name.strip_suffix(*end)).unwrap_or(name.as_str());
    roles::role(name).filter(|_| is_message)
}

fn message(raw: &RawValue) -> Option<RunMessage<'_>> {
    let outer = Object::parse(raw.get())?;
    let role = role_of(&outer)?;
    let inner = outer.object("kwargs").or_else(|| outer.object("data"));
    let object = inner.as_ref().unwrap_or(&outer);
    let mut content = AgentContent::read(object.raw_value("content"));
    if role == TOOL {
        let text = std::mem::take(&mut content.text);
        content.push_block("tool_result", first_text(object, &["name"]).as_deref(), text);
    }
    let additional = object.object("additional_kwargs");
    let has_calls = content.blocks.iter().any(|block| block.get("type").is_some_and(|kind| kind == "tool_call"));
    let calls = object.list("tool_calls").filter(|calls| !calls.is_empty());
    let calls = calls.or_else(|| additional.as_ref()?.list("tool_calls")).filter(|_| !has_calls);
    for call in calls.unwrap_or_default().into_iter().filter_map(|call| Object::parse(call.get())) {
        let function = call.object("function");
        let call = function.as_ref().unwrap_or(&call);
        let arguments = ["args", "arguments", "input"].iter().find_map(|key| call.raw_value(key));
        content.push_block(
            "tool_call",
            first_text(call, &["name"]).as_deref(),
            arguments.map_or_else(String::new, value_text),
        );
    }
    let response = object.object("response_metadata");
    Some(RunMessage {
        raw,
        replacement: "{}",
        role,
        id: id(object, "id"),
        model: response.and_then(|response| first_text(&response, &["model_name", "model"])),
        content,
    })
}

/// The text of a run that has no messages, under one of the usual names or as the only member.
fn single_text(value: &RawValue, is_answer: bool) -> Option<RunMessage<'_>> {
    let object = Object::parse(value.get())?;
    let keys: &[&str] = if is_answer { &ANSWER_KEYS } else { &QUESTION_KEYS };
    let mut members = object.members();
    let only = members.next().map(|(_, raw)| raw).filter(|_| members.next().is_none());
    let raw = keys.iter().find_map(|key| object.raw_value(key).filter(|raw| raw.get().starts_with('"'))).or(only)?;
    let text = decode_string(raw).filter(|text| !text.trim().is_empty())?;
    let content = AgentContent { text: text.into_owned(), ..AgentContent::default() };
    let role = if is_answer { ASSISTANT } else { USER };
    Some(RunMessage { raw, replacement: "\"\"", role, id: None, model: None, content })
}
