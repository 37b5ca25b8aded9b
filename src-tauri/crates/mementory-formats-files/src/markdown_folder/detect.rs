//! Detects the files that this format wrote, by their first line.
use super::{CONVERSATIONS, FILES, FORMAT_MARK, VERSION};
use mementory_format::{Catalog, Claim, Member, Part, Role};
use std::collections::BTreeMap;

/// One claim for each folder. The claim includes the folder's files to which records may refer.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut folders: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| is_note(catalog, member)) {
        let dir = dir_of(&member.place);
        let top = strip_folder(dir, CONVERSATIONS).unwrap_or(dir);
        folders.entry(top).or_default().push(Part { member: member.id, role: Role::Records });
    }
    for member in catalog.members() {
        let Some(top) = strip_folder(dir_of(&member.place), FILES) else { continue };
        if let Some(parts) = folders.get_mut(top) {
            parts.push(Part { member: member.id, role: Role::Attachment });
        }
    }
    let claim = |parts: Vec<Part>| Claim {
        version: Some(VERSION.into()),
        confidence: 1.0,
        reason: format!("A folder of Markdown that Mementory wrote ({} files)", parts.len()),
        parts,
        missing_parts: vec![],
    };
    folders.into_values().map(claim).collect()
}

fn is_note(catalog: &Catalog, member: &Member) -> bool {
    member.file_name().to_ascii_lowercase().ends_with(".md")
        && catalog.head(member, FORMAT_MARK.len() + 3).is_ok_and(|head| {
            let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
            head.starts_with(FORMAT_MARK.as_bytes())
        })
}

fn dir_of(place: &str) -> &str {
    place.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// The parent of `dir`, if the last part of `dir` is `name`.
fn strip_folder<'d>(dir: &'d str, name: &str) -> Option<&'d str> {
    let parent = dir.strip_suffix(name)?;
    if parent.is_empty() { Some("") } else { parent.strip_suffix('/') }
}
