//! Detects sessions by the members of their lines or events.
use super::openhands_files::OpenHandsFiles;
use super::pi::is_droid_header;
use super::{agtrace, atif, atof, deepseek_harness, hermes, kimi, kimi_code, langsmith, otel, pi_page, posit};
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::files::{Folder, folder_of};
use mementory_formats_shared::jsonl_session::{head_lines, may_be_log};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::sqlite_rows::claims as claims_of_databases;
use std::collections::{HashMap, HashSet};

/// Name of the file next to a Copilot session that contains the session's title.
pub(super) const WORKSPACE_FILE: &str = "workspace.yaml";
/// Names of the files next to a wire log of Kimi that contain the session's title, in newer and older versions.
pub(super) const KIMI_HEADERS: [&str; 2] = ["state.json", "metadata.json"];
/// Version of the claim for a database of Hermes Agent.
pub(super) const HERMES: &str = "hermes";
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

/// Kind of a session file. Most kinds are named after the program that wrote the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Pi, OpenClaw (which uses Pi), or Droid, whose lines are similar.
    Pi,
    /// A page to which Pi exported a session.
    PiPage,
    /// The command line of GitHub Copilot.
    Copilot,
    /// The command line of Kimi.
    Kimi,
    /// DeepSeek Harness.
    Harness,
    /// Traces of requests to a model.
    Traces,
    /// The tree of a conversation with Posit Assistant.
    Posit,
    /// Events that agtrace exported.
    Agtrace,
    /// A trajectory in ATIF.
    Atif,
    /// Events in ATOF.
    Atof,
    /// Runs that were exported from LangSmith.
    LangSmith,
}

/// One claim for all sessions in files, and one for each database.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let (mut parts, mut count) = (Vec::new(), 0);
    let workspace_files = title_files(catalog, &[WORKSPACE_FILE]);
    let mut kimi_folders = HashSet::new();
    for member in catalog.members() {
        let Some(kind) = file_kind(catalog, member) else { continue };
        count += 1;
        parts.push(Part { member: member.id, role: Role::Conversations });
        let title_file = workspace_files.get(&folder_of(member)).filter(|_| kind == FileKind::Copilot);
        parts.extend(title_file.into_iter().flatten().map(|m| Part { member: m.id, role: Role::Sidecar }));
        if kind == FileKind::Posit {
            parts.extend(posit::log_of(catalog, member).map(|m| Part { member: m.id, role: Role::Records }));
        }
        if kind == FileKind::Kimi {
            kimi_folders.insert(folder_of(member));
            kimi_folders.extend(session_folder(member));
        }
    }
    let kimi_side_files = catalog.members().iter().filter(|member| is_kimi_side_file(member, &kimi_folders));
    parts.extend(kimi_side_files.map(|member| Part { member: member.id, role: Role::Sidecar }));
    let openhands = OpenHandsFiles::among(catalog, catalog.members().iter());
    count += openhands.folders.len() + openhands.trajectories.len();
    parts.extend(openhands.parts());
    let mut out = claims_of_databases(catalog, 0.9, "The database of Hermes Agent", hermes::is_database);
    out.iter_mut().for_each(|claim| claim.version = Some(HERMES.into()));
    if !parts.is_empty() {
        out.push(Claim {
            version: None,
            confidence: 0.9,
            reason: format!("Found {count} sessions of agents"),
            parts,
            missing_parts: vec![],
        });
    }
    out
}

/// True for a file next to a wire log of Kimi: the state of the session, or the messages as the model received them,
/// which repeat the log.
fn is_kimi_side_file(member: &Member, folders: &HashSet<Folder<'_>>) -> bool {
    let name = member.file_name();
    let is_context = name.starts_with("context") && name.ends_with(".jsonl");
    (is_context || KIMI_HEADERS.contains(&name)) && folders.contains(&folder_of(member))
}

/// The folder of the Kimi Code session to which a log in `agents/<agent>` belongs. None for a log in any other folder.
pub(super) fn session_folder(member: &Member) -> Option<Folder<'_>> {
    let (root, archive, of_agent) = folder_of(member);
    let (agents, _) = of_agent.rsplit_once('/')?;
    let before = agents.strip_suffix(kimi_code::AGENTS_FOLDER)?;
    let session = if before.is_empty() { before } else { before.strip_suffix('/')? };
    Some((root, archive, session))
}

/// The files with one of these names, which contain the titles of sessions, by folder.
pub(super) fn title_files<'c>(catalog: &'c Catalog, names: &[&str]) -> HashMap<Folder<'c>, Vec<&'c Member>> {
    let mut files: HashMap<Folder<'_>, Vec<&Member>> = HashMap::new();
    for member in catalog.members().iter().filter(|member| names.contains(&member.file_name())) {
        files.entry(folder_of(member)).or_default().push(member);
    }
    files
}

/// The kind of a file. None if the file is not a session.
pub(super) fn file_kind(catalog: &Catalog, member: &Member) -> Option<FileKind> {
    if pi_page::is_page(catalog, member) {
        return Some(FileKind::PiPage);
    }
    if atif::is_trajectory(catalog, member) {
        return Some(FileKind::Atif);
    }
    if posit::is_tree(catalog, member) {
        return Some(FileKind::Posit);
    }
    if langsmith::is_export(catalog, member) {
        return Some(FileKind::LangSmith);
    }
    if !may_be_log(member) {
        return None;
    }
    let lines = head_lines(catalog, member)?;
    let objects: Vec<Object<'_>> = lines.iter().filter_map(|line| Object::parse(line)).collect();
    if objects.iter().any(deepseek_harness::is_event) {
        return Some(FileKind::Harness);
    }
    if objects.iter().any(agtrace::is_event) {
        return Some(FileKind::Agtrace);
    }
    if objects.iter().any(atof::is_event) {
        return Some(FileKind::Atof);
    }
    if is_droid(&objects) || is_unlinked(&objects) {
        return Some(FileKind::Pi);
    }
    let is_traced = || objects.iter().any(otel::is_trace).then_some(FileKind::Traces);
    objects.iter().find_map(kind_of_line).or_else(is_traced)
}

/// True for a Droid session. Sessions of other programs can begin with the same line, but their messages differ.
fn is_droid(lines: &[Object<'_>]) -> bool {
    let is_header = |line: &Object<'_>| is_droid_header(line) && line.has("cwd");
    let is_message = |line: &Object<'_>| {
        let has_message = line.object("message").is_some_and(|message| message.has("role") && message.has("content"));
        line.text("type").as_deref() == Some("message") && has_message
    };
    lines.iter().any(is_header) && lines.iter().any(is_message)
}

/// True for a session in the form of older versions of Pi and OpenClaw: its header has an id or a folder, and its
/// messages name no parents.
fn is_unlinked(lines: &[Object<'_>]) -> bool {
    let is_kind = |line: &Object<'_>, kind: &str| line.text("type").as_deref() == Some(kind) && !is_foreign(line);
    let is_header =
        |line: &Object<'_>| is_kind(line, "session") && (line.has("id") || line.has("cwd")) && !line.has("messages");
    let is_message = |line: &Object<'_>| {
        let message = line.object("message").filter(|message| message.has("role") && message.has("content"));
        is_kind(line, "message") && message.is_some()
    };
    lines.iter().any(is_header) && lines.iter().any(is_message)
}

/// True for a line with members that only the sessions of other programs have.
fn is_foreign(line: &Object<'_>) -> bool {
    ["uuid", "payload", "hash", "sessionID", "sessionId"].into_iter().any(|key| line.has(key))
}

fn kind_of_line(line: &Object<'_>) -> Option<FileKind> {
    if is_kimi_event(line) || kimi_code::is_record(line) {
        return Some(FileKind::Kimi);
    }
    let kind = line.text("type")?;
    if is_foreign(line) {
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

/// True for an event in a wire log of Kimi.
fn is_kimi_event(line: &Object<'_>) -> bool {
    let event = line.object("message").filter(|event| event.object("payload").is_some());
    let kind = event.as_ref().and_then(|event| event.text("type"));
    line.has("timestamp") && !line.has("type") && kind.is_some_and(|kind| kimi::EVENT_KINDS.contains(&kind.as_ref()))
}
