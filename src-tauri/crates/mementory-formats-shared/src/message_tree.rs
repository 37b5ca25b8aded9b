//! Finds the messages of a conversation in one pass over its JSON text. In exports with all branches, a message
//! contains its answers under `children`, so a chat of a thousand turns is nested a thousand levels deep. Parsing each
//! message separately would read the innermost one a thousand times, and recursion could overflow the stack.
use super::chat::{Turn, TurnParent};

/// A message in the text of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundMessage {
    /// Text of the message, with an empty list under `children` or `replies`.
    pub text: String,
    /// Index, in the list of found messages, of the message that contains this one.
    pub parent: Option<usize>,
    /// Offset of the message's first byte in the text of the conversation.
    pub at: usize,
}

/// An object or list that has not ended yet.
struct Open {
    is_object: bool,
    /// For an object: start and end of the current member's key in the text.
    key: Option<(usize, usize)>,
    /// If this object is a message: its index in the list of found messages.
    message: Option<usize>,
    /// True for a list of messages.
    is_message_list: bool,
    /// Offset up to which the text has been copied to the message.
    copied_until: usize,
}

/// All messages in the lists that an object has under these keys, in the order of the text. `text` must be JSON.
pub fn messages(text: &str, lists: &[&str]) -> Vec<FoundMessage> {
    find(text, lists, false)
}

/// A message and all messages inside it, in the order of the text. `text` must be JSON.
pub fn message_with_answers(text: &str) -> Vec<FoundMessage> {
    find(text, &[], true)
}

/// True if the messages form a tree: at least one of them contains another one.
pub fn is_tree(messages: &[FoundMessage]) -> bool {
    messages.iter().any(|message| message.parent.is_some())
}

/// Sets the parent of a turn to the message that encloses it. A turn that is not enclosed and states no parent begins
/// the conversation. `position` is the number of turns before the first of the found messages.
pub fn set_parent(turn: &mut Turn, message: &FoundMessage, position: usize) {
    match message.parent {
        Some(parent) => turn.parent = TurnParent::At(position + parent),
        None if turn.parent == TurnParent::Previous => turn.parent = TurnParent::Root,
        None => {}
    }
}

fn find(text: &str, lists: &[&str], is_message: bool) -> Vec<FoundMessage> {
    let bytes = text.as_bytes();
    let mut out: Vec<FoundMessage> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut last_string = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at + 1;
                at = string_end(bytes, start);
                last_string = Some((start, at));
            }
            b':' => {
                if let Some(top) = open.last_mut().filter(|top| top.is_object) {
                    top.key = last_string.take();
                }
            }
            b'{' => {
                let is_found = is_in_message_list(&open) || is_message && open.is_empty();
                let parent = is_found.then(|| enclosing_message(&open));
                let message = parent.map(|parent| {
                    out.push(FoundMessage { text: String::new(), parent, at });
                    out.len() - 1
                });
                open.push(Open { is_object: true, key: None, message, is_message_list: false, copied_until: at });
            }
            b'[' => {
                let is_list = starts_list(text, &open, lists, at + 1);
                open.push(Open {
                    is_object: false,
                    key: None,
                    message: None,
                    is_message_list: is_list,
                    copied_until: at,
                });
                // The members before the list belong to the enclosing message, so they are copied first.
                if let Some(message) = is_list.then(|| owner(&mut open)).flatten() {
                    copy(text, message, at + 1, &mut out);
                }
            }
            b'}' => {
                if let Some(mut closed) = open.pop() {
                    copy(text, &mut closed, at + 1, &mut out);
                }
            }
            b']' => {
                if let Some(closed) = open.pop()
                    && closed.is_message_list
                    && let Some(owner) = open.last_mut()
                {
                    owner.copied_until = at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// Appends the text up to `end` that has not been copied yet to the message of `open`.
fn copy(text: &str, open: &mut Open, end: usize, out: &mut [FoundMessage]) {
    if let Some(message) = open.message.and_then(|message| out.get_mut(message)) {
        message.text.push_str(text.get(open.copied_until..end).unwrap_or_default());
        open.copied_until = end;
    }
}

/// The object that contains the most recently opened list.
fn owner(open: &mut [Open]) -> Option<&mut Open> {
    let enclosing_index = open.len().checked_sub(2)?;
    open.get_mut(enclosing_index)
}

/// True if the innermost open object or list is a list of messages.
fn is_in_message_list(open: &[Open]) -> bool {
    open.last().is_some_and(|top| top.is_message_list)
}

/// Index of the innermost message that has not ended yet.
fn enclosing_message(open: &[Open]) -> Option<usize> {
    open.iter().rev().find_map(|level| level.message)
}

/// True if an array whose first entry is at `from` is a list of messages: the value of one of `lists` in the
/// conversation, or of `children` or `replies` in a message.
fn starts_list(text: &str, open: &[Open], lists: &[&str], from: usize) -> bool {
    let Some(top) = open.last().filter(|top| top.is_object) else { return false };
    let key = top.key.and_then(|(start, end)| text.get(start..end));
    match key {
        Some("children" | "replies") => top.message.is_some() && has_objects(text, from),
        Some(key) => open.len() == 1 && lists.contains(&key),
        None => false,
    }
}

/// True if the array whose first entry is at `from` is empty or contains objects. Some programs list only the ids of
/// answers.
fn has_objects(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes().get(from..).unwrap_or_default();
    memchr::memchr2(b'{', b']', bytes).is_none_or(|at| bytes.get(at) == Some(&b'{'))
}

/// Offset of the quotation mark that ends a string.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
        at += if *byte == b'\\' { 2 } else { 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_lists_and_trees_are_found() {
        let text = r#"{"a":[{"x":1}],"messages":[{"messageId":"1","text":"a \" } b","children":[{"messageId":"2","content":[{"type":"text"}],"children":[]},{"messageId":"3"}],"z":1},7,{"messageId":"4"}]}"#;
        let tree = messages(text, &["messages", "messagesTree"]);
        assert!(is_tree(&tree));
        let texts: Vec<(&str, Option<usize>)> = tree.iter().map(|m| (m.text.as_str(), m.parent)).collect();
        assert_eq!(
            texts,
            [
                (r#"{"messageId":"1","text":"a \" } b","children":[],"z":1}"#, None),
                (r#"{"messageId":"2","content":[{"type":"text"}],"children":[]}"#, Some(0)),
                (r#"{"messageId":"3"}"#, Some(0)),
                (r#"{"messageId":"4"}"#, None),
            ]
        );
    }

    #[test]
    fn a_single_message_is_found_with_its_answers() {
        let text =
            r#"{"id":1,"children":[{"id":2,"children":["a","b"]},{"id":3,"children":[]}],"z":{"children":[{}]}}"#;
        let tree = message_with_answers(text);
        let texts: Vec<(&str, Option<usize>)> = tree.iter().map(|m| (m.text.as_str(), m.parent)).collect();
        assert_eq!(
            texts,
            [
                (r#"{"id":1,"children":[],"z":{"children":[{}]}}"#, None),
                (r#"{"id":2,"children":["a","b"]}"#, Some(0)),
                (r#"{"id":3,"children":[]}"#, Some(0)),
            ]
        );
        assert!(!is_tree(&message_with_answers(r#"{"id":1,"children":[2,3]}"#)));
    }

    #[test]
    fn a_deep_tree_needs_neither_recursion_nor_much_time() {
        let depth = 100_000;
        let inner_message = r#"{"messageId":"x","children":["#.repeat(depth);
        let tree = messages(&format!(r#"{{"messages":[{inner_message}{}]}}"#, "]}".repeat(depth)), &["messages"]);
        assert_eq!(tree.len(), depth);
        assert_eq!(tree.last().and_then(|m| m.parent), Some(depth - 2));
    }
}
