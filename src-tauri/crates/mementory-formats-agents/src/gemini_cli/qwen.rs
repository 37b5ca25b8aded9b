//! Reads the logs of Qwen Code, a fork of Gemini CLI: most lines state their parent, and messages are `Content` objects
//! of Google's API.
use super::QWEN;
use super::messages;
use super::session::{chat_file, send_linked};
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::chat::{Chat, ChatFile, TurnParent};
use mementory_formats_shared::jsonl_session::{any_time, head_lines};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_json::keys_of;
use mementory_model::{Kind, Verbatim};
use std::collections::{HashMap, HashSet};

/// Subtypes of prompts that the person wrote or said. Prompts with other subtypes come from the program.
const USER_PROMPT_SUBTYPES: [&str; 2] = ["mid_turn_user_message", "realtime_message"];
/// In a line without a message, these members repeat messages of the session.
const REPEATING_MEMBERS: [&str; 7] =
    ["compressedHistory", "history", "userText", "promptText", "resultText", "content", "outputHistoryItems"];

/// True for the log of a session of Qwen Code.
pub(super) fn is_log(catalog: &Catalog, member: &Member) -> bool {
    head_lines(catalog, member).is_some_and(|lines| is_log_of_lines(&lines))
}

/// True if one of the lines is a message of Qwen Code. Lines without a message do not identify Qwen Code.
pub(super) fn is_log_of_lines(lines: &[String]) -> bool {
    const KEYS: [&str; 3] = ["uuid", "sessionId", "timestamp"];
    lines.iter().any(|text| match Object::parse(text) {
        Some(line) => {
            KEYS.iter().all(|key| line.has(key)) && line.object("message").is_some_and(|message| message.has("parts"))
        }
        // A line that is longer than the head of the file is cut off, so it is not valid JSON.
        None => {
            let keys = keys_of(text.as_bytes());
            keys.has("message.parts") && KEYS.iter().all(|key| keys.has(key))
        }
    })
}

/// The state of a session while its lines are read.
#[derive(Debug, Default)]
pub(super) struct Log {
    id: Option<String>,
    chat: Chat,
    /// Positions of turns by the uuids of their lines.
    turn_of: HashMap<String, usize>,
    /// The parent of each line without a message, by the uuid of the line.
    skipped_parents: HashMap<String, TurnParent>,
    /// Id of the subagent, if this is its log. The log has the id of the session that started the subagent.
    agent: Option<String>,
    other_lines: Vec<String>,
}

impl Log {
    /// Reads a file. Adds the id of its session to `known_sessions`, unless the file is a subagent's log.
    pub(super) fn read(
        reader: &mut FileReader<'_>,
        member: &Member,
        known_sessions: &mut HashSet<String>,
    ) -> Result<(), FormatError> {
        let mut log = Self { chat: Chat { is_log: true, ..Chat::default() }, ..Self::default() };
        let mut bytes = 0;
        reader.lines(member, Kind::Message, |reader, line| {
            if !reader.add_message_size(&mut bytes, member, line, "session") {
                return Ok(());
            }
            log.add(reader, member, line)
        })?;
        known_sessions.extend(log.id.clone().filter(|_| log.agent.is_none()));
        log.send(reader, member)
    }

    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        line: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let object = &line.object;
        let text = |key: &str| object.non_blank_text(key).map(|value| value.into_owned());
        self.id = self.id.take().or_else(|| text("sessionId"));
        if object.is_true("isSidechain") {
            self.agent = self.agent.take().or_else(|| text("agentId"));
        }
        self.chat.source.project = self.chat.source.project.take().or_else(|| text("cwd"));
        for (field, key) in [("git_branch", "gitBranch"), ("version", "version")] {
            if let Some(value) = text(key).filter(|_| !self.chat.fields.contains_key(field)) {
                self.chat.fields.insert(field.into(), value.into());
            }
        }
        let (uuid, parent) = (text("uuid"), text("parentUuid"));
        let has_parent = object.has("parentUuid");
        let message = object.object("message").filter(|message| message.has("parts"));
        let Some((message, raw)) = message.zip(object.raw_value("message")) else {
            let payload = object.object("systemPayload").unwrap_or_default();
            let title = payload.non_blank_text("customTitle").map(|title| title.into_owned());
            self.chat.title = title.or(self.chat.title.take());
            if let Some(uuid) = uuid {
                let skipped_parent = self.parent_of(parent, has_parent);
                self.skipped_parents.insert(uuid, skipped_parent);
            }
            let repeated = REPEATING_MEMBERS.iter().filter_map(|key| Some((payload.raw_value(key)?, "null")));
            self.other_lines.push(with_replaced_values(line.text, &repeated.collect::<Vec<_>>()));
            return Ok(());
        };
        let (mut turn, mut content) = messages::content(raw.get(), &message);
        reader.store_files(member, &mut content)?;
        let kind = text("type").unwrap_or_default();
        let subtype = text("subtype");
        let is_of_program =
            kind == "user" && subtype.as_deref().is_some_and(|subtype| !USER_PROMPT_SUBTYPES.contains(&subtype));
        // The prompt of a subagent was written by another agent and not by the person.
        let is_of_agent = kind == "user" && object.is_true("isSidechain");
        if kind == "system" || turn.role == "user" && (is_of_program || is_of_agent) {
            (turn.role, turn.content_type, turn.hidden) = ("system".into(), "context".into(), true);
        }
        if object.is_true("isSidechain") {
            self.chat.record_type = Some("subagent".into());
        }
        if let Some(subtype) = subtype {
            turn.fields.insert("subtype".into(), subtype.into());
        }
        turn.parent = self.parent_of(parent, has_parent);
        turn.model = text("model");
        turn.times.created = any_time(object, "timestamp");
        turn.pointer.clone_from(&line.pointer);
        turn.verbatim = Some(Verbatim::json(line.text));
        turn.id.clone_from(&uuid);
        self.chat.note_time(turn.times.created);
        // A line that is written again replaces the previous one.
        let earlier_position = uuid.as_ref().and_then(|uuid| self.turn_of.get(uuid)).copied();
        if let Some(previous) = earlier_position.and_then(|at| self.chat.turns.get_mut(at)) {
            *previous = turn;
            return Ok(());
        }
        if let Some(uuid) = uuid {
            self.turn_of.insert(uuid, self.chat.turns.len());
        }
        self.chat.turns.push(turn);
        Ok(())
    }

    /// The message that a line continues. Lines without a message are skipped. A line that states no parent
    /// (`has_parent` is false) continues the previous line. A line whose parent is null begins the conversation.
    fn parent_of(&self, parent: Option<String>, has_parent: bool) -> TurnParent {
        let Some(uuid) = parent else {
            return if has_parent { TurnParent::Root } else { TurnParent::Previous };
        };
        self.skipped_parents.get(&uuid).cloned().unwrap_or(TurnParent::Id(uuid))
    }

    fn send(mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let (id, parent) = match (self.id.take(), self.agent.take()) {
            (Some(session), Some(agent)) => (Some(format!("{session}/agent-{agent}")), Some(session)),
            (session, _) => (session, None),
        };
        self.chat.id = id;
        if !self.other_lines.is_empty() {
            let text = self.other_lines.join("\n");
            self.chat.verbatim = Some(match self.other_lines.len() {
                1 => Verbatim::json(text),
                _ => Verbatim { media_type: "application/x-ndjson".into(), text },
            });
        }
        let file = ChatFile { platform: QWEN, ..chat_file(&member.place) };
        send_linked(reader, self.chat, file, parent)
    }
}
