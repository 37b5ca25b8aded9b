//! Detects chats of VS Code by their members: the names of the speakers together with the list of requests, or the
//! members of the requests.
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use mementory_formats_shared::jsonl_session::may_be_log;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// One object with the whole chat.
    Document,
    /// A log whose first line contains the initial state of the chat and whose other lines change it.
    Log,
}

/// One claim for all chats in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let chats = catalog.members().iter().filter(|member| file_kind(catalog, member).is_some());
    let parts: Vec<Part> = chats.map(|m| Part { member: m.id, role: Role::Conversations }).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.9,
        reason: format!("Found {} chats of VS Code", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

/// The kind of a file. None if it is not a chat of VS Code.
pub(super) fn file_kind(catalog: &Catalog, member: &Member) -> Option<FileKind> {
    if !may_be_log(member) {
        return None;
    }
    let keys = JsonHead::of(catalog, member).filter(|head| head.bytes.starts_with(b"{"))?.keys;
    let is_chat = |at: &str| {
        let has = |key: &str| keys.has(&format!("{at}{key}"));
        let names_speakers = has("responderUsername") && (has("requests") || has("requesterUsername"));
        let has_turns = has("requests.requestId") && has("requests.message");
        let is_session = has("sessionId") && has("creationDate") && has("requests");
        names_speakers || has_turns && (has("requests.response") || has("sessionId")) || is_session
    };
    if keys.has("kind") && is_chat("v.") {
        return Some(FileKind::Log);
    }
    is_chat("").then_some(FileKind::Document)
}
