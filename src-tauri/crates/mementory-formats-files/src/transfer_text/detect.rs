//! Detects memory lists and copied conversations. Any other text is claimed only if it was pasted or if the user
//! selected this format.
use super::{
    cascade,
    entries::{self, Entries},
    head, programs, transcript,
};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_formats_shared::note_folder::note_folders;
use mementory_formats_shared::text_head::text_head;
use std::collections::{BTreeMap, BTreeSet};

/// Number of bytes that detection reads.
const HEAD_BYTES: usize = 64 << 10;

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
/// Words for memories in the names of files.
const MEMORY_WORDS: [&str; 12] = [
    "memor",
    "mémoire",
    "erinnerung",
    "souvenir",
    "recuerdo",
    "herinnering",
    "wspomnie",
    "воспоминан",
    "メモリ",
    "메모리",
    "记忆",
    "記憶",
];
/// One claim for each text member. If `is_selected` is true, the user selected this format, so any text is claimed.
pub(super) fn claims(catalog: &Catalog, is_selected: bool) -> Result<Vec<Claim>, FormatError> {
    let mut out = Vec::new();
    let notes = if is_selected { BTreeSet::new() } else { notes_of_large_folders(catalog) };
    let in_vaults = if is_selected { BTreeSet::new() } else { notes_of_vaults(catalog) };
    let mut exported_claims: BTreeMap<(usize, Option<usize>), Claim> = BTreeMap::new();
    for member in catalog.members() {
        // A conversation from SpecStory or Cascade is recognised by its first line, and a conversation from Convoviz by
        // its front matter. These conversations are claimed even among notes.
        if notes.contains(&member.id) && !is_marked_export(catalog, member) {
            continue;
        }
        let is_pasted = member.place == "pasted text" && member.archive.is_none();
        let ending = member.file_name().rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase());
        let has_text_ending = matches!(ending.as_deref(), Some("txt" | "md" | "markdown" | "text"));
        let is_alone_without_ending = ending.is_none() && member.is_selected_alone();
        if !(is_pasted || has_text_ending || is_alone_without_ending || (is_selected && member.depth == 0)) {
            continue;
        }
        let Ok(head) = catalog.head(member, HEAD_BYTES) else { continue };
        let part = Part { member: member.id, role: Role::Memories };
        if head.starts_with(EXPORT_MARK.as_bytes()) {
            let claim = exported_claims.entry((member.root, member.archive)).or_insert_with(exported_claim);
            claim.parts.push(part);
            claim.reason = format!("Found {} conversations in Markdown, as SpecStory writes them", claim.parts.len());
            continue;
        }
        let Some(text) = super::decode(&head, head.len() < HEAD_BYTES).map(|(text, _)| entries::unix_line_ends(&text))
        else {
            continue;
        };
        // A PDF is not a text, even if its first bytes are all letters.
        if text.trim().is_empty() || text.starts_with("%PDF-") || (looks_like_json(&text) && !is_selected) {
            continue;
        }
        let detected_kind = detect_kind(&text, member, is_pasted);
        let (kind, confidence, reason) = match detected_kind {
            // In a vault, a conversation is also a note to which other notes may link, so its confidence is lower.
            Some((kind, _, reason)) if in_vaults.contains(&member.id) => (kind, 0.6, reason),
            Some(found) => found,
            // The confidence is so low that, if no format claims the file, a format that recognises part of it is
            // suggested before plain text.
            None if looks_like_json(&text) => {
                (TextKind::Plain, 0.15, "JSON in no known shape, read as plain text".into())
            }
            None if is_pasted || is_selected => (TextKind::Plain, 0.5, "Plain text: one memory per paragraph".into()),
            None => continue,
        };
        out.push(Claim {
            version: Some(kind.as_str().into()),
            confidence,
            reason,
            parts: vec![part],
            missing_parts: vec![],
        });
    }
    out.extend(exported_claims.into_values());
    Ok(out)
}

/// First line of a conversation that SpecStory wrote.
const EXPORT_MARK: &str = "<!-- Generated by SpecStory";

/// Number of bytes at the start of a note that are searched for marks of an export. Longer front matter is not found.
const MARK_BYTES: usize = 4 << 10;

fn is_marked_export(catalog: &Catalog, member: &Member) -> bool {
    let text = entries::unix_line_ends(&text_head(catalog, member, MARK_BYTES).unwrap_or_default());
    text.starts_with(EXPORT_MARK) || cascade::is_export(&text) || head::front_matter_links_to_chat(&text)
}

fn exported_claim() -> Claim {
    Claim {
        version: Some(TextKind::Transcript.as_str().into()),
        confidence: 0.9,
        reason: String::new(),
        parts: Vec::new(),
        missing_parts: vec![],
    }
}

fn notes_of_vaults(catalog: &Catalog) -> BTreeSet<usize> {
    note_folders(catalog).into_iter().filter(|folder| folder.is_vault).flat_map(|folder| folder.notes).collect()
}

/// A folder with more notes than this is not a collection of copied texts, and reading all of them would take long.
const MAX_NOTES: usize = 200;

/// The notes in large folders that are vaults of a note program or contain mostly notes. Other formats read these
/// folders.
fn notes_of_large_folders(catalog: &Catalog) -> BTreeSet<usize> {
    let folders = note_folders(catalog).into_iter();
    let large_folders =
        folders.filter(|folder| folder.notes.len() > MAX_NOTES && (folder.is_vault || folder.is_mostly_notes()));
    large_folders.flat_map(|folder| folder.notes).collect()
}

/// True for a text that begins like JSON. An opening bracket is not enough, because a list of memories may begin with a
/// date in brackets.
fn looks_like_json(text: &str) -> bool {
    let text = text.trim_start();
    let inner_text = text.trim_start_matches('[').trim_start();
    if let Some(object) = inner_text.strip_prefix('{') {
        // Invalid JSON (NaN, control characters, truncated) is repaired and reported by other formats.
        return object.trim_start().starts_with(['"', '}']);
    }
    text.starts_with('[') && (inner_text.starts_with('"') || is_json(text))
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

/// Kind of a text, confidence and reason. None if the kind is not known.
fn detect_kind(text: &str, member: &Member, is_pasted: bool) -> Option<(TextKind, f64, String)> {
    if let Some(reason) = programs::reason(text, false) {
        return Some((TextKind::Transcript, 0.9, reason));
    }
    let list = entries::read(text);
    let known_heading_count = count_known_headings(&list);
    let is_dated_list = list.dated_count >= 2 || (list.dated_count == 1 && known_heading_count >= 1);
    // A diary has dates as well, but much more text between them.
    let is_mostly_entries = 2 * list.dated_count >= list.marked_count
        && (list.is_from_code_fences || known_heading_count >= 1 || 4 * list.dated_count >= list.entries.len());
    if is_dated_list && is_mostly_entries {
        let reason =
            format!("Found {} entries with a date in front, as an assistant lists its memories", list.dated_count);
        return Some((TextKind::ImportAnswer, 0.7, reason));
    }
    if list.bracketed_count >= 2 && 3 * list.bracketed_count >= 2 * list.entries.len() {
        let reason =
            format!("Found {} entries led by words in brackets, as an import prompt asks for", list.bracketed_count);
        return Some((TextKind::ImportAnswer, 0.6, reason));
    }
    let reason = programs::reason(text, true).or_else(|| programs::reason_of_name(text, member.file_name()));
    if let Some(reason) = reason {
        return Some((TextKind::Transcript, 0.9, reason));
    }
    if let Some(transcript) = transcript::read(text) {
        // A copied conversation begins with its first turn, while a note may quote a conversation further down.
        let first = text.lines().position(|l| !l.trim().is_empty()).map_or(0, |i| i + 1);
        let begins_early = transcript.turns.first().is_some_and(|turn| turn.line <= first + 3);
        let count = transcript.turns.len();
        let is_exported = transcript.is_exported() || transcript.is_labelled_export();
        if is_exported && transcript.has_only_a_head_before() {
            // The confidence is higher than that of a folder of notes, which would claim this file as a note.
            return Some((TextKind::Transcript, 0.85, format!("Found a conversation of {count} turns in Markdown")));
        }
        if begins_early || is_pasted {
            return Some((TextKind::Transcript, 0.6, format!("Found a copied conversation of {count} turns")));
        }
    }
    if known_heading_count >= 3 && !list.entries.is_empty() {
        let reason = "Found the headings that an assistant uses to list its memories".into();
        return Some((TextKind::ImportAnswer, 0.6, reason));
    }
    let name = member.file_name().to_lowercase();
    let has_name = MEMORY_WORDS.iter().any(|word| name.contains(*word)) && !name.ends_with(".md");
    let is_named_memories =
        has_name || entries::begins_with_page_title(text) || text.to_lowercase().contains("saved memories");
    let has_sentence_lines = list.has_one_sentence_per_line && list.sections.len() <= 1;
    if has_sentence_lines && (is_named_memories || most_entries_begin_like_memories(&list)) {
        let reason = format!("Found {} sentences, one per line, as in a list of saved memories", list.entries.len());
        return Some((TextKind::MemoryLines, if is_named_memories { 0.6 } else { 0.5 }, reason));
    }
    None
}

/// Counts the headings in the text that belong to the answer to Claude's import prompt.
pub(super) fn count_known_headings(list: &Entries) -> usize {
    CLAUDE_HEADINGS.iter().filter(|h| list.sections.iter().any(|s| s.to_lowercase() == **h)).count()
}

/// True if at least two entries, and at least two thirds of all, begin like saved memories.
fn most_entries_begin_like_memories(list: &Entries) -> bool {
    let count = list.entries.iter().filter(|e| entries::begins_like_memory(&e.content)).count();
    count >= 2 && 3 * count >= 2 * list.entries.len()
}
