//! Detects files of Claude Code: logs by the members of their lines, and topic files of the memory by their
//! frontmatter. File names only determine which other files accompany the logs and the topic files.
use super::cowork;
use super::lines::{is_answer, is_person};
use super::session_index;
use crate::agent_rules;
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::frontmatter::Document;
use mementory_formats_shared::json_head::head_keys;
use mementory_formats_shared::jsonl_session::{head_lines, may_be_log};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::text_head::text_head;
use mementory_json::keys_of;
use std::collections::{BTreeSet, HashSet};

/// Number of bytes at the beginning of a Markdown file that detection reads.
const HEAD_BYTES: usize = 16 << 10;
/// Name of the file that lists the topic files of the memory.
const MEMORY_INDEX_FILE: &str = "MEMORY.md";
/// Types that a topic file of the memory can have.
pub(super) const TOPIC_TYPES: [&str; 4] = ["user", "feedback", "project", "reference"];

/// One claim for all files of Claude Code in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts: Vec<Part> = Vec::new();
    let mut is_certain = false;
    for member in catalog.members() {
        match log_kind(catalog, member) {
            Some((LogKind::Session, certain)) => {
                parts.push(Part { member: member.id, role: Role::Conversations });
                is_certain |= certain;
            }
            Some((LogKind::History, certain)) => {
                parts.push(Part { member: member.id, role: Role::Records });
                is_certain |= certain;
            }
            None => {}
        }
    }
    let all_logs = parts.iter().filter_map(|part| catalog.members().get(part.member));
    let tasks = cowork::task_folders(all_logs);
    for part in &mut parts {
        if catalog.members().get(part.member).is_some_and(|member| cowork::is_copy(member, &tasks)) {
            part.role = Role::Sidecar;
        }
    }
    let log_count = parts.iter().filter(|part| part.role != Role::Sidecar).count();
    let first_memory = parts.len();
    let logs = parts.iter().filter(|part| part.role == Role::Conversations).map(|part| part.member);
    let log_folders = folders_of(catalog, logs);
    let topics: BTreeSet<usize> =
        catalog.members().iter().filter(|m| is_markdown(m) && is_topic(catalog, m)).map(|m| m.id).collect();
    let topic_folders = folders_of(catalog, topics.iter().copied());
    let indexes =
        catalog.members().iter().filter(|m| m.file_name() == MEMORY_INDEX_FILE && topic_folders.contains(&place_of(m)));
    let indexed_folders = folders_of(catalog, indexes.map(|m| m.id));
    for member in catalog.members().iter().filter(|m| is_markdown(m)) {
        // Claude Code also writes topics without frontmatter. Such a file is recognised if its folder contains an index
        // and a topic with frontmatter.
        let is_indexed = indexed_folders.contains(&place_of(member)) && !is_rules_name(member);
        let is_in_memory = is_in_memory_folder(catalog, member) || is_beside_logs(member, &log_folders);
        if topics.contains(&member.id) || is_indexed || is_in_memory {
            parts.push(Part { member: member.id, role: Role::Memories });
        }
    }
    let memory_count = parts.len() - first_memory;
    if parts.is_empty() {
        return Vec::new();
    }
    let has_index = parts
        .iter()
        .filter_map(|p| catalog.members().get(p.member))
        .any(|m| m.file_name() == MEMORY_INDEX_FILE && topics.iter().any(|t| *t != m.id));
    // If there are logs or memory files of Claude Code, its rules files are claimed too.
    let detected_ids: HashSet<usize> = parts.iter().map(|part| part.member).collect();
    let rules = agent_rules::rules_of("claude-code", catalog).filter(|member| !detected_ids.contains(&member.id));
    let rules: Vec<Part> = rules.map(|member| Part { member: member.id, role: Role::Projects }).collect();
    parts.extend(rules);
    let claimed_ids: HashSet<usize> = parts.iter().map(|p| p.member).collect();
    let claimed_folders = folders_of(catalog, claimed_ids.iter().copied());
    let is_beside = |m: &&Member| is_side_file(m, &claimed_folders) || cowork::is_description(m, &tasks);
    let side_files = catalog.members().iter().filter(|m| !claimed_ids.contains(&m.id)).filter(is_beside);
    parts.extend(side_files.map(|m| Part { member: m.id, role: Role::Sidecar }));
    let description = match (log_count, memory_count) {
        (0, n) => format!("{n} files of Claude Code's memory"),
        (n, 0) => format!("{n} logs of Claude Code"),
        (log_count, memory_count) => format!("{log_count} logs and {memory_count} memory files of Claude Code"),
    };
    vec![Claim {
        version: None,
        // Topic files with an index next to them cannot be another program's notes.
        confidence: if is_certain {
            0.95
        } else if has_index {
            0.92
        } else {
            0.85
        },
        reason: format!("Found {description}"),
        parts,
        missing_parts: vec![],
    }]
}

/// Name of the list that contains the lines of a session on the web.
pub(super) const WEB_LINES_MEMBER: &str = "loglines";

/// True for a session of Claude Code on the web: one object with its lines in a list.
pub(super) fn is_web_log(catalog: &Catalog, member: &Member) -> bool {
    // Other files, such as those about screenplays, can also have a list named `loglines`, so its elements must be
    // messages.
    head_keys(catalog, member).is_some_and(|keys| {
        let has = |key: &str| keys.has(&format!("{WEB_LINES_MEMBER}.{key}"));
        has("type") && has("message") && (has("message.role") || has("timestamp"))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogKind {
    /// The log of a session.
    Session,
    /// The prompts of all sessions.
    History,
}

/// The kind of a log, and whether it has a member that only Claude Code writes. None for any other file.
fn log_kind(catalog: &Catalog, member: &Member) -> Option<(LogKind, bool)> {
    if !may_be_log(member) {
        return None;
    }
    if is_web_log(catalog, member) {
        return Some((LogKind::Session, true));
    }
    let Some(lines) = head_lines(catalog, member) else {
        let head = catalog.head(member, HEAD_BYTES).ok().filter(|head| head.trim_ascii_start().starts_with(b"["))?;
        let keys = keys_of(&head);
        let is_log = keys.has("parentUuid") && keys.has("sessionId") && keys.has("type");
        return is_log.then_some((LogKind::Session, true));
    };
    // Qwen Code writes lines with the same members, but its messages have `parts`, as in Google's API. The first few
    // lines may have no message.
    let has_parts = |line: &String| match Object::parse(line) {
        Some(object) => object.object("message").is_some_and(|message| message.has("parts")),
        None => keys_of(line.as_bytes()).has("message.parts"),
    };
    if lines.iter().any(has_parts) {
        return None;
    }
    let mut is_session = false;
    for line in &lines {
        let Some(object) = Object::parse(line) else {
            // A line that is longer than the head of the file is cut off, so it is not valid JSON.
            let keys = keys_of(line.as_bytes());
            if keys.has("parentUuid") && (keys.has("sessionId") || keys.has("isSidechain")) {
                return Some((LogKind::Session, true));
            }
            continue;
        };
        let kind = object.text("type").unwrap_or_default();
        let is_message = object.object("message").is_some_and(|m| m.has("role") || m.has("content"));
        let has_session = object.has("sessionId") || object.has("session_id");
        let is_marked = match kind.as_ref() {
            "user" | "human" | "assistant" | "ai" | "system" | "attachment" | "progress" => {
                object.has("parentUuid") && (has_session || object.has("uuid"))
                    || object.has("isSidechain")
                    || has_session && is_message && object.has("uuid")
            }
            "summary" => object.has("leafUuid"),
            "file-history-snapshot" => object.has("messageId"),
            "queue-operation" => object.has("operation"),
            "custom-title" => object.has("customTitle"),
            "ai-title" => object.has("aiTitle"),
            "last-prompt" => object.has("lastPrompt") || object.has("leafUuid"),
            _ => false,
        };
        if is_marked {
            return Some((LogKind::Session, true));
        }
        if object.has("display") && object.has("project") && object.has("timestamp") {
            return Some((LogKind::History, object.has("pastedContents")));
        }
        is_session |= (is_person(&kind) || is_answer(&kind)) && is_message && !object.has("payload");
    }
    is_session.then_some((LogKind::Session, false))
}

fn is_markdown(member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    name.ends_with(".md") || name.ends_with(".markdown")
}

/// True for a file name that rules files have. Such a file is not a topic.
fn is_rules_name(member: &Member) -> bool {
    let names = ["claude.md", "claude.local.md", "agents.md", "gemini.md", "readme.md"];
    names.iter().any(|name| member.file_name().eq_ignore_ascii_case(name))
}

/// True for a file that has one of the [`TOPIC_TYPES`], and a name or a description.
fn is_topic(catalog: &Catalog, member: &Member) -> bool {
    let Some(text) = text_head(catalog, member, HEAD_BYTES) else { return false };
    let document = Document::parse(&text);
    let has_type = topic_type(&document).is_some_and(|t| TOPIC_TYPES.contains(&t.as_str()));
    has_type && (document.text("name").is_some() || document.text("description").is_some())
}

pub(super) fn topic_type(document: &Document<'_>) -> Option<String> {
    let nested_type = document.fields.get("metadata").and_then(|m| m.get("type")).and_then(|t| t.as_str());
    document.text("type").or_else(|| nested_type.map(str::to_owned))
}

/// True for a file below `projects/<project>/memory/`, `agent-memory/` or `agent-memory-local/`.
fn is_in_memory_folder(catalog: &Catalog, member: &Member) -> bool {
    let path = path_of(catalog, member);
    let folders: Vec<&str> = path.split('/').rev().skip(1).collect();
    let project = folders.iter().position(|f| *f == "memory").and_then(|at| folders.get(at + 2));
    project == Some(&"projects") || folders.iter().any(|f| matches!(*f, "agent-memory" | "agent-memory-local"))
}

/// The folders and the name of a file. The person may have selected one of the folders itself, so the path begins with
/// the name of the selected folder.
pub(super) fn path_of(catalog: &Catalog, member: &Member) -> String {
    let root = catalog.roots().get(member.root).filter(|_| member.archive.is_none() && member.place != member.name);
    root.map_or_else(|| member.name.clone(), |root| format!("{root}/{}", member.name))
}

/// True for a file in the folder `memory` of a project whose logs are in the input.
fn is_beside_logs(member: &Member, log_folders: &HashSet<FileFolder<'_>>) -> bool {
    let project = folder(member).strip_suffix("memory").filter(|above| above.is_empty() || above.ends_with('/'));
    project.is_some_and(|above| log_folders.contains(&(member.root, member.archive, above.trim_end_matches('/'))))
}

fn folder(member: &Member) -> &str {
    member.name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Root, archive and folder of a file.
type FileFolder<'m> = (usize, Option<usize>, &'m str);

fn place_of(member: &Member) -> FileFolder<'_> {
    (member.root, member.archive, folder(member))
}

fn folders_of(catalog: &Catalog, ids: impl Iterator<Item = usize>) -> HashSet<FileFolder<'_>> {
    ids.filter_map(|id| catalog.members().get(id)).map(place_of).collect()
}

/// True for a file with a tool result, the description of a subagent, or the list of sessions.
fn is_side_file(member: &Member, claimed_folders: &HashSet<FileFolder<'_>>) -> bool {
    let mut folders = member.name.split('/').rev().skip(1);
    let (parent, above) = (folders.next().unwrap_or_default(), folders.next().unwrap_or_default());
    let name = member.file_name();
    match parent {
        "tool-results" => mementory_format::is_uuid(above),
        "subagents" => name.ends_with(".meta.json"),
        _ if name == session_index::INDEX_FILE => claimed_folders.contains(&place_of(member)),
        _ => false,
    }
}
