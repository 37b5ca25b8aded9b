//! Detects memory lists and copied conversations. Any other text is claimed only if it was pasted or if the user
//! selected this format.
use super::{
    entries::{self, Entries},
    transcript,
};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_formats_shared::note_folder::note_folders;
use std::collections::BTreeSet;

/// Number of bytes that detection reads.
const HEAD_BYTES: usize = 64 << 10;

/// Kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// The answer to an import prompt, with dated lines under headings.
    ImportAnswer,
    /// A copied memory page with one sentence per line.
    MemoryLines,
    /// A copied conversation.
    Transcript,
    /// Any other text that was pasted, or for which the user chose this format.
    Plain,
}

impl TextKind {
    /// Stable name, used as the `version` of the claim.
    pub fn as_str(self) -> &'static str {
        match self {
            TextKind::ImportAnswer => "import_answer",
            TextKind::MemoryLines => "memory_lines",
            TextKind::Transcript => "transcript",
            TextKind::Plain => "plain",
        }
    }
}

/// Headings of the answer to Claude's import prompt.
const CLAUDE_HEADINGS: [&str; 5] = ["instructions", "identity", "career", "projects", "preferences"];
/// One claim for each text member. If `is_selected` is true, the user selected this format, so any text is claimed.
pub(super) fn claims(catalog: &Catalog, is_selected: bool) -> Result<Vec<Claim>, FormatError> {
    let mut out = Vec::new();
    let notes = if is_selected { BTreeSet::new() } else { notes_of_large_folders(catalog) };
    for member in catalog.members().iter().filter(|member| !notes.contains(&member.id)) {
        let pasted = member.place == "pasted text" && member.archive.is_none();
        let ending = member.file_name().rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase());
        let has_text_ending = matches!(ending.as_deref(), Some("txt" | "md" | "markdown" | "text"));
        if !(pasted || has_text_ending || (is_selected && member.depth == 0)) {
            continue;
        }
        let Ok(head) = catalog.head(member, HEAD_BYTES) else { continue };
        let Some(text) = super::decode(&head, head.len() < HEAD_BYTES).map(|(text, _)| entries::unix_line_ends(&text))
        else {
            continue;
        };
        if text.trim().is_empty() || (looks_like_json(&text) && !is_selected) {
            continue;
        }
        let detected_kind = detect_kind(&text, member, pasted);
        let (kind, confidence, reason) = match detected_kind {
            Some(found) => found,
            None if pasted || is_selected => (TextKind::Plain, 0.5, "Plain text: one memory per paragraph".into()),
            None => continue,
        };
        out.push(Claim {
            version: Some(kind.as_str().into()),
            confidence,
            reason,
            parts: vec![Part { member: member.id, role: Role::Memories }],
            missing_parts: vec![],
        });
    }
    Ok(out)
}

/// A folder with more notes than this is no collection of copied texts, and reading all of them would take long.
const MOST_NOTES: usize = 200;

/// The notes of vaults and of other large folders of Markdown, which have their own format.
fn notes_of_large_folders(catalog: &Catalog) -> BTreeSet<usize> {
    let folders = note_folders(catalog).into_iter();
    let large =
        folders.filter(|folder| folder.notes.len() > MOST_NOTES && (folder.is_vault || folder.is_mostly_notes()));
    large.flat_map(|folder| folder.notes).collect()
}

/// True for a text that begins like JSON. A bracket `[` alone is not enough, because dates are in brackets too.
fn looks_like_json(text: &str) -> bool {
    let text = text.trim_start();
    let inside = text.trim_start_matches('[').trim_start();
    if let Some(object) = inside.strip_prefix('{') {
        // Invalid JSON (NaN, control characters, truncated) is repaired and reported by other formats.
        return object.trim_start().starts_with(['"', '}']);
    }
    text.starts_with('[') && (inside.starts_with('"') || is_json(text))
}

/// True for a sequence of JSON values, of which the last may be truncated.
fn is_json(text: &str) -> bool {
    let values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    for value in values {
        match value {
            Ok(_) => {}
            Err(e) => return e.is_eof(),
        }
    }
    true
}

/// Kind of a text, confidence and reason. None if the text is of no known kind.
fn detect_kind(text: &str, member: &Member, pasted: bool) -> Option<(TextKind, f64, String)> {
    let found = entries::read(text);
    let known_heading_count = count_known_headings(&found);
    let is_dated_list = found.dated_count >= 2 || (found.dated_count == 1 && known_heading_count >= 1);
    // A diary has dates as well, but much more text between them.
    let mostly_entries = 2 * found.dated_count >= found.marked_count
        && (found.is_from_code_fences || known_heading_count >= 1 || 4 * found.dated_count >= found.entries.len());
    if is_dated_list && mostly_entries {
        let reason =
            format!("Found {} entries with a date in front, as an assistant lists its memories", found.dated_count);
        return Some((TextKind::ImportAnswer, 0.7, reason));
    }
    if found.bracketed_count >= 2 && 3 * found.bracketed_count >= 2 * found.entries.len() {
        let reason =
            format!("Found {} entries led by words in brackets, as an import prompt asks for", found.bracketed_count);
        return Some((TextKind::ImportAnswer, 0.6, reason));
    }
    if let Some(transcript) = transcript::read(text) {
        // A copied conversation begins with its first turn, while a note may quote a conversation further down.
        let first = text.lines().position(|l| !l.trim().is_empty()).map_or(0, |i| i + 1);
        let begins_early = transcript.turns[0].line <= first + 3;
        if begins_early || pasted {
            let reason = format!("Found a copied conversation of {} turns", transcript.turns.len());
            return Some((TextKind::Transcript, 0.6, reason));
        }
    }
    if known_heading_count >= 3 && !found.entries.is_empty() {
        let reason = "Found the headings that an assistant uses to list its memories".into();
        return Some((TextKind::ImportAnswer, 0.6, reason));
    }
    let name = member.file_name().to_lowercase();
    let is_named_memories =
        name.contains("memor") && !name.ends_with(".md") || text.to_lowercase().contains("saved memories");
    let has_sentence_lines = found.has_one_sentence_per_line && found.sections.len() <= 1;
    if has_sentence_lines && (is_named_memories || most_open_like_memories(&found)) {
        let reason = format!("Found {} sentences, one per line, as in a list of saved memories", found.entries.len());
        return Some((TextKind::MemoryLines, if is_named_memories { 0.6 } else { 0.5 }, reason));
    }
    None
}

/// Number of headings of the answer to Claude's import prompt that the text has.
pub(super) fn count_known_headings(found: &Entries) -> usize {
    CLAUDE_HEADINGS.iter().filter(|h| found.sections.iter().any(|s| s.to_lowercase() == **h)).count()
}

/// True if at least two entries, and at least two thirds of all, begin like saved memories.
fn most_open_like_memories(found: &Entries) -> bool {
    let count = found.entries.iter().filter(|e| entries::opens_like_memory(&e.content)).count();
    count >= 2 && 3 * count >= 2 * found.entries.len()
}
