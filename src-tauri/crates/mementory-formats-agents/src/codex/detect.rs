//! Detects logs of Codex by the members of their lines, in all current and former layouts.
use super::exec;
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use mementory_formats_shared::jsonl_session::{head_lines, may_be_log};
use mementory_formats_shared::object::Object;
use mementory_json::keys_of;

/// Types of lines with a payload.
const LINE_TYPES: [&str; 6] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "inter_agent_communication"];
/// Types of items in older logs, whose lines have no payload.
const ITEM_TYPES: [&str; 6] =
    ["message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call"];

/// One claim for all files of Codex in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts: Vec<Part> = Vec::new();
    for member in catalog.members() {
        let role = match log_kind(catalog, member) {
            Some(LogKind::Session) => Role::Conversations,
            Some(LogKind::History) => Role::Records,
            Some(LogKind::Names) => Role::Manifest,
            None => continue,
        };
        parts.push(Part { member: member.id, role });
    }
    let memories = catalog.members().iter().filter(|m| is_memory(m));
    parts.extend(memories.map(|m| Part { member: m.id, role: Role::Memories }));
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.95,
        reason: format!("Found {} files of Codex", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

enum LogKind {
    Session,
    /// The prompts of all sessions.
    History,
    /// The names of sessions.
    Names,
}

fn log_kind(catalog: &Catalog, member: &Member) -> Option<LogKind> {
    if !may_be_log(member) {
        return None;
    }
    let Some(lines) = head_lines(catalog, member) else { return document_kind(catalog, member) };
    let mut has_header = false;
    for (n, line) in lines.iter().enumerate() {
        let Some(object) = Object::parse(line) else {
            let keys = keys_of(line.as_bytes());
            if keys.has("payload") && keys.has("type") && keys.has("timestamp") {
                return Some(LogKind::Session);
            }
            continue;
        };
        let kind = object.text("type").unwrap_or_default();
        if LINE_TYPES.contains(&kind.as_ref()) && object.object("payload").is_some() {
            return Some(LogKind::Session);
        }
        if exec::is_event(&object) {
            return Some(LogKind::Session);
        }
        if object.has("record_type") && object.text("record_type").as_deref() == Some("state") {
            return Some(LogKind::Session);
        }
        if object.has("session_id") && object.has("ts") && object.has("text") && !object.has("type") {
            return Some(LogKind::History);
        }
        if object.has("thread_name") && object.has("id") && !object.has("type") {
            return Some(LogKind::Names);
        }
        if is_document(&object) {
            return Some(LogKind::Session);
        }
        let is_header = object.has("id") && object.has("timestamp") && !object.has("type") && !object.has("messages");
        has_header |= n == 0 && is_header && (object.has("instructions") || object.has("git") || lines.len() > 1);
        if has_header
            && ITEM_TYPES.contains(&kind.as_ref())
            && (object.has("role") || object.has("call_id") || object.has("summary"))
        {
            return Some(LogKind::Session);
        }
    }
    let only_header =
        lines.len() == 1 && Object::parse(lines.first()?).is_some_and(|o| o.has("instructions") && o.has("git"));
    (has_header && only_header).then_some(LogKind::Session)
}

/// The kind of a log in the oldest layout, which is one document with `session` and `items`. None for any other file.
fn document_kind(catalog: &Catalog, member: &Member) -> Option<LogKind> {
    let keys = JsonHead::of(catalog, member).filter(|head| head.first == b'{')?.keys;
    let has_items = keys.has("items.type") && (keys.has("items.role") || keys.has("items.call_id"));
    (keys.has("session.id") && has_items).then_some(LogKind::Session)
}

fn is_document(object: &Object<'_>) -> bool {
    object.object("session").is_some_and(|s| s.has("id") && s.has("timestamp")) && object.list("items").is_some()
}

/// True for notes that Codex takes about earlier sessions: Markdown in `.codex/memories`.
fn is_memory(member: &Member) -> bool {
    let folders: Vec<&str> = member.name.split('/').rev().skip(1).collect();
    let at = folders.iter().position(|f| *f == "memories");
    let is_in_home = at.and_then(|at| folders.get(at + 1)).is_some_and(|f| *f == ".codex");
    is_in_home && member.file_name().to_ascii_lowercase().ends_with(".md")
}
