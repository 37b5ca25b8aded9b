//! Detects exported conversations by the ids of their messages, and collections of the database by their members.
use super::text_export::notation;
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::json_head::head_keys;
use mementory_json::Keys;

/// Returns one claim for all conversations in the catalog, because each exported conversation is a separate file.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let part = |member: &Member| {
        let role = head_keys(catalog, member).and_then(|keys| role_of(&keys));
        let role = role.or_else(|| notation(catalog, member).map(|_| Role::Conversations))?;
        Some(Part { member: member.id, role })
    };
    let mut parts: Vec<Part> = catalog.members().iter().filter_map(part).collect();
    // The collection of conversations is read before the collection of messages.
    parts.sort_by_key(|part| part.role != Role::Manifest);
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.9,
        reason: "Conversations as LibreChat writes them".into(),
        parts,
        missing_parts: vec![],
    }]
}

/// Returns the role of a JSON file: an exported conversation, or a collection of the database (conversations, messages
/// or memories). None for any other file.
fn role_of(keys: &Keys) -> Option<Role> {
    let is_row = keys.has("conversationId");
    let is_from_database = keys.has("_id.$oid") || keys.has("createdAt.$date");
    if is_export(keys) {
        Some(Role::Conversations)
    } else if is_row && keys.has("messageId") && (keys.has("parentMessageId") || keys.has("isCreatedByUser")) {
        Some(Role::Records)
    } else if !is_row && keys.has("_id.$oid") && ["key", "value", "tokenCount"].iter().all(|key| keys.has(key)) {
        Some(Role::Memories)
    } else {
        (is_row && is_from_database && keys.has("endpoint")).then_some(Role::Manifest)
    }
}

/// True for the keys of an exported conversation, whose messages have the members `messageId` and `parentMessageId`.
fn is_export(keys: &Keys) -> bool {
    let is_list = |list: &str| {
        let has = |key: &str| keys.has(&format!("{list}.{key}"));
        has("messageId") && (has("parentMessageId") || has("isCreatedByUser") || has("children"))
    };
    (keys.has("conversationId") || keys.has("options") || keys.has("exportAt"))
        && (is_list("messages") || is_list("messagesTree"))
}
