//! A session while its lines are read.
use super::FORMAT;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::{Chat, ChatFile, Turn, is_tool_type};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};

/// The state of a session while its lines are read.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The conversation so far, with its messages in the order of the lines.
    pub chat: Chat,
    /// Lines that are not messages. They become the verbatim of the conversation.
    pub other_lines: Vec<String>,
}

impl Session {
    /// Adds a message and stores its files. Returns the position of the message.
    pub(super) fn push(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        mut turn: Turn,
        mut content: AgentContent,
    ) -> Result<usize, FormatError> {
        reader.store_files(member, &mut content)?;
        if turn.role == "user" && content.separate_harness_text() {
            turn.role = "system".into();
        }
        content.fill(&mut turn);
        if turn.role == "system" {
            (turn.content_type, turn.hidden) = ("context".into(), true);
        } else if is_tool_type(&turn.content_type) {
            turn.hidden = true;
        }
        self.chat.note_time(turn.times.created);
        self.chat.turns.push(turn);
        Ok(self.chat.turns.len() - 1)
    }

    /// Reports the skipped lines or events of a file as one entry. `what` describes them and follows their number in
    /// the reason.
    pub(super) fn report_skipped(reader: &mut FileReader<'_>, member: &Member, count: u64, what: &str) {
        if count > 0 {
            let reason = format!("progress: {count} {what}");
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, &reason, None);
        }
    }

    /// Sends the conversation, unless it has no messages.
    pub(super) fn send(self, reader: &mut FileReader<'_>, member: &Member, platform: &str) -> Result<(), FormatError> {
        let mut chat = self.chat;
        chat.is_log = true;
        if chat.turns.is_empty() {
            let reason = "no_content: a session without messages";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Conversation));
            return Ok(());
        }
        let prompt = chat.turns.iter().find(|turn| turn.role == "user").or(chat.turns.first());
        let fallback = prompt.map(|turn| content_id(&turn.text));
        chat.id = chat.id.take().or(fallback);
        chat.verbatim = verbatim_of(&self.other_lines);
        let file = ChatFile { format: FORMAT, platform, version: None, container: &member.place };
        reader.send_chat(chat, file)
    }
}

/// The verbatim of a record that consists of these lines. None if there are no lines.
pub(super) fn verbatim_of(lines: &[String]) -> Option<Verbatim> {
    match lines {
        [] => None,
        [line] => Some(Verbatim::json(line.as_str())),
        lines => Some(Verbatim { media_type: "application/x-ndjson".into(), text: lines.join("\n") }),
    }
}
