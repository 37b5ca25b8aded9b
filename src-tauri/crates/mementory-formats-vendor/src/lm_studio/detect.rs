//! Detects conversations by the keys of their messages, which have several versions.
use mementory_format::{Catalog, Claim, Part, Role};
use mementory_formats_shared::json_head::head_keys;
use mementory_json::Keys;

/// Returns one claim for all conversations in the catalog, because each conversation is a separate file.
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
        reason: "Conversations whose messages have versions, as LM Studio stores them".into(),
        parts,
        missing_parts: vec![],
    }]
}

fn is_export(keys: &Keys) -> bool {
    let has_version =
        ["role", "content", "steps", "type"].iter().any(|key| keys.has(&format!("messages.versions.{key}")));
    // A new chat has settings but no messages.
    let is_new = ["messages", "tokenCount", "usePerChatPredictionConfig"].iter().all(|key| keys.has(key));
    has_version || is_new || keys.has("messages.versions") && keys.has("messages.currentlySelected")
}
