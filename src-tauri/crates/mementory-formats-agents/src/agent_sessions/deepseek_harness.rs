//! Reads the log of a session of DeepSeek Harness (`session.jsonl`, also compressed): a header, then numbered events.
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::Verbatim;
use std::collections::HashSet;

/// Types of events that contain a message.
const MESSAGE_TYPES: [&str; 4] = ["user/message", "assistant/message", "tool/call", "tool/result"];
/// Types of events that contain a part of a message. A later event contains the whole message.
const CHUNK_TYPES: [&str; 4] = ["text-chunks", "reasoning-chunks", "tool-call-chunks", "assistant/chunk"];

/// True if a line is an event. The header is not recognised, because other programs write similar headers.
pub(super) fn is_event(line: &Object<'_>) -> bool {
    let has_all = ["seq", "time", "data"].into_iter().all(|key| line.has(key));
    has_all && line.text("type").is_some_and(|kind| kind.contains('/') || CHUNK_TYPES.contains(&kind.as_ref()))
}

/// The state of a session while its events are read.
#[derive(Debug, Default)]
pub(super) struct HarnessSession {
    session: Session,
    /// Ids of the tool calls that were read. A log contains a call both in a message and as a separate event, but it is
    /// read only once.
    calls: HashSet<String>,
    /// The model that the last request states.
    model: Option<String>,
    skipped_lines: u64,
}

impl HarnessSession {
    /// Adds a line.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let line = &element.object;
        let kind = line.text("type").unwrap_or_default();
        let data = line.object("data").unwrap_or_default();
        if CHUNK_TYPES.contains(&kind.as_ref()) {
            self.skipped_lines += 1;
        } else if MESSAGE_TYPES.contains(&kind.as_ref()) {
            return self.add_message(reader, member, element, (&kind, &data));
        } else {
            let text = |object: &Object<'_>, key: &str| object.non_blank_text(key).map(|text| text.into_owned());
            let chat = &mut self.session.chat;
            match kind.as_ref() {
                "session" => {
                    chat.id = chat.id.take().or_else(|| text(line, "id"));
                    chat.source.project = chat.source.project.take().or_else(|| text(line, "cwd"));
                    chat.note_time(any_time(line, "createdAt"));
                    if line.whole_number("delegationDepth").is_some_and(|depth| depth > 0) {
                        chat.record_type = Some("subagent".into());
                    }
                }
                "session/title" => chat.title = text(&data, "title").or(chat.title.take()),
                "request/context" => self.model = text(&data, "model").or(self.model.take()),
                _ => {}
            }
            self.session.other_lines.push(element.text.to_owned());
        }
        Ok(())
    }

    fn add_message(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        (kind, data): (&str, &Object<'_>),
    ) -> Result<(), FormatError> {
        let inner = data.object("message");
        let message = inner.as_ref().unwrap_or(data);
        let text = |object: &Object<'_>, key: &str| object.non_blank_text(key).map(|text| text.into_owned());
        let source = message.object("source").or_else(|| data.object("source")).unwrap_or_default();
        let mut content = AgentContent::default();
        let role = match kind {
            "tool/call" => {
                let is_new = text(data, "callId").is_none_or(|id| self.calls.insert(id));
                if !is_new {
                    self.session.other_lines.push(element.text.to_owned());
                    return Ok(());
                }
                content.push_block(
                    "tool_call",
                    text(data, "name").as_deref(),
                    text(data, "arguments").unwrap_or_default(),
                );
                "assistant"
            }
            "tool/result" => {
                let result = AgentContent::read(message.raw_value("content"));
                content.files = result.files;
                content.blocks = result.blocks;
                if !result.text.is_empty() || content.blocks.is_empty() {
                    content.push_block("tool_result", None, result.text);
                }
                "tool"
            }
            _ => {
                for block in message.list("content").into_iter().flatten() {
                    let call =
                        Object::parse(block.get()).filter(|block| block.text("type").as_deref() == Some("tool-call"));
                    if call.and_then(|call| text(&call, "id")).is_none_or(|id| self.calls.insert(id)) {
                        content.push(block);
                    }
                }
                message.text("content").into_iter().for_each(|text| content.text.push_str(&text));
                match kind {
                    "assistant/message" => "assistant",
                    _ if source.text("kind").is_some_and(|kind| kind != "user") => "system",
                    _ => "user",
                }
            }
        };
        let mut turn = Turn {
            id: text(message, "id"),
            role: role.into(),
            model: text(&source, "model").or_else(|| self.model.clone()).filter(|_| role == "assistant"),
            pointer: element.pointer.clone(),
            verbatim: Some(Verbatim::json(element.text)),
            ..Turn::default()
        };
        turn.times.created = any_time(&element.object, "time");
        self.session.push(reader, member, turn, content)?;
        Ok(())
    }

    /// Sends the conversation.
    pub(super) fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        Session::report_skipped(reader, member, self.skipped_lines, "lines with parts of messages");
        self.session.send(reader, member, "deepseek_harness")
    }
}
