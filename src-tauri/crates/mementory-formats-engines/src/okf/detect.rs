//! Detects bundles of the Open Knowledge Format. A folder is a bundle if it states a version, or if at least four
//! fifths of the concepts in a sample have a `type` in their frontmatter and the folder has an index or members that
//! only this format has.
use super::is_reserved;
use mementory_format::{Catalog, Claim, Member, Role};
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_folder::{NoteFolder, note_folders};
use mementory_formats_shared::text_head::text_head;

/// Number of bytes at the beginning of a concept that detection reads.
const HEAD_BYTES: usize = 16 << 10;
/// Largest number of concepts in a folder that detection reads.
const SAMPLE_COUNT: usize = 40;
/// Members of the frontmatter that occur only in this format, if their values are structured.
const OKF_MEMBERS: [&str; 6] = ["generated", "verified", "stale_after", "sources", "usage_window", "runtime"];

/// Returns one claim for each bundle. If the user selected this format (`is_selected`), every folder with notes is
/// claimed.
pub(super) fn claims(catalog: &Catalog, is_selected: bool) -> Vec<Claim> {
    let mut out = Vec::new();
    for folder in note_folders(catalog) {
        let version = stated_version(catalog, &folder);
        let sample = Sample::read(catalog, &folder);
        let (confidence, reason) = match &version {
            Some(version) => (0.95, format!("A knowledge bundle whose index states version {version}")),
            None if sample.is_bundle(&folder) => (
                0.85,
                format!(
                    "Markdown concepts with a type, as in a knowledge bundle ({} of {})",
                    sample.typed_count, sample.concept_count
                ),
            ),
            None if is_selected => (0.5, "Markdown that may be a knowledge bundle".to_owned()),
            None => continue,
        };
        let mut parts = folder.parts(Role::Records);
        for part in parts.iter_mut().filter(|part| part.role == Role::Records) {
            let member = catalog.members().get(part.member).filter(|member| is_reserved(member.file_name()));
            if member.is_some_and(|member| !has_type(catalog, member)) {
                part.role = Role::Sidecar;
            }
        }
        out.push(Claim { version, confidence, reason, parts, missing_parts: vec![] });
    }
    out
}

/// True if the frontmatter of a file has a `type`. Such a file is a concept even if its name is reserved, because some
/// programs write concepts under reserved names.
fn has_type(catalog: &Catalog, member: &Member) -> bool {
    text_head(catalog, member, HEAD_BYTES).is_some_and(|text| Note::parse(&text).text("type").is_some())
}

/// Returns the value of `okf_version`. By the specification, the index at the top states it in its frontmatter, but
/// many programs write it into a concept instead.
fn stated_version(catalog: &Catalog, folder: &NoteFolder) -> Option<String> {
    let members = folder.notes.iter().filter_map(|id| catalog.members().get(*id));
    let is_top_index = |member: &&Member| {
        !folder.is_single_file
            && member.file_name().eq_ignore_ascii_case("index.md")
            && !folder.path(member).contains('/')
    };
    let version = |member: &Member| Note::parse(&text_head(catalog, member, HEAD_BYTES)?).text("okf_version");
    let index = members.clone().find(is_top_index).and_then(version);
    index.or_else(|| folder.sample(5).filter_map(|id| catalog.members().get(id)).find_map(version))
}

/// Counts of the concepts in a sample of a folder.
#[derive(Default)]
struct Sample {
    concept_count: usize,
    typed_count: usize,
    /// Number of concepts with members that only this format has.
    okf_count: usize,
    /// Number of concepts with a member of another format.
    foreign_count: usize,
    has_index: bool,
}

impl Sample {
    fn read(catalog: &Catalog, folder: &NoteFolder) -> Self {
        let mut out = Self::default();
        for id in folder.sample(SAMPLE_COUNT) {
            let Some(member) = catalog.members().get(id) else { continue };
            if is_reserved(member.file_name()) {
                out.has_index = true;
                continue;
            }
            let Some(text) = text_head(catalog, member, HEAD_BYTES) else { continue };
            let note = Note::parse(&text);
            out.concept_count += 1;
            out.typed_count += usize::from(note.text("type").is_some());
            out.okf_count += usize::from(OKF_MEMBERS.iter().any(|key| note.value(key).is_some_and(is_structured)));
            out.foreign_count += usize::from(note.value("permalink").is_some() || note.value("name").is_some());
        }
        out
    }

    /// True if the sample is from a bundle: at least four fifths of its concepts have a type, no concept has members of
    /// another format, and there are members of this format or an index.
    fn is_bundle(&self, folder: &NoteFolder) -> bool {
        let is_typed = self.typed_count > 0 && 5 * self.typed_count >= 4 * self.concept_count;
        let has_okf_marks = self.okf_count > 0 || self.has_index && !folder.is_vault;
        is_typed && has_okf_marks && self.foreign_count == 0 && !folder.is_single_file && !folder.is_workspace
    }
}

/// True for a list, a mapping, or a text that begins like a date (`20…`). A concept with a plain word as the value of
/// one of [`OKF_MEMBERS`] is of another format.
fn is_structured(value: &serde_json::Value) -> bool {
    value.is_array() || value.is_object() || value.as_str().is_some_and(|text| text.starts_with("20"))
}
