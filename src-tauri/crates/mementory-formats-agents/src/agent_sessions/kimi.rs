//! Reads the wire log of Kimi's command line: what its user interface received, event by event. The events of a step
//! become one message; parts of a text or of a call that follow each other are joined.
use super::session::{Session, verbatim_of};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::{AgentContent, push_text, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{Timestamp, Verbatim};
use serde_json::Value;

/// Name of the platform.
const PLATFORM: &str = "kimi-cli";
/// Kinds of events that only Kimi's command line writes. They are at the beginning of a session or in each of its
/// steps.
pub(super) const EVENT_KINDS: [&str; 7] =
    ["TurnBegin", "StepBegin", "ContentPart", "ToolCall", "ToolResult", "SteerInput", "StatusUpdate"];

/// The state of a session while its events are read.
#[derive(Debug, Default)]
pub(super) struct KimiSession {
    pub session: Session,
    /// The message of the assistant that is being read.
    open: Option<OpenMessage>,
    /// Number of events that only count tokens.
    pub skipped_lines: u64,
    /// The prompt that is expected to be repeated by the next message.
    pub prompt: Option<Prompt>,
    /// Name of the model in the latest settings.
    pub model: Option<String>,
    /// True for the log of a subagent.
    pub is_subagent: bool,
}

/// A prompt that the log is expected to repeat as a message of the context.
#[derive(Debug)]
pub(super) struct Prompt {
    /// Position of the turn with the prompt.
    pub turn: usize,
    pub line: String,
    pub text: String,
}

/// A message whose parts are being read.
#[derive(Debug)]
struct OpenMessage {
    content: AgentContent,
    lines: Vec<String>,
    pointer: String,
    time: Option<Timestamp>,
    /// If a subagent writes the message: the id of the call that started the subagent.
    parent_call: Option<String>,
    last_part: Option<PartKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Text,
    Thought,
    Call,
    Other,
}

impl KimiSession {
    pub(super) fn new(is_subagent: bool) -> Self {
        Self { is_subagent, ..Self::default() }
    }

    /// Adds a line.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let line = &element.object;
        let Some(event) = line.object("message") else {
            self.session.other_lines.push(element.text.to_owned());
            return Ok(());
        };
        self.add_event(reader, member, element, &event, None)
    }

    /// Adds an event: its kind in `type`, and its members in `payload`.
    fn add_event(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        event: &Object<'_>,
        parent_call: Option<&str>,
    ) -> Result<(), FormatError> {
        let kind = event.text("type").unwrap_or_default();
        let payload = event.object("payload").unwrap_or_default();
        if let ("SubagentEvent", Some(inner)) =
            (kind.as_ref(), payload.object("event").filter(|_| parent_call.is_none()))
        {
            let ids = ["parent_tool_call_id", "task_tool_call_id", "agent_id"];
            let id = ids.into_iter().find_map(|key| payload.non_blank_text(key)).unwrap_or_default();
            return self.add_event(reader, member, element, &inner, Some(&id));
        }
        if matches!(kind.as_ref(), "ContentPart" | "ToolCall" | "ToolCallPart" | "PlanDisplay") {
            return self.add_part(reader, member, element, (&kind, &payload), parent_call);
        }
        if kind == "StatusUpdate" {
            self.skipped_lines += 1;
            return Ok(());
        }
        self.close(reader, member)?;
        let mut content = AgentContent::default();
        let role = match kind.as_ref() {
            // The prompt of a subagent is written by the assistant.
            "TurnBegin" | "SteerInput" => {
                payload.raw_value("user_input").into_iter().for_each(|raw| push_parts(&mut content, raw));
                if parent_call.is_some() { "system" } else { "user" }
            }
            // A person who refuses a call may say what to do instead.
            "ApprovalResponse" | "ApprovalRequestResolved" if payload.non_blank_text("feedback").is_some() => {
                content.text = payload.text("feedback").unwrap_or_default().into_owned();
                "user"
            }
            "ToolResult" => {
                push_result(&mut content, &payload);
                "tool"
            }
            "Notification" => {
                for text in ["title", "body"].into_iter().filter_map(|key| payload.text(key)) {
                    push_text(&mut content.text, &text);
                }
                "system"
            }
            _ => {
                self.session.other_lines.push(element.text.to_owned());
                return Ok(());
            }
        };
        let mut turn = Turn { role: role.into(), pointer: element.pointer.clone(), ..Turn::default() };
        turn.times.created = time_of(&element.object);
        turn.verbatim = Some(Verbatim::json(element.text));
        mark_subagent(&mut turn, parent_call);
        self.session.push(reader, member, turn, content)?;
        Ok(())
    }

    /// Adds a part of a message of the assistant.
    pub(super) fn add_part(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        (kind, payload): (&str, &Object<'_>),
        parent_call: Option<&str>,
    ) -> Result<(), FormatError> {
        if self.open.as_ref().is_some_and(|open| open.parent_call.as_deref() != parent_call) {
            self.close(reader, member)?;
        }
        let open = self.open.get_or_insert_with(|| OpenMessage {
            content: AgentContent::default(),
            lines: Vec::new(),
            pointer: element.pointer.clone(),
            time: time_of(&element.object),
            parent_call: parent_call.map(str::to_owned),
            last_part: None,
        });
        open.lines.push(element.text.to_owned());
        match kind {
            "ToolCall" => {
                let function = payload.object("function");
                push_call(&mut open.content, function.as_ref().unwrap_or(payload));
                open.last_part = Some(PartKind::Call);
            }
            "ToolCallPart" => open.continue_block("tool_call", &payload.text("arguments_part").unwrap_or_default()),
            "PlanDisplay" => {
                open.content.push_block("plan", None, payload.text("content").unwrap_or_default());
                open.last_part = Some(PartKind::Other);
            }
            _ => open.add_content(payload),
        }
        Ok(())
    }

    /// Ends the message of the assistant that is being read.
    pub(super) fn close(&mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if open.content.text.trim().is_empty() && open.content.blocks.is_empty() && open.content.files.is_empty() {
            self.session.other_lines.extend(open.lines);
            return Ok(());
        }
        let mut turn = Turn { role: "assistant".into(), pointer: open.pointer, ..Turn::default() };
        turn.times.created = open.time;
        turn.model.clone_from(&self.model);
        turn.verbatim = verbatim_of(&open.lines);
        mark_subagent(&mut turn, open.parent_call.as_deref());
        self.session.push(reader, member, turn, open.content)?;
        Ok(())
    }

    /// Sends the conversation. `id` is the name of the folder of the session, and `title` comes from another file in
    /// this folder.
    pub(super) fn send(
        mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        id: Option<String>,
        title: Option<String>,
    ) -> Result<(), FormatError> {
        self.close(reader, member)?;
        Session::report_skipped(reader, member, self.skipped_lines, "lines that only count tokens");
        (self.session.chat.id, self.session.chat.title) = (id, title);
        self.session.send(reader, member, PLATFORM)
    }
}

impl OpenMessage {
    /// Adds a part of the content. Consecutive parts of a streamed text are joined without a separator.
    fn add_content(&mut self, part: &Object<'_>) {
        let kind = part.text("type").unwrap_or_default();
        let part_kind = match kind.as_ref() {
            "text" => PartKind::Text,
            "think" => PartKind::Thought,
            _ => PartKind::Other,
        };
        let continues = self.last_part == Some(part_kind);
        match part_kind {
            PartKind::Text => {
                let text = part.text("text").unwrap_or_default();
                match continues {
                    true => self.content.text.push_str(&text),
                    false => push_text(&mut self.content.text, &text),
                }
            }
            PartKind::Thought => {
                let thought = part.text("think").unwrap_or_default();
                match continues {
                    true => self.continue_block("thinking", &thought),
                    false => self.content.push_block("thinking", None, thought),
                }
            }
            _ => push_part(&mut self.content, part),
        }
        self.last_part = Some(part_kind);
    }

    /// Adds more text to the last block if that block is of this kind. Otherwise adds a new block.
    fn continue_block(&mut self, kind: &str, more: &str) {
        let last = self.content.blocks.last_mut().filter(|block| block["type"] == kind);
        match last.and_then(|block| block.get_mut("text")) {
            Some(Value::String(text)) => text.push_str(more),
            _ => self.content.push_block(kind, None, more),
        }
    }
}

/// If a subagent wrote the turn, hides the turn and stores the id of the call that started the subagent.
fn mark_subagent(turn: &mut Turn, parent_call: Option<&str>) {
    if let Some(parent) = parent_call {
        turn.fields.insert("parent_call".into(), parent.into());
        turn.hidden = true;
    }
}

/// Adds a content that is either a text or a list of parts.
pub(super) fn push_parts(content: &mut AgentContent, raw: &serde_json::value::RawValue) {
    let Some(parts) = mementory_formats_shared::object::list(raw) else { return content.push(raw) };
    for raw in parts {
        match Object::parse(raw.get()) {
            Some(part) => push_part(content, &part),
            None => content.push(raw),
        }
    }
}

/// Adds a part of a prompt, an answer or a result: a text, a thought, or a picture, sound or video with its address.
fn push_part(content: &mut AgentContent, part: &Object<'_>) {
    let kind = part.text("type").unwrap_or_default();
    match kind.as_ref() {
        "text" => push_text(&mut content.text, &part.text("text").unwrap_or_default()),
        "think" => content.push_block("thinking", None, part.text("think").unwrap_or_default()),
        "image_url" | "audio_url" | "video_url" => {
            let medium = kind.trim_end_matches("_url");
            let file = part.object(&kind).or_else(|| part.object(&format!("{medium}Url")));
            content.push_file(&file.unwrap_or_default(), medium);
        }
        kind => {
            let kind = if kind.is_empty() { "unknown" } else { kind };
            let text = part.members().find_map(|(key, raw)| (key != "type").then(|| value_text(raw)));
            content.push_block(kind, None, text.unwrap_or_default());
        }
    }
}

/// Adds the result of a call: its output or, if that has no text, the message of the program.
pub(super) fn push_result(content: &mut AgentContent, payload: &Object<'_>) {
    let result = payload.object("return_value").or_else(|| payload.object("result")).unwrap_or_default();
    let mut output = AgentContent::default();
    result.raw_value("output").into_iter().for_each(|raw| push_parts(&mut output, raw));
    if output.text.trim().is_empty() {
        output.text = result.text("message").unwrap_or_default().into_owned();
    }
    content.files = output.files;
    content.push_block("tool_result", None, output.text);
    content.blocks.extend(output.blocks);
}

/// The time of a line, which is a record or an event of the older log.
pub(super) fn time_of(line: &Object<'_>) -> Option<Timestamp> {
    any_time(line, "timestamp").or_else(|| any_time(line, "time"))
}

/// Adds a tool call. Its arguments are JSON or a text with JSON.
pub(super) fn push_call(content: &mut AgentContent, call: &Object<'_>) {
    let arguments = ["arguments", "args"].into_iter().find_map(|key| call.raw_value(key));
    content.push_block(
        "tool_call",
        call.non_blank_text("name").as_deref(),
        arguments.map_or_else(String::new, value_text),
    );
}
