//! Detects histories of Grok Build. Their lines are messages with a type and without ids. In addition, at least one
//! line must have a member that only this agent writes, or the agent's summary must be beside the history.
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_formats_shared::json_head;
use mementory_formats_shared::jsonl_session::head_lines;
use mementory_formats_shared::object::Object;
use mementory_json::{decoded_head, keys_of};

/// Number of bytes at the beginning of a summary that detection reads.
const HEAD_BYTES: usize = 16 << 10;
/// Types of lines.
const TYPES: [&str; 7] = ["system", "user", "assistant", "tool_result", "reasoning", "backend_tool_call", "tool"];

/// One claim for all files of Grok Build in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts = Vec::new();
    for member in catalog.members() {
        let Some(is_marked) = has_marked_line(catalog, member) else { continue };
        let summary = catalog.members().iter().find(|m| is_summary_of(catalog, member, m));
        if is_marked || summary.is_some() {
            parts.push(Part { member: member.id, role: Role::Conversations });
            parts.extend(summary.map(|m| Part { member: m.id, role: Role::Manifest }));
            let side_files = catalog.members().iter().filter(|m| summary.is_some() && is_side_file(member, m));
            parts.extend(side_files.map(|m| Part { member: m.id, role: Role::Sidecar }));
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.9,
        reason: format!("Found {} files of Grok Build", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

/// For a file whose lines are messages, returns whether one of them has a member that only Grok Build writes. None for
/// any other file.
fn has_marked_line(catalog: &Catalog, member: &Member) -> Option<bool> {
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if json_head::is_markdown_in_folder(member)
        || matches!(ending, "html" | "db" | "vscdb" | "png" | "jpg" | "csv" | "toml")
    {
        return None;
    }
    let lines = head_lines(catalog, member)?;
    let (mut is_marked, mut count) = (false, 0);
    for line in lines.iter().filter_map(|line| Object::parse(line)) {
        let kind = line.text("type").or_else(|| line.text("role")).unwrap_or_default();
        let has_words = ["content", "summary", "tool_calls", "kind"].into_iter().any(|key| line.has(key));
        let is_foreign =
            ["uuid", "sessionId", "session_id", "payload", "message", "id", "timestamp", "parts", "message_id"]
                .into_iter()
                .any(|key| line.has(key) && !(key == "id" && kind == "reasoning"));
        if !TYPES.contains(&kind.as_ref()) || !has_words || is_foreign {
            return None;
        }
        count += 1;
        is_marked |= line.has("synthetic_reason")
            || line.has("model_id") && kind == "assistant"
            || line.text("type").as_deref() == Some("tool_result") && line.has("tool_call_id");
    }
    (count > 0).then_some(is_marked)
}

/// True for the other files of a session. They contain the same conversation as events for the screen, or the state of
/// the program.
fn is_side_file(history: &Member, other: &Member) -> bool {
    let names = [
        "updates.jsonl",
        "events.jsonl",
        "rewind_points.jsonl",
        "prompt_context.json",
        "system_prompt.txt",
        "signals.json",
    ];
    let folder = |m: &Member| m.name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    names.contains(&other.file_name())
        && (other.root, other.archive, folder(other)) == (history.root, history.archive, folder(history))
}

/// True for `summary.json` in the folder of a history.
pub(super) fn is_summary_of(catalog: &Catalog, history: &Member, other: &Member) -> bool {
    let folder = |m: &Member| m.name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    if other.file_name() != "summary.json"
        || other.root != history.root
        || other.archive != history.archive
        || folder(other) != folder(history)
    {
        return false;
    }
    let head = catalog.read(other, |r| decoded_head(r, HEAD_BYTES).map_err(|e| FormatError::io(&other.place, e)));
    let Ok(head) = head else { return false };
    let keys = keys_of(&head);
    keys.has("info.id") && (keys.has("info.cwd") || keys.has("current_model_id") || keys.has("session_summary"))
}
