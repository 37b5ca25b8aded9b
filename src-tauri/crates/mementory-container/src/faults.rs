//! Faults of archives that reading their entries does not reveal: contradictions in the structure, names that some
//! systems cannot tell apart, and damage in entries that no format reads. Validators report these faults, and an import
//! refuses them.
use super::{
    archive::Archive,
    zip::{self, Entry, EntryKind},
};
use crate::FormatError;
use mementory_model::{Issue, is_damage};
use std::{
    collections::{BTreeSet, HashMap},
    io::Read,
    sync::atomic::{AtomicBool, Ordering},
};
use unicode_normalization::UnicodeNormalization;

/// Kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Parts of the archive's structure contradict each other, by damage or forgery.
    Structure,
    /// A name that some systems do not accept or cannot distinguish from the name of another entry.
    Name,
    /// The bytes of an entry do not match their checksum or size.
    Damage,
}

/// A fault of an archive.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Number of the archive, as in [`crate::Member::archive`].
    pub archive: usize,
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Code of the fault, which is also in `issue`.
    pub code: &'static str,
    /// Code, place and message of the fault, as an issue.
    pub issue: Issue,
}

impl Fault {
    pub(super) fn new(archive: usize, kind: FaultKind, code: &'static str, place: String, message: &str) -> Self {
        Self { archive, kind, code, issue: Issue::new(code, place, message) }
    }

    /// True if the local header of an entry and the directory of the archive differ.
    pub fn is_header_difference(&self) -> bool {
        self.code == zip::HEADER_DIFFERS
    }
}

/// Faults of structure and names, found while listing an archive at `place`.
pub(super) fn listing_faults(
    archive: usize,
    place: &str,
    entries: &[Entry],
    contradictions: &[zip::Contradiction],
    is_tar: bool,
) -> Vec<Fault> {
    let place_of_entry =
        |index: usize| entries.get(index).map_or_else(|| place.to_owned(), |e| entry_place(place, &e.name));
    let structure = contradictions
        .iter()
        .map(|c| Fault::new(archive, FaultKind::Structure, c.code, place_of_entry(c.entry), c.message));
    let mut out: Vec<Fault> = structure.collect();
    let mut names_by_folded_name: HashMap<String, &str> = HashMap::new();
    for entry in entries.iter().filter(|e| e.kind() == EntryKind::Folder && e.size > 0) {
        let message = "a folder has content, which no program shows";
        let place = entry_place(place, &entry.name);
        out.push(Fault::new(archive, FaultKind::Structure, "container_folder_with_data", place, message));
    }
    for entry in entries.iter().filter(|e| e.kind() == EntryKind::Folder) {
        // `./` and `/` name the folder of the archive itself.
        let names_a_folder = entry.name.split(['/', '\\']).any(|part| !part.is_empty() && part != ".");
        if names_a_folder && zip::safe_name(&entry.name).is_err() {
            let message = "the name of a folder leads out of the archive";
            let place = entry_place(place, &entry.name);
            out.push(Fault::new(archive, FaultKind::Name, "container_unsafe_folder", place, message));
        }
    }
    for entry in entries.iter().filter(|e| e.kind() != EntryKind::Folder) {
        let name = entry.name.as_str();
        // A name that leads out of the archive is already reported as an issue.
        let Ok(safe) = zip::safe_name(name) else { continue };
        // Programs that write tar archives put `./` before every name. In a ZIP file, other programs do not find an
        // entry whose name starts with `./`.
        let parts = if is_tar { name.strip_prefix("./").unwrap_or(name) } else { name };
        let has_empty_part = parts.split('/').any(|part| part.is_empty() || part == ".");
        // A link is reported as a link, even if its name ends like that of a folder.
        if has_empty_part && entry.kind() != EntryKind::Link {
            let message = "a part of the name is empty";
            out.push(Fault::new(
                archive,
                FaultKind::Name,
                "container_empty_name_part",
                entry_place(place, name),
                message,
            ));
        }
        if safe.split('/').any(is_reserved_name) {
            let message = "some systems do not accept a part of the name";
            let place = entry_place(place, name);
            out.push(Fault::new(archive, FaultKind::Name, "container_reserved_name", place, message));
        }
        let key = folded_name(&safe);
        match names_by_folded_name.get(&key) {
            Some(other) if *other != name => {
                let message = "the name differs from that of another entry only by case or Unicode normalisation";
                let code = "container_similar_names";
                out.push(Fault::new(archive, FaultKind::Name, code, entry_place(place, name), message));
            }
            Some(_) => {} // A repeated name is reported as an issue.
            None => drop(names_by_folded_name.insert(key, name)),
        }
    }
    let folders = entries.iter().filter_map(|entry| {
        let name = zip::safe_name(&entry.name).ok()?;
        let folder =
            if entry.kind() == EntryKind::Folder { Some(&*name) } else { name.rsplit_once('/').map(|(f, _)| f) };
        folder.map(folded_name)
    });
    for folder in folders.collect::<BTreeSet<_>>() {
        // Looks for a file that is named like this folder or like any folder that contains it.
        let prefix_ends = folder.match_indices('/').map(|(end, _)| end).chain([folder.len()]);
        for file in prefix_ends.filter_map(|end| names_by_folded_name.remove(&folder[..end])) {
            let message = "an entry of this name is a file, and another is a folder";
            let place = entry_place(place, file);
            out.push(Fault::new(archive, FaultKind::Name, "container_file_and_folder", place, message));
        }
    }
    out
}

/// The name in lower case and in one Unicode normal form, so that names which differ only in case or normal form are
/// equal.
pub fn folded_name(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// True for a part of a name that Windows does not accept. Such a part is the name of a device (with any ending), ends
/// with a dot or a space, or contains a control character.
pub fn is_reserved_name(part: &str) -> bool {
    const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let port = ["com", "lpt"].into_iter().find_map(|device| stem.strip_prefix(device));
    let is_port = port.is_some_and(|number| {
        let mut chars = number.chars();
        chars.next().is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c)) && chars.next().is_none()
    });
    DEVICES.contains(&stem.as_str()) || is_port || part.ends_with(['.', ' ']) || part.chars().any(char::is_control)
}

/// The place of an entry, with control characters replaced for display.
pub(super) fn entry_place(archive: &str, name: &str) -> String {
    let display_name: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("{archive}!/{display_name}")
}

/// Reads an entry to its end, unless `cancel` is set. Returns an error message if its bytes are damaged, else None.
pub(super) fn find_damage(
    archive: &Archive,
    entry: &Entry,
    cancel: &AtomicBool,
) -> Result<Option<String>, FormatError> {
    let mut reader = match entry.read(&archive.source) {
        Ok(reader) => reader,
        Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
        Err(error) => return Err(FormatError::io(&archive.place, error)),
    };
    let mut buffer = vec![0; 128 << 10];
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(FormatError::Cancelled);
        }
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(reader.has_more_bytes().then(|| "bytes follow its compressed data".to_owned())),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
            Err(error) => return Err(FormatError::io(&archive.place, error)),
        }
    }
}
