//! Detects files of Cursor: databases by words in the first pages of the database or of its write-ahead log, and
//! transcripts by their lines.
use super::{dump, text_transcript};
use memchr::memmem;
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::json_head;
use mementory_formats_shared::jsonl_session::head_lines;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::sqlite::{SQLITE_MAGIC, log_files, write_ahead_log};
use mementory_formats_shared::text_head::text_head;

/// Number of bytes at the beginning of a database, and of its write-ahead log, that detection reads.
const HEAD_BYTES: usize = 256 << 10;
/// Number of bytes at the beginning of a file that are examined for the first speaker of a text transcript.
const FIRST_BYTES: usize = 64;
/// Words that occur in Cursor's databases, but not in those of other editors with the same tables.
const CURSOR_WORDS: [&[u8]; 7] = [
    b"cursorDiskKV",
    b"composer.composerData",
    b"composer.composerHeaders",
    b"aiService.",
    b"workbench.panel.aichat",
    b"cursorAuth/",
    b"cursorai/",
];
/// The word `latestRootBlobId` in hexadecimal digits. A chat's `store.db` contains JSON in this encoding.
const ROOT_IN_HEX: &[u8] = b"6c6174657374526f6f74426c6f624964";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// `state.vscdb`, either of the whole program or of one workspace.
    State,
    /// `store.db` of one chat.
    Store,
    /// A transcript as JSON lines.
    Transcript,
    /// A transcript as text.
    TextTranscript,
    /// Values of the database in a file.
    Dump,
}

/// One claim for all files of Cursor in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts = Vec::new();
    for member in catalog.members() {
        let Some(kind) = file_kind(catalog, member) else { continue };
        parts.push(Part { member: member.id, role: Role::Conversations });
        if matches!(kind, FileKind::Transcript | FileKind::TextTranscript | FileKind::Dump) {
            continue;
        }
        parts.extend(log_files(catalog, member).map(|m| Part { member: m.id, role: Role::Sidecar }));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.95,
        reason: format!("Found {} files of Cursor", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

/// The kind of a file. None if the file is not from Cursor.
pub(super) fn file_kind(catalog: &Catalog, member: &Member) -> Option<FileKind> {
    let head = catalog.head(member, SQLITE_MAGIC.len()).ok()?;
    if !head.starts_with(SQLITE_MAGIC) {
        let start = text_head(catalog, member, FIRST_BYTES)?;
        if ["user:", "assistant:"].iter().any(|role| start.trim_start().starts_with(role)) {
            let is_text = text_transcript::is_transcript(&text_head(catalog, member, HEAD_BYTES)?);
            return is_text.then_some(FileKind::TextTranscript);
        }
        if dump::is_dump(catalog, member) {
            return Some(FileKind::Dump);
        }
        return is_transcript(catalog, member).then_some(FileKind::Transcript);
    }
    let log = write_ahead_log(catalog, member);
    let heads: Vec<Vec<u8>> =
        [Some(member), log].into_iter().flatten().filter_map(|m| catalog.head(m, HEAD_BYTES).ok()).collect();
    let has = |word: &[u8]| heads.iter().any(|head| memmem::find(head, word).is_some());
    let is_state = has(b"cursorDiskKV") || has(b"ItemTable") && CURSOR_WORDS.iter().any(|word| has(word));
    if is_state {
        return Some(FileKind::State);
    }
    let is_store = has(b"blobs") && has(b"meta") && (has(ROOT_IN_HEX) || has(b"latestRootBlobId"));
    is_store.then_some(FileKind::Store)
}

/// True for a file whose lines are messages with a role, but without a type or an id. Lines that report an error or the
/// end of a turn may have no role.
fn is_transcript(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if json_head::is_markdown_in_folder(member) || matches!(ending, "html" | "png" | "jpg" | "csv" | "toml") {
        return false;
    }
    let lines = head_lines(catalog, member).unwrap_or_default();
    let is_message = |line: &Object<'_>| {
        let has_content = line.object("message").is_some_and(|m| m.has("content"));
        has_content && line.has("role") && !line.has("type") && !line.has("uuid") && !line.has("id")
    };
    let is_report = |line: &Object<'_>| {
        let kind = line.text("type").unwrap_or_default();
        !line.has("role") && !line.has("message") && (kind == "error" || kind.starts_with("turn_"))
    };
    let objects: Vec<Object<'_>> = lines.iter().filter_map(|line| Object::parse(line)).collect();
    objects.iter().any(is_message) && objects.iter().all(|line| is_message(line) || is_report(line))
}
