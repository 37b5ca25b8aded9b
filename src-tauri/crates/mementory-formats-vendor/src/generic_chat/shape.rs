//! The shapes that many programs share, recognised by the start of a file.
use mementory_json::{Keys, keys_of};

/// Id of the format. It is also the scope of the record keys.
pub(super) const FORMAT_ID: &str = "generic_chat";
/// Keys under which conversations are listed.
const WRAPPERS: [&str; 9] =
    ["conversations", "data", "chats", "threads", "items", "history", "sessions", "results", "chat_history"];
/// Keys under which a conversation has its messages.
pub(super) const MESSAGE_LISTS: [&str; 9] =
    ["messages", "conversations", "turns", "chat", "conversation", "dialogue", "dialog", "chat_messages", "history"];
/// Keys of the speaker of a message.
const ROLE_KEYS: [&str; 7] = ["role", "sender", "author", "from", "speaker", "isUser", "is_user"];
/// Keys of the text of a message.
const TEXT_KEYS: [&str; 7] = ["content", "text", "parts", "message", "value", "say", "body"];

/// Speakers that show a chat with an assistant. Names of assistants are left out, because people are called Claude too.
const SPEAKERS: [&str; 14] = [
    "user",
    "human",
    "assistant",
    "system",
    "model",
    "ai",
    "bot",
    "gpt",
    "chatgpt",
    "prompt",
    "response",
    "tool",
    "function",
    "developer",
];

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Conversations with lists of messages: the elements of a list, one in each line, or one object.
    Conversations,
    /// Messages alone, as elements of a list or one in each line.
    Messages,
    /// Two lists, of threads and of messages with the id of their thread.
    Threads,
    /// Messages and their parts in two objects by id, as OpenRouter exports them.
    OpenRouter,
}

impl Shape {
    /// Stable name, used as the `version` of the claim.
    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Conversations => "conversations",
            Shape::Messages => "messages",
            Shape::Threads => "threads",
            Shape::OpenRouter => "openrouter",
        }
    }

    /// The shape with this name.
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Shape::Conversations, Shape::Messages, Shape::Threads, Shape::OpenRouter];
        all.into_iter().find(|shape| shape.as_str() == name)
    }
}

/// Determines the shape of a file from its start. None if there are no messages, or if none of their speakers is known.
pub(super) fn shape(head: &[u8]) -> Option<Shape> {
    let keys = keys_of(head);
    let text = String::from_utf8_lossy(head);
    if has(&keys, "characters") && has(&keys, "messages") && text.contains("\"orpg.") {
        return Some(Shape::OpenRouter);
    }
    if !names_speaker(&text) {
        return None;
    }
    let is_message = |at: &str| {
        let any = |names: &[&str]| names.iter().any(|name| has(&keys, &format!("{at}{name}")));
        any(&ROLE_KEYS) && any(&TEXT_KEYS)
    };
    let in_thread = ["threadId", "thread_id"].iter().any(|key| has(&keys, &format!("messages.{key}")));
    if has(&keys, "threads") && in_thread && is_message("messages.") {
        return Some(Shape::Threads);
    }
    let has_lists = |wrapper: &str| MESSAGE_LISTS.iter().any(|list| is_message(&format!("{wrapper}{list}.")));
    if has_lists("") || WRAPPERS.iter().any(|wrapper| has_lists(&format!("{wrapper}."))) {
        return Some(Shape::Conversations);
    }
    let is_list = matches!(head.first(), Some(b'[')) || text.trim_start().lines().take(2).count() == 2;
    (is_list && is_message("")).then_some(Shape::Messages)
}

/// The keys of the lists of conversations in a file. A list under any other key belongs to its conversation.
pub(super) fn wrappers(head: &[u8]) -> Vec<&'static str> {
    let keys = keys_of(head);
    let is_wrapper = |wrapper: &str| {
        MESSAGE_LISTS.iter().any(|list| ROLE_KEYS.iter().any(|role| has(&keys, &format!("{wrapper}.{list}.{role}"))))
    };
    WRAPPERS.into_iter().filter(|wrapper| is_wrapper(wrapper)).collect()
}

fn has(keys: &Keys, path: &str) -> bool {
    keys.has(path)
}

/// True if the text contains a known speaker, as in `"role": "user"` or `"sender":"Human"`, or a member `isUser`.
fn names_speaker(text: &str) -> bool {
    if text.contains("\"isUser\"") || text.contains("\"is_user\"") {
        return true;
    }
    let values = ["\"role\"", "\"sender\"", "\"from\"", "\"author\"", "\"speaker\""].into_iter().flat_map(|key| {
        text.match_indices(key).take(50).filter_map(move |(at, _)| {
            let rest = text.get(at + key.len()..)?.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
            rest.split('"').next()
        })
    });
    values.into_iter().any(|value| SPEAKERS.contains(&value.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_known_by_their_members() {
        for (text, expected) in [
            (
                r#"{"conversations":[{"id":"1","messages":[{"role":"user","content":"a"}]}]}"#,
                Some(Shape::Conversations),
            ),
            (r#"[{"title":"t","messages":[{"sender":"Human","text":"a"}]}]"#, Some(Shape::Conversations)),
            (r#"{"messages":[{"role":"user","content":"a"}]}"#, Some(Shape::Conversations)),
            (r#"[{"id":"x","conversations":[{"from":"human","value":"a"}]}]"#, Some(Shape::Conversations)),
            (r#"[{"role":"user","content":"a"}]"#, Some(Shape::Messages)),
            (
                "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}",
                Some(Shape::Messages),
            ),
            (
                r#"{"threads":[{"id":"t"}],"messages":[{"threadId":"t","role":"user","content":"a"}]}"#,
                Some(Shape::Threads),
            ),
            (r#"{"version":"orpg.3.0","characters":{},"messages":{},"items":{}}"#, Some(Shape::OpenRouter)),
            (r#"[{"role":"admin","content":"users"}]"#, None),
            (r#"[{"name":"x","role":"editor","text":"y"}]"#, None),
            (r#"{"messages":[{"from":"Claude","text":"See you at eight"}]}"#, None),
            (r#"{"messages":[{"subject":"mail","from":"a@example.org","body":"x"}]}"#, None),
            ("[]", None),
        ] {
            assert_eq!(shape(text.as_bytes()), expected, "{text}");
        }
    }
}
