//! Builds the JSON of one conversation. Unedited messages and conversations from ChatGPT are written as their original
//! text. All others are built from their records, with an extension slot for values that have no member in ChatGPT's
//! JSON.
use super::{
    attachments::FileNames,
    conversation::{self, ConversationPlace},
    export_file::ExportFile,
    group_chat,
    merged_links::{LinkedNode, add_missing_children, listed_children, with_current_node},
    wire::{Conversation, Node},
};
use mementory_format::{FormatError, StoredRecord};
use mementory_formats_shared::{
    export::uuid_of,
    export_files::{
        groups::Thread,
        json::{object, text, with_member, written},
        slot::{self, Written},
    },
    object::Object,
};
use mementory_json::Tree;
use mementory_model::{LossReport, MessagePart, Record, RecordKey, Timestamp};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Id of the node above the first message.
const ROOT_NODE: &str = "client-created-root";
/// The member of a conversation that contains its messages.
const MESSAGES: &[&str] = &["mapping"];

/// The data that all conversations of an export share.
pub(super) struct Composer<'a> {
    pub names: &'a FileNames,
    pub files: &'a BTreeMap<String, ExportFile>,
    pub account: Option<&'a str>,
    /// Time of the export. It is written into conversations whose records contain no time.
    pub now: Timestamp,
}

/// The JSON object of a conversation, in which `{}` replaces the messages.
struct Frame {
    text: String,
    /// True if the text is the original text and no members were added to it.
    is_original: bool,
    /// False if members were added to the original text, because then the extension slot must contain the original
    /// text.
    is_own_verbatim: bool,
}

/// A node of the mapping.
struct NodeText<'r> {
    id: String,
    json: String,
    /// The record of the message. None for a node without a message.
    stored: Option<&'r StoredRecord>,
    is_original: bool,
}

impl Composer<'_> {
    /// Returns the JSON of a conversation. Adds the values that cannot be read back from this JSON to `losses`.
    pub(super) fn compose(&self, thread: &Thread, losses: &mut LossReport) -> Result<String, FormatError> {
        let id = conversation_id(thread);
        let ids = node_ids(thread, &id);
        let mut nodes = self.nodes(thread, &ids);
        let Frame { text: frame, is_original, is_own_verbatim } = self.frame(thread, &id, &ids);
        // Some importers look up the current node even in a conversation without messages, so the node is created.
        if nodes.is_empty()
            && let Some(root) = current_node_of(&frame)
        {
            nodes.push(empty_node(&root, None, &[]));
        }
        let linked = nodes.iter_mut().map(|NodeText { id, json, is_original, .. }| LinkedNode {
            id,
            json,
            is_original: *is_original,
        });
        add_missing_children(&mut linked.collect::<Vec<_>>());
        let end = missing_end(&nodes, &frame, active_leaf(thread, &ids));
        nodes.extend(end);
        let text = assemble(&frame, &nodes);
        let native_records = self.read_back(&text)?;
        let by_key: HashMap<&str, &Record> = native_records.iter().map(|r| (r.key.value.as_str(), r)).collect();
        for node in &mut nodes {
            let Some(stored) = node.stored else { continue };
            let key = format!("{id}/{}", node.id);
            let Some(native) = by_key.get(key.as_str()) else { return Err(unreadable()) };
            if node.is_original {
                slot::report_difference(native, &stored.record, &stored.id, losses);
            } else {
                let same_source = is_from_chatgpt(&stored.record);
                let json = std::mem::take(&mut node.json);
                // A message without a time is written with the time of the message before it. This substitute is not
                // reported as a loss.
                let expressed_members: &[&str] = if stored.record.times.created.is_none() { &["times"] } else { &[] };
                let at = Written { id: &stored.id, same_source, expressed_members, ..Written::default() };
                node.json = slot::attach(json, native, &stored.record, at, losses);
            }
        }
        let native = native_records.first().ok_or_else(unreadable)?;
        let frame = match &thread.conversation {
            None => slot::mark_stub(&frame),
            Some(stored) if is_original => {
                slot::report_difference(native, &stored.record, &stored.id, losses);
                frame
            }
            Some(stored) => {
                let same_source = is_own_verbatim && is_from_chatgpt(&stored.record);
                let at = Written { id: &stored.id, same_source, separate_members: MESSAGES, expressed_members: &[] };
                slot::attach(frame, native, &stored.record, at, losses)
            }
        };
        Ok(assemble(&frame, &nodes))
    }

    /// Returns the records that the reader of this format produces from the JSON of a conversation.
    fn read_back(&self, text: &str) -> Result<Vec<Record>, FormatError> {
        let place = ConversationPlace {
            version: Some(super::WRITTEN_LAYOUT),
            container: "conversations.json",
            pointer: "/0",
            account: self.account,
            names: self.names,
        };
        let outcome = conversation::read(text.as_bytes(), &place);
        outcome.unit.map(|unit| unit.records).ok_or_else(unreadable)
    }

    fn nodes<'r>(&self, thread: &'r Thread, ids: &HashMap<&str, String>) -> Vec<NodeText<'r>> {
        let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
        for stored in &thread.messages {
            let parent = parent_node(stored, ids).unwrap_or(ROOT_NODE);
            children.entry(parent).or_default().push(&ids[stored.id.as_str()]);
        }
        let mut known_ids: HashSet<String> = ids.values().cloned().collect();
        let mut nodes = Vec::with_capacity(thread.messages.len() + 1);
        let mut message_time = self.created(thread);
        for stored in &thread.messages {
            message_time = stored.record.times.created.unwrap_or(message_time);
            let id = &ids[stored.id.as_str()];
            let (json, parent, is_original) = match original(stored) {
                Some(json) => {
                    let node = serde_json::from_str::<Node<'_>>(json).unwrap_or_default();
                    (json.to_owned(), node.parent.to_owned_text(), true)
                }
                None => {
                    let parent = parent_node(stored, ids).unwrap_or(ROOT_NODE);
                    let children = children.get(id.as_str()).map_or(&[][..], Vec::as_slice);
                    (self.message_node(stored, id, message_time, (parent, children)), Some(parent.to_owned()), false)
                }
            };
            // The parent may be a node without a message, for which the vault has no record. Such a node is created
            // here.
            if let Some(parent) = parent.filter(|parent| known_ids.insert(parent.clone())) {
                let above = parent_node(stored, ids).filter(|above| *above != parent);
                nodes.push(empty_node(&parent, above, &children_of(&parent, &children, id)));
            }
            nodes.push(NodeText { id: id.clone(), json, stored: Some(stored), is_original });
        }
        nodes
    }

    /// Builds a node with a message. `message_time` is the time of the message or, if that is unknown, the time of the
    /// message before it. Importers sort messages by time, and some refuse a message without a time.
    fn message_node(
        &self,
        stored: &StoredRecord,
        id: &str,
        message_time: Timestamp,
        (parent, children): (&str, &[&str]),
    ) -> String {
        let record = &stored.record;
        let part = record.message.clone().unwrap_or_default();
        let field = |name: &str| record.fields.get(name).and_then(|v| v.as_str()).map(str::to_owned);
        let is_from_chatgpt = is_from_chatgpt(record);
        let message_id = record.origin_id.clone().filter(|_| is_from_chatgpt).unwrap_or_else(|| id.to_owned());
        let is_call = part.content_type == "tool_call" && part.role == "assistant";
        let recipient = field("recipient")
            .filter(|_| is_from_chatgpt)
            .unwrap_or_else(|| if is_call { "tool" } else { "all" }.into());
        let mut metadata = vec![];
        if let Some(model) = &part.model {
            metadata.push(("model_slug", text(model)));
        }
        if part.hidden {
            metadata.push(("is_visually_hidden_from_conversation", Tree::Bool(true)));
        }
        let files = self.files_of(stored);
        if !files.is_empty() {
            metadata.push(("attachments", Tree::Array(files)));
        }
        let message = object(vec![
            ("id", text(&message_id)),
            (
                "author",
                object(vec![
                    ("role", text(role(&part.role))),
                    ("name", field("author_name").filter(|_| is_from_chatgpt).map_or(Tree::Null, Tree::Text)),
                    ("metadata", object(vec![])),
                ]),
            ),
            ("create_time", time(Some(message_time))),
            ("update_time", time(record.times.updated)),
            ("content", content(&record.text, &part)),
            ("status", text("finished_successfully")),
            ("end_turn", Tree::Bool(true)),
            ("weight", Tree::Number("1.0".into())),
            ("metadata", object(metadata)),
            ("recipient", text(&recipient)),
            ("channel", Tree::Null),
        ]);
        let children = children.iter().map(|child| text(child)).collect();
        written(&object(vec![
            ("id", text(id)),
            ("message", message),
            ("parent", text(parent)),
            ("children", Tree::Array(children)),
        ]))
    }

    fn files_of(&self, stored: &StoredRecord) -> Vec<Tree> {
        let files = stored.record.attachments.iter().zip(&stored.attachment_ids);
        files
            .map(|(file, id)| {
                let id = self.files.get(id).map_or(file.key.value.as_str(), |known| known.id.as_str());
                let mut members = vec![("id", text(id)), ("name", text(&file.name))];
                members.extend(file.size.map(|size| ("size", Tree::Number(size.to_string()))));
                members.extend(file.media_type.as_ref().map(|media| ("mime_type", text(media))));
                object(members)
            })
            .collect()
    }

    /// Returns the time at which a conversation was created, or a time as near to it as the records contain. Importers
    /// sort conversations by this time, and some refuse a conversation without it.
    fn created(&self, thread: &Thread) -> Timestamp {
        let times = thread.conversation.as_ref().map(|stored| stored.record.times.clone()).unwrap_or_default();
        let earliest = thread.messages.iter().filter_map(|m| m.record.times.created).min();
        times.created.or(earliest).or(times.updated).unwrap_or(self.now)
    }

    /// Returns the members that importers need and that are absent or null in the original object of a conversation.
    fn missing_members(&self, frame: &str, thread: &Thread, id: &str) -> Vec<(&'static str, Tree)> {
        // Importers read no messages from a conversation without a `mapping`, so such a conversation needs no further
        // members.
        let Some(object) = Object::parse(frame).filter(|object| object.object("mapping").is_some()) else {
            return Vec::new();
        };
        let created = self.created(thread);
        let latest = thread.messages.iter().filter_map(|m| m.record.times.created).max();
        let needed_members = [
            ("create_time", time(Some(created))),
            ("update_time", time(Some(latest.unwrap_or(created)))),
            ("conversation_id", text(id)),
        ];
        needed_members.into_iter().filter(|(name, _)| object.raw_value(name).is_none()).collect()
    }

    fn frame(&self, thread: &Thread, id: &str, ids: &HashMap<&str, String>) -> Frame {
        if let Some(original) = thread.conversation.as_ref().and_then(original) {
            // The messages may come from a later export than the object of the conversation. In the later export, the
            // active branch may end at another message.
            let known: HashSet<&str> = ids.values().map(String::as_str).collect();
            let frame_with_new_leaf =
                active_leaf(thread, ids).and_then(|leaf| with_current_node(original, leaf, &known));
            let updated = thread.conversation.as_ref().and_then(|stored| stored.record.times.updated);
            let frame = with_update_time(frame_with_new_leaf.unwrap_or_else(|| original.to_owned()), updated);
            let missing = self.missing_members(&frame, thread, id);
            let is_original = missing.is_empty();
            let text =
                missing.into_iter().fold(frame, |frame, (name, value)| with_member(&frame, name, &written(&value)));
            return Frame { text, is_original, is_own_verbatim: is_original };
        }
        let empty_record = Record::new(mementory_model::Kind::Conversation, RecordKey::new("chatgpt", id), "");
        let record = thread.conversation.as_ref().map_or(&empty_record, |stored| &stored.record);
        let field = |name: &str| {
            let value = record.fields.get(name).and_then(|v| v.as_str()).filter(|_| is_from_chatgpt(record));
            value.map_or(Tree::Null, text)
        };
        let created = self.created(thread);
        let latest = thread.messages.iter().filter_map(|m| m.record.times.created).max();
        let updated = record.times.updated.or(latest).unwrap_or(created);
        let project = record.source.project.as_deref().filter(|p| p.starts_with("g-p-"));
        let frame = object(vec![
            ("title", text(record.title.as_deref().unwrap_or_default())),
            ("create_time", time(Some(created))),
            ("update_time", time(Some(updated))),
            ("current_node", text(current_node(thread, ids))),
            ("conversation_id", text(id)),
            ("mapping", object(vec![])),
            ("moderation_results", Tree::Array(vec![])),
            ("plugin_ids", Tree::Null),
            ("conversation_template_id", project.map_or_else(|| field("template_id"), text)),
            ("gizmo_id", field("gizmo_id")),
            ("is_archived", Tree::Bool(record.status.as_deref() == Some("archived"))),
            ("safe_urls", Tree::Array(vec![])),
            ("default_model_slug", field("default_model")),
            ("id", text(id)),
        ]);
        Frame { text: written(&frame), is_original: false, is_own_verbatim: true }
    }
}

fn unreadable() -> FormatError {
    FormatError::invalid("not_written", "conversations.json", "a conversation cannot be written in this format")
}

/// True if the record was read from an export of ChatGPT.
fn is_from_chatgpt(record: &Record) -> bool {
    record.origin.format == "chatgpt" && record.key.scope == "chatgpt"
}

/// Returns the original text of an unedited record from ChatGPT. None for any other record, and if the text is not a
/// JSON object.
fn original(stored: &StoredRecord) -> Option<&str> {
    let text = stored.record.verbatim.as_ref().filter(|_| is_original(stored))?.text.trim();
    serde_json::from_str::<&RawValue>(text).is_ok_and(|raw| raw.get().starts_with('{')).then_some(text)
}

/// True if a record is written as its original text. The source of a group chat is a list, but the written file needs a
/// tree, so the records of a group chat are not written as their original text.
pub(super) fn is_original(stored: &StoredRecord) -> bool {
    let record = &stored.record;
    is_from_chatgpt(record) && !stored.edited && record.verbatim.is_some() && !group_chat::is_group_chat_record(record)
}

fn conversation_id(thread: &Thread) -> String {
    let own_id = |key: &RecordKey| (key.scope == "chatgpt" && !key.value.is_empty()).then(|| key.value.clone());
    match &thread.conversation {
        Some(stored) => own_id(&stored.record.key)
            .filter(|_| is_from_chatgpt(&stored.record))
            .unwrap_or_else(|| uuid_of(&stored.id)),
        None => {
            let first = thread.messages.first();
            let parent = first.and_then(|m| m.record.parent.as_ref().filter(|_| is_from_chatgpt(&m.record)));
            parent.and_then(own_id).unwrap_or_else(|| uuid_of(&first.map_or_else(String::new, |m| m.id.clone())))
        }
    }
}

/// Maps the vault ids of messages to the ids of their nodes.
fn node_ids<'t>(thread: &'t Thread, conversation: &str) -> HashMap<&'t str, String> {
    let node = |stored: &StoredRecord| {
        let key = Some(&stored.record.key.value).filter(|_| is_from_chatgpt(&stored.record));
        let own_id = key.and_then(|key| key.strip_prefix(conversation)?.strip_prefix('/')).filter(|id| !id.is_empty());
        own_id.map_or_else(|| uuid_of(&stored.id), str::to_owned)
    };
    thread.messages.iter().map(|stored| (stored.id.as_str(), node(stored))).collect()
}

fn parent_node<'i>(stored: &StoredRecord, ids: &'i HashMap<&str, String>) -> Option<&'i str> {
    ids.get(stored.message_parent_id.as_deref()?).map(String::as_str)
}

/// Returns the node of the last message on the active branch. If the active branch is unknown, returns the node of the
/// last message. Without messages, returns the root node, because some importers refuse a conversation without a
/// current node.
fn current_node<'i>(thread: &Thread, ids: &'i HashMap<&str, String>) -> &'i str {
    let last = || ids.get(thread.messages.last()?.id.as_str()).map(String::as_str);
    active_leaf(thread, ids).or_else(last).unwrap_or(ROOT_NODE)
}

/// Returns the `current_node` of the object of a conversation. None if the object has no `mapping`, in which the node
/// would be.
fn current_node_of(frame: &str) -> Option<String> {
    let object = Object::parse(frame)?;
    let current = object.non_blank_text("current_node")?.into_owned();
    object.raw_value("mapping").is_some().then_some(current)
}

/// Returns the node of the last message on the active branch. None if no branch is marked as active.
fn active_leaf<'i>(thread: &Thread, ids: &'i HashMap<&str, String>) -> Option<&'i str> {
    let is_active = |m: &&StoredRecord| m.record.message.as_ref().is_some_and(|part| part.active);
    let parents: HashSet<&str> =
        thread.messages.iter().filter(is_active).filter_map(|m| m.message_parent_id.as_deref()).collect();
    let mut leaves = thread.messages.iter().rev().filter(is_active).filter(|m| !parents.contains(m.id.as_str()));
    ids.get(leaves.next()?.id.as_str()).map(String::as_str)
}

fn children_of<'c>(parent: &str, children: &HashMap<&str, Vec<&'c str>>, id: &'c str) -> Vec<&'c str> {
    if parent == ROOT_NODE { children.get(ROOT_NODE).cloned().unwrap_or_default() } else { vec![id] }
}

fn empty_node(id: &str, parent: Option<&str>, children: &[&str]) -> NodeText<'static> {
    let children = children.iter().map(|child| text(child)).collect();
    let json = written(&object(vec![
        ("id", text(id)),
        ("message", Tree::Null),
        ("parent", parent.map_or(Tree::Null, text)),
        ("children", Tree::Array(children)),
    ]));
    NodeText { id: id.to_owned(), json, stored: None, is_original: false }
}

/// Returns empty nodes for the end of the active branch, if its last messages were erased or not selected and so are
/// not in the export. Importers look up the current node, and some refuse a conversation whose last node lists a child
/// that does not exist.
fn missing_end(nodes: &[NodeText<'_>], frame: &str, leaf: Option<&str>) -> Vec<NodeText<'static>> {
    let is_known = |id: &str| nodes.iter().any(|node| node.id == id);
    let current = current_node_of(frame).filter(|current| !is_known(current));
    let last = nodes.iter().find(|node| Some(node.id.as_str()) == leaf);
    let (Some(current), Some(last)) = (current, last) else { return Vec::new() };
    let missing: Vec<String> = listed_children(&last.json).into_iter().filter(|child| !is_known(child)).collect();
    if missing.contains(&current) {
        return vec![empty_node(&current, Some(&last.id), &[])];
    }
    let Some(next) = missing.first() else { return Vec::new() };
    vec![empty_node(next, Some(&last.id), &[&current]), empty_node(&current, Some(next), &[])]
}

/// Returns the JSON of the conversation with the given nodes in its `mapping`.
fn assemble(frame: &str, nodes: &[NodeText<'_>]) -> String {
    let mut mapping = String::from("{");
    for node in nodes {
        if mapping.len() > 1 {
            mapping.push(',');
        }
        mementory_json::write_string(&node.id, &mut mapping);
        mapping.push(':');
        mapping.push_str(&node.json);
    }
    mapping.push('}');
    // In some exports, conversations have no `mapping`. Such a conversation, if it has no nodes, is written without a
    // `mapping` too.
    let has_mapping = Object::parse(frame).is_some_and(|object| object.raw_value("mapping").is_some());
    if nodes.is_empty() && !has_mapping { frame.to_owned() } else { with_member(frame, "mapping", &mapping) }
}

/// Returns ChatGPT's name for a role. An unknown role becomes `system`.
fn role(role: &str) -> &str {
    match role {
        "user" | "assistant" | "tool" => role,
        _ => "system",
    }
}

fn content(record_text: &str, part: &MessagePart) -> Tree {
    match part.content_type.as_str() {
        "thinking" => object(vec![
            ("content_type", text("thoughts")),
            (
                "thoughts",
                Tree::Array(vec![object(vec![
                    ("summary", text("")),
                    ("content", text(record_text)),
                    ("chunks", Tree::Array(vec![])),
                    ("finished", Tree::Bool(true)),
                ])]),
            ),
        ]),
        "code" => {
            object(vec![("content_type", text("code")), ("language", text("unknown")), ("text", text(record_text))])
        }
        "tool_result" if part.role != "tool" => {
            object(vec![("content_type", text("execution_output")), ("text", text(record_text))])
        }
        _ => object(vec![("content_type", text("text")), ("parts", Tree::Array(vec![text(record_text)]))]),
    }
}

/// Returns the original object of a conversation. If `updated`, which may come from a later export, is later than the
/// `update_time` of the object, `updated` replaces the `update_time`.
fn with_update_time(frame: String, updated: Option<Timestamp>) -> String {
    let stated_time =
        serde_json::from_str::<Conversation<'_>>(&frame).ok().and_then(|conversation| conversation.update_time.0);
    match stated_time.zip(updated) {
        Some((stated_time, updated)) if stated_time < updated => {
            with_member(&frame, "update_time", &written(&time(Some(updated))))
        }
        _ => frame,
    }
}

/// Returns a time as Unix seconds with up to six decimals.
fn time(time: Option<Timestamp>) -> Tree {
    let Some(micros) = time.map(Timestamp::as_micros) else { return Tree::Null };
    let (sign, size) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let decimals = format!("{:06}", size % 1_000_000);
    let decimals = decimals.trim_end_matches('0');
    let decimals = if decimals.is_empty() { "0" } else { decimals };
    Tree::Number(format!("{sign}{}.{decimals}", size / 1_000_000))
}
