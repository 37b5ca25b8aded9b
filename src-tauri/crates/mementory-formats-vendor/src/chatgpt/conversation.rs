//! Reads one conversation: its record, its messages and the memories in them.
use super::{
    attachments::{self, FileNames},
    content::{self, MessageContent},
    graph::{GraphNode, build_graph, link_nodes},
    memories,
    wire::{Content, Conversation, Message, Node, Nodes, Text},
};
use mementory_formats_shared::export_files::slot::{self, Slot};
use mementory_json::repair;
use mementory_model::{
    AttachmentRef, Dropped, DroppedAs, Fields, Issue, Kind, Link, MessagePart, Origin, Record, RecordKey, Source,
    Times, Unit, Verbatim,
};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::{borrow::Cow, collections::HashMap};

/// The place of a conversation, and the account and the file names that the side files of its export state.
pub(super) struct ConversationPlace<'a> {
    pub(super) version: Option<&'a str>,
    pub(super) container: &'a str,
    pub(super) pointer: &'a str,
    pub(super) account: Option<&'a str>,
    pub(super) names: &'a FileNames,
}

/// Result of reading one element of a list of conversations.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) unit: Option<Unit>,
    pub(super) issues: Vec<Issue>,
    pub(super) dropped: Vec<Dropped>,
    /// JSON pointer and JSON of each value that could not be read.
    pub(super) raw: Vec<(String, String)>,
    /// Files of the records that were restored from extension slots. Each has its key in the export and the restored
    /// reference.
    pub(super) restored_files: Vec<(RecordKey, AttachmentRef)>,
}

impl Outcome {
    pub(super) fn drop_with_raw(
        &mut self,
        place: &ConversationPlace<'_>,
        pointer: String,
        kind: Kind,
        reason: &str,
        raw: &str,
    ) {
        self.dropped.push(Dropped {
            place: format!("{}#{pointer}", place.container),
            outcome: DroppedAs::Failed,
            reason: format!("malformed: {reason}"),
            kind: Some(kind),
        });
        self.raw.push((pointer, raw.to_owned()));
    }

    pub(super) fn add_issue(&mut self, code: &str, place: &ConversationPlace<'_>, pointer: &str, message: &str) {
        self.issues.push(Issue::new(code, format!("{}#{pointer}", place.container), message));
    }
}

/// Reads one conversation. If a message cannot be read, the other messages are still read.
pub(super) fn read(bytes: &[u8], place: &ConversationPlace<'_>) -> Outcome {
    let mut out = Outcome::default();
    if !bytes.starts_with(b"{") {
        out.dropped.push(Dropped {
            place: format!("{}#{}", place.container, place.pointer),
            outcome: DroppedAs::Skipped,
            reason: "not_a_record: not an object".into(),
            kind: None,
        });
        return out;
    }
    let text = std::str::from_utf8(bytes).ok();
    if let Some(text) = text
        && let Ok(conversation) = serde_json::from_str::<Conversation<'_>>(text)
    {
        read_object(text, &conversation, place, &mut out);
        return out;
    }
    match repair(bytes) {
        Some((repaired, codes)) => match serde_json::from_str::<Conversation<'_>>(&repaired) {
            Ok(conversation) => {
                for code in codes {
                    out.add_issue(
                        code,
                        place,
                        place.pointer,
                        "repaired while reading; the stored original is the repaired text",
                    );
                }
                read_object(&repaired, &conversation, place, &mut out);
            }
            Err(_) => {
                out.drop_with_raw(place, place.pointer.to_owned(), Kind::Conversation, "not an object", &repaired)
            }
        },
        None => {
            let raw = String::from_utf8_lossy(bytes);
            out.drop_with_raw(place, place.pointer.to_owned(), Kind::Conversation, "not valid JSON", &raw);
        }
    }
    out
}

fn read_object(text: &str, conversation: &Conversation<'_>, place: &ConversationPlace<'_>, out: &mut Outcome) {
    let is_conversation = conversation.id.get().is_some()
        || conversation.conversation_id.get().is_some()
        || conversation.mapping.is_some()
        || conversation.create_time.0.is_some() && conversation.title.is_some();
    let nodes = match conversation.mapping.map(|raw| serde_json::from_str::<Nodes<'_>>(raw.get())) {
        None => Nodes(vec![]),
        Some(Ok(nodes)) => nodes,
        Some(Err(_)) => {
            // In valid JSON, a `mapping` that cannot be parsed is not an object, or one of its keys contains a lone
            // surrogate.
            return out.drop_with_raw(
                place,
                place.pointer.to_owned(),
                Kind::Conversation,
                "its `mapping` is not an object of messages",
                text,
            );
        }
    };
    if !is_conversation {
        return out.drop_with_raw(place, place.pointer.to_owned(), Kind::Conversation, "not a conversation", text);
    }
    let id = conversation.conversation_id.get().or(conversation.id.get()).map_or_else(
        || {
            // For a conversation without an id, an id is made from its first node and its time, because a later export
            // contains the same first node and time.
            let first = nodes.0.first().map_or("", |(k, _)| k);
            let time = conversation.create_time.0.map_or(0, |t| t.as_micros());
            Cow::Owned(format!("derived-{}", &hex::encode(Sha256::digest(format!("{time}\n{first}")))[..32]))
        },
        Cow::Borrowed,
    );
    let reader = Reader {
        id: &id,
        key: RecordKey::new("chatgpt", id.as_ref()),
        conversation,
        place,
        project: conversation.template.get().filter(|t| t.starts_with("g-p-")),
    };
    let mut records = vec![reader.conversation_record(text)];
    let frame = records[0].verbatim.as_ref().map_or(text, |v| v.text.as_str());
    let slot = slot::restore(frame, &records[0], &["mapping"]);
    reader.add_message_records(nodes, &mut records, out);
    match slot {
        Some(Slot::Record(restored)) => records[0] = *restored,
        Some(Slot::Stub) => drop(records.remove(0)),
        None => {}
    }
    out.unit = Some(Unit { records });
}

struct Reader<'a> {
    id: &'a str,
    key: RecordKey,
    conversation: &'a Conversation<'a>,
    place: &'a ConversationPlace<'a>,
    project: Option<&'a str>,
}

impl Reader<'_> {
    fn source(&self) -> Source {
        Source {
            platform: "chatgpt".into(),
            account: self.place.account.map(str::to_owned),
            conversation: Some(self.id.to_owned()),
            message: None,
            method: None,
            project: self.project.map(str::to_owned),
        }
    }

    fn origin(&self, pointer: String) -> Origin {
        Origin {
            format: "chatgpt".into(),
            version: self.place.version.map(str::to_owned),
            container: self.place.container.to_owned(),
            pointer,
        }
    }

    fn conversation_record(&self, text: &str) -> Record {
        let c = self.conversation;
        let mut record = Record::new(Kind::Conversation, self.key.clone(), "");
        record.origin_id = c.conversation_id.to_owned_text().or_else(|| c.id.to_owned_text());
        record.title = c.title.and_then(|raw| decode_or_repair_string(raw.get()));
        record.times = Times { created: c.create_time.0, updated: c.update_time.0, ..Times::default() };
        record.status = (c.archived.0 == Some(true)).then(|| "archived".into());
        record.source = self.source();
        record.origin = self.origin(self.place.pointer.to_owned());
        for (name, value) in [("default_model", &c.model), ("gizmo_id", &c.gizmo), ("template_id", &c.template)] {
            insert_field(&mut record.fields, name, value.get());
        }
        record.verbatim = Some(Verbatim::json(without_mapping(text, c.mapping)));
        record
    }

    fn add_message_records(&self, nodes: Nodes<'_>, records: &mut Vec<Record>, out: &mut Outcome) {
        let nodes = without_duplicates(nodes, || {
            out.add_issue(
                "duplicate_node",
                self.place,
                self.place.pointer,
                "a node id occurs twice; the last one counts",
            );
        });
        let repaired: Vec<Option<String>> = nodes.iter().map(|(_, raw)| repair_node(raw)).collect();
        let mut parsed: Vec<Node<'_>> = Vec::with_capacity(nodes.len());
        for ((id, raw), repaired) in nodes.iter().zip(&repaired) {
            let pointer = || format!("{}/mapping/{}", self.place.pointer, escape_pointer_segment(id));
            let result = serde_json::from_str::<Node<'_>>(repaired.as_deref().unwrap_or(raw.get()));
            if repaired.is_some() && result.is_ok() {
                let message = "half of a surrogate pair was replaced in the text; the stored original is unchanged";
                out.add_issue("lone_surrogate", self.place, &pointer(), message);
            }
            parsed.push(result.unwrap_or_else(|_| {
                out.drop_with_raw(self.place, pointer(), Kind::Message, "not a message object", raw.get());
                Node::default()
            }));
        }
        let mut graph_nodes: Vec<GraphNode<'_>> = nodes
            .iter()
            .zip(&parsed)
            .map(|((id, _), node)| GraphNode {
                id,
                parent: node.parent.get(),
                has_message: node.message.is_some(),
                created: node.message.as_ref().and_then(|m| m.create_time.0),
            })
            .collect();
        let children = || {
            let by_id: HashMap<&str, usize> = nodes.iter().enumerate().map(|(i, (id, _))| (id.as_ref(), i)).collect();
            let ids = |node: &Node<'_>| -> Vec<usize> {
                let ids: Vec<Text<'_>> = content::parse_list(node.children);
                ids.iter().filter_map(|id| by_id.get(id.get()?).copied()).collect()
            };
            parsed.iter().map(ids).collect()
        };
        if link_nodes(&mut graph_nodes, children) {
            let issue_message = "the messages name no parents; each was placed after the one before it";
            out.add_issue("no_parents", self.place, self.place.pointer, issue_message);
        }
        let graph = build_graph(&graph_nodes, self.conversation.current_node.get());
        if graph.orphans > 0 {
            let issue_message = format!("{} messages have a parent that is missing", graph.orphans);
            out.add_issue("orphan", self.place, self.place.pointer, &issue_message);
        }
        if graph.cycles > 0 {
            let issue_message = format!("{} cycles in the message tree, cut at their first message", graph.cycles);
            out.add_issue("cycle", self.place, self.place.pointer, &issue_message);
        }
        let (mut memories, mut position) = (Vec::new(), 0);
        for (i, ((id, raw), node)) in nodes.iter().zip(&parsed).enumerate() {
            let Some(message) = &node.message else { continue };
            let part = MessagePart {
                parent: graph.parent[i].map(|p| self.message_key(nodes[p].0.as_ref())),
                position,
                active: graph.active[i],
                ..MessagePart::default()
            };
            position += 1;
            let mut record = self.message_record(id, raw, message, part, &mut memories);
            if let Some(Slot::Record(restored)) = slot::restore(raw.get(), &record, &[]) {
                let keys = record.attachments.iter().map(|file| file.key.clone());
                out.restored_files.extend(keys.zip(restored.attachments.iter().cloned()));
                record = *restored;
            }
            records.push(record);
        }
        records.append(&mut memories);
    }

    fn message_key(&self, node: &str) -> RecordKey {
        RecordKey::new("chatgpt", format!("{}/{node}", self.id))
    }

    fn message_record(
        &self,
        node: &str,
        raw: &RawValue,
        message: &Message<'_>,
        mut part: MessagePart,
        found_memories: &mut Vec<Record>,
    ) -> Record {
        let content = parse_content(message.content);
        let message_content = content::read(message.content, &content, &message.metadata);
        let role = message.author.role.get().unwrap_or("unknown");
        let recipient = message.recipient.get().unwrap_or("all");
        part.role = role.to_owned();
        part.content_type = content_type(&message_content, role, recipient);
        part.hidden = is_hidden(message, &message_content, role, recipient);
        part.model = match role {
            "assistant" | "tool" => {
                message.metadata.model.to_owned_text().or_else(|| self.conversation.model.to_owned_text())
            }
            _ => message.metadata.model.to_owned_text(),
        };
        let key = self.message_key(node);
        let memories = memories::find_memories(message, &content, &message_content.text);
        let times = Times { created: message.create_time.0, updated: message.update_time.0, ..Times::default() };
        for memory in memories {
            found_memories.push(self.memory_record(memory, node, message, &key, &times));
        }
        let mut record = Record::new(Kind::Message, key, message_content.text);
        record.origin_id = Some(message.id.get().unwrap_or(node).to_owned());
        record.times = times;
        record.source = self.source();
        record.source.message = record.origin_id.clone();
        record.parent = Some(self.key.clone());
        record.origin = self.origin(format!("{}/mapping/{}", self.place.pointer, escape_pointer_segment(node)));
        insert_field(&mut record.fields, "author_name", message.author.name.get());
        insert_field(&mut record.fields, "recipient", Some(recipient).filter(|r| *r != "all"));
        insert_field(&mut record.fields, "language", content.language.get());
        if message_content.source_type != part.content_type {
            insert_field(&mut record.fields, "content_type", Some(message_content.source_type.as_str()));
        }
        record.attachments = message_content.files.into_iter().map(|f| self.attachment_reference(f)).collect();
        record.message = Some(part);
        record.verbatim = Some(Verbatim::json(raw.get()));
        record
    }

    fn attachment_reference(&self, file: content::FileRef) -> AttachmentRef {
        let names = self.place.names;
        let by_name = || file.name.as_deref().and_then(|name| names.id_by_name(name)).map(str::to_owned);
        let id = Some(file.id.clone()).filter(|id| !id.is_empty()).or_else(by_name);
        let key = id.clone().unwrap_or_else(|| attachments::id_of_name(file.name.as_deref().unwrap_or_default()));
        AttachmentRef {
            name: file.name.or_else(|| names.name(&key).map(str::to_owned)).unwrap_or_else(|| key.clone()),
            media_type: file.media_type.or_else(|| names.media_type_of(&key).map(str::to_owned)),
            size: file.size,
            text: None,
            origin_id: id,
            key: attachments::file_key(&key),
        }
    }

    fn memory_record(
        &self,
        memory: memories::FoundMemory,
        node: &str,
        message: &Message<'_>,
        from: &RecordKey,
        times: &Times,
    ) -> Record {
        let mut record = Record::new(Kind::Memory, memories::memory_key(&memory.text), memory.text);
        record.times.created = memory.date.or(times.created);
        record.source = self.source();
        record.source.message = Some(message.id.get().unwrap_or(node).to_owned());
        record.source.method = Some(memory.method.into());
        record.record_type = (memory.method == "custom_instructions").then(|| "custom_instructions".into());
        if let Some((user, model)) = memory.instructions {
            insert_field(&mut record.fields, "about_user", Some(user.as_str()));
            insert_field(&mut record.fields, "about_model", Some(model.as_str()));
        }
        record.links.push(Link { relation: "derived_from".into(), kind: Kind::Message, target: from.clone() });
        record.origin = self.origin(format!("{}/mapping/{}", self.place.pointer, escape_pointer_segment(node)));
        record.repeats = true;
        record
    }
}

fn parse_content(raw: Option<&RawValue>) -> Content<'_> {
    let Some(raw) = raw else { return Content::default() };
    if raw.get().starts_with('"') {
        let text = serde_json::from_str(raw.get()).unwrap_or_default();
        return Content { content_type: Text(Some("text".into())), text, ..Content::default() };
    }
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn content_type(message_content: &MessageContent, role: &str, recipient: &str) -> String {
    match message_content.source_type.as_str() {
        "user_editable_context" | "model_editable_context" => "context",
        "thoughts" | "reasoning_recap" => "thinking",
        "execution_output"
        | "system_error"
        | "tether_browsing_display"
        | "tether_quote"
        | "sonic_webpage"
        | "search_result_groups"
        | "computer_output"
        | "citable_code_output"
        | "tool_response" => "tool_result",
        _ if role == "assistant" && recipient != "all" => "tool_call",
        "text" | "multimodal_text" if role == "tool" => "tool_result",
        "text" | "multimodal_text" | "" => "text",
        other => other,
    }
    .to_owned()
}

/// True for a message that ChatGPT does not display: a message that is marked as hidden or has the weight 0, a context,
/// an empty system message, a message to a tool, or a message from a tool without files.
fn is_hidden(message: &Message<'_>, message_content: &MessageContent, role: &str, recipient: &str) -> bool {
    message.metadata.hidden.0 == Some(true)
        || message.weight.0 == Some(0.0)
        || recipient != "all"
        || matches!(message_content.source_type.as_str(), "user_editable_context" | "model_editable_context")
        || role == "system" && message_content.text.trim().is_empty()
        || role == "tool" && message_content.files.is_empty()
}

fn insert_field(fields: &mut Fields, name: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|v| !v.is_empty()) {
        fields.insert(name.into(), value.into());
    }
}

/// Decodes a JSON string, which is repaired if necessary. None if it cannot be repaired or is not a string.
fn decode_or_repair_string(json: &str) -> Option<String> {
    let text = serde_json::from_str::<Text<'_>>(json).map(|t| t.to_owned_text());
    text.unwrap_or_else(|_| {
        let (repaired, _) = repair(json.as_bytes())?;
        serde_json::from_str::<Text<'_>>(&repaired).ok()?.to_owned_text()
    })
}

/// Returns the text of a conversation in which `{}` replaces the `mapping`. Everything else is unchanged.
fn without_mapping(text: &str, mapping: Option<&RawValue>) -> String {
    let text_around_mapping = mapping.map(RawValue::get).filter(|raw| raw.starts_with('{')).and_then(|raw| {
        // The raw value is a slice of the text, so the difference of the two addresses is the position of the
        // `mapping`.
        let at = (raw.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        Some((text.get(..at)?, text.get(at + raw.len()..)?))
    });
    match text_around_mapping {
        Some((before, after)) => format!("{before}{{}}{after}"),
        None => text.to_owned(),
    }
}

/// Returns the JSON of a node in which lone surrogates are replaced. None if the node contains no lone surrogate.
fn repair_node(raw: &RawValue) -> Option<String> {
    if memchr::memmem::find(raw.get().as_bytes(), b"\\ud").is_none()
        && memchr::memmem::find(raw.get().as_bytes(), b"\\uD").is_none()
    {
        return None;
    }
    let (repaired, codes) = repair(raw.get().as_bytes())?;
    codes.contains(&"lone_surrogate").then_some(repaired)
}

/// Removes nodes with repeated ids. Of several nodes with the same id, the last is returned.
fn without_duplicates<'a>(nodes: Nodes<'a>, mut on_duplicate: impl FnMut()) -> Vec<(Cow<'a, str>, &'a RawValue)> {
    let mut last_position: HashMap<&str, usize> = HashMap::with_capacity(nodes.0.len());
    let mut is_unique = true;
    for (i, (id, _)) in nodes.0.iter().enumerate() {
        is_unique &= last_position.insert(id, i).is_none();
    }
    if is_unique {
        drop(last_position);
        return nodes.0;
    }
    on_duplicate();
    let is_kept: Vec<bool> =
        nodes.0.iter().enumerate().map(|(i, (id, _))| last_position.get(id.as_ref()) == Some(&i)).collect();
    nodes.0.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(n, _)| n).collect()
}

/// Escapes a segment of a JSON pointer.
fn escape_pointer_segment(segment: &str) -> Cow<'_, str> {
    if segment.contains(['~', '/']) { segment.replace('~', "~0").replace('/', "~1").into() } else { segment.into() }
}
