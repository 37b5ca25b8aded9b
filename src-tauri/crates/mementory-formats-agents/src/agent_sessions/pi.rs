//! Reads the lines of a session of Pi, OpenClaw or Droid. The lines form a tree: each line states its parent. In Droid
//! sessions, a line without a parent follows the previous line.
use super::pi_page::session_in;
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::{AgentContent, embedded_bytes, value_text};
use mementory_formats_shared::chat::{Turn, TurnParent};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::text_head::page_text;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// True for the first line of a session of Droid. Older versions write no id.
pub(super) fn is_droid_header(line: &Object<'_>) -> bool {
    line.text("type").as_deref() == Some("session_start") && (line.has("id") || line.has("sessionTitle"))
}

/// The state of a session while its lines are read.
#[derive(Debug, Default)]
pub(super) struct PiSession {
    pub session: Session,
    /// Maps the id of each line to the index of its message. A line without a message maps to the message of its
    /// nearest ancestor.
    message_of: HashMap<String, Option<usize>>,
    /// Index of the message of the last line or, if that line has no message, of its nearest ancestor with a message.
    last: Option<usize>,
    is_droid: bool,
}

impl PiSession {
    /// Adds a line.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let line = &element.object;
        let text = |key: &str| line.non_blank_text(key).map(|text| text.into_owned());
        let kind = line.text("type").unwrap_or_default();
        let parent = text("parentId");
        let above = match &parent {
            Some(parent) => self.message_of.get(parent).copied().flatten(),
            None if line.has("parentId") => None,
            None => self.last,
        };
        let Some((role, content)) = message_of_line(&kind, line) else {
            match kind.as_ref() {
                "session" => self.read_header(line),
                "session_start" if is_droid_header(line) => {
                    self.is_droid = true;
                    self.read_header(line);
                    let chat = &mut self.session.chat;
                    chat.title = text("sessionTitle").or_else(|| text("title")).or(chat.title.take());
                }
                // If the person named the session, the name is in a later line and replaces this title.
                "title" => self.session.chat.title = self.session.chat.title.take().or(text("title")),
                "session_info" => self.session.chat.title = text("name").or(self.session.chat.title.take()),
                _ => {}
            }
            self.session.other_lines.push(element.text.to_owned());
            if let Some(id) = text("id").filter(|_| kind != "session" && kind != "session_start") {
                self.message_of.insert(id, above);
                self.last = above;
            }
            return Ok(());
        };
        let only_results = content.text.trim().is_empty() && content.content_type() == "tool_result";
        let role = match role {
            // Droid gives the role `user` to tool results and to text that only the model sees.
            "user" if line.text("visibility").as_deref() == Some("llm_only") => "system",
            "user" if only_results => "tool",
            role => role,
        };
        let message = line.object("message").unwrap_or_default();
        let mut turn = Turn { id: text("id"), role: role.into(), pointer: element.pointer.clone(), ..Turn::default() };
        turn.parent = match (&parent, above) {
            (_, Some(at)) => TurnParent::At(at),
            (Some(parent), None) if !self.message_of.contains_key(parent) => TurnParent::Id(parent.clone()),
            _ => TurnParent::Root,
        };
        turn.model = message.non_blank_text("model").map(|model| model.into_owned());
        turn.times.created = any_time(line, "timestamp").or_else(|| any_time(&message, "timestamp"));
        turn.verbatim = Some(Verbatim::json(element.text));
        let at = self.session.push(reader, member, turn, content)?;
        self.last = Some(at);
        if let Some(id) = text("id") {
            self.message_of.insert(id, Some(at));
        }
        Ok(())
    }

    /// Makes the message of this line the end of the active branch. If the line has no message, uses the message of its
    /// nearest ancestor.
    pub(super) fn set_leaf(&mut self, id: &str) {
        if let Some(at) = self.message_of.get(id) {
            self.last = *at;
        }
    }

    fn read_header(&mut self, line: &Object<'_>) {
        let text = |key: &str| line.non_blank_text(key).map(|text| text.into_owned());
        let chat = &mut self.session.chat;
        chat.id = chat.id.take().or_else(|| text("id"));
        chat.source.project = chat.source.project.take().or_else(|| text("cwd"));
        chat.note_time(any_time(line, "timestamp"));
        if let Some(parent) = text("parentSession") {
            chat.fields.insert("parent_session".into(), parent.into());
        }
    }

    /// Sends the conversation. The active branch is the branch that contains the last line.
    pub(super) fn send(mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let chat = &mut self.session.chat;
        chat.leaf = self.last.and_then(|at| chat.turns.get(at)?.id.clone());
        let is_openclaw = |path: &str| path.to_lowercase().contains("openclaw");
        let is_openclaw = is_openclaw(&member.name) || chat.source.project.as_deref().is_some_and(is_openclaw);
        let platform = if self.is_droid {
            "droid"
        } else if is_openclaw {
            "openclaw"
        } else {
            "pi"
        };
        self.session.send(reader, member, platform)
    }
}

/// Sends the session in a page.
pub(super) fn read_page(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let page = reader.catalog.bytes(member, reader.context.limits.element_bytes)?;
    let text = session_in(&page_text(&page)).and_then(embedded_bytes).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(object) = text.as_deref().and_then(Object::parse) else {
        return Err(FormatError::invalid("malformed", &member.place, "the session in this page cannot be decoded"));
    };
    let mut session = PiSession::default();
    let header = object.raw_value("header").map(|raw| ("header".to_owned(), raw));
    let entries = object.list("entries").unwrap_or_default().into_iter().enumerate();
    let lines = header.into_iter().chain(entries.map(|(index, raw)| (format!("entries/{index}"), raw)));
    for (pointer, raw) in lines {
        add_entry(reader, member, &mut session, pointer, raw)?;
    }
    if let Some(leaf) = object.text("leafId") {
        session.set_leaf(&leaf);
    }
    session.send(reader, member)
}

fn add_entry(
    reader: &mut FileReader<'_>,
    member: &Member,
    session: &mut PiSession,
    pointer: String,
    raw: &RawValue,
) -> Result<(), FormatError> {
    let pointer = format!("session-data/{pointer}");
    match Object::parse(raw.get()) {
        Some(object) => session.add(reader, member, &ObjectElement { text: raw.get(), object, pointer }),
        None => {
            let place = format!("{}#{pointer}", member.place);
            let reason = "not_an_object: this entry is not an object";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            Ok(())
        }
    }
}

/// Role and content of a line. None if the line is not a message.
fn message_of_line(kind: &str, line: &Object<'_>) -> Option<(&'static str, AgentContent)> {
    let mut content = AgentContent::default();
    match kind {
        "message" => {}
        "compaction" | "branch_summary" => {
            content.text = line.non_blank_text("summary")?.into_owned();
            return Some(("system", content));
        }
        "custom_message" => return Some(("system", AgentContent::read(line.raw_value("content")))),
        _ => return None,
    }
    let message = line.object("message")?;
    let role = message.text("role").unwrap_or_default();
    match role.as_ref() {
        "toolResult" | "tool_result" | "tool" => {
            let words = message.raw_value("content").map_or_else(String::new, value_text);
            content.push_block("tool_result", message.non_blank_text("toolName").as_deref(), words);
            push_images(&mut content, &message);
            Some(("tool", content))
        }
        "bashExecution" => {
            // The person ran this command from the agent's prompt.
            content.push_block("tool_call", Some("bash"), message.text("command").unwrap_or_default());
            content.push_block("tool_result", None, message.text("output").unwrap_or_default());
            Some(("tool", content))
        }
        _ => {
            read_content(&mut content, &message);
            let role = match role.as_ref() {
                "user" => "user",
                "assistant" => "assistant",
                _ => "system",
            };
            Some((role, content))
        }
    }
}

fn read_content(content: &mut AgentContent, message: &Object<'_>) {
    let Some(raw) = message.raw_value("content").or_else(|| message.raw_value("summary")) else { return };
    for part in list(raw).unwrap_or_else(|| vec![raw]) {
        let call = Object::parse(part.get()).filter(|part| part.text("type").as_deref() == Some("toolCall"));
        match call {
            Some(call) => {
                let arguments = call.raw_value("arguments").map_or_else(String::new, value_text);
                let name = call.non_blank_text("name");
                content.push_block("tool_call", name.as_deref().or(Some("tool")), arguments);
            }
            None => content.push(part),
        }
    }
    if let Some(error) = message.non_blank_text("errorMessage") {
        content.push_block("error", None, error);
    }
}

/// Adds the pictures in the result of a tool.
fn push_images(content: &mut AgentContent, message: &Object<'_>) {
    for part in message.list("content").into_iter().flatten() {
        if let Some(block) = Object::parse(part.get()).filter(|b| b.text("type").as_deref() == Some("image")) {
            content.push_file(&block, "image");
        }
    }
}
