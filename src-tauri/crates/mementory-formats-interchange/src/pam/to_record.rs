//! Converts objects of the format to records. Members without a field in [`Record`] go into `fields`.
pub(super) use super::document::{id, id_text};
use mementory_format::extension::is_slot_name;
use mementory_json::{Tree, value_of};
use mementory_model::{AttachmentRef, Fields, Kind, Link, MessagePart, Record, RecordKey, Source, Timestamp};
use serde_json::Value;

pub(super) fn memory_key(scope: &str, id: &str) -> RecordKey {
    RecordKey::new(scope, format!("memory/{id}"))
}

pub(super) fn conversation_key(scope: &str, id: &str) -> RecordKey {
    RecordKey::new(scope, format!("conversation/{id}"))
}

/// Key of a message. It contains the conversation, because a message id is unique only within its conversation.
pub(super) fn message_key(scope: &str, conversation: &str, id: &str) -> RecordKey {
    RecordKey::new(scope, format!("message/{conversation}/{id}"))
}

/// Text of the member `name`.
pub(super) fn text<'t>(tree: &'t Tree, name: &str) -> Option<&'t str> {
    tree.get(name).and_then(Tree::as_str)
}

/// Text of the member `name` inside the member `block`.
pub(super) fn nested_text<'t>(tree: &'t Tree, block: &str, name: &str) -> Option<&'t str> {
    text(tree.get(block)?, name)
}

/// Text of the id `name` inside the member `block`.
pub(super) fn nested_id<'t>(tree: &'t Tree, block: &str, name: &str) -> Option<&'t str> {
    id(tree.get(block)?, name)
}

fn non_empty(value: Option<&str>) -> Option<String> {
    value.filter(|t| !t.is_empty()).map(str::to_owned)
}

fn time(value: Option<&str>) -> Option<Timestamp> {
    value.and_then(Timestamp::parse)
}

fn texts(tree: &Tree, name: &str) -> Vec<String> {
    match tree.get(name) {
        Some(Tree::Array(items)) => items.iter().filter_map(Tree::as_str).map(str::to_owned).collect(),
        _ => vec![],
    }
}

/// All members that are neither null, nor named in `used`, nor our extension slot.
fn other_members(tree: &Tree, used: &[&str]) -> Fields {
    let Tree::Object(members) = tree else { return Fields::new() };
    let unused_members = members.iter().filter(|(k, v)| !used.contains(&k.as_str()) && *v != Tree::Null);
    let mut fields: Fields = unused_members.map(|(k, v)| (k.clone(), value_of(v))).collect();
    for holder in ["metadata", "raw_metadata"] {
        if let Some(Value::Object(inside)) = fields.get_mut(holder) {
            inside.retain(|name, _| !is_slot_name(name));
            if inside.is_empty() {
                fields.remove(holder);
            }
        }
    }
    fields
}

/// A memory (§4). The caller sets origin, verbatim and embeddings.
pub(super) fn memory(tree: &Tree, scope: &str) -> Record {
    let id = id(tree, "id").unwrap_or_default();
    let mut record = Record::new(Kind::Memory, memory_key(scope, id), text(tree, "content").unwrap_or_default());
    record.origin_id = non_empty(Some(id));
    record.title = non_empty(text(tree, "summary"));
    let kind = text(tree, "type");
    record.record_type = non_empty(kind.filter(|k| *k != "custom").or(text(tree, "custom_type")).or(kind));
    record.status = non_empty(text(tree, "status")).or_else(|| Some("active".into()));
    record.tags = texts(tree, "tags");
    let score = |name: &str| tree.get("confidence")?.get(name)?.as_f64().filter(|n| n.is_finite());
    record.confidence = score("current").or_else(|| score("initial"));
    let time_of = |name: &str| time(nested_text(tree, "temporal", name));
    record.times.created = time_of("created_at");
    record.times.updated = time_of("updated_at");
    record.times.valid_from = time_of("valid_from");
    record.times.valid_to = time_of("valid_until");
    let from = |name: &str| non_empty(nested_text(tree, "provenance", name));
    let reference = |name: &str| nested_id(tree, "provenance", name).filter(|id| !id.is_empty());
    record.source = Source {
        platform: from("platform").unwrap_or_default(),
        account: reference("platform_user_id").map(str::to_owned),
        conversation: reference("conversation_ref").map(str::to_owned),
        message: reference("message_ref").map(str::to_owned),
        method: from("extraction_method"),
        project: None,
    };
    let mut link = |relation: &str, kind, target| record.links.push(Link { relation: relation.into(), kind, target });
    if let Some(next) = nested_id(tree, "temporal", "superseded_by").filter(|t| !t.is_empty()) {
        link("superseded_by", Kind::Memory, memory_key(scope, next));
    }
    if let Some(conversation) = reference("conversation_ref") {
        link("derived_from", Kind::Conversation, conversation_key(scope, conversation));
        if let Some(message) = reference("message_ref") {
            link("derived_from", Kind::Message, message_key(scope, conversation, message));
        }
    }
    let used =
        ["id", "content", "content_hash", "summary", "type", "custom_type", "status", "tags", "temporal", "provenance"];
    record.fields = other_members(tree, &used);
    for name in ["extracted_at", "extractor"] {
        if let Some(text) = nested_text(tree, "provenance", name) {
            record.fields.insert(name.into(), Value::String(text.into()));
        }
    }
    record
}

/// A relation between two memories (§13).
pub(super) fn relation(tree: &Tree, scope: &str) -> Record {
    let id_of = |name: &str| id(tree, name).unwrap_or_default();
    let kind = text(tree, "type").unwrap_or_default();
    let summary = format!("{} {kind} {}", id_of("from"), id_of("to"));
    let mut record = Record::new(Kind::Relation, RecordKey::new(scope, format!("relation/{}", id_of("id"))), summary);
    record.origin_id = non_empty(id(tree, "id"));
    record.record_type = non_empty(text(tree, "type"));
    record.confidence = tree.get("confidence").and_then(Tree::as_f64).filter(|n| n.is_finite());
    record.times.created = time(text(tree, "created_at"));
    record.source.platform = super::bundle::KEY_SCOPE.into();
    for (relation, end) in [("source", "from"), ("target", "to")] {
        let target = memory_key(scope, id_of(end));
        record.links.push(Link { relation: relation.into(), kind: Kind::Memory, target });
    }
    record.fields = other_members(tree, &["id", "from", "to", "type", "confidence", "created_at"]);
    record
}

/// Builds a conversation from its entry in the index, from its file without the messages, or from both (§14, §25).
pub(super) fn conversation(index: Option<&Tree>, file: Option<&Tree>, scope: &str) -> Record {
    let none = Tree::Null;
    let (index, file) = (index.unwrap_or(&none), file.unwrap_or(&none));
    let text_of = |name: &str| text(file, name).or_else(|| text(index, name));
    let id = id(file, "id").or_else(|| id(index, "id")).unwrap_or_default();
    let mut record = Record::new(Kind::Conversation, conversation_key(scope, id), "");
    record.origin_id = non_empty(Some(id));
    record.title = non_empty(text_of("title"));
    record.tags = if file.get("tags").is_some() { texts(file, "tags") } else { texts(index, "tags") };
    let time_of =
        |name: &str| time(nested_text(file, "temporal", name).or_else(|| nested_text(index, "temporal", name)));
    record.times.created = time_of("created_at");
    record.times.updated = time_of("updated_at");
    record.source.platform =
        non_empty(nested_text(file, "provider", "name").or_else(|| text(index, "platform"))).unwrap_or_default();
    record.source.account = non_empty(nested_id(file, "provider", "account_id"));
    record.source.conversation = non_empty(nested_id(file, "provider", "conversation_id"));
    if let Some(Tree::Bool(archived)) = file.get("is_archived") {
        record.status = Some(if *archived { "archived" } else { "active" }.into());
    }
    let used = ["schema", "schema_version", "id", "title", "tags", "temporal", "provider", "is_archived", "messages"];
    record.fields = other_members(file, &used);
    if *file == Tree::Null
        && let Some(count) = index.get("message_count").filter(|c| **c != Tree::Null)
    {
        record.fields.insert("message_count".into(), value_of(count));
    }
    record
}

/// Text of a message: the text of its content or, if that is empty, the text of its tool calls.
pub(super) fn message_text(tree: &Tree) -> String {
    let text = tree.get("content").map(content_text).unwrap_or_default();
    if text.is_empty() { tool_text(tree) } else { text }
}

/// Text of the content of a message or, if that is empty, the text of the content's parts. The format requires an
/// object, but some programs write only the text or the list of the parts.
pub(super) fn content_text(content: &Tree) -> String {
    let whole_text = content.as_str().or_else(|| text(content, "text")).unwrap_or_default();
    if !whole_text.is_empty() {
        return whole_text.to_owned();
    }
    let parts = match (content, content.get("parts")) {
        (Tree::Array(parts), _) | (_, Some(Tree::Array(parts))) => parts.as_slice(),
        _ => &[],
    };
    let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| text(part, "text")));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn tool_text(tree: &Tree) -> String {
    let Some(Tree::Array(calls)) = tree.get("tool_calls") else { return String::new() };
    let mut lines = Vec::new();
    for call in calls {
        lines.extend(text(call, "name").map(str::to_owned));
        match call.get("input") {
            Some(Tree::Text(input)) => lines.push(input.clone()),
            Some(Tree::Object(members)) if !members.is_empty() => {
                lines.push(value_of(&call.get("input").cloned().unwrap_or(Tree::Null)).to_string())
            }
            _ => {}
        }
        lines.extend(text(call, "output").map(str::to_owned));
    }
    lines.join("\n")
}

/// A message. The caller decides whether it is on the active branch.
pub(super) fn message(tree: &Tree, scope: &str, conversation: &str, position: usize) -> Record {
    let id = id(tree, "id").unwrap_or_default();
    let mut record = Record::new(Kind::Message, message_key(scope, conversation, id), message_text(tree));
    record.origin_id = non_empty(Some(id));
    record.times.created = time(text(tree, "created_at"));
    record.parent = Some(conversation_key(scope, conversation));
    let has_calls = matches!(tree.get("tool_calls"), Some(Tree::Array(c)) if !c.is_empty());
    let role = text(tree, "role").unwrap_or_default();
    let content_type = match tree.get("is_thought") {
        Some(Tree::Bool(true)) => "thinking",
        _ if role == "tool" => "tool_result",
        _ if has_calls && tree.get("content").is_none() => "tool_call",
        _ => "text",
    };
    record.message = Some(MessagePart {
        role: role.to_owned(),
        parent: self::id(tree, "parent_id").filter(|p| !p.is_empty()).map(|p| message_key(scope, conversation, p)),
        position: u32::try_from(position).unwrap_or(u32::MAX),
        hidden: false,
        active: true,
        model: non_empty(text(tree, "model")),
        content_type: content_type.into(),
    });
    record.source.message = non_empty(self::id(tree, "provider_message_id"));
    if let Some(Tree::Array(files)) = tree.get("attachments") {
        record.attachments =
            files.iter().enumerate().map(|(i, file)| attachment(file, scope, conversation, id, i)).collect();
    }
    let used = [
        "id",
        "provider_message_id",
        "role",
        "created_at",
        "parent_id",
        "children_ids",
        "model",
        "is_thought",
        "attachments",
    ];
    record.fields = other_members(tree, &used);
    let is_only_text = match tree.get("content") {
        Some(Tree::Text(_)) => true,
        Some(content) => text(content, "type") == Some("text"),
        None => false,
    };
    if is_only_text {
        record.fields.remove("content");
    }
    record.fields.retain(|_, v| !v.as_array().is_some_and(Vec::is_empty));
    record
}

fn attachment(file: &Tree, scope: &str, conversation: &str, message: &str, i: usize) -> AttachmentRef {
    let reference = non_empty(text(file, "ref"));
    let key = match &reference {
        Some(path) => RecordKey::new(scope, format!("file/{path}")),
        None => RecordKey::new(scope, format!("file/{conversation}/{message}/{i}")),
    };
    let origin_id = non_empty(id(file, "provider_id"));
    let file_name = reference.as_deref().and_then(|p| p.rsplit('/').next()).map(str::to_owned);
    AttachmentRef {
        key,
        name: non_empty(text(file, "name"))
            .or(file_name)
            .or_else(|| origin_id.clone())
            .unwrap_or_else(|| "file".into()),
        origin_id,
        media_type: non_empty(text(file, "mime_type")),
        size: file.get("size_bytes").and_then(Tree::as_f64).filter(|n| *n >= 0.0 && *n < 9e15).map(|n| n as u64),
        text: None,
    }
}
