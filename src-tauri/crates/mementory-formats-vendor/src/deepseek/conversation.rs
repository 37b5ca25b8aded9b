//! Reads one conversation, which is a tree of nodes, or a list of messages that browser extensions save.
use super::{DEEPSEEK, fragments};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::is_tool_type;
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn, TurnParent},
    object::{Object, content_id, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
    values::{first_id, first_text, first_time, id, other_fields},
};
use mementory_model::{DroppedAs, Fields, Kind, Source, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::{HashMap, HashSet};

/// Members of a conversation that have a field in the model.
const CONVERSATION_MEMBERS: [&str; 11] = [
    "id",
    "title",
    "inserted_at",
    "updated_at",
    "create_time",
    "update_time",
    "mapping",
    "messages",
    "chat_messages",
    "user_id",
    "current_message_id",
];
/// Members of a message that have a field in the model.
const MESSAGE_MEMBERS: [&str; 14] = [
    "id",
    "message_id",
    "parent_id",
    "role",
    "model",
    "content",
    "reasoning_content",
    "thinking_content",
    "fragments",
    "search_results",
    "files",
    "inserted_at",
    "updated_at",
    "status",
];

/// A message before its role is determined.
struct Message<'a> {
    id: Option<String>,
    parent: TurnParent,
    pointer: String,
    raw: &'a RawValue,
    object: Object<'a>,
}

/// Reads one conversation and sends it to the sink.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    version: Option<&str>,
    element: &ObjectElement<'_>,
    account: Option<&str>,
) -> Result<(), FormatError> {
    let place = format!("{}#{}", member.place, element.pointer);
    let data = element.object.object("data");
    let inner = data.as_ref().and_then(|data| data.object("biz_data"));
    let (response, list_pointer) = match (inner, data) {
        (Some(inner), _) => (Some(inner), format!("{}/data/biz_data", element.pointer)),
        (None, Some(data)) if data.has("chat_messages") => (Some(data), format!("{}/data", element.pointer)),
        _ => (None, element.pointer.clone()),
    };
    let outer = response.as_ref().unwrap_or(&element.object);
    let session = outer.object("chat_session");
    let conversation_object = session.as_ref().unwrap_or(outer);
    let mut messages = Vec::new();
    let mut replaced: Vec<(&RawValue, &str)> = Vec::new();
    let mut unread_place = None;
    if let Some(mapping) = outer.raw_value("mapping") {
        match Object::parse(mapping.get()) {
            Some(nodes) => read_tree(reader, member, &nodes, &list_pointer, &mut messages, &mut replaced),
            None => unread_place = Some(format!("{}#{list_pointer}/mapping", member.place)),
        }
    } else if let Some(key) = ["chat_messages", "messages"].into_iter().find(|key| outer.raw_value(key).is_some()) {
        match outer.raw_value(key).map(|raw| (raw, list(raw))) {
            Some((raw, Some(items))) => {
                replaced.push((raw, "[]"));
                read_list(reader, member, &items, &format!("{list_pointer}/{key}"), &mut messages);
            }
            _ => unread_place = Some(format!("{}#{list_pointer}/{key}", member.place)),
        }
    } else if ["id", "inserted_at"].iter().all(|key| conversation_object.raw_value(key).is_none()) {
        let reason = "not_a_conversation: no messages and no id";
        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    }
    if let Some(place) = unread_place {
        let reason = "malformed: the messages are neither a tree nor a list";
        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
    }
    let mut chat = Chat {
        id: id(conversation_object, "id"),
        title: first_text(conversation_object, &["title"]),
        times: Times {
            created: first_time(conversation_object, &["inserted_at", "created_at", "create_time"]),
            updated: first_time(conversation_object, &["updated_at", "update_time"]),
            ..Times::default()
        },
        source: Source {
            account: id(conversation_object, "user_id").or_else(|| account.map(Into::into)),
            ..Source::default()
        },
        leaf: id(conversation_object, "current_message_id"),
        pointer: element.pointer.clone(),
        fields: other_fields(conversation_object, &CONVERSATION_MEMBERS),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &replaced))),
        ..Chat::default()
    };
    let conversation = chat.id.clone().unwrap_or_else(|| content_id(&format!("{:?}\n{:?}", chat.title, chat.times)));
    chat.turns = turns(messages, &conversation);
    let mut issues = Vec::new();
    let file = ChatFile { format: DEEPSEEK, platform: DEEPSEEK, version, container: &member.place };
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

/// Adds the messages in the nodes of a `mapping`. The parent of a message is the nearest ancestor node that has a
/// message.
fn read_tree<'a>(
    reader: &mut FileReader<'_>,
    member: &Member,
    nodes: &Object<'a>,
    list_pointer: &str,
    messages: &mut Vec<Message<'a>>,
    replaced: &mut Vec<(&'a RawValue, &'a str)>,
) {
    let nodes: Vec<(&str, &'a RawValue, Option<Object<'a>>)> =
        nodes.members().map(|(key, raw)| (key, raw, Object::parse(raw.get()))).collect();
    // For each node: the id of its parent, and whether the node has a message.
    let mut links: HashMap<&str, (Option<String>, bool)> = HashMap::with_capacity(nodes.len());
    for (key, _, node) in &nodes {
        let parent = node.as_ref().and_then(|node| id(node, "parent"));
        let has_message = node.as_ref().is_some_and(|node| node.object("message").is_some());
        links.insert(key, (parent, has_message));
    }
    // Of several nodes with the same key, only the last one is read.
    let last: HashMap<&str, usize> = nodes.iter().enumerate().map(|(index, (key, ..))| (*key, index)).collect();
    for (index, (key, node_raw, node)) in nodes.iter().enumerate() {
        if last.get(key) != Some(&index) || node_raw.get() == "null" {
            continue;
        }
        let pointer = format!("{list_pointer}/mapping/{}", key.replace('~', "~0").replace('/', "~1"));
        let raw = node.as_ref().and_then(|node| node.raw_value("message"));
        let object = raw.and_then(|raw| Object::parse(raw.get()));
        let (Some(raw), Some(object)) = (raw, object) else {
            if node.is_none() || raw.is_some() {
                let reason = "not_an_object: this node has no message object";
                let place = format!("{}#{pointer}", member.place);
                reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            }
            continue;
        };
        let parent = match parent_with_message(&links, key) {
            Some(parent) => TurnParent::Id(parent),
            None => TurnParent::Root,
        };
        replaced.push((raw, "null"));
        messages.push(Message { id: Some((*key).to_owned()), parent, pointer, raw, object });
    }
}

/// Returns the nearest ancestor that has a message, or the first ancestor that is not in the mapping. None for a root.
fn parent_with_message(links: &HashMap<&str, (Option<String>, bool)>, node: &str) -> Option<String> {
    let mut visited: HashSet<&str> = HashSet::from([node]);
    let mut at = links.get(node)?.0.as_deref()?;
    while visited.insert(at) {
        match links.get(at) {
            Some((_, true)) | None => return Some(at.to_owned()),
            Some((parent, false)) => at = parent.as_deref()?,
        }
    }
    None
}

fn read_list<'a>(
    reader: &mut FileReader<'_>,
    member: &Member,
    items: &[&'a RawValue],
    list_pointer: &str,
    messages: &mut Vec<Message<'a>>,
) {
    for (index, raw) in items.iter().copied().enumerate() {
        let pointer = format!("{list_pointer}/{index}");
        let Some(object) = Object::parse(raw.get()) else {
            let reason = "not_an_object: this entry is not a message";
            let place = format!("{}#{pointer}", member.place);
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        };
        let parent = match id(&object, "parent_id") {
            Some(parent) if parent != "0" => TurnParent::Id(parent),
            _ if object.has("parent_id") => TurnParent::Root,
            _ => TurnParent::Previous,
        };
        messages.push(Message { id: first_id(&object, &["message_id", "id"]), parent, pointer, raw, object });
    }
}

/// Determines the roles of messages. If neither a message nor its content states the role, the message gets the role
/// that its parent does not have, because the person and the assistant alternate.
fn turns(messages: Vec<Message<'_>>, conversation: &str) -> Vec<Turn> {
    let mut roles: HashMap<String, String> = HashMap::with_capacity(messages.len());
    let mut out: Vec<Turn> = Vec::with_capacity(messages.len());
    for message in messages {
        let content = fragments::read(&message.object, conversation);
        let stated_role = first_text(&message.object, &["role"]).map(|role| role.to_lowercase());
        let mut fields: Fields = other_fields(&message.object, &MESSAGE_MEMBERS);
        let role = stated_role.or_else(|| content.role.map(Into::into)).unwrap_or_else(|| {
            fields.insert("role_from".into(), "position".into());
            let before = match &message.parent {
                TurnParent::Id(parent) => roles.get(parent).cloned(),
                TurnParent::At(parent) => out.get(*parent).map(|turn| turn.role.clone()),
                TurnParent::Previous => out.last().map(|turn| turn.role.clone()),
                TurnParent::Root => Some("assistant".into()),
            };
            match before.as_deref() {
                Some("user") => "assistant".into(),
                Some("assistant") => "user".into(),
                _ => "unknown".into(),
            }
        });
        if let Some(id) = &message.id {
            roles.insert(id.clone(), role.clone());
        }
        let content_type = match content.blocks.first().filter(|_| content.text.trim().is_empty()) {
            Some(first) => first.get("type").and_then(Value::as_str).unwrap_or("text").to_owned(),
            None => "text".to_owned(),
        };
        let is_only_tool = is_tool_type(&content_type);
        if !content.blocks.is_empty() {
            fields.insert("blocks".into(), Value::Array(content.blocks));
        }
        if let Some(status) = first_text(&message.object, &["status"]).filter(|status| status != "FINISHED") {
            fields.insert("status".into(), status.into());
        }
        out.push(Turn {
            id: message.id,
            parent: message.parent,
            model: (role != "user").then(|| first_text(&message.object, &["model"])).flatten(),
            role,
            text: content.text,
            hidden: is_only_tool,
            content_type,
            times: Times {
                created: first_time(&message.object, &["inserted_at", "created_at"]),
                updated: first_time(&message.object, &["updated_at"]),
                ..Times::default()
            },
            pointer: message.pointer,
            verbatim: Some(Verbatim::json(message.raw.get())),
            attachments: content.attachments,
            fields,
            ..Turn::default()
        });
    }
    out
}
