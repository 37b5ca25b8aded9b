//! Detects exported conversations by their ids and their messages.
use mementory_format::{Catalog, Claim, Part, Role};
use mementory_formats_shared::json_head::head_keys;
use mementory_json::Keys;

/// One claim for all conversations in the catalog, because each conversation is a separate file.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let files =
        catalog.members().iter().filter(|member| head_keys(catalog, member).is_some_and(|keys| is_export(&keys)));
    let parts: Vec<Part> = files.map(|member| Part { member: member.id, role: Role::Conversations }).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.9,
        reason: "Conversations with message ids, as LibreChat exports them".into(),
        parts,
        missing_parts: vec![],
    }]
}

/// True if the ids of messages are called `messageId`, and the ids of their parents `parentMessageId`.
fn is_export(keys: &Keys) -> bool {
    let is_list = |list: &str| {
        let has = |key: &str| keys.has(&format!("{list}.{key}"));
        has("messageId") && (has("parentMessageId") || has("isCreatedByUser") || has("children"))
    };
    (keys.has("conversationId") || keys.has("options") || keys.has("exportAt"))
        && (is_list("messages") || is_list("messagesTree"))
}
