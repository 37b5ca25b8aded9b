//! Reads exported conversations, whose messages are a list, or a tree with all branches.
use super::collections::Collections;
use super::memory;
use super::parts::{FORMAT_ID, head, message_turn};
use super::text_export::{self, notation};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::send;
use mementory_formats_shared::message_tree::{self, set_parent};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;

/// Keys under which a conversation contains its messages: as a list, or as a tree.
const LIST_KEYS: [&str; 2] = ["messages", "messagesTree"];

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
            Role::Memories => memory::read(files, member)?,
            _ => {
                if let Some(notation) = notation(files.catalog, member) {
                    return text_export::read(files, member, notation);
                }
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
    let lists: Vec<&RawValue> = LIST_KEYS.iter().filter_map(|key| object.raw_value(key)).collect();
    if !lists.iter().any(|list| list.get().starts_with('[')) {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "no_messages: this conversation has no list of messages";
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    }
    let turns = turns(element);
    let list_entries = lists.iter().filter_map(|list| mementory_formats_shared::object::list(list));
    for (index, _) in list_entries.flatten().enumerate().filter(|(_, raw)| !raw.get().starts_with('{')) {
        let pointer = format!("{}/messages/{index}", element.pointer);
        mementory_formats_shared::message::report_no_message(files, member, &pointer);
    }
    let cuts: Vec<(&RawValue, &str)> = lists.iter().map(|list| (*list, "[]")).collect();
    let verbatim = Verbatim::json(with_replaced_values(element.text, &cuts));
    send(files, member, Chat { turns, ..head(object, element.pointer.clone(), verbatim) }, FORMAT_ID, None)
}

/// Returns the messages of a conversation. In a tree, the parent of a message is the message that contains it.
fn turns(element: &ObjectElement<'_>) -> Vec<Turn> {
    let found_messages = message_tree::messages(element.text, &LIST_KEYS);
    let is_tree = message_tree::is_tree(&found_messages);
    let mut out: Vec<Turn> = Vec::with_capacity(found_messages.len());
    for message in found_messages {
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
