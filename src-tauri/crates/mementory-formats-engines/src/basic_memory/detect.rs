//! Detects notes of Basic Memory by their frontmatter, observations and relations.
use super::database;
use super::lines::{observation, relation};
use mementory_format::{Catalog, Claim, Role};
use mementory_formats_shared::markdown::outline;
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_folder::{NoteFolder, note_folders};
use mementory_formats_shared::sqlite_rows;
use mementory_formats_shared::text_head::text_head;

/// Number of bytes at the beginning of a note that detection reads.
const HEAD_BYTES: usize = 16 << 10;
/// Largest number of notes in a folder that detection reads.
const SAMPLE_COUNT: usize = 40;

/// Returns one claim for each database, and for each folder or single file of which Basic Memory wrote at least half of
/// the notes in a sample. If the user selected this format (`is_selected`), all notes are claimed.
pub(super) fn claims(catalog: &Catalog, is_selected: bool) -> Vec<Claim> {
    let mut out = Vec::new();
    for folder in note_folders(catalog) {
        let (note_count, marked_count) = count(catalog, &folder);
        if !(is_selected || marked_count > 0 && 2 * marked_count >= note_count) {
            continue;
        }
        out.push(Claim {
            version: None,
            // If no note is certainly from Basic Memory, there is a claim only because the user selected the format.
            // Then any program may have written the notes.
            confidence: if marked_count > 0 { 0.85 } else { 0.2 },
            reason: format!(
                "Notes with a permalink, observations or relations, as Basic Memory writes them \
                 ({marked_count} of {note_count})"
            ),
            parts: folder.parts(Role::Memories),
            missing_parts: vec![],
        });
    }
    let reason = "The database of Basic Memory";
    out.extend(sqlite_rows::claims(catalog, 0.85, reason, database::is_database));
    out
}

/// Returns the number of notes in a sample of the folder, and how many of them Basic Memory wrote.
fn count(catalog: &Catalog, folder: &NoteFolder) -> (usize, usize) {
    let (mut note_count, mut marked_count) = (0, 0);
    for id in folder.sample(SAMPLE_COUNT) {
        let Some(member) = catalog.members().get(id) else { continue };
        let Some(text) = text_head(catalog, member, HEAD_BYTES) else { continue };
        note_count += 1;
        marked_count += usize::from(is_marked(&text));
    }
    (note_count, marked_count)
}

pub(super) fn is_marked(text: &str) -> bool {
    let note = Note::parse(text);
    if !note.has_head {
        return false;
    }
    if note.text("permalink").is_some() && note.text("title").is_some() && note.text("type").is_some() {
        return true;
    }
    let note_outline = outline(note.body);
    let items = || note_outline.items.iter().filter_map(|item| note.body.get(item.span.clone()));
    let observation_count = items().filter(|item| observation(item).is_some_and(|o| o.category.is_some())).count();
    let relation_count = items().filter(|item| relation(item).is_some_and(|r| r.kind.is_some())).count();
    observation_count > 0 && relation_count > 0 && note.text("type").is_some()
}
