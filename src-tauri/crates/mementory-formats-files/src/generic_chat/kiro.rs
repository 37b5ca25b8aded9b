//! Reads a session of Kiro CLI 2: lines with the kinds `Prompt`, `AssistantMessage` and `ToolResults`. A file next to
//! it with the same name has the title and the working folder.
use super::FORMAT_ID;
use super::amazon_q::is_program_prompt;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::content::{Content, nested_text};
use mementory_formats_shared::message::{first_text, report_no_message, send};
use mementory_formats_shared::object::{Object, decode_string};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_model::{DroppedAs, Kind, Verbatim};

const PLATFORM: &str = "kiro";
/// Largest size of the file next to a session, in bytes.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// The messages of one session.
#[derive(Default)]
pub(super) struct Log {
    turns: Vec<Turn>,
    other_lines: Vec<String>,
    bytes: u64,
}

impl Log {
    /// Adds a line of the session's log.
    pub(super) fn add(
        &mut self,
        files: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        self.bytes += element.text.len() as u64;
        if self.bytes > files.context.limits.element_bytes {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "too_large: the messages are larger together than an element may be";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let role = match element.object.text("kind").as_deref() {
            Some("Prompt") => USER,
            Some("AssistantMessage") => ASSISTANT,
            Some("ToolResults") => TOOL,
            // A line of any other kind is not a message. After `Clear`, for example, the model no longer sees the
            // earlier messages.
            Some(_) => {
                self.other_lines.push(element.text.to_owned());
                return Ok(());
            }
            None => {
                report_no_message(files, member, &element.pointer);
                return Ok(());
            }
        };
        let data = element.object.object("data").unwrap_or_default();
        let mut content = Content::default();
        for part in data.list("content").unwrap_or_default() {
            if let Some(part) = Object::parse(part.get()) {
                add_part(&mut content, &part);
            }
        }
        let content_type = content.content_type();
        let mut turn = Turn {
            id: first_text(&data, &["message_id"]),
            role: role.into(),
            content_type: content_type.into(),
            hidden: role == TOOL || content_type != "text",
            pointer: element.pointer.clone(),
            verbatim: Some(Verbatim::json(element.text)),
            ..Turn::default()
        };
        turn.times.created = data.object("meta").and_then(|meta| first_time(&meta, &["timestamp"]));
        content.put_into(&mut turn, FORMAT_ID);
        if role == USER && is_program_prompt(&turn.text) {
            (turn.role, turn.content_type, turn.hidden) = (SYSTEM.into(), "context".into(), true);
        }
        self.turns.push(turn);
        Ok(())
    }

    /// Sends the session as a conversation. `header` is the file that is next to the log and contains the title of the
    /// session.
    pub(super) fn send(
        self,
        files: &mut FileReader<'_>,
        member: &Member,
        header: Option<&Member>,
    ) -> Result<(), FormatError> {
        if self.turns.is_empty() {
            return Ok(());
        }
        let mut chat = Chat { is_log: true, ..Chat::default() };
        let header = header.and_then(|header| files.catalog.bytes(header, MAX_HEADER_BYTES).ok());
        let header = header.and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(header) = header.as_deref().and_then(Object::parse) {
            chat.id = first_text(&header, &["session_id"]);
            chat.title = first_text(&header, &["title"]);
            chat.source.project = first_text(&header, &["cwd"]);
            chat.times.created = first_time(&header, &["created_at"]);
            chat.times.updated = first_time(&header, &["updated_at"]);
        }
        let turn_times = || self.turns.iter().filter_map(|turn| turn.times.created);
        chat.times.created = chat.times.created.or(turn_times().min());
        chat.times.updated = chat.times.updated.or(turn_times().max());
        if !self.other_lines.is_empty() {
            let text = self.other_lines.join("\n");
            chat.verbatim = Some(Verbatim { media_type: "application/x-ndjson".into(), text });
        }
        chat.turns = self.turns;
        send(files, member, chat, PLATFORM, None)
    }
}

/// Adds a part of a message. Its `kind` states the meaning of its `data`.
fn add_part(content: &mut Content, part: &Object<'_>) {
    let Some(data) = part.raw_value("data") else { return };
    let object = Object::parse(data.get());
    match (part.text("kind").as_deref(), object) {
        (Some("text"), _) => content.add_text(&decode_string(data).unwrap_or_default()),
        (Some("thinking"), _) => content.add_block("thinking", None, nested_text(data)),
        (Some("toolUse"), Some(call)) => content.add_call(&call),
        (Some("toolResult"), Some(result)) => {
            let parts = result.list("content").unwrap_or_default();
            let texts =
                parts.into_iter().filter_map(|raw| Object::parse(raw.get())?.raw_value("data").map(nested_text));
            content.add_block("tool_result", None, texts.collect::<Vec<_>>().join("\n"));
        }
        (kind, _) => content.add_block(kind.unwrap_or("unknown"), None, nested_text(data)),
    }
}
