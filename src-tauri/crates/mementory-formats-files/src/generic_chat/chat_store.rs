//! Reads the chat store that LlamaIndex persists (`SimpleChatStore`): lists of messages by key.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, beginning};
use mementory_formats_shared::message::{read_list, report_no_message, send};
use mementory_formats_shared::object::{content_id, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_json::Keys;
use mementory_model::Verbatim;

/// Name of the member with the lists.
const STORE_MEMBER: &str = "store";

/// Member with the chat store, in a memory that was saved as a whole (`ChatMemoryBuffer`).
const CHAT_STORE_MEMBER: &str = "chat_store";

/// True for the keys of a chat store. LlamaIndex writes `additional_kwargs` into each message, even if it is empty.
pub(super) fn is_chat_store(keys: &Keys) -> bool {
    let has_store = keys.has(STORE_MEMBER) || keys.has(&format!("{CHAT_STORE_MEMBER}.{STORE_MEMBER}"));
    has_store && ["role", "additional_kwargs"].iter().all(|key| keys.has_at_any_level(key))
}

/// Sends a conversation for each key. Programs use the same key for every store (`chat_history`), so the beginning of
/// the conversation is a part of its id.
pub(super) fn read_store(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let memory = element.object.object(CHAT_STORE_MEMBER);
    let (at, object) = match &memory {
        Some(inner) => (format!("{}/{CHAT_STORE_MEMBER}/{STORE_MEMBER}", element.pointer), inner),
        None => (format!("{}/{STORE_MEMBER}", element.pointer), &element.object),
    };
    let Some((raw, store)) = object.raw_value(STORE_MEMBER).zip(object.object(STORE_MEMBER)) else {
        report_no_message(files, member, &at);
        return Ok(());
    };
    let verbatim = with_replaced_values(element.text, &[(raw, "{}")]);
    for (key, raw) in store.members() {
        let at = format!("{at}/{key}");
        let Some(messages) = list(raw) else {
            report_no_message(files, member, &at);
            continue;
        };
        let turns = read_list(files, member, &messages, &at);
        let chat = Chat {
            id: Some(key.to_owned()),
            key: Some(format!("{key}/{}", content_id(&beginning(&turns)))),
            pointer: at,
            verbatim: Some(Verbatim::json(verbatim.as_str())),
            is_log: true,
            turns,
            ..Chat::default()
        };
        send(files, member, chat, "llamaindex", Some("chat_store"))?;
    }
    Ok(())
}
