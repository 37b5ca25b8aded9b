//! Reads an agent's messages as the server lists them: one entry for each text, thought or tool call of a message.
use super::messages::{Parts, fill, split_reminders};
use super::{ID, PLATFORM};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn, beginning, times_of};
use mementory_formats_shared::memory_rows::{Row, RowValues};
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};

/// The messages of one file, which are sent as one conversation.
#[derive(Default)]
pub(super) struct MessageList {
    turns: Vec<Turn>,
    agent: Option<String>,
    bytes: u64,
}

impl MessageList {
    /// Adds an entry. Entries beyond the size limit of one element are reported as dropped.
    pub(super) fn add(&mut self, files: &mut FileReader<'_>, row: &Row<'_>, message: &Object<'_>) {
        self.bytes += row.text.len() as u64;
        if self.bytes > files.context.limits.element_bytes {
            let place = format!("{}#{}", row.member.place, row.pointer);
            let reason = "too_large: the messages are larger together than an element may be";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return;
        }
        self.agent = self.agent.take().or_else(|| message.id("agent_id"));
        let kind = message.text("message_type").unwrap_or_default();
        let id = message.id("id");
        // The entries of one message have the same id. Newer servers distinguish them by `otid`.
        let part = message.id("otid").unwrap_or_else(|| kind.clone().into_owned());
        let mut turn = Turn {
            key: id.as_ref().map(|id| format!("{id}/{part}")),
            id,
            pointer: row.pointer.clone(),
            verbatim: Some(Verbatim::json(row.text)),
            ..Turn::default()
        };
        turn.times.created = message.time("date").or_else(|| message.time("created_at"));
        let role = role_of(&kind, message);
        let parts = Parts::of_entry(message);
        let reminders = parts.reminders.clone();
        fill(&mut turn, message, role, parts);
        self.turns.extend(split_reminders(turn, if role == "user" { reminders } else { Vec::new() }));
    }

    /// Sends the conversation, if there are messages. The server lists the newest message first unless a request says
    /// otherwise.
    pub(super) fn send(self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let mut turns = self.turns;
        if turns.is_empty() {
            return Ok(());
        }
        let time = |turn: Option<&Turn>| turn.and_then(|turn| turn.times.created);
        if time(turns.first()) > time(turns.last()) {
            turns.reverse();
        }
        // If the server's response does not name the agent, the first message identifies the conversation. If the first
        // message has no id, a digest of the first question and answer identifies the conversation.
        let identity = self.agent.or_else(|| turns.first().and_then(|turn| turn.key.clone()));
        let identity = identity.unwrap_or_else(|| format!("content/{}", content_id(&beginning(&turns))));
        let mut chat = Chat {
            key: Some(format!("messages/{identity}")),
            verbatim: Some(Verbatim::json("{}")),
            is_log: true,
            ..Chat::default()
        };
        chat.times = times_of(&turns);
        chat.turns = turns;
        let mut issues = Vec::new();
        let file = ChatFile { format: ID, platform: PLATFORM, version: None, container: &member.place };
        let unit = chat.into_unit(file, &mut issues);
        issues.into_iter().for_each(|issue| files.sink.note(issue));
        files.sink.unit(unit)
    }
}

/// The role that an entry of this kind has in an agent file.
fn role_of(kind: &str, message: &Object<'_>) -> &'static str {
    match kind {
        "user_message" => "user",
        "assistant_message" | "reasoning_message" | "hidden_reasoning_message" | "tool_call_message" => "assistant",
        "tool_return_message" => "tool",
        "approval_request_message" => "approval",
        "approval_response_message" if !message.has("tool_call") => "approval",
        _ => "system",
    }
}
