//! Detects files of OpenCode by the members of their objects, and its databases by their tables.
use super::first_database;
use memchr::memmem;
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role, decoded_head};
use mementory_formats_shared::json_head;
use mementory_formats_shared::sqlite::{SQLITE_MAGIC, log_files, write_ahead_log};
use mementory_formats_shared::sqlite_rows::Schema;
use mementory_json::Keys;

/// Number of bytes at the beginning of a file that detection reads.
const HEAD_BYTES: usize = JsonHead::BYTES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A whole session.
    Export,
    /// A shared session as a list of the session, messages and parts.
    SharedList,
    /// A shared session with its messages by their ids.
    SharedMap,
    /// One session, message or part in OpenCode's storage folder.
    Storage,
    Database,
    /// The database of an earlier program with the name OpenCode (see `first_database.rs`).
    FirstDatabase,
}

/// One claim for all files of OpenCode in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts = Vec::new();
    for member in catalog.members() {
        let Some(kind) = file_kind(catalog, member) else { continue };
        parts.push(Part { member: member.id, role: Role::Conversations });
        if matches!(kind, FileKind::Database | FileKind::FirstDatabase) {
            parts.extend(log_files(catalog, member).map(|m| Part { member: m.id, role: Role::Sidecar }));
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.95,
        reason: format!("Found {} files of OpenCode", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

/// The kind of a file. None if the file is not from OpenCode.
pub(super) fn file_kind(catalog: &Catalog, member: &Member) -> Option<FileKind> {
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if json_head::is_markdown_in_folder(member) || matches!(ending, "html" | "png" | "jpg" | "csv" | "toml" | "jsonl") {
        return None;
    }
    let Some(json) = JsonHead::of(catalog, member) else {
        let head = decoded_head(catalog, member, HEAD_BYTES).ok().filter(|head| head.starts_with(SQLITE_MAGIC))?;
        if Schema::of(catalog, member).is_some_and(|schema| first_database::is_first_database(&schema)) {
            return Some(FileKind::FirstDatabase);
        }
        return is_database(catalog, member, &head).then_some(FileKind::Database);
    };
    let has = |key: &str| json.keys.has(key);
    // Since version 0.1, the ids of sessions begin with `ses_`.
    let names_session = || memmem::find(&json.bytes(), b"\"ses_").is_some();
    if json.first != b'{' {
        if json.first != b'[' {
            return None;
        }
        let is_shared = has("type") && has("data.id") && has("data.time.created") && names_session();
        return is_shared.then_some(FileKind::SharedList);
    }
    let has_message_ids =
        || !has("messages.parts") && !has("messages.info") && has_object(&json.bytes(), b"\"messages\"");
    if has("info.id") && has("info.time.created") && has_message_ids() && names_session() {
        return Some(FileKind::SharedMap);
    }
    // A session in which nothing was said yet has an empty list of messages.
    let is_session = has("info.time.created") && (has("info.directory") || has("info.projectID"));
    if has("info.id") && (has("messages.parts") || has("messages.info") || is_session) && has("messages") {
        return Some(FileKind::Export);
    }
    let has_session_id = || {
        let id = mementory_formats_shared::object::Object::parse(String::from_utf8_lossy(&json.bytes()).trim())
            .and_then(|o| o.text("id").map(|t| t.into_owned()));
        id.is_some_and(|id| id.starts_with("ses_"))
    };
    let is_session = has("time.created") && !has("messages") && !has("messageID") && has_session_id();
    (is_session || is_storage(&json.keys) || is_in_storage_folder(&json.keys, member)).then_some(FileKind::Storage)
}

/// The two folders around a file in the storage: `session`, `message` or `part`, and the folder inside it. The name of
/// the inner folder is the name of the project, or the id of the session or message.
pub(super) fn storage_folders(member: &Member) -> Option<(&str, &str)> {
    let mut folders = member.name.rsplit('/').skip(1);
    let (inner, outer) = (folders.next()?, folders.next()?);
    matches!(outer, "session" | "message" | "part").then_some((outer, inner))
}

/// True for a file of the storage whose session and message are identified only by the names of its folders.
fn is_in_storage_folder(keys: &Keys, member: &Member) -> bool {
    let has_any = |names: &[&str]| names.iter().any(|name| keys.has(name));
    let has_members = match storage_folders(member) {
        // A session outside any project may have only its id and its times.
        Some(("session", _)) => has_any(&["directory", "projectID", "projectId", "time.created"]),
        Some(("message", _)) => keys.has("role") && has_any(&["time.created", "createdAt"]),
        Some(("part", _)) => keys.has("type") && has_any(&["text", "tool", "messageId"]),
        _ => false,
    };
    has_members && keys.has("id")
}

/// True if the value of this key is an object. `key` includes the quotes of the key.
fn has_object(head: &[u8], key: &[u8]) -> bool {
    let value = memmem::find(head, key).and_then(|at| head.get(at + key.len()..));
    let value = value.and_then(|rest| rest.trim_ascii_start().strip_prefix(b":"));
    value.is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
}

/// True for a session, a message or a part. Other programs use `session_id` instead of `sessionID`.
fn is_storage(keys: &Keys) -> bool {
    let has = |key: &str| keys.has(key);
    let is_session = has("time.created") && has("title") && (has("projectID") || has("directory")) && has("version");
    let is_older_session = has("time.created") && has("title") && has("version") && !has("messages");
    let is_message = has("sessionID") && has("role") && (has("time") || has("time.created"));
    let is_first_message = has("metadata.sessionID") && has("role") && has("parts");
    let is_part = has("sessionID") && has("messageID") && has("type");
    has("id") && (is_session || is_older_session || is_message || is_first_message || is_part)
}

/// True if the database or its write-ahead log contains the words of a schema with sessions, messages and parts. While
/// a database is in use, its schema may be only in the log.
fn is_database(catalog: &Catalog, member: &Member, head: &[u8]) -> bool {
    let log = write_ahead_log(catalog, member);
    let log = log.and_then(|m| catalog.head(m, 4 * HEAD_BYTES).ok()).unwrap_or_default();
    let longer_head = catalog.head(member, 4 * HEAD_BYTES).unwrap_or_default();
    let has = |word: &[u8]| [head, &longer_head, &log].iter().any(|bytes| memmem::find(bytes, word).is_some());
    has(b"session_id") && has(b"message_id") && has(b"time_created") && has(b"part") && has(b"directory")
}
