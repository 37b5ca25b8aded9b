//! Detects histories of Grok Build. Their lines are messages with a type and without an id; some types may be unknown.
//! In addition, a line must have a member that only Grok Build writes, or a summary by Grok Build must be in the same
//! folder.
use mementory_format::{Catalog, Claim, Member, Part, Role, decoded_head};
use mementory_formats_shared::files::{Folder, folder_of};
use mementory_formats_shared::jsonl_session::{head_lines, may_be_log};
use mementory_formats_shared::object::Object;
use mementory_json::keys_of;
use std::collections::HashMap;

/// Number of bytes at the beginning of a summary that detection reads.
const HEAD_BYTES: usize = 16 << 10;
/// The other files of a session. They contain the same conversation as user interface events, or the state of the
/// program.
const SIDE_FILES: [&str; 6] = [
    "updates.jsonl",
    "events.jsonl",
    "rewind_points.jsonl",
    "prompt_context.json",
    "system_prompt.txt",
    "signals.json",
];
/// Types of lines that the reader supports.
pub(super) const LINE_TYPES: [&str; 7] =
    ["system", "user", "assistant", "tool_result", "reasoning", "backend_tool_call", "tool"];

/// One claim for all files of Grok Build in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts = Vec::new();
    let summaries = Summaries::new(catalog);
    let mut side_files: HashMap<Folder<'_>, Vec<usize>> = HashMap::new();
    for member in catalog.members().iter().filter(|member| SIDE_FILES.contains(&member.file_name())) {
        side_files.entry(folder_of(member)).or_default().push(member.id);
    }
    for member in catalog.members().iter().filter(|member| !SIDE_FILES.contains(&member.file_name())) {
        let Some(is_marked) = has_marked_line(catalog, member) else { continue };
        let summary = summaries.summary_of(catalog, member);
        if is_marked || summary.is_some() {
            parts.push(Part { member: member.id, role: Role::Conversations });
            parts.extend(summary.map(|m| Part { member: m.id, role: Role::Manifest }));
            let files_of_chat = side_files.get(&folder_of(member)).filter(|_| summary.is_some());
            parts.extend(files_of_chat.into_iter().flatten().map(|id| Part { member: *id, role: Role::Sidecar }));
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

/// Whether a file of messages has a line with a member that only Grok Build writes. None for any other file.
fn has_marked_line(catalog: &Catalog, member: &Member) -> Option<bool> {
    if !may_be_log(member) {
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
        if is_foreign {
            return None;
        }
        if !LINE_TYPES.contains(&kind.as_ref()) || !has_words {
            continue;
        }
        count += 1;
        is_marked |= line.has("synthetic_reason")
            || line.has("model_id") && kind == "assistant"
            || line.text("type").as_deref() == Some("tool_result") && line.has("tool_call_id");
    }
    (count > 0).then_some(is_marked)
}

/// The files that may be summaries of sessions, by their folders.
pub(super) struct Summaries<'c>(HashMap<Folder<'c>, Vec<&'c Member>>);

impl<'c> Summaries<'c> {
    /// Collects the files with the name of a summary.
    pub(super) fn new(catalog: &'c Catalog) -> Self {
        let mut out: HashMap<Folder<'c>, Vec<&'c Member>> = HashMap::new();
        for member in catalog.members().iter().filter(|member| member.file_name() == "summary.json") {
            out.entry(folder_of(member)).or_default().push(member);
        }
        Self(out)
    }

    /// The summary in the folder of a history.
    pub(super) fn summary_of(&self, catalog: &Catalog, history: &Member) -> Option<&'c Member> {
        self.0.get(&folder_of(history))?.iter().copied().find(|member| is_summary(catalog, member))
    }
}

fn is_summary(catalog: &Catalog, member: &Member) -> bool {
    let Ok(head) = decoded_head(catalog, member, HEAD_BYTES) else { return false };
    let keys = keys_of(&head);
    keys.has("info.id") && (keys.has("info.cwd") || keys.has("current_model_id") || keys.has("session_summary"))
}
