//! Detects exported chats by the keys of their messages, and the database by its tables.
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::json_head::head_keys;
use mementory_formats_shared::sqlite_rows::{Schema, logs};
use mementory_json::Keys;

/// Returns one claim for each exported file, and one for each database with its log files.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut out = Vec::new();
    for member in catalog.members() {
        if head_keys(catalog, member).is_some_and(|keys| is_export(&keys)) {
            let parts = vec![Part { member: member.id, role: Role::Conversations }];
            out.push(claim("export", "Chats with a history of messages, as Open WebUI exports them", parts));
        } else if is_database(catalog, member) {
            let mut parts = vec![Part { member: member.id, role: Role::Manifest }];
            parts.extend(logs(catalog, member));
            out.push(claim("database", "The database of Open WebUI", parts));
        }
    }
    out
}

fn claim(version: &str, reason: &str, parts: Vec<Part>) -> Claim {
    Claim { version: Some(version.into()), confidence: 0.9, reason: reason.into(), parts, missing_parts: vec![] }
}

fn is_export(keys: &Keys) -> bool {
    ["", "chats.", "items.", "data."].iter().any(|wrapper| {
        let has = |path: &str| keys.has(&format!("{wrapper}{path}"));
        has("chat.history") && (has("chat.history.messages") || has("chat.history.currentId"))
            || has("history.messages") && has("history.currentId")
            || has("chat.messages") && has("user_id") && has("chat.title")
            || has("chat.messages.role") && has("chat.messages.content") && has("chat.models")
            || has("messages.childrenIds") && has("messages.role") && has("models")
    })
}

fn is_database(catalog: &Catalog, member: &Member) -> bool {
    Schema::of(catalog, member).is_some_and(|schema| {
        let has_chats = schema.has_table("chat", &["user_id"]);
        let marks = ["share_id", "archived"];
        has_chats && (marks.iter().any(|mark| schema.has_table("chat", &[mark])) || schema.has_table("memory", &[]))
    })
}
