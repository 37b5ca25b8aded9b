//! Reads a session with its messages and their parts as a conversation.
use super::FORMAT;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::{AgentContent, nested_text, value_text};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Link, RecordKey, Timestamp, Verbatim};

/// Describes the file from which a conversation is read.
pub(super) fn chat_file(container: &str) -> ChatFile<'_> {
    ChatFile { format: FORMAT, platform: FORMAT, version: None, container }
}

/// The state of a session while its messages are read.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Name of the platform, if it is a fork of OpenCode.
    pub fork: Option<&'static str>,
    chat: Chat,
    parent: Option<String>,
}

impl Session {
    /// Creates a session from the JSON of the session object, which becomes the verbatim of the conversation.
    pub(super) fn new(id: Option<&str>, text: Option<&str>) -> Self {
        let object = text.and_then(Object::parse).unwrap_or_default();
        let member = |key: &str| object.non_blank_text(key).map(|t| t.into_owned());
        let mut chat = Chat { is_log: true, ..Chat::default() };
        chat.id = member("id").or_else(|| id.map(str::to_owned));
        chat.title = member("title");
        let time = object.object("time").unwrap_or_default();
        let time_of = |name: &str, columns: [&str; 2]| {
            any_time(&time, name).or_else(|| columns.into_iter().find_map(|column| any_time(&object, column)))
        };
        chat.times.created = time_of("created", ["time_created", "created_at"]);
        chat.times.updated = time_of("updated", ["time_updated", "updated_at"]);
        let is_archived = time.raw_value("archived").or_else(|| object.raw_value("time_archived")).is_some();
        chat.status = is_archived.then(|| "archived".into());
        chat.source.project = member("directory");
        if let Some(version) = member("version") {
            chat.fields.insert("version".into(), version.into());
        }
        chat.verbatim = text.map(Verbatim::json);
        let parent = ["parentID", "parent_id", "parent_session_id"].into_iter().find_map(member);
        if parent.is_some() {
            chat.record_type = Some("subagent".into());
        }
        Self { fork: None, chat, parent }
    }

    /// Adds a message with its parts. `verbatim` contains the message and its parts.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        (info, parts): (&Object<'_>, &[Object<'_>]),
        (verbatim, pointer): (Verbatim, String),
    ) -> Result<(), FormatError> {
        let (mut turn, mut content) = message(info, parts);
        reader.store_files(member, &mut content)?;
        turn.verbatim = Some(verbatim);
        turn.pointer = pointer;
        self.chat.turns.push(turn);
        Ok(())
    }

    /// Sends the conversation.
    pub(super) fn send(mut self, reader: &mut FileReader<'_>, container: &str) -> Result<(), FormatError> {
        let (created, updated) = (self.chat.times.created, self.chat.times.updated);
        for time in self.chat.turns.iter().map(|t| t.times.created).collect::<Vec<Option<Timestamp>>>() {
            self.chat.note_time(time);
        }
        self.chat.times.created = created.or(self.chat.times.created);
        self.chat.times.updated = updated.or(self.chat.times.updated);
        let mut issues = Vec::new();
        let file = ChatFile { platform: self.fork.unwrap_or(FORMAT), ..chat_file(container) };
        let mut unit = self.chat.into_unit(file, &mut issues);
        issues.into_iter().for_each(|issue| reader.sink.note(issue));
        if let (Some(record), Some(parent)) = (unit.records.first_mut(), self.parent) {
            let target = RecordKey::new(FORMAT, parent);
            record.links.push(Link { relation: "subagent_of".into(), kind: Kind::Conversation, target });
        }
        reader.sink.unit(unit)
    }
}

fn message(info: &Object<'_>, parts: &[Object<'_>]) -> (Turn, AgentContent) {
    let mut turn = Turn { id: info.non_blank_text("id").map(|t| t.into_owned()), ..Turn::default() };
    turn.role = match info.text("role").as_deref() {
        Some("user") => "user",
        Some("assistant") => "assistant",
        Some("tool") => "tool",
        _ => "system",
    }
    .into();
    let model = info.non_blank_text("modelID").map(|t| t.into_owned());
    let model = model.or_else(|| info.object("model")?.non_blank_text("modelID").map(|t| t.into_owned()));
    turn.model = model.or_else(|| info.non_blank_text("model").map(|t| t.into_owned()));
    // In version 0.1, the model and the times are in the metadata.
    let metadata = info.object("metadata").unwrap_or_default();
    let assistant = metadata.object("assistant").unwrap_or_default();
    turn.model = turn.model.take().or_else(|| assistant.non_blank_text("modelID").map(|t| t.into_owned()));
    let time = info.object("time").or_else(|| metadata.object("time")).unwrap_or_default();
    let column = |names: [&str; 3]| names.into_iter().find_map(|name| any_time(info, name));
    turn.times.created = any_time(&time, "created").or_else(|| column(["time_created", "created_at", "createdAt"]));
    turn.times.updated = any_time(&time, "completed").or_else(|| any_time(info, "finished_at"));
    let mut content = AgentContent::default();
    for part in parts {
        read_part(part, &mut content);
    }
    if let Some(error) = info.raw_value("error") {
        content.push_block("error", None, nested_text(error));
    }
    // In older versions, the message itself contains its parts or its text.
    if parts.is_empty() {
        let own_parts = info.list("parts").unwrap_or_default();
        own_parts.iter().filter_map(|part| Object::parse(part.get())).for_each(|part| read_part(&part, &mut content));
        if let Some(raw) = info.raw_value("content").filter(|_| own_parts.is_empty()) {
            content.push(raw);
        }
    }
    if turn.role == "user" {
        let is_added = content.text.trim().is_empty()
            && content.blocks.iter().any(|b| b.get("type").and_then(|t| t.as_str()) == Some("context"));
        if content.separate_harness_text() || is_added {
            turn.role = "system".into();
        }
    }
    let files = content.fill_session_turn(&mut turn);
    (turn, files)
}

fn read_part(part: &Object<'_>, content: &mut AgentContent) {
    if let Some(data) = part.object("data").filter(|_| !part.has("id")) {
        return read_first_part(part, &data, content);
    }
    let text = || part.text("text").unwrap_or_default();
    match part.text("type").as_deref() {
        // The program added this text to a prompt.
        Some("text") if part.is_true("synthetic") || part.is_true("ignored") => {
            content.push_block("context", None, text())
        }
        Some("text") => mementory_formats_shared::agent_content::push_text(&mut content.text, &text()),
        Some("reasoning") => content.push_block("thinking", None, text()),
        Some("tool" | "tool-invocation") => {
            let state = part.object("state").or_else(|| part.object("toolInvocation")).unwrap_or_default();
            let name = part.non_blank_text("tool").or_else(|| state.non_blank_text("toolName"));
            let value =
                |keys: &[&str]| keys.iter().find_map(|k| state.raw_value(k)).map_or_else(String::new, value_text);
            content.push_block("tool_call", name.as_deref().or(Some("tool")), value(&["input", "args"]));
            content.push_block("tool_result", None, value(&["output", "result", "error"]));
            for raw in state.list("attachments").into_iter().flatten() {
                if let Some(file) = Object::parse(raw.get()) {
                    content.push_file(&file, "file");
                }
            }
        }
        Some("file") => content.push_file(part, "file"),
        Some("step-start" | "step-finish" | "snapshot" | "patch") => {}
        Some("subtask") => content.push_block("tool_call", Some("subtask"), part.text("prompt").unwrap_or_default()),
        kind => {
            let kind = kind.unwrap_or("unknown");
            let words = ["text", "prompt", "content", "message"].into_iter().find_map(|key| part.raw_value(key));
            content.push_block(kind, None, words.map(nested_text).unwrap_or_default());
        }
    }
}

/// Adds a part of a message of the earlier OpenCode to `content`. `data` contains the members of the part.
fn read_first_part(part: &Object<'_>, data: &Object<'_>, content: &mut AgentContent) {
    let text = |key: &str| data.text(key).unwrap_or_default();
    let name = data.non_blank_text("name");
    match part.text("type").as_deref() {
        Some("text") => mementory_formats_shared::agent_content::push_text(&mut content.text, &text("text")),
        Some("reasoning") => content.push_block("thinking", None, text("thinking")),
        Some("tool_call") => content.push_block("tool_call", name.as_deref().or(Some("tool")), text("input")),
        Some("tool_result") => content.push_block("tool_result", name.as_deref(), text("content")),
        Some("image_url") => content.push_file(data, "image"),
        Some("binary") => {
            // The members of this type have the names of Go fields, such as `MIMEType`.
            let file =
                serde_json::json!({"mimeType": text("MIMEType"), "data": text("Data"), "filename": text("Path")});
            if let Some(file) = Object::parse(&file.to_string()) {
                content.push_file(&file, "file");
            }
        }
        Some("finish") => {}
        kind => content.push_block(kind.unwrap_or("unknown"), None, nested_text_of(part)),
    }
}

fn nested_text_of(part: &Object<'_>) -> String {
    part.raw_value("data").map(nested_text).unwrap_or_default()
}
