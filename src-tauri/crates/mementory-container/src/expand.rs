//! Replaces archives among the members with their entries. Archives inside archives are opened too, except files of the
//! user.
use super::{
    archive::Archive,
    catalog::Catalog,
    compressed,
    duplicates::DuplicateFinder,
    encrypted, faults,
    member::{Location, Member},
    nested,
    resources::{MAX_IN_MEMORY_BYTES, Resources},
    source::Source,
    spool::Spool,
    tar,
    unpack::unpack,
    zip::{self, Entry, EntryKind},
};
use crate::FormatError;
use mementory_model::{Dropped, DroppedAs, Issue, Limits};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io::Read,
    sync::atomic::AtomicBool,
};

/// Largest number of files in an archive that is checked for containing only archives.
const MAX_PACKED_ARCHIVES: usize = 256;

/// Replaces each member that is an archive with the entries of the archive. A damaged archive adds an issue, and is an
/// error only if no member is left.
pub(super) fn expand(catalog: &mut Catalog, limits: &Limits, resources: Resources) -> Result<(), FormatError> {
    let mut pending = std::mem::take(&mut catalog.members);
    let folders: HashSet<String> = pending
        .iter()
        .filter(|m| nested::has_conversations_name(&m.name))
        .map(|m| folder_of(&m.place).to_owned())
        .collect();
    pending.reverse();
    let (mut duplicates, mut unreadable) = (DuplicateFinder::default(), None);
    while let Some(mut member) = pending.pop() {
        let is_single_file = member.is_selected_alone();
        encrypted::open(catalog, &mut member, limits, resources)?;
        compressed::open(catalog, &mut member, limits, resources)?;
        let source = match archive_source(catalog, &member, &folders, limits, resources.spool)? {
            ArchiveOrOther::Archive(source) => source,
            ArchiveOrOther::Other(source) => {
                if is_single_file
                    && let Some(source) = source
                    && let Some(first) = duplicates.find(&source, &member.place)?
                {
                    drop_duplicate(catalog, member.place, &first);
                } else {
                    catalog.push_member(member);
                }
                continue;
            }
        };
        if let Some(first) = duplicates.find(&source, &member.place)? {
            drop_duplicate(catalog, member.place, &first);
            continue;
        }
        match add_archive(catalog, &member, &source, limits)? {
            Some(mut entries) => {
                entries.reverse();
                pending.append(&mut entries);
            }
            None if member.depth == 0 && nested::has_zip_name(&member.name) => {
                let message = match source.len() {
                    0 => "an empty file".to_owned(),
                    // No export is that large, so the size in the message shows that the file is not an export.
                    bytes if bytes >= LARGE_BYTES => {
                        format!("not a readable ZIP file, {:.1} GB large", bytes as f64 / 1e9)
                    }
                    _ => "not a readable ZIP file".to_owned(),
                };
                catalog.issues.push(Issue::new("unreadable_archive", &member.place, message.clone()));
                unreadable.get_or_insert((member.place, message));
            }
            None => {
                catalog.issues.push(Issue::new("unreadable_archive", &member.place, "not a readable ZIP file"));
                catalog.push_member(member);
            }
        }
    }
    match unreadable {
        Some((place, message)) if catalog.members.is_empty() => Err(FormatError::invalid("malformed", place, message)),
        _ => Ok(()),
    }
}

fn drop_duplicate(catalog: &mut Catalog, place: String, earlier_place: &str) {
    catalog.dropped.push(Dropped {
        place,
        outcome: DroppedAs::Skipped,
        reason: format!("duplicate_file: same bytes as {earlier_place}"),
        kind: None,
    });
}

fn folder_of(place: &str) -> &str {
    place.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// Size in bytes from which the message about an unreadable archive states the size.
const LARGE_BYTES: u64 = 1_000_000_000;

/// A member of the catalog: an archive to open, or a file that stays as it is.
enum ArchiveOrOther {
    /// An archive to open.
    Archive(Source),
    /// Not an archive, or an archive that is not opened. Contains the bytes if the member is a plain file.
    Other(Option<Source>),
}

/// Decides whether to open this member as an archive, and returns its bytes for random access.
fn archive_source(
    catalog: &mut Catalog,
    member: &Member,
    folders: &HashSet<String>,
    limits: &Limits,
    spool: Option<&dyn Spool>,
) -> Result<ArchiveOrOther, FormatError> {
    let io = |e| FormatError::io(&member.place, e);
    match &member.location {
        Location::Text(_) => Ok(ArchiveOrOther::Other(None)),
        Location::Unpacked(source) => {
            let head = source.bytes(0, tar::TAR_HEAD_BYTES).map_err(io)?;
            Ok(if is_archive_head(&head) {
                ArchiveOrOther::Archive(source.clone())
            } else {
                ArchiveOrOther::Other(None)
            })
        }
        Location::File(path) => {
            let source = Source::file(path.clone(), member.size);
            let is_single_file = member.place == member.name;
            let is_part_of_export = !is_single_file && folders.contains(folder_of(&member.place));
            let has_archive_name = nested::has_zip_name(&member.name) && (is_single_file || member.size > 0);
            if nested::is_user_file(&member.name) && !(is_single_file && has_archive_name) {
                return Ok(ArchiveOrOther::Other(Some(source)));
            }
            match source.bytes(0, tar::TAR_HEAD_BYTES) {
                Ok(head) if has_archive_name || is_archive_head(&head) => {
                    // An archive next to unpacked conversations is either a file of the user or another export.
                    let user_file =
                        is_part_of_export && !nested::has_export_part_name(&member.name) && !is_export(&source, limits);
                    Ok(if user_file { ArchiveOrOther::Other(Some(source)) } else { ArchiveOrOther::Archive(source) })
                }
                Ok(_) => Ok(ArchiveOrOther::Other(Some(source))),
                Err(e) if is_single_file => Err(io(e)),
                // If one file of a folder cannot be read, that is an issue and not an error.
                Err(e) => {
                    catalog.issues.push(Issue::new("unreadable", &member.place, e.to_string()));
                    Ok(ArchiveOrOther::Other(None))
                }
            }
        }
        Location::Zip { archive, index } => {
            let Some(outer) = catalog.archives.get(*archive) else { return Ok(ArchiveOrOther::Other(None)) };
            let Some(entry) = outer.entries.get(*index) else { return Ok(ArchiveOrOther::Other(None)) };
            let is_packed_archive = outer.contains_only_archives && !nested::is_hidden(&member.name);
            if !nested::has_archive_name(&member.name) && !is_packed_archive
                || entry.size == 0
                || outer.contains_user_files
                || nested::is_user_file(&member.name)
                || outer.has_conversations && !nested::has_export_part_name(&member.name)
            {
                return Ok(ArchiveOrOther::Other(None));
            }
            if member.depth > limits.archive_depth {
                let message = format!("archives nested deeper than {}, not opened", limits.archive_depth);
                catalog.issues.push(Issue::new("archive_depth", &member.place, message));
                return Ok(ArchiveOrOther::Other(None));
            }
            match entry.stored_bytes(&outer.source) {
                Ok(Some(source)) => return Ok(ArchiveOrOther::Archive(source)),
                Ok(None) => {}
                Err(e) => {
                    catalog.issues.push(Issue::new("damaged_entry", &member.place, e.to_string()));
                    return Ok(ArchiveOrOther::Other(None));
                }
            }
            match unpack_entry(catalog, member, spool)? {
                Some(source) => Ok(ArchiveOrOther::Archive(source)),
                None => Ok(ArchiveOrOther::Other(None)),
            }
        }
    }
}

/// True for the first bytes of a ZIP file or a tar archive.
fn is_archive_head(head: &[u8]) -> bool {
    zip::is_zip_head(head) || tar::is_tar_head(head)
}

/// Unpacks a compressed archive inside an archive into scratch space. If the archive is damaged, adds an issue and
/// returns the bytes before the damage. If it cannot be read at all, or is too large for memory, adds an issue and
/// returns None.
fn unpack_entry(
    catalog: &mut Catalog,
    member: &Member,
    spool: Option<&dyn Spool>,
) -> Result<Option<Source>, FormatError> {
    let max_bytes = if spool.is_some() { u64::MAX } else { MAX_IN_MEMORY_BYTES };
    let outcome = catalog.read(member, |reader| unpack(reader, max_bytes, spool, &member.place));
    let (source, damage) = match outcome {
        Err(FormatError::Io { source, .. }) => (None, Some(source)),
        other => other?.map_or((None, None), |unpacked| (Some(unpacked.source), unpacked.damage)),
    };
    if let Some(e) = damage {
        catalog.issues.push(Issue::new("damaged_entry", &member.place, e.to_string()));
    } else if source.is_none() {
        let message =
            format!("a compressed archive of more than {MAX_IN_MEMORY_BYTES} bytes inside an archive, not opened");
        catalog.issues.push(Issue::new("limit", &member.place, message));
    }
    Ok(source)
}

/// Adds an archive to the catalog and returns its entries as members. None if it is neither a tar archive nor a ZIP
/// file, not even a damaged one.
fn add_archive(
    catalog: &mut Catalog,
    member: &Member,
    source: &Source,
    limits: &Limits,
) -> Result<Option<Vec<Member>>, FormatError> {
    let io = |e| FormatError::io(&member.place, e);
    let max = limits.entries.saturating_add(1);
    let is_tar = tar::is_tar_head(&source.bytes(0, tar::TAR_HEAD_BYTES).map_err(io)?);
    if !is_tar || !matches!(member.location, Location::Unpacked(_)) {
        catalog.expansion.count_archive(member, source.len());
    }
    let (entries, contradictions, is_truncated) = match zip::directory(source, max).map_err(io)? {
        _ if is_tar => {
            let tar::Listing { entries, is_truncated } = tar::list(source, max).map_err(io)?;
            if is_truncated {
                let message =
                    format!("incomplete: the archive is cut off or damaged, {} entries were found", entries.len());
                catalog.issues.push(Issue::new("truncated_archive", &member.place, message));
            } else if entries.is_empty() {
                catalog.issues.push(Issue::new("empty_archive", &member.place, "the archive is empty"));
            }
            (entries, Vec::new(), is_truncated)
        }
        Some(zip::Directory { entries, start, mut contradictions }) => {
            if entries.is_empty() {
                catalog.issues.push(Issue::new("empty_archive", &member.place, "the archive is empty"));
            }
            contradictions.extend(zip::contradictions(source, &entries, start).map_err(io)?);
            (entries, contradictions, false)
        }
        None => {
            let budget = catalog.expansion.bytes_left(member, limits);
            let entries = zip::recover(source, max, budget).map_err(io)?;
            if entries.is_empty() {
                return Ok(None);
            }
            let ends_early = entries.last().is_some_and(|e| e.is_truncated);
            let message = format!(
                "incomplete: the archive has no directory, {} entries were found{}",
                entries.len(),
                if ends_early { ", the last one is cut off" } else { "" }
            );
            catalog.issues.push(Issue::new("truncated_archive", &member.place, message));
            (entries, Vec::new(), true)
        }
    };
    if entries.len() as u64 > limits.entries {
        return Err(FormatError::Limit { limit: "entries", place: member.place.clone(), figure: limits.entries });
    }
    // The entries of a tar archive are not compressed, so together they are not larger than the archive, and their
    // sizes need not be counted.
    if !is_tar {
        catalog.expansion.count_entries(member, &entries, limits)?;
    }
    let archive = catalog.archives.len();
    catalog.faults.extend(faults::listing_faults(archive, &member.place, &entries, &contradictions, is_tar));
    let names = usable_entries(catalog, member, &entries);
    add_empty_folders(catalog, member, &entries);
    let contains_only_archives = contains_only_archives(source, &entries, &names);
    let mut out = Vec::with_capacity(names.len());
    for (index, name) in names {
        out.push(Member {
            id: 0,
            root: member.root,
            place: format!("{}!/{name}", member.place),
            size: entries[index].size,
            name,
            depth: member.depth + 1,
            backslashes: entries[index].name.contains('\\'),
            archive: Some(archive),
            modified: None,
            location: Location::Zip { archive, index },
        });
    }
    catalog.archives.push(Archive {
        place: member.place.clone(),
        source: source.clone(),
        has_conversations: out.iter().any(|m| nested::has_conversations_name(&m.name)),
        contains_user_files: nested::is_user_files_archive(&member.name) || is_agent_file(source, &entries),
        contains_only_archives,
        intact: entries.iter().map(|_| AtomicBool::new(false)).collect(),
        entries,
        is_tar,
        is_truncated,
    });
    Ok(Some(out))
}

/// True if an archive contains only archives, such as the exports of several agents that somebody packed together.
fn contains_only_archives(source: &Source, entries: &[Entry], names: &[(usize, String)]) -> bool {
    let mut visible_files = names.iter().filter(|(_, name)| !nested::is_hidden(name)).peekable();
    let is_archive = |(index, name): &(usize, String)| {
        !nested::is_user_file(name) && entries.get(*index).is_some_and(|entry| begins_as_archive(source, entry))
    };
    names.len() <= MAX_PACKED_ARCHIVES && visible_files.peek().is_some() && visible_files.all(is_archive)
}

fn begins_as_archive(source: &Source, entry: &Entry) -> bool {
    let mut head = Vec::new();
    // If reading fails midway, the bytes before the error are compared.
    let read_result = entry.read(source).map(|reader| reader.take(tar::TAR_HEAD_BYTES as u64).read_to_end(&mut head));
    read_result.is_ok() && is_archive_head(&head)
}

/// True if the directory of an archive is missing, or lists export data (conversations, parts of an export, a
/// manifest).
fn is_export(source: &Source, limits: &Limits) -> bool {
    let Ok(Some(zip::Directory { entries, .. })) = zip::directory(source, limits.entries) else {
        // A truncated download has no directory. It is opened to list the entries that arrived.
        return true;
    };
    entries.iter().any(|e| {
        nested::has_conversations_name(&e.name)
            || e.name == "manifest.json"
            || nested::has_zip_name(&e.name) && nested::has_export_part_name(&e.name)
    })
}

/// True for an archive whose manifest says that it contains an agent. Archives inside it are files of the agent and are
/// not opened, so that an export contains them unchanged.
fn is_agent_file(source: &Source, entries: &[Entry]) -> bool {
    let manifest = entries.iter().find(|e| e.name == "manifest.json" && matches!(e.kind(), EntryKind::Plain));
    let mut head = Vec::new();
    let read_result = manifest.and_then(|e| e.read(source).ok()).map(|r| r.take(64 * 1024).read_to_end(&mut head));
    read_result.is_some() && memchr::memmem::find(&head, b"\"alf_version\"").is_some()
}

/// Lists the folder entries that contain no other entry.
fn add_empty_folders(catalog: &mut Catalog, member: &Member, entries: &[Entry]) {
    if entries.iter().all(|entry| entry.kind() != EntryKind::Folder) {
        return;
    }
    let safe_name = |entry: &Entry| zip::safe_name(&entry.name).ok().map(Cow::into_owned);
    let names: Vec<String> = entries.iter().filter_map(safe_name).collect();
    let parents: HashSet<&str> =
        names.iter().flat_map(|name| name.match_indices('/').map(move |(position, _)| &name[..position])).collect();
    let folders = entries.iter().filter(|entry| entry.kind() == EntryKind::Folder).filter_map(safe_name);
    let childless_folders = folders.filter(|name| !parents.contains(name.as_str()));
    catalog.empty_folders.extend(childless_folders.map(|name| format!("{}!/{name}", member.place)));
}

/// Index and safe name of each readable file entry. Every other entry except folders adds an issue. If several entries
/// have the same name, only the last is returned.
fn usable_entries(catalog: &mut Catalog, member: &Member, entries: &[Entry]) -> Vec<(usize, String)> {
    let mut issue = |code: &str, name: &str, message: &str| {
        // The reported place must not contain the unsafe characters of the name.
        let display_name: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        catalog.issues.push(Issue::new(code, format!("{}!/{display_name}", member.place), message));
    };
    let mut index_by_name: HashMap<String, usize> = HashMap::new();
    let mut out: Vec<Option<(usize, String)>> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let name = match (entry.kind(), zip::safe_name(&entry.name)) {
            (EntryKind::Folder, _) => continue,
            (_, Err(why)) => {
                issue("unsafe_name", &entry.name, why);
                continue;
            }
            (EntryKind::Link, _) => {
                issue("link", &entry.name, "a link, not followed");
                continue;
            }
            (EntryKind::Device, _) => {
                issue("not_a_regular_file", &entry.name, "a device, not read");
                continue;
            }
            (EntryKind::Encrypted, _) => {
                issue("encrypted", &entry.name, "encrypted, cannot be read");
                continue;
            }
            (EntryKind::Patch, _) => {
                issue("unsupported_compression", &entry.name, zip::PATCH_MESSAGE);
                continue;
            }
            (EntryKind::Method(method), _) => {
                let message = zip::unsupported_method_message(method);
                issue("unsupported_compression", &entry.name, &message);
                continue;
            }
            (EntryKind::Plain, Ok(name)) => name.into_owned(),
        };
        if let Some(before) = index_by_name.insert(name.clone(), out.len()) {
            issue("duplicate_name", &name, "the name occurs again; the last one counts");
            out[before] = None;
        }
        out.push(Some((index, name)));
    }
    out.into_iter().flatten().collect()
}
