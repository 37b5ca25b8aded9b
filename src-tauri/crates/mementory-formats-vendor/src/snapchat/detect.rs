//! Detects `snapchat_ai.json`, and a `chat_history.json` with a chat with My AI, in an archive of My Data by the names
//! of their lists.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Name of the list with the messages of the chat with My AI.
pub(super) const CHAT: &str = "My AI Content";
/// What My AI remembers.
pub(super) const MEMORY: &str = "My AI Memory";

/// The chat with My AI among the chats of an account, which are lists by the name of the other person.
pub(super) const HISTORY: &str = "myai";

/// Makes one claim for the files of each folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.95, "What Snapchat has of the chat with My AI", layout)
}

/// An account that never used My AI has empty lists.
fn layout(head: &Head) -> Option<&'static str> {
    let is_chat = head.has_all(CHAT, &["Timestamp", "Content"]);
    let is_memory = head.has_any(MEMORY, &["Memory", "Timestamp"]);
    let has_both = head.has_all("", &[CHAT, MEMORY]);
    let is_history = head.has_all(HISTORY, &["From", "Media Type", "Created"]);
    (!head.is_list && (is_chat || is_memory || has_both || is_history)).then_some("")
}
