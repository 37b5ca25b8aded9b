//! Reads the events of a session that agtrace exported (`agtrace lab export`). The events have the same form for all
//! agents that agtrace supports.
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::Verbatim;

const PLATFORM: &str = "agtrace";
/// Types of events that become messages, each with the role of its author.
const MESSAGE_TYPES: [(&str, &str); 8] = [
    ("user", "user"),
    ("slash_command", "user"),
    ("message", "assistant"),
    ("reasoning", "assistant"),
    ("tool_call", "assistant"),
    ("tool_result", "tool"),
    ("notification", "system"),
    ("summary", "system"),
];
/// Type of events that only count tokens.
const USAGE_TYPE: &str = "token_usage";

/// True if a line is an event of agtrace.
pub(super) fn is_event(line: &Object<'_>) -> bool {
    let has_all = ["id", "session_id", "timestamp"].into_iter().all(|key| line.has(key));
    let kind = line.text("type").unwrap_or_default();
    let is_known = kind == USAGE_TYPE || MESSAGE_TYPES.iter().any(|(known, _)| *known == kind);
    has_all && is_known && line.has("parent_id") && line.object("content").is_some()
}

/// A session while its events are read.
#[derive(Debug, Default)]
pub(super) struct AgtraceSession {
    session: Session,
    skipped_lines: u64,
}

impl AgtraceSession {
    /// Adds an event.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let line = &element.object;
        let text = |object: &Object<'_>, key: &str| object.non_blank_text(key).map(|text| text.into_owned());
        let metadata = line.object("metadata").unwrap_or_default();
        let chat = &mut self.session.chat;
        chat.id = chat.id.take().or_else(|| text(line, "session_id"));
        chat.source.project = chat.source.project.take().or_else(|| text(&metadata, "cwd"));
        let kind = line.text("type").unwrap_or_default();
        if kind == USAGE_TYPE {
            self.skipped_lines += 1;
            return Ok(());
        }
        let role = MESSAGE_TYPES.iter().find(|(known, _)| *known == kind).map(|(_, role)| *role);
        let content = line.object("content").map(|content| content_of(&kind, &content));
        let has_content = |content: &AgentContent| !content.text.trim().is_empty() || !content.blocks.is_empty();
        let (Some(role), Some(content)) = (role, content.filter(has_content)) else {
            self.session.other_lines.push(element.text.to_owned());
            return Ok(());
        };
        let mut turn = Turn {
            id: text(line, "id"),
            role: role.into(),
            model: metadata.object("message").and_then(|message| text(&message, "model")),
            pointer: element.pointer.clone(),
            verbatim: Some(Verbatim::json(element.text)),
            ..Turn::default()
        };
        turn.times.created = any_time(line, "timestamp");
        let stream = line.object("stream_id").filter(|id| id.text("stream_type").is_some_and(|kind| kind != "main"));
        let position = self.session.push(reader, member, turn, content)?;
        let turn = self.session.chat.turns.get_mut(position);
        if let (Some(turn), Some(stream)) = (turn, stream) {
            // This is the stream of a subagent, whose prompt was written by another agent and not by the person.
            turn.hidden = true;
            if turn.role == "user" {
                turn.role = "system".into();
            }
            let data = stream.object("stream_data").unwrap_or_default();
            let name = text(&data, "agent_id").or_else(|| text(&data, "name")).unwrap_or_default();
            turn.fields.insert("subagent".into(), name.into());
        }
        Ok(())
    }

    /// Sends the conversation.
    pub(super) fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        Session::report_skipped(reader, member, self.skipped_lines, "lines that count tokens");
        self.session.send(reader, member, PLATFORM)
    }
}

/// Converts the content of an event of this kind.
fn content_of(kind: &str, content: &Object<'_>) -> AgentContent {
    let text = |key: &str| content.text(key).unwrap_or_default().into_owned();
    let mut out = AgentContent::default();
    match kind {
        "reasoning" => out.push_block("thinking", None, text("text")),
        "tool_call" => {
            let arguments = content.raw_value("arguments").map_or_else(String::new, |raw| raw.get().to_owned());
            out.push_block("tool_call", content.text("name").as_deref(), arguments);
        }
        "tool_result" => out.push_block("tool_result", None, text("output")),
        "summary" => out.text = text("summary"),
        "slash_command" => out.text = format!("{} {}", text("name"), text("args")).trim().to_owned(),
        _ => out.text = text("text"),
    }
    out
}
