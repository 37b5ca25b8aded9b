//! Detects sessions by the members of their lines.
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::json_head;
use mementory_formats_shared::jsonl_session::head_lines;
use mementory_formats_shared::object::Object;

/// Name of the file beside a session of Copilot that has its title.
pub(super) const WORKSPACE_FILE: &str = "workspace.yaml";
/// Types of lines that only the command line of Copilot writes.
const COPILOT_TYPES: [&str; 7] = [
    "session.start",
    "session.resume",
    "user.message",
    "assistant.message",
    "assistant.turn_start",
    "tool.execution_start",
    "tool.execution_complete",
];

/// The program that wrote a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Pi, or OpenClaw, which uses Pi.
    Pi,
    /// The command line of GitHub Copilot.
    Copilot,
}

/// One claim for all sessions in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts = Vec::new();
    for member in catalog.members() {
        let Some(kind) = file_kind(catalog, member) else { continue };
        parts.push(Part { member: member.id, role: Role::Conversations });
        let side_file = catalog.members().iter().find(|m| kind == FileKind::Copilot && is_workspace_of(member, m));
        parts.extend(side_file.map(|m| Part { member: m.id, role: Role::Sidecar }));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.9,
        reason: format!("Found {} files with sessions of agents", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

/// True for the file with the title, in the folder of a session.
pub(super) fn is_workspace_of(session: &Member, other: &Member) -> bool {
    let folder = |m: &Member| m.name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    other.file_name() == WORKSPACE_FILE
        && (other.root, other.archive, folder(other)) == (session.root, session.archive, folder(session))
}

/// The program that wrote a file. None if the file is no session.
pub(super) fn file_kind(catalog: &Catalog, member: &Member) -> Option<FileKind> {
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if json_head::is_markdown_in_folder(member)
        || matches!(ending, "html" | "db" | "vscdb" | "png" | "jpg" | "csv" | "toml" | "yaml")
    {
        return None;
    }
    let lines = head_lines(catalog, member)?;
    lines.iter().filter_map(|line| Object::parse(line)).find_map(|line| kind_of_line(&line))
}

fn kind_of_line(line: &Object<'_>) -> Option<FileKind> {
    let kind = line.text("type")?;
    let is_foreign = ["uuid", "payload", "hash", "sessionID", "sessionId"].into_iter().any(|key| line.has(key));
    if is_foreign {
        return None;
    }
    if COPILOT_TYPES.contains(&kind.as_ref()) && line.object("data").is_some() {
        return Some(FileKind::Copilot);
    }
    let is_header = kind == "session" && line.has("id") && (line.has("cwd") || line.has("version"));
    let has_message = line.object("message").is_some_and(|message| message.has("role") && message.has("content"));
    let is_message = kind == "message" && has_message && line.has("id") && line.has("parentId");
    (is_header && !line.has("messages") || is_message).then_some(FileKind::Pi)
}
