//! Decides whether a JSON file contains conversations of ChatGPT, from the beginning of the file.
use mementory_json::keys_of;

/// Returns true if JSON that begins with `head` contains conversations of ChatGPT, false if it contains those of
/// another vendor, and None if `head` shows neither.
pub(super) fn has_conversations(head: &[u8]) -> Option<bool> {
    let has = |key: &str| memchr::memmem::find(head, key.as_bytes()).is_some();
    let words = ["mapping", "current_node", "fragments", "chat_messages", "inserted_at"];
    if !words.iter().any(|word| has(&format!("\"{word}\""))) {
        return None;
    }
    // A key counts only at the nesting level at which the vendors write it, because the text of a message may contain
    // the same words, and configuration files may have a `mapping` and an `author`.
    let keys = keys_of(head);
    let is_deepseek = keys.has_at_any_level("message.fragments") || keys.has("inserted_at") && !keys.has("create_time");
    if keys.has("chat_messages") || is_deepseek {
        return Some(false);
    }
    let has_nodes = ["message", "children", "parent"].iter().any(|key| keys.has_at_any_level(key));
    let is_empty = has("\"mapping\": {}") || has("\"mapping\":{}");
    // A response of the website's API lists the conversations under `items`.
    let has_key = |key: &str| keys.has(key) || keys.has(&format!("items.{key}"));
    let has_tree = has_key("mapping") && (has_nodes || is_empty && (has_key("title") || has_key("create_time")));
    let has_leaf = has_key("current_node") && (has_key("conversation_id") || has_key("create_time"));
    (has_tree || has_leaf).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::has_conversations;

    #[test]
    fn only_trees_of_messages_are_conversations() {
        let conversation = br#"[{"title":"Figs","mapping":{"n1":{"id":"n1","message":null,"children":[]}}}]"#;
        assert_eq!(has_conversations(conversation), Some(true));
        assert_eq!(has_conversations(br#"[{"title":"Figs","create_time":1.0,"mapping":{}}]"#), Some(true));
        let listed = br#"{"items":[{"title":"Figs","create_time":1.0,"mapping":{"n1":{"message":null}}}],"total":1}"#;
        assert_eq!(has_conversations(listed), Some(true));
        let settings = br#"{"name":"kiln","author":"Mira","mapping":{"figs":"./src/figs"},"scripts":{}}"#;
        assert_eq!(has_conversations(settings), None);
        let chat = br#"{"settings":{"mapping":{"a":"b"}},"messages":[{"author":"Mira","content":"figs"}]}"#;
        assert_eq!(has_conversations(chat), None);
        let inside = br#"{"captured":{"mapping":{"n1":{"message":null}},"current_node":"n1"},"version":1}"#;
        assert_eq!(has_conversations(inside), None);
    }
}
