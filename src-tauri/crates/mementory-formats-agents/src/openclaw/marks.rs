//! Recognises a workspace without an identity by the content of its files. One file is not enough, because other
//! programs and people use the same names: a folder of notes may have a `USER.md`, and many projects an `AGENTS.md`.
use mementory_format::{Catalog, Member};
use mementory_formats_shared::text_head::text_head;
use std::collections::HashSet;

/// Number of bytes at the beginning of a file that detection reads.
const HEAD_BYTES: usize = 16 << 10;
/// Number of recognised files that a folder needs to be detected as a workspace.
const MIN_WORKSPACE_FILES: usize = 2;
/// Words that only occur in the `AGENTS.md` of OpenClaw and similar runtimes.
const RULES_WORDS: [&str; 4] = ["SOUL.md", "HEARTBEAT.md", "BOOTSTRAP.md", "memory/YYYY-MM-DD"];

/// Root, archive and folder of a workspace.
pub(super) type Folder<'m> = (usize, Option<usize>, &'m str);

/// The folders that have a subfolder `memory` with Markdown files.
pub(super) fn memory_folders(catalog: &Catalog) -> HashSet<Folder<'_>> {
    let notes = catalog.members().iter().filter(|member| member.file_name().to_ascii_lowercase().ends_with(".md"));
    notes
        .filter_map(|note| Some((note.root, note.archive, folder_of(&note.name).strip_suffix("memory/")?)))
        .filter(|(_, _, folder)| folder.is_empty() || folder.ends_with('/'))
        .collect()
}

/// True if at least [`MIN_WORKSPACE_FILES`] of the files in `folder` look like files of an agent or of its template.
pub(super) fn has_marked_files(
    catalog: &Catalog,
    members: &[&Member],
    folder: &str,
    memory_folders: &HashSet<Folder<'_>>,
) -> bool {
    let files_in_folder = members.iter().filter(|member| folder_of(&member.name) == folder);
    let is_marked = |member: &&&Member| {
        let has_notes = || memory_folders.contains(&(member.root, member.archive, folder));
        let Some(text) = text_head(catalog, member, HEAD_BYTES) else { return false };
        match member.file_name() {
            // Other agents also use this file name, but without a folder of notes next to the file.
            "MEMORY.md" => has_notes() && has_heading(&text, &["memory", "long-term memory", "curated memory"]),
            // Any project may have this file, so it must contain words of an agent's rules.
            "AGENTS.md" => RULES_WORDS.iter().filter(|word| text.contains(**word)).count() >= 2,
            "USER.md" => has_heading(&text, &["user"]) || has_labels(&text, &["What to call them", "Timezone"]),
            "IDENTITY.md" => has_heading(&text, &["identity"]) || has_labels(&text, &["Creature", "Vibe", "Emoji"]),
            "TOOLS.md" => has_heading(&text, &["tools"]),
            "HEARTBEAT.md" => has_heading(&text, &["heartbeat"]),
            "BOOT.md" => has_heading(&text, &["boot"]),
            "BOOTSTRAP.md" => has_heading(&text, &["bootstrap"]),
            _ => false,
        }
    };
    files_in_folder.filter(is_marked).take(MIN_WORKSPACE_FILES).count() == MIN_WORKSPACE_FILES
}

/// True if the first heading is one of these names, or begins with one of them and `.md`, as in the templates
/// (`# USER.md - About Your Human`).
fn has_heading(text: &str, names: &[&str]) -> bool {
    let Some(heading) = text.lines().find_map(|line| line.trim_start_matches('\u{feff}').strip_prefix("# ")) else {
        return false;
    };
    let heading = heading.trim().to_lowercase();
    names.iter().any(|name| heading.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(".md")))
}

/// True if the text has a label `Name` and one of these labels, even without values.
fn has_labels(text: &str, labels: &[&str]) -> bool {
    has_label(text, "Name") && labels.iter().any(|label| has_label(text, label))
}

/// True if a line begins with the label and a colon. The line may be a list item, and the label may be bold.
fn has_label(text: &str, label: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || "-*".contains(c));
        let Some((start, rest)) = line.split_at_checked(label.len()) else { return false };
        start.eq_ignore_ascii_case(label) && rest.trim_start_matches('*').starts_with(':')
    })
}

/// The folder part of a file's path, including the `/` at the end.
pub(super) fn folder_of(name: &str) -> &str {
    name.rfind('/').and_then(|at| name.get(..=at)).unwrap_or_default()
}
