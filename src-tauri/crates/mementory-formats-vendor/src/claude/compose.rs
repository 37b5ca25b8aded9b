//! Builds the JSON of conversations and projects. Unedited records from Claude are written as their original text. All
//! others are built from their records. Messages and conversations have an extension slot for values that have no
//! member in Claude's JSON.
use super::{
    WRITTEN_LAYOUT,
    conversation::{self, ROOT_PARENT_UUID},
    design, projects,
    wire::{ElementPlace, Object, SCOPE},
};
use mementory_format::{FormatError, StoredRecord};
use mementory_formats_shared::{
    export::uuid_of,
    export_files::{
        groups::Thread,
        json::{object, text, with_member, written},
        slot::{self, Written},
    },
};
use mementory_json::Tree;
use mementory_model::{Kind, LossReport, MessagePart, Record, RecordKey, Times, Timestamp};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// The data that all conversations of an export share.
pub(super) struct Composer {
    /// Time of the export. It is written into conversations whose records contain no time.
    pub now: Timestamp,
}

/// The JSON of a conversation, and whether it is written as a design chat.
pub(super) struct Composed {
    pub text: String,
    pub is_design: bool,
}

struct MessageText<'r> {
    key: String,
    json: String,
    stored: &'r StoredRecord,
    is_original: bool,
}

/// True if the record was read from an export of Claude.
pub(super) fn is_from_claude(record: &Record) -> bool {
    record.origin.format == SCOPE && record.key.scope == SCOPE
}

/// Returns the original text of an unedited record from Claude. None for any other record, and if the text is not JSON.
pub(super) fn original(stored: &StoredRecord) -> Option<&str> {
    let is_usable = is_from_claude(&stored.record) && !stored.edited;
    let text = stored.record.verbatim.as_ref().filter(|_| is_usable)?.text.trim();
    serde_json::from_str::<&RawValue>(text).is_ok().then_some(text)
}

/// Returns a time as Claude writes it, or null for an unknown time.
pub(super) fn time(time: Option<Timestamp>) -> Tree {
    time.map_or(Tree::Null, |t| Tree::Text(t.to_rfc3339()))
}

/// Returns the original object of a conversation. If `updated`, which may come from a later export, is later than the
/// `updated_at` of the object, `updated` replaces the `updated_at`.
fn with_update_time(frame: &str, updated: Option<Timestamp>) -> String {
    let stated_time = Object::parse(frame).and_then(|object| Timestamp::parse(&object.text("updated_at")?));
    match stated_time.zip(updated) {
        Some((stated_time, updated)) if stated_time < updated => {
            with_member(frame, "updated_at", &written(&time(Some(updated))))
        }
        _ => frame.to_owned(),
    }
}

/// Returns the value of `updated_at` for a record: the time of its last change, or else of its creation. Claude writes
/// `updated_at` everywhere, and programs that read its exports expect the member.
pub(super) fn last_change(record: &Record) -> Tree {
    time(record.times.updated.or(record.times.created))
}

/// Returns `times` for a record that has only a time of creation. [`last_change`] writes this time a second time, which
/// is not a loss, so the loss report must skip the member.
pub(super) fn repeated_times(record: &Record) -> Option<&'static str> {
    (record.times == Times { created: record.times.created, ..Times::default() }).then_some("times")
}

fn is_design(record: &Record) -> bool {
    record.namespace.as_deref() == Some("design")
}

/// Maps each kind and key to the first record that has them.
fn by_key(records: &[Record]) -> HashMap<(Kind, &RecordKey), &Record> {
    records.iter().rev().map(|record| ((record.kind, &record.key), record)).collect()
}

fn place() -> ElementPlace<'static> {
    ElementPlace { container: "conversations.json", pointer: "/0", version: Some(WRITTEN_LAYOUT) }
}

impl Composer {
    /// Returns the JSON of a conversation. Adds the values that cannot be read back from this JSON to `losses`.
    pub(super) fn conversation(&self, thread: &Thread, losses: &mut LossReport) -> Result<Composed, FormatError> {
        let all_original = thread.messages.iter().all(|m| original(m).is_some());
        let frame = thread.conversation.as_ref().and_then(|stored| Some((stored, original(stored)?)));
        if let Some((stored, frame)) = frame.filter(|(stored, _)| all_original && is_design(&stored.record)) {
            return self.design(thread, stored, frame, losses);
        }
        let id = conversation_id(thread);
        let mut messages = self.messages(thread, &id);
        let (frame, is_original) = match frame.filter(|(stored, _)| !is_design(&stored.record)) {
            Some((stored, frame)) => (with_update_time(frame, stored.record.times.updated), true),
            None => (self.frame(thread, &id), false),
        };
        let text = assemble(&frame, &messages);
        let object = Object::parse(&text).ok_or_else(unreadable)?;
        let native_records = conversation::read(&text, &object, &place()).map_err(|_| unreadable())?;
        let native_records = native_records.units.into_iter().next().ok_or_else(unreadable)?.records;
        let by_key: HashMap<&str, &Record> =
            native_records.iter().filter(|r| r.kind == Kind::Message).map(|r| (r.key.value.as_str(), r)).collect();
        for message in &mut messages {
            let stored = message.stored;
            let native = by_key.get(message.key.as_str()).copied();
            if message.is_original {
                let Some(native) = native else { continue };
                slot::report_difference(native, &stored.record, &stored.id, losses);
                continue;
            }
            let native = native.ok_or_else(unreadable)?;
            let part = stored.record.message.clone().unwrap_or_default();
            let text = (block_type(&part) != "text").then_some("text");
            let expressed_members: Vec<&str> = text.into_iter().chain(repeated_times(&stored.record)).collect();
            let written = Written {
                id: &stored.id,
                same_source: is_from_claude(&stored.record),
                separate_members: &[],
                expressed_members: &expressed_members,
            };
            message.json = slot::attach(std::mem::take(&mut message.json), native, &stored.record, written, losses);
        }
        let native = native_records.first().ok_or_else(unreadable)?;
        let frame = match &thread.conversation {
            None => slot::mark_stub(&frame),
            Some(stored) if is_original => {
                slot::report_difference(native, &stored.record, &stored.id, losses);
                frame
            }
            Some(stored) => {
                let separate_members = &["chat_messages", "messages"];
                let same_source = is_from_claude(&stored.record) && !is_design(&stored.record);
                let expressed: Vec<&str> = repeated_times(&stored.record).into_iter().collect();
                let written = Written { id: &stored.id, same_source, separate_members, expressed_members: &expressed };
                slot::attach(frame, native, &stored.record, written, losses)
            }
        };
        Ok(Composed { text: assemble(&frame, &messages), is_design: false })
    }

    fn design(
        &self,
        thread: &Thread,
        stored: &StoredRecord,
        frame: &str,
        losses: &mut LossReport,
    ) -> Result<Composed, FormatError> {
        let texts: Vec<&str> = thread.messages.iter().filter_map(|m| original(m)).collect();
        let text = with_member(frame, "messages", &format!("[{}]", texts.join(",")));
        let object = Object::parse(&text).ok_or_else(unreadable)?;
        let native_records = design::read(&text, &object, &place()).map_err(|_| unreadable())?;
        let native_records: Vec<Record> = native_records.units.into_iter().flat_map(|unit| unit.records).collect();
        let native_records = by_key(&native_records);
        for stored in thread.messages.iter().chain([stored]) {
            if let Some(native) = native_records.get(&(stored.record.kind, &stored.record.key)) {
                slot::report_difference(native, &stored.record, &stored.id, losses);
            }
        }
        Ok(Composed { text, is_design: true })
    }

    fn messages<'r>(&self, thread: &'r Thread, id: &str) -> Vec<MessageText<'r>> {
        let uuids: HashMap<&str, String> = thread.messages.iter().map(|m| (m.id.as_str(), message_id(m, id))).collect();
        let mut out: Vec<(u64, MessageText<'r>)> = Vec::with_capacity(thread.messages.len());
        let mut message_time = self.created(thread);
        for (at, stored) in thread.messages.iter().enumerate() {
            let uuid = &uuids[stored.id.as_str()];
            message_time = stored.record.times.created.unwrap_or(message_time);
            let original = original(stored).filter(|text| text.starts_with('{'));
            let original = original.filter(|_| stored.record.key.value == format!("{id}/{uuid}"));
            let is_original = original.is_some();
            let json = original.map_or_else(
                || {
                    let parent = stored.message_parent_id.as_deref().and_then(|p| uuids.get(p));
                    self.message(stored, uuid, message_time, parent.map_or(ROOT_PARENT_UUID, String::as_str))
                },
                str::to_owned,
            );
            // The messages of a thread are in the order of the conversation, which may differ from the order of the
            // list in the source. The order of the source is restored.
            let source_index = stored.record.origin.pointer.rsplit('/').next().and_then(|i| i.parse().ok());
            let order = source_index.filter(|_| is_from_claude(&stored.record)).unwrap_or(at as u64);
            out.push((order, MessageText { key: format!("{id}/{uuid}"), json, stored, is_original }));
        }
        out.sort_by_key(|(order, _)| *order);
        let mut out: Vec<MessageText<'r>> = out.into_iter().map(|(_, message)| message).collect();
        // A reader treats the branch of the last message in the list as the active branch. So the last message of the
        // active branch is moved to the end.
        if !out.iter().any(|m| m.is_original)
            && let Some(leaf) = active_leaf(&out)
        {
            let last = out.remove(leaf);
            out.push(last);
        }
        out
    }

    /// Builds the JSON of a message. `message_time` is the time of the message or, if that is unknown, the time of the
    /// message before it. Claude writes a time into every message, and programs that read its exports expect it.
    fn message(&self, stored: &StoredRecord, id: &str, message_time: Timestamp, parent: &str) -> String {
        let record = &stored.record;
        let part = record.message.clone().unwrap_or_default();
        let block = block_type(&part);
        let flat_text = if block == "text" { record.text.as_str() } else { "" };
        let mut members = vec![
            ("uuid", text(id)),
            ("text", text(flat_text)),
            ("content", Tree::Array(vec![content_block(block, &record.text)])),
            ("sender", text(sender(&part))),
            ("created_at", time(Some(message_time))),
            ("updated_at", time(record.times.updated.or(Some(message_time)))),
        ];
        let (mut attachments, mut files) = (vec![], vec![]);
        for file in &record.attachments {
            let size = file.size.map_or(Tree::Null, |n| Tree::Number(n.to_string()));
            let media = file.media_type.as_deref().map_or(Tree::Null, text);
            match &file.text {
                Some(extracted) => attachments.push(object(vec![
                    ("id", file.origin_id.as_deref().map_or(Tree::Null, text)),
                    ("file_name", text(&file.name)),
                    ("file_size", size),
                    ("file_type", media),
                    ("extracted_content", text(extracted)),
                ])),
                None => {
                    let id = file.origin_id.as_deref().filter(|id| !id.trim().is_empty());
                    files.push(object(vec![
                        ("file_uuid", id.map_or(Tree::Null, text)),
                        ("file_name", text(&file.name)),
                    ]));
                }
            }
        }
        members.push(("attachments", Tree::Array(attachments)));
        members.push(("files", Tree::Array(files)));
        members.extend(part.model.as_ref().map(|model| ("model", text(model))));
        // In some exports, messages do not state their parents. An edited message from such an export is written
        // without a parent too.
        let had_parent = record.verbatim.as_ref().is_none_or(|v| v.text.contains("parent_message_uuid"));
        if !is_from_claude(record) || had_parent {
            members.push(("parent_message_uuid", text(parent)));
        }
        written(&object(members))
    }

    /// Returns the time at which a conversation was created, or a time as near to it as the records contain. Programs
    /// that read exports sort conversations by this time, and some refuse a conversation without it.
    fn created(&self, thread: &Thread) -> Timestamp {
        let times = thread.conversation.as_ref().map(|stored| stored.record.times.clone()).unwrap_or_default();
        let earliest = thread.messages.iter().filter_map(|m| m.record.times.created).min();
        times.created.or(earliest).or(times.updated).unwrap_or(self.now)
    }

    /// Builds the object of a conversation, with an empty list of messages.
    fn frame(&self, thread: &Thread, id: &str) -> String {
        let empty_record = Record::new(Kind::Conversation, RecordKey::new(SCOPE, id), "");
        let record = thread.conversation.as_ref().map_or(&empty_record, |stored| &stored.record);
        let created = self.created(thread);
        let latest = thread.messages.iter().filter_map(|m| m.record.times.created).max();
        let updated = record.times.updated.or(latest).unwrap_or(created);
        let account = record.source.account.as_deref().filter(|_| is_from_claude(record));
        written(&object(vec![
            ("uuid", text(id)),
            ("name", text(record.title.as_deref().unwrap_or_default())),
            ("summary", text(&record.text)),
            ("created_at", time(Some(created))),
            ("updated_at", time(Some(updated))),
            ("account", object(vec![("uuid", text(account.unwrap_or_default()))])),
            ("chat_messages", Tree::Array(vec![])),
        ]))
    }

    /// Returns the JSON of a project with its instructions and documents. None if the record of the project is not in
    /// the export.
    pub(super) fn project(&self, group: &[StoredRecord], losses: &mut LossReport) -> Option<String> {
        let profile = group.iter().find(|stored| stored.record.kind == Kind::Profile)?;
        let record = &profile.record;
        let id = record.key.value.strip_prefix("project/").unwrap_or_default();
        let mut json = original(profile).filter(|text| text.starts_with('{')).map_or_else(
            || {
                written(&object(vec![
                    ("uuid", text(id)),
                    ("name", text(record.title.as_deref().unwrap_or_default())),
                    ("description", text(&record.text)),
                    ("is_private", Tree::Bool(true)),
                    ("is_starter_project", Tree::Bool(record.fields.contains_key("is_starter_project"))),
                    ("prompt_template", text("")),
                    ("created_at", time(record.times.created)),
                    ("updated_at", last_change(record)),
                    ("creator", object(vec![("uuid", text(record.source.account.as_deref().unwrap_or_default()))])),
                    ("docs", Tree::Array(vec![])),
                ]))
            },
            str::to_owned,
        );
        if let Some(stored) = group.iter().find(|stored| stored.record.kind == Kind::Memory) {
            let raw = original(stored).filter(|text| text.starts_with('"')).map(str::to_owned);
            let raw = raw.unwrap_or_else(|| written(&text(&stored.record.text)));
            json = with_member(&json, "prompt_template", &raw);
        }
        let mut documents: Vec<(u64, &StoredRecord)> = group
            .iter()
            .filter(|stored| stored.record.kind == Kind::Resource)
            .map(|stored| {
                (stored.record.origin.pointer.rsplit('/').next().and_then(|i| i.parse().ok()).unwrap_or(0), stored)
            })
            .collect();
        documents.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.id.cmp(&b.1.id)));
        if !documents.is_empty() {
            let texts: Vec<String> = documents.iter().map(|(_, stored)| self.document(stored)).collect();
            json = with_member(&json, "docs", &format!("[{}]", texts.join(",")));
        }
        let native_records = Object::parse(&json).and_then(|object| projects::read(&json, &object, &place()).ok());
        let native_records: Vec<Record> =
            native_records.into_iter().flat_map(|r| r.units).flat_map(|u| u.records).collect();
        let native_records = by_key(&native_records);
        for stored in group {
            if let Some(native) = native_records.get(&(stored.record.kind, &stored.record.key)) {
                slot::report_difference(native, &stored.record, &stored.id, losses);
            }
        }
        Some(json)
    }

    fn document(&self, stored: &StoredRecord) -> String {
        if let Some(text) = original(stored).filter(|text| text.starts_with('{')) {
            return text.to_owned();
        }
        let record = &stored.record;
        written(&object(vec![
            ("uuid", text(record.key.value.strip_prefix("doc/").unwrap_or_default())),
            ("filename", text(record.title.as_deref().unwrap_or_default())),
            ("content", text(&record.text)),
            ("created_at", time(record.times.created)),
        ]))
    }
}

fn unreadable() -> FormatError {
    FormatError::invalid("not_written", "conversations.json", "a conversation cannot be written in this format")
}

fn conversation_id(thread: &Thread) -> String {
    let own_id =
        |key: &RecordKey| (!key.value.is_empty() && !key.value.starts_with("design/")).then(|| key.value.clone());
    match &thread.conversation {
        Some(stored) => {
            own_id(&stored.record.key).filter(|_| is_from_claude(&stored.record)).unwrap_or_else(|| uuid_of(&stored.id))
        }
        None => {
            let first = thread.messages.first();
            let parent = first.and_then(|m| m.record.parent.as_ref().filter(|_| is_from_claude(&m.record)));
            parent.and_then(own_id).unwrap_or_else(|| uuid_of(&first.map_or_else(String::new, |m| m.id.clone())))
        }
    }
}

fn message_id(stored: &StoredRecord, conversation: &str) -> String {
    let key = Some(&stored.record.key.value).filter(|_| is_from_claude(&stored.record));
    let own_id =
        key.and_then(|key| key.strip_prefix(conversation)?.strip_prefix('/')).filter(|id| !id.trim().is_empty());
    own_id.map_or_else(|| uuid_of(&stored.id), str::to_owned)
}

/// Returns the position of the last message on the active branch. None if no message is marked as active.
fn active_leaf(messages: &[MessageText<'_>]) -> Option<usize> {
    let is_active = |m: &&MessageText<'_>| m.stored.record.message.as_ref().is_some_and(|part| part.active);
    let parents: HashSet<&str> =
        messages.iter().filter(is_active).filter_map(|m| m.stored.message_parent_id.as_deref()).collect();
    messages.iter().rposition(|m| is_active(&m) && !parents.contains(m.stored.id.as_str()))
}

fn assemble(frame: &str, messages: &[MessageText<'_>]) -> String {
    let object = Object::parse(frame).unwrap_or_default();
    let name = if object.has("chat_messages") || !object.has("messages") { "chat_messages" } else { "messages" };
    if messages.is_empty() && object.raw_value(name).is_none() {
        return frame.to_owned();
    }
    let texts: Vec<&str> = messages.iter().map(|m| m.json.as_str()).collect();
    with_member(frame, name, &format!("[{}]", texts.join(",")))
}

/// Returns Claude's name for the sender of a message. Claude has no sender for tools; their results are blocks in
/// messages of the assistant.
fn sender(part: &MessagePart) -> &str {
    match part.role.as_str() {
        "user" => "human",
        "tool" => "assistant",
        "" => "system",
        other => other,
    }
}

fn block_type(part: &MessagePart) -> &'static str {
    match (part.content_type.as_str(), part.role.as_str()) {
        ("thinking", "assistant") => "thinking",
        ("tool_call", "assistant") => "tool_use",
        ("tool_result", _) | (_, "tool") => "tool_result",
        _ => "text",
    }
}

fn content_block(block: &str, record_text: &str) -> Tree {
    let content = match block {
        "thinking" => vec![("thinking", text(record_text))],
        "tool_use" => vec![("name", text("tool")), ("input", object(vec![("text", text(record_text))]))],
        "tool_result" => {
            let inside = object(vec![("type", text("text")), ("text", text(record_text))]);
            vec![("name", text("tool")), ("content", Tree::Array(vec![inside])), ("is_error", Tree::Bool(false))]
        }
        _ => vec![("text", text(record_text)), ("citations", Tree::Array(vec![]))],
    };
    object([vec![("type", text(block))], content].concat())
}
