//! Reads one conversation: its record, its messages as a tree, and its artifacts.
use super::{
    artifacts, blocks, documents,
    wire::{ElementPlace, Object, ReadResult, SCOPE, content_id, decode_string, key, list, with_replaced_values},
};
use mementory_formats_shared::export_files::slot::{self, Slot};
use mementory_formats_shared::order::{self, Node, Parent};
use mementory_model::{
    AttachmentRef, Dropped, DroppedAs, Issue, Kind, MessagePart, Record, Source, Times, Unit, Verbatim,
};
use serde_json::{Value, value::RawValue};
use std::{borrow::Cow, collections::HashSet};

/// The parent id that Claude writes into messages without a parent.
pub(super) const ROOT_PARENT_UUID: &str = "00000000-0000-4000-8000-000000000000";

/// Reads a conversation object into one unit of records (conversation, messages, artifacts). An unreadable message is
/// dropped.
///
/// # Errors
/// Returns a message for the user if the object is not a conversation.
pub(super) fn read(text: &str, object: &Object<'_>, place: &ElementPlace<'_>) -> Result<ReadResult, String> {
    let list_key = if object.has("chat_messages") { "chat_messages" } else { "messages" };
    if !object.has(list_key) && object.text("uuid").is_none() {
        return Err("not_a_conversation: no messages and no id".into());
    }
    let mut out = ReadResult::default();
    let list_raw = object.raw_value(list_key);
    let raw_messages = match list_raw.map(list) {
        Some(None) => {
            out.dropped
                .push(dropped_entry(place.text(&format!("/{list_key}")), "malformed: the messages are not a list"));
            None
        }
        Some(items) => items,
        None => None,
    };
    let has_message_list = raw_messages.is_some();
    let raw_messages = raw_messages.unwrap_or_default();
    // A shared conversation has an id of its own (`uuid`), and the id of the conversation of which it is a copy
    // (`conversation_uuid`).
    let id = object.non_blank_text("conversation_uuid").or_else(|| object.non_blank_text("uuid"));
    let id = id.map_or_else(|| content_id(text), Cow::into_owned);

    let mut record = Record::new(Kind::Conversation, key(id.as_str()), "");
    record.origin_id = object.non_blank_text("uuid").map(Cow::into_owned);
    record.text = object.non_blank_text("summary").map(Cow::into_owned).unwrap_or_default();
    let title = ["name", "title", "snapshot_name"].into_iter().find_map(|key| object.non_blank_text(key));
    record.title = title.map(Cow::into_owned);
    record.times =
        Times { created: object.timestamp("created_at"), updated: object.timestamp("updated_at"), ..Times::default() };
    record.source = source(object);
    record.origin = place.origin("");
    record.verbatim = Some(Verbatim::json(match list_raw {
        Some(raw) if has_message_list => with_replaced_values(text, &[(raw, "[]")]),
        _ => text.to_owned(),
    }));

    let model = object.non_blank_text("model").map(Cow::into_owned);
    let list_pointer = format!("/{list_key}");
    let messages = parse_messages(&raw_messages, &list_pointer, place, &mut out);
    let leaf = object.text("current_leaf_message_uuid");
    let nodes: Vec<Node<'_>> = messages.iter().map(Message::node).collect();
    let order_result = order::order_messages(&nodes, leaf.as_deref());
    drop(nodes);
    for (count, code, message) in [
        (
            order_result.missing_parents,
            "parent_missing",
            "messages whose parent is missing were attached to the message before them",
        ),
        (order_result.cycles, "cycle", "cycles of messages, cut at their first message"),
    ] {
        if count > 0 {
            out.issues.push(Issue::new(code, place.text(""), format!("{count} {message}")));
        }
    }

    let mut steps = Vec::new();
    let mut step_of = vec![None; messages.len()];
    let mut records = vec![record];
    for (position, index) in order_result.sequence.iter().copied().enumerate() {
        let message = &messages[index];
        let (mut built, tag_commands) =
            message.build_record(&id, &records[0].source, place, &list_pointer, &mut out.issues);
        let is_injected = built.message.as_ref().is_some_and(|m| m.content_type == "context");
        built.message = Some(MessagePart {
            role: if is_injected { "system".into() } else { role(&message.sender) },
            parent: order_result.parent[index].map(|p| key(format!("{id}/{}", messages[p].uuid))),
            position: u32::try_from(position).unwrap_or(u32::MAX),
            hidden: is_injected,
            active: order_result.active[index],
            model: message.object.non_blank_text("model").map(Cow::into_owned).or_else(|| model.clone()),
            content_type: built.message.map(|m| m.content_type).unwrap_or_default(),
        });
        let restored = match slot::restore(message.raw.get(), &built, &[]) {
            Some(Slot::Record(restored)) => {
                built = *restored;
                true
            }
            _ => false,
        };
        let mut commands = Vec::new();
        // Artifact commands are searched only in Claude's own messages. A message that was restored from an extension
        // slot may come from another program, whose texts contain no artifact commands.
        if !restored || built.origin.format == SCOPE {
            commands = artifacts::find_commands(message.object.raw_value("content"));
            commands.extend(tag_commands);
            documents::find(&message.object, &built, place, &mut out);
        }
        step_of[index] = Some(steps.len());
        steps.push(artifacts::Step {
            uuid: &message.uuid,
            parent: order_result.parent[index].and_then(|p| step_of[p]),
            active: order_result.active[index],
            created: message.created,
            commands,
        });
        records.push(built);
    }
    let account = records[0].source.account.clone();
    for mut artifact in artifacts::apply_commands(&id, &steps, place, &mut out.issues) {
        artifact.source.account.clone_from(&account);
        records.push(artifact);
    }
    match slot::restore(text, &records[0], &["chat_messages", "messages"]) {
        Some(Slot::Record(restored)) => records[0] = *restored,
        Some(Slot::Stub) => drop(records.remove(0)),
        None => {}
    }
    out.units.push(Unit { records });
    Ok(out)
}

struct Message<'a> {
    raw: &'a RawValue,
    object: Object<'a>,
    /// Position in the list of the source. Unreadable entries count too.
    index: usize,
    uuid: Cow<'a, str>,
    has_uuid: bool,
    sender: Cow<'a, str>,
    created: Option<mementory_model::Timestamp>,
}

fn parse_messages<'a>(
    raw: &[&'a RawValue],
    list_pointer: &str,
    place: &ElementPlace<'_>,
    out: &mut ReadResult,
) -> Vec<Message<'a>> {
    let mut messages: Vec<Message<'a>> = Vec::with_capacity(raw.len());
    let mut seen: HashSet<Cow<'a, str>> = HashSet::with_capacity(raw.len());
    for (index, raw) in raw.iter().copied().enumerate() {
        let at = || place.text(&format!("{list_pointer}/{index}"));
        let Some(object) = Object::parse(raw.get()) else {
            out.dropped.push(dropped_entry(at(), "not_an_object: this entry is not a message object"));
            continue;
        };
        if !["sender", "role", "text", "content", "uuid"].iter().any(|k| object.raw_value(k).is_some()) {
            out.dropped.push(dropped_entry(at(), "not_a_message: none of the members of a message"));
            continue;
        }
        let source_uuid = object.non_blank_text("uuid");
        let has_uuid = source_uuid.is_some();
        let mut uuid = source_uuid.unwrap_or_else(|| Cow::Owned(content_id(&format!("{index}\n{}", raw.get()))));
        if seen.contains(&uuid) {
            if messages.iter().any(|m| m.uuid == uuid && m.raw.get() == raw.get()) {
                let reason = "duplicate: the same message occurs twice";
                out.dropped.push(Dropped { outcome: DroppedAs::Skipped, ..dropped_entry(at(), reason) });
                continue;
            }
            out.issues.push(Issue::new(
                "duplicate_id",
                at(),
                "two different messages have the same id; both are imported",
            ));
            uuid = Cow::Owned(format!("{uuid}~{}", content_id(raw.get())));
        }
        seen.insert(uuid.clone());
        let sender = object.text("sender").or_else(|| object.text("role")).unwrap_or(Cow::Borrowed("unknown"));
        let created = object.timestamp("created_at");
        messages.push(Message { raw, object, index, uuid, has_uuid, sender, created });
    }
    messages
}

impl<'a> Message<'a> {
    fn node(&self) -> Node<'a> {
        let parent = match (self.object.text("parent_message_uuid"), self.object.has("parent_message_uuid")) {
            (Some(id), _) if !id.is_empty() && id != ROOT_PARENT_UUID => Parent::Id(id),
            (_, true) => Parent::Root,
            _ => Parent::Missing,
        };
        Node { uuid: self.uuid.clone(), parent, created: self.created, is_human: role(&self.sender) == "user" }
    }

    /// Builds the record of the message. Also returns the artifact commands in the tags of its text.
    fn build_record(
        &self,
        conversation: &str,
        from: &Source,
        place: &ElementPlace<'_>,
        list_pointer: &str,
        issues: &mut Vec<Issue>,
    ) -> (Record, Vec<artifacts::Command>) {
        let mut content = blocks::read(self.object.raw_value("content"), || self.object.text("text"));
        let tag_commands = artifacts::find_tag_commands(&content.text);
        // In a message of the person, artifact tags are ordinary text, so they are not removed.
        if role(&self.sender) != "user" {
            let (text, thoughts) = artifacts::without_tags(std::mem::take(&mut content.text));
            content.text = text;
            let thoughts = thoughts.into_iter().map(|text| blocks::collapsed_block("thinking", None, text));
            content.blocks.extend(thoughts);
        }
        let pointer = format!("{list_pointer}/{}", self.index);
        if content.text.contains('\u{fffd}') && self.raw.get().contains("\\u") {
            let message = "half of a surrogate pair in the text is shown as U+FFFD; the stored original is unchanged";
            issues.push(Issue::new("lone_surrogate", place.text(&pointer), message));
        }
        let mut record = Record::new(Kind::Message, key(format!("{conversation}/{}", self.uuid)), content.text);
        record.origin_id = self.has_uuid.then(|| self.uuid.clone().into_owned());
        record.times =
            Times { created: self.created, updated: self.object.timestamp("updated_at"), ..Times::default() };
        record.source = Source { conversation: Some(conversation.to_owned()), ..from.clone() };
        record.origin = place.origin(&pointer);
        record.parent = Some(key(conversation));
        record.verbatim = Some(Verbatim::json(self.raw.get()));
        record.message = Some(MessagePart { content_type: content.content_type.into(), ..MessagePart::default() });
        record.attachments = self.attachments(conversation);
        for (id, name) in &content.files {
            let key = key(format!("file/{id}"));
            if record.attachments.iter().all(|known| known.key != key && known.origin_id.as_ref() != Some(id)) {
                record.attachments.push(AttachmentRef {
                    key,
                    origin_id: Some(id.clone()),
                    name: name.clone().unwrap_or_else(|| id.clone()),
                    media_type: name.as_deref().and_then(media_type_by_name),
                    size: None,
                    text: None,
                });
            }
        }
        if !content.blocks.is_empty() {
            record.fields.insert("blocks".into(), Value::Array(content.blocks));
        }
        if !content.citations.is_empty() {
            record.fields.insert("citations".into(), Value::Array(content.citations));
        }
        (record, tag_commands)
    }

    /// Returns the attachments of the message. Entries of `attachments` contain the text of a file, and entries of
    /// `files` only its name.
    fn attachments(&self, conversation: &str) -> Vec<AttachmentRef> {
        let mut out: Vec<AttachmentRef> = Vec::new();
        for (index, raw) in self.object.list("attachments").into_iter().flatten().enumerate() {
            let Some(object) = Object::parse(raw.get()) else { continue };
            let name = object.non_blank_text("file_name").unwrap_or(Cow::Borrowed("attachment")).into_owned();
            out.push(AttachmentRef {
                key: key(format!("{}/attachment/{index}/{name}", self.uuid)),
                origin_id: object.non_blank_text("id").map(Cow::into_owned),
                media_type: object
                    .non_blank_text("file_type")
                    .as_deref()
                    .and_then(media_type)
                    .or_else(|| media_type_by_name(&name)),
                size: object.whole_number("file_size"),
                text: object.non_blank_text("extracted_content").map(Cow::into_owned),
                name,
            });
        }
        for raw in ["files", "files_v2"].iter().filter_map(|k| self.object.list(k)).flatten() {
            let object = Object::parse(raw.get()).unwrap_or_default();
            let id = object.non_blank_text("file_uuid").or_else(|| object.non_blank_text("uuid")).map(Cow::into_owned);
            let name = object
                .non_blank_text("file_name")
                .or_else(|| decode_string(raw))
                .map(Cow::into_owned)
                .or_else(|| id.clone());
            let Some(name) = name else { continue };
            // `files` repeats each entry of `attachments` under the same name, so only the id is added to the
            // attachment.
            if let Some(known) = out.iter_mut().find(|a| a.text.is_some() && a.name == name && a.origin_id.is_none()) {
                known.origin_id = id;
                continue;
            }
            // If a file has no id, its key contains the id of the conversation, because names like "image.png" are not
            // unique.
            let value = id.as_ref().map_or_else(|| format!("{conversation}/file/{name}"), |id| format!("file/{id}"));
            let key = key(value);
            if out.iter().any(|a| a.key == key) {
                continue;
            }
            out.push(AttachmentRef {
                key,
                origin_id: id,
                media_type: media_type_by_name(&name),
                size: object.whole_number("file_size").or_else(|| object.whole_number("size_bytes")),
                text: None,
                name,
            });
        }
        out
    }
}

fn role(sender: &str) -> String {
    match sender {
        "human" => "user".into(),
        other => other.to_lowercase(),
    }
}

/// Returns the account, project and platform that an object states.
pub(super) fn source(object: &Object<'_>) -> Source {
    let account = object
        .object("account")
        .or_else(|| object.object("creator"))
        .and_then(|a| a.non_blank_text("uuid").map(Cow::into_owned))
        .or_else(|| object.non_blank_text("account_uuid").map(Cow::into_owned));
    let project = object
        .non_blank_text("project_uuid")
        .map(Cow::into_owned)
        .or_else(|| object.object("project").and_then(|p| p.non_blank_text("uuid").map(Cow::into_owned)));
    Source { platform: SCOPE.into(), account, project, ..Source::default() }
}

fn dropped_entry(place: String, reason: &str) -> Dropped {
    Dropped { place, outcome: DroppedAs::Failed, reason: reason.into(), kind: Some(Kind::Message) }
}

/// Returns the media type for a `file_type`, which is a media type or a file extension. None for an unknown extension.
fn media_type(file_type: &str) -> Option<String> {
    if file_type.contains('/') { Some(file_type.to_owned()) } else { media_type_by_extension(file_type) }
}

/// Returns the media type for the extension of a file name. None for an unknown extension.
pub(super) fn media_type_by_name(name: &str) -> Option<String> {
    media_type_by_extension(name.rsplit_once('.')?.1)
}

fn media_type_by_extension(extension: &str) -> Option<String> {
    let known = match extension.to_ascii_lowercase().as_str() {
        "md" | "markdown" => "text/markdown",
        "txt" | "log" => "text/plain",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "zip" => "application/zip",
        _ => return None,
    };
    Some(known.to_owned())
}
