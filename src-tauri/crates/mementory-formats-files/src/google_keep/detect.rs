//! Detects notes by their JSON members, because Takeout translates the name of the folder and names each file after the
//! title of its note.
use super::files::Files;
use super::{ATTACHMENTS, FILE_PATH};
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use mementory_formats_shared::files::{extension, folder, root_of, without_extension};
use mementory_formats_shared::json_head::candidate_head;
use mementory_formats_shared::object::Object;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Members with the times of a note. Older exports have only the first.
const TIME_KEYS: [&str; 2] = ["userEditedTimestampUsec", "createdTimestampUsec"];
/// Members that every note has.
const STATE_KEYS: [&str; 3] = ["isTrashed", "isPinned", "isArchived"];
/// Members with what a note contains.
const CONTENT_KEYS: [&str; 4] = ["textContent", "listContent", "textContentHtml", ATTACHMENTS];
/// File with the names of all labels.
const LABELS_FILE: &str = "Labels.txt";
/// Largest note in bytes whose files are determined.
const MAX_NOTE_BYTES: u64 = 4 << 20;

/// Where the files of a note are: the selected folder, unless they are in an archive, and the folder inside it. The
/// archives of one Takeout have the same folders, and a note and its picture may be in two of them.
type Place<'m> = (Option<usize>, &'m str);

/// Returns one claim for each folder with notes.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut notes: BTreeMap<Place<'_>, Vec<&Member>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| is_note(catalog, member)) {
        notes.entry(place_of(member)).or_default().push(member);
    }
    if notes.is_empty() {
        return Vec::new();
    }
    let note_ids: HashSet<usize> = notes.values().flatten().map(|member| member.id).collect();
    let mut others: BTreeMap<Place<'_>, Vec<&Member>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| !note_ids.contains(&member.id)) {
        if notes.contains_key(&place_of(member)) {
            others.entry(place_of(member)).or_default().push(member);
        }
    }
    notes
        .iter()
        .map(|(place, notes)| claim(catalog, notes, others.get(place).map(Vec::as_slice).unwrap_or_default()))
        .collect()
}

fn place_of(member: &Member) -> Place<'_> {
    (root_of(member).filter(|_| member.archive.is_none()), folder(&member.name))
}

/// True for a file with one note. The text may come before the times and fill the part of the file that is examined, so
/// the times are not required in a file that is longer.
fn is_note(catalog: &Catalog, member: &Member) -> bool {
    let Some(head) = candidate_head(catalog, member).filter(|head| head.first == b'{') else { return false };
    let has_one = |keys: &[&str]| keys.iter().any(|key| head.keys.has(key));
    let is_longer = member.size > JsonHead::BYTES as u64;
    has_one(&TIME_KEYS) && has_one(&STATE_KEYS)
        || is_longer && STATE_KEYS.iter().all(|key| head.keys.has(key)) && has_one(&CONTENT_KEYS)
}

/// The claim of the notes in one folder. `others` are the other files in this folder, of which only those that belong
/// to the notes are claimed.
fn claim(catalog: &Catalog, notes: &[&Member], others: &[&Member]) -> Claim {
    let titles: HashSet<&str> = notes.iter().map(|member| without_extension(member.file_name())).collect();
    let is_page = |member: &Member| {
        let is_html = extension(&member.name).is_some_and(|extension| extension == "html");
        is_html && titles.contains(without_extension(member.file_name()))
    };
    let files = Files::new(others.iter().copied().filter(|member| !is_page(member)));
    let file_ids: BTreeSet<usize> = notes
        .iter()
        .flat_map(|note| file_paths(catalog, note))
        .filter_map(|path| files.find(&path))
        .map(|file| file.id)
        .collect();
    let role_of = |member: &Member| {
        if file_ids.contains(&member.id) {
            return Some(Role::Attachment);
        }
        if is_page(member) {
            return Some(Role::DuplicateRendering);
        }
        (member.file_name() == LABELS_FILE).then_some(Role::Sidecar)
    };
    let mut parts: Vec<Part> = notes.iter().map(|member| Part { member: member.id, role: Role::Records }).collect();
    parts.extend(others.iter().filter_map(|member| Some(Part { member: member.id, role: role_of(member)? })));
    Claim {
        version: None,
        confidence: 0.95,
        reason: match notes.len() {
            1 => "a note of Google Keep".into(),
            count => format!("{count} notes of Google Keep"),
        },
        parts,
        missing_parts: vec![],
    }
}

/// The names of the files that a note lists. Empty if the note cannot be read.
fn file_paths(catalog: &Catalog, note: &Member) -> Vec<String> {
    let has_files = candidate_head(catalog, note)
        .is_some_and(|head| head.keys.has(&format!("{ATTACHMENTS}.{FILE_PATH}")) || note.size > JsonHead::BYTES as u64);
    if !has_files {
        return Vec::new();
    }
    let bytes = catalog.bytes(note, MAX_NOTE_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let object = Object::parse(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    object.objects(ATTACHMENTS).filter_map(|file| Some(file.non_blank_text(FILE_PATH)?.into_owned())).collect()
}
