//! Detects chats of VS Code by their members: the names of the speakers together with the list of requests, or the
//! members of the requests.
use super::state;
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use mementory_formats_shared::jsonl_session::may_be_log;
use mementory_formats_shared::sqlite_rows;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// One object with the whole chat.
    Document,
    /// A log whose first line contains the initial state of the chat and whose other lines change it.
    Log,
    /// A list of chats of 2023.
    List,
    /// A database with a list of chats of 2023.
    State,
}

/// One claim for all chats in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts = Vec::new();
    for member in catalog.members() {
        let Some(kind) = file_kind(catalog, member) else { continue };
        parts.push(Part { member: member.id, role: Role::Conversations });
        if kind == FileKind::State {
            parts.extend(sqlite_rows::logs(catalog, member));
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.9,
        reason: format!("Found {} files with chats of VS Code", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

/// The kind of a file. None if it is not a chat of VS Code.
pub(super) fn file_kind(catalog: &Catalog, member: &Member) -> Option<FileKind> {
    if state::is_state(catalog, member) {
        return Some(FileKind::State);
    }
    if !may_be_log(member) {
        return None;
    }
    let JsonHead { first, keys, .. } = JsonHead::of(catalog, member)?;
    let is_chat = |at: &str| {
        let has = |key: &str| keys.has(&format!("{at}{key}"));
        let names_speakers = has("responderUsername") && (has("requests") || has("requesterUsername"));
        let has_turns = has("requests.requestId") && has("requests.message");
        let is_session = has("sessionId") && has("creationDate") && has("requests");
        names_speakers || has_turns && (has("requests.response") || has("sessionId")) || is_session
    };
    if first == b'{' && keys.has("kind") && is_chat("v.") {
        return Some(FileKind::Log);
    }
    match first {
        b'{' => is_chat("").then_some(FileKind::Document),
        b'[' => (keys.has("responderUsername") && is_chat("")).then_some(FileKind::List),
        _ => None,
    }
}
