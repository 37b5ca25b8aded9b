//! Reads the lines of a log as a conversation. A log contains each message twice: as an item of the model's API and as
//! an event for the user interface. An event is only read if no item has the same text.
use super::{FORMAT, exec, items};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::{Chat, ChatFile, Turn, TurnParent};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Link, RecordKey, Verbatim};
use std::collections::{HashMap, HashSet};

/// Events that only report progress.
const PROGRESS_EVENTS: [&str; 8] = [
    "token_count",
    "agent_message_delta",
    "agent_message_content_delta",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "exec_command_output_delta",
    "reasoning_content_delta",
    "agent_reasoning_section_break",
];

/// The state of a session while its lines are read.
#[derive(Debug, Default)]
pub(super) struct Session {
    id: Option<String>,
    chat: Chat,
    model: Option<String>,
    turns: Vec<SessionTurn>,
    /// Index of the turn that the next turn follows.
    current: Option<usize>,
    other_lines: Vec<String>,
    links: Vec<(&'static str, String)>,
    progress_lines: u64,
    /// Role and text of each item that has been read.
    item_texts: HashSet<(String, String)>,
    ids: HashSet<String>,
    first_line: Option<String>,
    /// Position in `turns` of each item of the current turn of a `codex exec` run, by the id of the item.
    exec_items: HashMap<String, usize>,
}

#[derive(Debug)]
struct SessionTurn {
    turn: Turn,
    /// Role and text of an event, which may repeat an item. None for an item.
    event: Option<(String, String)>,
    parent: Option<usize>,
}

impl Session {
    /// Adds a line.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        text: &str,
        line: &Object<'_>,
        pointer: &str,
    ) -> Result<(), FormatError> {
        self.first_line.get_or_insert_with(|| text.to_owned());
        let payload = line.object("payload");
        let kind = line.text("type").unwrap_or_default();
        let time = any_time(line, "timestamp");
        match (kind.as_ref(), &payload) {
            ("session_meta", Some(meta)) => {
                self.read_header(meta);
                self.chat.note_time(any_time(meta, "timestamp").or(time));
                self.other_lines.push(text.to_owned());
            }
            ("turn_context", Some(context)) => {
                self.model = context.non_blank_text("model").map(|t| t.into_owned()).or(self.model.take());
                self.other_lines.push(text.to_owned());
            }
            ("response_item", Some(item)) => {
                let item_message = items::message(item);
                self.add_item(reader, member, item_message, item, time, (text, pointer))?;
            }
            ("event_msg", Some(event)) => {
                self.note_title(event);
                self.add_event(event, time, (text, pointer));
            }
            ("compacted", Some(compacted)) => {
                let mut turn = Turn { role: "system".into(), hidden: true, ..Turn::default() };
                turn.content_type = "context".into();
                turn.text = compacted.text("message").unwrap_or_default().into_owned();
                self.push(turn, None, time, (text, pointer));
            }
            // A line without a payload is an item or the header of an older log.
            ("", None) if line.has("id") && !line.has("role") => {
                self.read_header(line);
                self.chat.note_time(time);
                self.other_lines.push(text.to_owned());
            }
            (_, None) if exec::is_event(line) => self.add_exec_event(kind.as_ref(), line, (text, pointer)),
            (_, None) if line.has("role") || line.has("call_id") || line.has("summary") || line.has("content") => {
                let item_message = items::message(line);
                self.add_item(reader, member, item_message, line, time, (text, pointer))?;
            }
            _ => self.add_exec_event(kind.as_ref(), line, (text, pointer)),
        }
        Ok(())
    }

    /// Adds a line that `codex exec --json` printed, or a line of an unknown kind.
    fn add_exec_event(&mut self, kind: &str, event: &Object<'_>, line: (&str, &str)) {
        match (kind, event.object("item")) {
            ("item.started" | "item.updated" | "item.completed", Some(item)) => return self.add_exec_item(&item, line),
            ("thread.started" | "thread.resumed", _) if self.id.is_none() => {
                self.id = event.non_blank_text("thread_id").map(|id| id.into_owned());
            }
            ("turn.failed" | "error", _) => {
                if let Some((turn, _)) = exec::failure(event) {
                    return self.push(turn, None, None, line);
                }
            }
            _ => {}
        }
        // Item ids restart at 0 in the next turn.
        self.exec_items.clear();
        self.other_lines.push(line.0.to_owned());
    }

    /// Adds an item. Each event contains the whole item, so it replaces the previous event of the same item.
    fn add_exec_item(&mut self, item: &Object<'_>, line: (&str, &str)) {
        let (turn, _) = exec::message(item);
        let id = item.non_blank_text("id").map(|id| id.into_owned()).unwrap_or_default();
        if let Some(earlier) = self.exec_items.get(&id).and_then(|at| self.turns.get_mut(*at)) {
            self.progress_lines += 1;
            let (text, pointer) = line;
            earlier.turn = Turn { pointer: pointer.into(), verbatim: Some(Verbatim::json(text)), ..turn };
            return;
        }
        self.exec_items.insert(id, self.turns.len());
        self.push(turn, None, None, line);
    }

    /// The session's id in the log.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Sets the title from `names`, the titles of all sessions by id. If this session is not in `names`, the last name
    /// in the log remains its title.
    pub(super) fn set_title(&mut self, names: &HashMap<String, String>) {
        let name = self.id.as_ref().and_then(|id| names.get(id)).cloned();
        self.chat.title = name.or(self.chat.title.take());
    }

    /// Takes the title from an event that gives the session a name.
    fn note_title(&mut self, event: &Object<'_>) {
        if event.text("type").as_deref() == Some("thread_name_updated")
            && let Some(name) = event.non_blank_text("thread_name")
        {
            self.chat.title = Some(name.into_owned());
        }
    }

    /// Reads the header of a log in the oldest layout.
    pub(super) fn read_document(&mut self, header: &Object<'_>) {
        self.read_header(header);
        self.chat.note_time(any_time(header, "timestamp"));
    }

    /// Reads the header. The log of a branch or a subagent repeats the header of its parent, so only the first header
    /// is read.
    fn read_header(&mut self, meta: &Object<'_>) {
        if self.id.is_some() {
            return;
        }
        let text = |key: &str| meta.non_blank_text(key).map(|t| t.into_owned());
        self.id = text("id").or_else(|| text("session_id"));
        self.chat.source.project = text("cwd");
        for (name, value) in [("version", text("cli_version")), ("originator", text("originator"))] {
            if let Some(value) = value {
                self.chat.fields.insert(name.into(), value.into());
            }
        }
        let branch = meta.object("git").and_then(|git| git.non_blank_text("branch").map(|t| t.into_owned()));
        if let Some(branch) = branch {
            self.chat.fields.insert("git_branch".into(), branch.into());
        }
        let subagent = meta.object("source").and_then(|s| s.raw_value("subagent"));
        let thread_spawn = subagent.and_then(|raw| Object::parse(raw.get())?.object("thread_spawn"));
        if subagent.is_some() {
            self.chat.record_type = Some("subagent".into());
        }
        let parent = thread_spawn.and_then(|s| s.non_blank_text("parent_thread_id").map(|t| t.into_owned()));
        self.links.extend(parent.or_else(|| text("parent_thread_id")).map(|id| ("subagent_of", id)));
        self.links.extend(text("forked_from_id").map(|id| ("continues", id)));
    }

    fn add_item(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        message: Option<(Turn, AgentContent)>,
        item: &Object<'_>,
        time: Option<mementory_model::Timestamp>,
        line: (&str, &str),
    ) -> Result<(), FormatError> {
        let Some((turn, mut content)) = message else {
            self.other_lines.push(line.0.to_owned());
            return Ok(());
        };
        reader.store_files(member, &mut content)?;
        self.item_texts.insert((turn.role.clone(), turn.text.trim().to_owned()));
        for raw in ["summary", "content"].into_iter().filter_map(|k| item.raw_value(k)) {
            let parts = items::reasoning_parts(raw).into_iter();
            self.item_texts.extend(parts.map(|part| (turn.role.clone(), part.trim().to_owned())));
        }
        self.push(turn, None, time, line);
        Ok(())
    }

    fn add_event(&mut self, event: &Object<'_>, time: Option<mementory_model::Timestamp>, line: (&str, &str)) {
        let kind = event.text("type").unwrap_or_default();
        let (role, content_type, key) = match kind.as_ref() {
            "user_message" => ("user", "text", "message"),
            "agent_message" => ("assistant", "text", "message"),
            "agent_reasoning" | "agent_reasoning_raw_content" => ("assistant", "thinking", "text"),
            "thread_rolled_back" => {
                self.roll_back(event.whole_number("num_turns").unwrap_or(1));
                return self.other_lines.push(line.0.to_owned());
            }
            kind if PROGRESS_EVENTS.contains(&kind) => {
                self.progress_lines += 1;
                return;
            }
            _ => return self.other_lines.push(line.0.to_owned()),
        };
        // Other programs that write such logs name the text of an event `text` or `content`.
        let text = [key, "text", "content"]
            .into_iter()
            .find_map(|key| event.non_blank_text(key))
            .unwrap_or_default()
            .into_owned();
        if text.is_empty() && event.list("images").is_none_or(|images| images.is_empty()) {
            return self.other_lines.push(line.0.to_owned());
        }
        let mut content = AgentContent { text, ..AgentContent::default() };
        let mut turn = Turn { role: role.into(), ..Turn::default() };
        items::finish(&mut turn, &mut content, if content_type == "thinking" { "reasoning" } else { "message" });
        let role_and_text = (turn.role.clone(), turn.text.trim().to_owned());
        self.push(turn, Some(role_and_text), time, line);
    }

    fn push(
        &mut self,
        mut turn: Turn,
        event: Option<(String, String)>,
        time: Option<mementory_model::Timestamp>,
        (text, pointer): (&str, &str),
    ) {
        turn.id = turn.id.filter(|id| self.ids.insert(id.clone()));
        turn.times.created = time;
        turn.model = self.model.clone().filter(|_| turn.role == "assistant");
        turn.pointer = pointer.into();
        turn.verbatim = Some(Verbatim::json(text));
        let parent = self.current;
        if event.is_none() {
            self.current = Some(self.turns.len());
        }
        self.turns.push(SessionTurn { turn, event, parent });
    }

    /// Returns to the turn before the last `prompt_count` prompts, where the next turn begins a new branch.
    fn roll_back(&mut self, prompt_count: u64) {
        let mut remaining = prompt_count;
        while remaining > 0
            && let Some(at) = self.current
            && let Some(turn) = self.turns.get(at)
        {
            if turn.turn.role == "user" && !turn.turn.hidden {
                remaining -= 1;
            }
            self.current = turn.parent;
        }
    }

    /// Sends the conversation.
    pub(super) fn send(mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let mut chat = std::mem::take(&mut self.chat);
        let fallback = || self.first_line.as_deref().map(content_id);
        chat.id = self.id.clone().or_else(fallback);
        chat.is_log = true;
        // Index of each turn in the conversation. An event that repeats an item is left out, so it gets the index of
        // the previous turn.
        let mut positions: Vec<Option<usize>> = Vec::with_capacity(self.turns.len());
        let (mut repeat_count, mut last) = (0u64, None);
        let has_items = self.turns.iter().any(|t| t.event.is_none());
        // Index of the event after each parent. An item with the same parent as an event follows that event.
        let mut event_after: HashMap<Option<usize>, usize> = HashMap::new();
        for session_turn in std::mem::take(&mut self.turns) {
            if session_turn.event.as_ref().is_some_and(|text| self.item_texts.contains(text)) {
                repeat_count += 1;
                positions.push(last);
                continue;
            }
            let mut turn = session_turn.turn;
            let follows_event = event_after.remove(&session_turn.parent);
            let parent = match has_items {
                true => {
                    follows_event.or_else(|| session_turn.parent.and_then(|at| positions.get(at).copied().flatten()))
                }
                // If the log contains only events, they follow each other.
                false => last,
            };
            if session_turn.event.is_some() {
                event_after.insert(session_turn.parent, chat.turns.len());
            }
            turn.parent = parent.map_or(TurnParent::Root, TurnParent::At);
            chat.note_time(turn.times.created);
            last = Some(chat.turns.len());
            positions.push(last);
            chat.turns.push(turn);
        }
        if !self.other_lines.is_empty() {
            let text = self.other_lines.join("\n");
            chat.verbatim = Some(Verbatim { media_type: "application/x-ndjson".into(), text });
        }
        for (count, code, message) in [
            (repeat_count, "duplicate", "events repeat what the items of the log say"),
            (self.progress_lines, "progress", "events only count tokens or repeat parts of a text"),
        ] {
            if count > 0 {
                let reason = format!("{code}: {count} {message}");
                reader.report_dropped(member.place.clone(), DroppedAs::Skipped, &reason, None);
            }
        }
        let mut issues = Vec::new();
        let mut unit = chat.into_unit(chat_file(&member.place), &mut issues);
        issues.into_iter().for_each(|issue| reader.sink.note(issue));
        if let Some(record) = unit.records.first_mut() {
            record.links = self
                .links
                .drain(..)
                .map(|(relation, id)| Link {
                    relation: relation.into(),
                    kind: Kind::Conversation,
                    target: RecordKey::new(FORMAT, id),
                })
                .collect();
        }
        reader.sink.unit(unit)
    }
}

/// Describes the file from which a conversation is read.
pub(super) fn chat_file(container: &str) -> ChatFile<'_> {
    ChatFile { format: FORMAT, platform: FORMAT, version: None, container }
}
