//! Reads exported conversations. Their messages are a list, or a tree with all branches.
use super::collections::Collections;
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, read_message, send};
use mementory_formats_shared::message_tree::{self, set_parent};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_model::{DroppedAs, Kind, Times, Verbatim};
use serde_json::{Value, value::RawValue};

pub(super) const FORMAT_ID: &str = "librechat";
/// Keys of the messages of a conversation, as a list or as a tree.
const LISTS: [&str; 2] = ["messages", "messagesTree"];

/// Reads every claimed file.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(FORMAT_ID, catalog, context, sink);
    let mut collections = Collections::default();
    files.each_file(detected, |files, member, role| {
        match role {
            Role::Manifest => collections.read_conversations(files, member)?,
            Role::Records => collections.read_messages(files, member)?,
            _ => {
                files.objects(member, &["conversations"], Kind::Conversation, |files, element| {
                    conversation(files, member, element)
                })?;
            }
        }
        Ok(())
    })?;
    collections.send(&mut files)
}

fn conversation(files: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Result<(), FormatError> {
    let object = &element.object;
    let lists: Vec<&RawValue> = LISTS.iter().filter_map(|key| object.raw_value(key)).collect();
    if !lists.iter().any(|list| list.get().starts_with('[')) {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "no_messages: this conversation has no list of messages";
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    }
    let turns = turns(element);
    let list_entries = lists.iter().filter_map(|list| mementory_formats_shared::object::list(list));
    for (index, raw) in list_entries.flatten().enumerate().filter(|(_, raw)| !raw.get().starts_with('{')) {
        let _ = raw;
        mementory_formats_shared::message::report_no_message(
            files,
            member,
            &format!("{}/messages/{index}", element.pointer),
        );
    }
    let cuts: Vec<(&RawValue, &str)> = lists.iter().map(|list| (*list, "[]")).collect();
    let verbatim = Verbatim::json(with_replaced_values(element.text, &cuts));
    send(files, member, Chat { turns, ..head(object, element.pointer.clone(), verbatim) }, FORMAT_ID, None)
}

/// A conversation without its messages.
pub(super) fn head(object: &Object<'_>, pointer: String, verbatim: Verbatim) -> Chat {
    let options = object.object("options");
    let option = |keys: &[&str]| options.as_ref().and_then(|options| first_text(options, keys));
    let updated = first_time(object, &["updatedAt"]);
    let created = first_time(object, &["createdAt"]);
    let mut chat = Chat {
        id: first_text(object, &["conversationId", "_id"]).or_else(|| option(&["conversationId"])),
        title: first_text(object, &["title"]).or_else(|| option(&["title"])),
        model: option(&["model", "modelLabel"]).or_else(|| first_text(object, &["model"])),
        times: Times { created, updated, ..Times::default() },
        status: object.is_true("isArchived").then(|| "archived".to_owned()),
        pointer,
        verbatim: Some(verbatim),
        ..Chat::default()
    };
    chat.source.account = first_text(object, &["user"]);
    for key in ["endpoint", "exportAt"] {
        if let Some(value) = first_text(object, &[key]) {
            chat.fields.insert(key.into(), value.into());
        }
    }
    if let Some(prompt) =
        option(&["promptPrefix", "system", "instructions"]).or_else(|| first_text(object, &["promptPrefix"]))
    {
        chat.fields.insert("system_prompt".into(), prompt.into());
    }
    if let Some(tags) = object.raw_value("tags").and_then(|raw| serde_json::from_str::<Vec<Value>>(raw.get()).ok()) {
        chat.tags = tags.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    chat
}

/// The messages. In a tree, the parent of a message is the one that contains it.
fn turns(element: &ObjectElement<'_>) -> Vec<Turn> {
    let found = message_tree::messages(element.text, &LISTS);
    let is_tree = message_tree::is_tree(&found);
    let mut out: Vec<Turn> = Vec::with_capacity(found.len());
    for message in found {
        let Some(object) = Object::parse(&message.text) else {
            out.push(Turn { role: "unknown".into(), content_type: "text".into(), ..Turn::default() });
            continue;
        };
        let mut turn = message_turn(&object, &message.text, format!("{}@{}", element.pointer, message.at));
        if is_tree {
            set_parent(&mut turn, &message, 0);
        }
        out.push(turn);
    }
    out
}

/// One message.
pub(super) fn message_turn(object: &Object<'_>, text: &str, pointer: String) -> Turn {
    let mut turn = read_message(object, text, pointer, FORMAT_ID);
    turn.id = first_text(object, &["messageId", "_id", "id"]);
    if let Some(flag) = object.raw_value("isCreatedByUser").map(RawValue::get) {
        turn.role = if flag == "true" { USER } else { ASSISTANT }.into();
    } else if first_text(object, &["sender"]).is_some_and(|sender| sender != "User") {
        turn.role = ASSISTANT.into();
    }
    turn.hidden = false;
    if turn.content_type == "context" {
        turn.content_type = "text".into();
    }
    if object.is_true("error") {
        turn.fields.insert("error".into(), true.into());
    }
    turn
}
