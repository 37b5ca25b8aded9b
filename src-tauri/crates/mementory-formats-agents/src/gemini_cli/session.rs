//! Reads a session from the lines of its log: a header, changes to the header (`$set`), messages, changes to a message
//! (`message_update`) and rewinds (`$rewindTo`). A message that is written again replaces the earlier version. Rewound
//! messages stay on a separate branch.
use super::{FORMAT, PLATFORM, QWEN};
use super::{messages, update};
use mementory_format::{FormatError, Member, is_uuid};
use mementory_formats_shared::chat::{Chat, ChatFile, TurnParent};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, content_id, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Issue, Kind, Link, RecordKey, Verbatim};
use std::collections::HashMap;

/// Type of a header line. Some headers have no type.
pub(super) const METADATA_TYPE: &str = "session_metadata";

/// Describes the file from which a conversation is read.
pub(super) fn chat_file(container: &str) -> ChatFile<'_> {
    ChatFile { format: FORMAT, platform: PLATFORM, version: None, container }
}

/// The state of a session while its lines are read.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The session's id in the log.
    pub id: Option<String>,
    chat: Chat,
    drafts: Vec<Draft>,
    draft_of: HashMap<String, usize>,
    /// Index of the message that the next message follows.
    current: Option<usize>,
    other_lines: Vec<String>,
    /// True for a session that Qwen Code exported.
    is_qwen: bool,
}

#[derive(Debug)]
struct Draft {
    text: String,
    /// Lines that change the message, in order.
    updates: Vec<String>,
    pointer: String,
    parent: Option<usize>,
}

impl Session {
    /// Adds a line, or a whole session in one object.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        text: &str,
        line: &Object<'_>,
        pointer: &str,
    ) {
        if let Some(target) = line.text("$rewindTo") {
            // A rewind also takes back its target. If the target is unknown, Gemini CLI takes back all messages.
            let found = self.draft_of.get(target.as_ref()).and_then(|at| self.drafts.get(*at));
            self.current = found.and_then(|draft| draft.parent);
            self.other_lines.push(text.to_owned());
            return;
        }
        if update::is_update(line) {
            return self.add_update(reader, member, text, line, pointer);
        }
        let change = line.object("$set");
        let is_metadata = line.text("type").as_deref() == Some(METADATA_TYPE);
        let is_header =
            change.is_some() || is_metadata || line.has("sessionId") || !line.has("type") && !line.has("content");
        // A message that Qwen Code exported is no header, although it contains the id of its session.
        if !is_header || messages::is_exported(line) {
            return self.add_message(text, line, pointer);
        }
        let header = change.as_ref().unwrap_or(line);
        self.read_header(header);
        let Some(raw) = header.raw_value("messages") else {
            return self.other_lines.push(text.to_owned());
        };
        self.other_lines.push(with_replaced_values(text, &[(raw, "[]")]));
        let list_pointer = if change.is_some() { "/$set" } else { "" };
        for (n, raw) in header.list("messages").into_iter().flatten().enumerate() {
            let pointer = format!("{pointer}{list_pointer}/messages/{n}");
            match Object::parse(raw.get()) {
                Some(message) => self.add_message(raw.get(), &message, &pointer),
                None => {
                    let reason = "not_an_object: this entry is not an object";
                    let place = format!("{}#{pointer}", member.place);
                    reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
                }
            }
        }
    }

    /// Reads the header, or a change to it.
    pub(super) fn read_header(&mut self, header: &Object<'_>) {
        let text = |key: &str| header.non_blank_text(key).map(|t| t.into_owned());
        self.id = self.id.take().or_else(|| text("sessionId"));
        self.chat.title = text("summary").or_else(|| text("title")).or(self.chat.title.take());
        self.chat.times.created = any_time(header, "startTime").or(self.chat.times.created);
        self.chat.times.updated = any_time(header, "lastUpdated").or(self.chat.times.updated);
        let folder = header
            .list("directories")
            .and_then(|d| mementory_formats_shared::object::decode_string(d.first()?).map(|t| t.into_owned()));
        let folder = folder.or_else(|| header.object("metadata")?.non_blank_text("cwd").map(|t| t.into_owned()));
        self.chat.source.project = folder.or(self.chat.source.project.take());
        if let Some(hash) = text("projectHash") {
            self.chat.fields.insert("project_hash".into(), hash.into());
        }
        if text("kind").as_deref() == Some("subagent") {
            self.chat.record_type = Some("subagent".into());
        }
    }

    /// Stores the text of a header that was read separately, so that the verbatim contains it.
    pub(super) fn keep_header(&mut self, text: String) {
        self.other_lines.push(text);
    }

    fn add_message(&mut self, text: &str, message: &Object<'_>, pointer: &str) {
        self.is_qwen |= messages::is_exported(message);
        let id = message.non_blank_text("id").map(|t| t.into_owned());
        if let Some(draft) = id.as_ref().and_then(|id| self.draft_of.get(id)).and_then(|at| self.drafts.get_mut(*at)) {
            text.clone_into(&mut draft.text);
            // The earlier changes are discarded, because the new line contains the whole changed message.
            draft.updates.clear();
            return;
        }
        if let Some(id) = id {
            self.draft_of.insert(id, self.drafts.len());
        }
        let parent = self.current.replace(self.drafts.len());
        self.drafts.push(Draft { text: text.to_owned(), updates: Vec::new(), pointer: pointer.to_owned(), parent });
    }

    fn add_update(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        text: &str,
        line: &Object<'_>,
        pointer: &str,
    ) {
        let id = line.non_blank_text("id").or_else(|| line.non_blank_text("messageId"));
        let updated_draft = id.and_then(|id| self.draft_of.get(id.as_ref())).and_then(|at| self.drafts.get_mut(*at));
        if let Some(draft) = updated_draft {
            return draft.updates.push(text.to_owned());
        }
        let place = format!("{}#{pointer}", member.place);
        let message = "this line changes a message that is not in the session; it is kept with the conversation";
        reader.sink.note(Issue::new("unknown_message", &place, message));
        self.other_lines.push(text.to_owned());
    }

    /// Sends the conversation.
    pub(super) fn send(mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let mut chat = std::mem::take(&mut self.chat);
        chat.is_log = true;
        let fallback = self.drafts.first().map(|d| content_id(&d.text));
        chat.id = self.id.take().or(fallback);
        let (created, updated) = (chat.times.created, chat.times.updated);
        let last = self.current;
        for draft in std::mem::take(&mut self.drafts) {
            let merged = (!draft.updates.is_empty()).then(|| update::merged(&draft.text, &draft.updates));
            let text = merged.as_deref().unwrap_or(&draft.text);
            let Some(object) = Object::parse(text) else { continue };
            let (mut turn, mut content) = messages::message(text, &object);
            if merged.is_some() {
                let lines = std::iter::once(draft.text.as_str()).chain(draft.updates.iter().map(String::as_str));
                let text = lines.collect::<Vec<_>>().join("\n");
                turn.verbatim = Some(Verbatim { media_type: "application/x-ndjson".into(), text });
            }
            reader.store_files(member, &mut content)?;
            turn.pointer = draft.pointer;
            turn.parent = draft.parent.map_or(TurnParent::Root, TurnParent::At);
            chat.note_time(turn.times.created);
            chat.turns.push(turn);
        }
        chat.leaf = last.and_then(|at| chat.turns.get(at)?.id.clone());
        (chat.times.created, chat.times.updated) = (created.or(chat.times.created), updated.or(chat.times.updated));
        if !self.other_lines.is_empty() {
            let text = self.other_lines.join("\n");
            chat.verbatim = Some(match self.other_lines.len() {
                1 => Verbatim::json(text),
                _ => Verbatim { media_type: "application/x-ndjson".into(), text },
            });
        }
        // The log of a subagent is in a folder whose name is the id of the parent session.
        let folder = member.name.split('/').rev().nth(1).filter(|f| is_uuid(f));
        let parent = folder.filter(|_| chat.record_type.is_some()).map(str::to_owned);
        let file = chat_file(&member.place);
        let platform = if self.is_qwen { QWEN } else { file.platform };
        send_linked(reader, chat, ChatFile { platform, ..file }, parent)
    }
}

/// Sends a conversation. For a subagent, `parent` is the id of the session that started it.
pub(super) fn send_linked(
    reader: &mut FileReader<'_>,
    chat: Chat,
    file: ChatFile<'_>,
    parent: Option<String>,
) -> Result<(), FormatError> {
    let mut issues = Vec::new();
    let mut unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    if let (Some(record), Some(id)) = (unit.records.first_mut(), parent) {
        let target = RecordKey::new(FORMAT, id);
        record.links.push(Link { relation: "subagent_of".into(), kind: Kind::Conversation, target });
    }
    reader.sink.unit(unit)
}
