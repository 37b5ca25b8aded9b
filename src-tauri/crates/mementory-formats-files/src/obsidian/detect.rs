//! Detects vaults of Obsidian by their settings, and folders that are mostly Markdown.
use mementory_format::{Catalog, Claim, Role};
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_folder::{NoteFolder, note_folders};
use mementory_formats_shared::text_head::text_head;

/// Number of bytes of a note that detection reads.
const HEAD_BYTES: usize = 8 << 10;
/// Smallest number of notes for which a folder without settings is detected with high confidence. Fewer notes may be
/// memory lists, which another format reads.
const MIN_NOTES: usize = 5;

/// One claim for each vault and for each folder of notes. If the user selected this format (`is_selected`), any folder
/// with a note and any single note is claimed.
pub(super) fn claims(catalog: &Catalog, is_selected: bool) -> Vec<Claim> {
    note_folders(catalog).iter().filter_map(|folder| claim(catalog, folder, is_selected)).collect()
}

fn claim(catalog: &Catalog, folder: &NoteFolder, is_selected: bool) -> Option<Claim> {
    let count = folder.notes.len();
    let (version, confidence, reason) = if folder.is_vault {
        ("vault", 0.78, format!("A vault of Obsidian with {count} notes"))
    } else if folder.is_single_file {
        if !is_selected && !looks_like_note(catalog, folder) {
            return None;
        }
        ("note", 0.4, "A Markdown note".to_owned())
    } else if is_selected || folder.is_mostly_notes() && !folder.is_workspace {
        let confidence = if count >= MIN_NOTES { 0.78 } else { 0.4 };
        ("folder", confidence, format!("A folder with {count} Markdown notes"))
    } else {
        return None;
    };
    Some(Claim {
        version: Some(version.into()),
        confidence,
        reason,
        parts: folder.parts(Role::Records),
        missing_parts: vec![],
    })
}

/// True if a single file has features of notes: frontmatter, or links to other notes.
fn looks_like_note(catalog: &Catalog, folder: &NoteFolder) -> bool {
    let member = folder.notes.first().and_then(|id| catalog.members().get(*id));
    let Some(text) = member.and_then(|member| text_head(catalog, member, HEAD_BYTES)) else { return false };
    let note = Note::parse(&text);
    note.has_head && !note.head.is_empty() || note.body.contains("[[")
}
