//! Messages that contain their answers under `children` or `replies`, as exporters write all branches of a chat.
use super::FORMAT_ID;
use mementory_formats_shared::chat::{Turn, TurnParent};
use mementory_formats_shared::message::read_message;
use mementory_formats_shared::message_tree::{self, FoundMessage, set_parent};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::ObjectElement;
use std::collections::HashSet;

/// Parent ids that mean "no parent" if no message has such an id.
const NO_PARENT: [&str; 4] = ["0", "-1", "root", "client-created-root"];

/// The messages in the list `key` of a conversation. None if no message contains another message.
pub(super) fn messages_of_conversation(element: &ObjectElement<'_>, key: &str) -> Option<Vec<Turn>> {
    // Most files have no messages inside messages, so the slower search for them is skipped.
    let found_messages = has_children(element.text).then(|| message_tree::messages(element.text, &[key]))?;
    turns(&found_messages, &element.pointer, 0)
}

/// A message and the messages inside it. `position` is the number of turns before them. None if no message is inside
/// it.
pub(super) fn messages_in_message(element: &ObjectElement<'_>, position: usize) -> Option<Vec<Turn>> {
    let messages = has_children(element.text).then(|| message_tree::message_with_answers(element.text))?;
    turns(&messages, &element.pointer, position)
}

fn has_children(text: &str) -> bool {
    let has = |key: &str| memchr::memmem::find(text.as_bytes(), key.as_bytes()).is_some();
    has("\"children\"") || has("\"replies\"")
}

fn turns(messages: &[FoundMessage], pointer: &str, position: usize) -> Option<Vec<Turn>> {
    if !message_tree::is_tree(messages) {
        return None;
    }
    let turn = |message: &FoundMessage| {
        let object = Object::parse(&message.text).unwrap_or_default();
        let mut turn = read_message(&object, &message.text, format!("{pointer}@{}", message.at), FORMAT_ID);
        set_parent(&mut turn, message, position);
        turn
    };
    Some(messages.iter().map(turn).collect())
}

/// Makes roots of the messages whose parent is one of [`NO_PARENT`].
pub(super) fn find_roots(turns: &mut [Turn]) {
    let is_no_parent = |turn: &Turn| matches!(&turn.parent, TurnParent::Id(id) if NO_PARENT.contains(&id.as_str()));
    if !turns.iter().any(is_no_parent) {
        return;
    }
    let ids: HashSet<String> = turns.iter().filter_map(|turn| turn.id.clone()).collect();
    for turn in turns {
        if matches!(&turn.parent, TurnParent::Id(id) if NO_PARENT.contains(&id.as_str()) && !ids.contains(id)) {
            turn.parent = TurnParent::Root;
        }
    }
}
