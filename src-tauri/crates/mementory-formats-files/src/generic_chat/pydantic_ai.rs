//! Reads the messages of an agent of Pydantic AI as its `ModelMessagesTypeAdapter` writes them: a request lists what
//! goes to the model, a response what it answers.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, beginning, times_of};
use mementory_formats_shared::content::{Content, nested_text};
use mementory_formats_shared::message::{first_text, report_no_message, send, times};
use mementory_formats_shared::object::{Object, content_id, decode_string, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;

const PLATFORM: &str = "pydantic_ai";
const PARTS: &str = "parts";
const PART_KIND: &str = "part_kind";

/// True if the keys are those of requests and responses.
pub(super) fn is_log(keys: &Keys) -> bool {
    keys.has("kind") && keys.has(&format!("{PARTS}.{PART_KIND}"))
}

/// The messages of a file, which are one conversation.
#[derive(Debug, Default)]
pub(super) struct Log {
    turns: Vec<Turn>,
    /// The requests without their parts, for the verbatim of the conversation.
    requests: Vec<String>,
    instructions: Option<String>,
    bytes: u64,
}

impl Log {
    /// Adds a request or a response. Those beyond the limit for one element are reported.
    pub fn add(&mut self, files: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) {
        self.bytes += element.text.len() as u64;
        if self.bytes > files.context.limits.element_bytes {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "too_large: the messages before this one are as large as the limit";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return;
        }
        let object = &element.object;
        if object.text("kind").is_some_and(|kind| kind == "response") {
            self.turns.push(response(element, files.format));
            return;
        }
        let created = times(object).created;
        for (index, raw) in object.list(PARTS).unwrap_or_default().into_iter().enumerate() {
            let pointer = format!("{}/{PARTS}/{index}", element.pointer);
            match Object::parse(raw.get()) {
                Some(part) => {
                    let mut turn = request_part(&part, raw, pointer, files.format);
                    turn.times.created = turn.times.created.or(created);
                    self.turns.push(turn);
                }
                None => report_no_message(files, member, &pointer),
            }
        }
        let cuts: Vec<(&RawValue, &str)> = object.raw_value(PARTS).map(|raw| (raw, "[]")).into_iter().collect();
        self.requests.push(with_replaced_values(element.text, &cuts));
        self.instructions = self.instructions.take().or_else(|| first_text(object, &["instructions"]));
    }

    /// Sends the conversation. It has no id, so its beginning identifies it.
    pub fn send(self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        if self.turns.is_empty() {
            return Ok(());
        }
        let times = times_of(&self.turns);
        let key = content_id(&format!("{:?}\n{}", times.created, beginning(&self.turns)));
        let mut chat = Chat {
            key: Some(format!("{PLATFORM}/{key}")),
            times,
            is_log: true,
            verbatim: Some(Verbatim::json(format!("[{}]", self.requests.join(",")))),
            turns: self.turns,
            ..Chat::default()
        };
        if let Some(instructions) = self.instructions {
            chat.fields.insert("system_prompt".into(), instructions.into());
        }
        send(files, member, chat, PLATFORM, Some(PLATFORM))
    }
}

/// A part of a request: instructions, a prompt, or the result of a tool.
fn request_part(part: &Object<'_>, raw: &RawValue, pointer: String, format: &str) -> Turn {
    let kind = part.text(PART_KIND).unwrap_or_default();
    let tool_name = first_text(part, &["tool_name"]);
    let role = match kind.as_ref() {
        "user-prompt" => USER,
        // A part that asks the model to try again names the tool whose arguments were wrong, if there is one.
        "tool-return" | "builtin-tool-return" => TOOL,
        "retry-prompt" if tool_name.is_some() => TOOL,
        _ => SYSTEM,
    };
    let mut content = Content::default();
    match part.raw_value("content") {
        Some(value) if role == TOOL => content.add_block("tool_result", tool_name, nested_text(value)),
        Some(value) if role == USER => content.add(value),
        Some(value) => content.add_text(&nested_text(value)),
        None if role == TOOL => content.add_block("tool_result", tool_name, ""),
        None => {}
    }
    let mut turn = Turn {
        role: role.into(),
        hidden: role != USER,
        content_type: if role == SYSTEM { "context" } else { content.content_type() }.into(),
        times: times(part),
        pointer,
        verbatim: Some(Verbatim::json(raw.get())),
        ..Turn::default()
    };
    content.put_into(&mut turn, format);
    turn
}

/// A response: the words, thoughts and calls of the model.
fn response(element: &ObjectElement<'_>, format: &str) -> Turn {
    let object = &element.object;
    let mut content = Content::default();
    for part in object.objects(PARTS) {
        let kind = part.text(PART_KIND).unwrap_or_default();
        let name = first_text(&part, &["tool_name"]);
        let value = |key: &str| part.raw_value(key).map(nested_text).unwrap_or_default();
        match kind.as_ref() {
            "text" => content.add_text(&value("content")),
            "thinking" => content.add_block("thinking", None, value("content")),
            "tool-call" | "builtin-tool-call" => {
                let arguments = part.raw_value("args");
                let text = arguments.map(|raw| decode_string(raw).unwrap_or_else(|| raw.get().into()));
                content.add_block("tool_call", name, text.unwrap_or_default());
            }
            "builtin-tool-return" => content.add_block("tool_result", name, value("content")),
            other => content.add_block(other, name, value("content")),
        }
    }
    let mut turn = Turn {
        role: ASSISTANT.into(),
        content_type: content.content_type().into(),
        model: first_text(object, &["model_name"]),
        times: times(object),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(element.text)),
        ..Turn::default()
    };
    content.put_into(&mut turn, format);
    turn
}
