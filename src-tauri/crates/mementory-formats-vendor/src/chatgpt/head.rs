//! Tells from the beginning of a JSON file whether it has conversations of ChatGPT.
use mementory_json::keys_of;

/// Whether JSON that begins like this has ChatGPT's conversations. None if the beginning does not say.
pub(super) fn has_conversations(head: &[u8]) -> Option<bool> {
    let has = |key: &str| memchr::memmem::find(head, key.as_bytes()).is_some();
    if has("\"fragments\"") || has("\"chat_messages\"") || has("\"inserted_at\"") {
        // Only keys at the level where those vendors have them are checked, because a message may contain these words.
        let keys = keys_of(head);
        let is_deepseek = keys.has_below("message.fragments") || keys.has("inserted_at") && !keys.has("create_time");
        if keys.has("chat_messages") || is_deepseek {
            return Some(false);
        }
    }
    let has_node_key = has("\"content_type\"") || has("\"author\"") || has("\"current_node\"");
    let is_found = has("\"mapping\"") && (has_node_key || has("\"mapping\": {}") || has("\"mapping\":{}"))
        || has("\"current_node\"") && (has("\"conversation_id\"") || has("\"create_time\""));
    is_found.then_some(true)
}
