//! Detects ChatGPT exports by their content and groups their members into sources.
use super::{
    attachments::{FileNames, has_upload_prefix, is_file_place, is_folder_file_place, is_upload, last_segment},
    head, missing_parts, page,
    part_names::{is_portal_part, shard_number},
    saved_page, shared_page,
};
use mementory_format::{Catalog, Claim, FormatError, JsonHead, Member, Part, Role, decoded_head, plain_name};
use mementory_formats_shared::json_head::has_json_name;
use mementory_model::Limits;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Number of bytes at the beginning of a file that detection examines first.
const HEAD_BYTES: usize = JsonHead::BYTES;
/// Number of bytes that detection examines if the first [`HEAD_BYTES`] bytes do not show the format. A file is examined
/// again only if it begins like JSON, and was selected alone or has a name that begins with `conversation`.
const LARGE_HEAD_BYTES: usize = 4 << 20;

/// Names of the side files of a ChatGPT export, without the ` (1)` that browsers add to the name of a copy.
const SIDE_FILES: [&str; 16] = [
    "user.json",
    "message_feedback.json",
    "shared_conversations.json",
    "model_comparisons.json",
    "group_chats.json",
    "shopping.json",
    "sora.json",
    "conversation_asset_file_names.json",
    "library_files.json",
    "user_settings.json",
    "ads.json",
    "export_manifest.json",
    "sectioned_conversations.json",
    "chat.html",
    "report.html",
    "conversation_templates.json",
];

/// Claims every ChatGPT export in the catalog.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    let (mut has_empty_list, mut other_vendor) = (false, HashSet::new());
    let mut pages: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    for member in catalog.members() {
        match detect_contents(catalog, member)? {
            Contents::Conversations => groups.entry(group_of(member)).or_default().push(member.id),
            Contents::Empty => {
                has_empty_list = true;
                groups.entry(group_of(member)).or_default().push(member.id);
            }
            Contents::Page => pages.entry(group_of(member)).or_default().push(member.id),
            Contents::Other if plain_name(&member.name) == "conversations.json" => {
                other_vendor.insert(dir_of(&member.place).to_owned());
            }
            Contents::Other => {}
        }
    }
    // A page repeats the conversations of the JSON files in the same folder or archive, so a page is read only if there
    // are no such files.
    for (group, found) in pages {
        groups.entry(group).or_insert(found);
    }
    for group in groups.values() {
        for id in group {
            other_vendor.remove(dir_of(&catalog.members()[*id].place));
        }
    }
    let folders: HashSet<String> =
        groups.keys().filter_map(|g| if let Group::Folder(dir) = g { Some(dir.clone()) } else { None }).collect();
    let mut claims = Vec::new();
    for (group, conversations) in groups {
        claims.push(build_claim(
            catalog,
            limits,
            &group,
            &conversations,
            &OtherFolders { folders: &folders, other_vendor: &other_vendor },
            has_empty_list,
        )?);
    }
    Ok(claims)
}

/// Identifies the export to which a member belongs. Members with the same group are claimed together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// Files that were selected one by one.
    Loose,
    /// An archive that contains a whole export. The string is the place of the archive.
    Archive(String),
    /// The archives of an export from the privacy portal. The string is the folder that contains them.
    Portal(String),
    /// Files in one folder. The string is the place of the folder.
    Folder(String),
}

fn group_of(member: &Member) -> Group {
    match member.place.split_once("!/") {
        Some((outer, _)) => portal_group(outer).unwrap_or_else(|| Group::Archive(outer.to_owned())),
        None => match member.place.rsplit_once('/') {
            Some((dir, _)) => Group::Folder(dir.to_owned()),
            None => Group::Loose,
        },
    }
}

/// Returns the portal export to which an archive belongs. None if the name of the archive is not that of a part of a
/// portal export.
fn portal_group(outer: &str) -> Option<Group> {
    is_portal_part(last_segment(outer)).then(|| Group::Portal(portal_dir(outer)))
}

/// Returns the folder that contains all archives of a portal export, from the place of one archive.
fn portal_dir(outer: &str) -> String {
    let dir = outer.rsplit_once('/').map_or("", |(d, _)| d);
    match dir.rsplit_once('/') {
        Some((above, "User Online Activity")) => above.to_owned(),
        _ => dir.to_owned(),
    }
}

/// Folders whose files belong to other exports.
struct OtherFolders<'a> {
    /// Folders that contain ChatGPT conversations of their own.
    folders: &'a HashSet<String>,
    /// Folders that contain a `conversations.json` of another vendor.
    other_vendor: &'a HashSet<String>,
}

fn dir_of(place: &str) -> &str {
    place.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// Returns the folders and archives that contain a place, innermost first.
fn ancestors(place: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir_of(place)), |dir| (!dir.is_empty()).then(|| dir_of(dir)))
}

enum Contents {
    Conversations,
    /// A web page with conversations in a script.
    Page,
    Empty,
    Other,
}

fn detect_contents(catalog: &Catalog, member: &Member) -> Result<Contents, FormatError> {
    let name = last_segment(&member.name).to_ascii_lowercase();
    if name.ends_with(".html") || name.ends_with(".htm") {
        let may_be_page = !is_junk(&member.name) && !is_upload(&member.place);
        let is_page = may_be_page
            && (page::has_conversations(catalog, member)?
                || saved_page::is_saved_page(catalog, member)?
                || shared_page::is_shared_page(catalog, member)?);
        return Ok(if is_page { Contents::Page } else { Contents::Other });
    }
    if member.size == 0 || is_junk(&member.name) || is_upload(&member.place) {
        return Ok(Contents::Other);
    }
    if page::is_script(catalog, member) {
        let has_conversations = page::has_conversations(catalog, member)?;
        return Ok(if has_conversations { Contents::Page } else { Contents::Other });
    }
    if !has_json_name(member) {
        return Ok(Contents::Other);
    }
    let may_be_large = name.starts_with("conversation") || member.is_selected_alone();
    let mut head_bytes = HEAD_BYTES;
    loop {
        // An unreadable member is not claimed, and the import reports it as an unknown file.
        let head = match decoded_head(catalog, member, head_bytes) {
            Ok(head) => head,
            Err(e @ FormatError::Limit { .. }) => return Err(e),
            Err(_) => return Ok(Contents::Other),
        };
        if !matches!(head.first(), Some(b'[' | b'{')) {
            return Ok(Contents::Other);
        }
        let may_be_empty = name.starts_with("conversations") || member.is_selected_alone();
        if may_be_empty && JsonHead::of(catalog, member).is_some_and(|head| head.is_empty_list()) {
            return Ok(Contents::Empty);
        }
        match head::has_conversations(&head) {
            Some(true) => return Ok(Contents::Conversations),
            Some(false) => return Ok(Contents::Other),
            None => {}
        }
        if head.len() < head_bytes || head_bytes >= LARGE_HEAD_BYTES || !may_be_large {
            return Ok(Contents::Other);
        }
        head_bytes = LARGE_HEAD_BYTES;
    }
}

/// True for files that an operating system adds to folders and archives.
fn is_junk(name: &str) -> bool {
    let file_name = last_segment(name);
    name.split('/').any(|part| part == "__MACOSX")
        || file_name.starts_with("._")
        || matches!(file_name, ".DS_Store" | "Thumbs.db" | "desktop.ini")
}

fn build_claim(
    catalog: &Catalog,
    limits: &Limits,
    group: &Group,
    conversations: &[usize],
    others: &OtherFolders<'_>,
    has_empty_list: bool,
) -> Result<Claim, FormatError> {
    let mut parts = Vec::new();
    let mut manifests = Vec::new();
    let conversation_ids: HashSet<usize> = conversations.iter().copied().collect();
    let names =
        if let Group::Folder(dir) = group { file_names_in(catalog, dir, limits)? } else { FileNames::default() };
    let conversation_archives = archives_of_conversations(catalog, conversations);
    for member in catalog.members() {
        if conversation_ids.contains(&member.id) {
            continue;
        }
        if let Some(role) = role_in(group, member, others, &names, &conversation_archives) {
            if role == Role::Manifest {
                manifests.push(member);
            }
            parts.push(Part { member: member.id, role });
        }
    }
    let mut files: Vec<&Member> = conversations.iter().map(|i| &catalog.members()[*i]).collect();
    let listed = listed_shards(catalog, &manifests, limits)?;
    let rank_in_manifest: HashMap<&str, usize> = listed.iter().enumerate().map(|(i, p)| (last_segment(p), i)).collect();
    // The files that a manifest lists come first, in the order of the manifest. The others are sorted by their numbers.
    files.sort_by_cached_key(|m| {
        let file_name = m.file_name();
        (rank_in_manifest.get(file_name).copied().unwrap_or(usize::MAX), shard_number(file_name), m.id)
    });
    let present_names: HashSet<&str> = files.iter().map(|m| m.file_name()).collect();
    let mut missing_parts: Vec<String> =
        listed.iter().filter(|p| !present_names.contains(last_segment(p))).cloned().collect();
    if listed.is_empty() {
        missing_parts.extend(missing_parts::missing_shards(files.iter().map(|m| m.file_name())));
    }
    let in_group = |m: &&Member| group_of(m) == *group || portal_group(&m.place).as_ref() == Some(group);
    missing_parts.extend(missing_parts::missing_portal_parts(
        catalog.members().iter().filter(in_group).map(|m| m.place.as_str()),
    ));
    let is_portal = matches!(group, Group::Portal(_)) || files.iter().any(|m| m.depth > 1);
    let is_sharded = files.iter().any(|m| shard_number(m.file_name()).is_some())
        || parts.iter().any(|p| {
            let name = plain_name(&catalog.members()[p.member].name);
            name == "conversation_asset_file_names.json" || name == "export_manifest.json"
        });
    let is_folder = matches!(group, Group::Folder(_) | Group::Loose);
    let version = match (is_portal, is_folder, is_sharded) {
        (true, ..) => "portal",
        (_, true, _) => "folder",
        (_, _, true) => "sharded",
        _ => "classic",
    };
    let description = match files.len() {
        1 => format!("{} contains conversations in ChatGPT's format", files[0].file_name()),
        n => format!("{n} files contain conversations in ChatGPT's format"),
    };
    let has_only_empty_lists = has_empty_list && files.iter().all(|m| m.size <= 16);
    let side_file_count = parts.iter().filter(|p| matches!(p.role, Role::Sidecar | Role::Manifest)).count();
    let (confidence, reason) = match (has_only_empty_lists, side_file_count) {
        (true, 0) => (0.3, "an empty list; as a ChatGPT export it would be empty".into()),
        (true, _) => (0.6, "an empty list of conversations beside ChatGPT's side files; the export is empty".into()),
        (false, _) if !listed.is_empty() => (1.0, format!("{description}, and ChatGPT's export manifest lists them")),
        (false, _) => (0.95, description),
    };
    let conversation_parts = files.iter().map(|m| Part { member: m.id, role: Role::Conversations });
    let parts = conversation_parts.chain(parts).collect();
    Ok(Claim { version: Some(version.into()), confidence, reason, parts, missing_parts })
}

/// Returns the innermost archives that contain the conversations. Files of unknown kind are claimed only inside these
/// archives. A portal export is spread over several archives, so for such an export the list is empty, and files of
/// unknown kind are claimed anywhere in the export.
fn archives_of_conversations<'c>(catalog: &'c Catalog, conversations: &[usize]) -> Vec<&'c str> {
    let places = conversations.iter().filter_map(|id| Some(catalog.members().get(*id)?.place.rsplit_once("!/")?.0));
    let conversation_archives: Vec<&str> = places.collect();
    let is_portal = |archive_path: &&str| archive_path.split("!/").any(|archive| is_portal_part(last_segment(archive)));
    if conversation_archives.iter().any(is_portal) { Vec::new() } else { conversation_archives }
}

/// Reads the file names that the side files of a folder list.
fn file_names_in(catalog: &Catalog, dir: &str, limits: &Limits) -> Result<FileNames, FormatError> {
    let mut names = FileNames::default();
    for member in catalog.members().iter().filter(|m| m.depth == 0 && dir_of(&m.place) == dir) {
        let name_without_copy_mark = plain_name(&member.name);
        if matches!(name_without_copy_mark.as_str(), "user.json" | "export_manifest.json" | "message_feedback.json") {
            names.set_export_folder();
        }
        if !matches!(name_without_copy_mark.as_str(), "conversation_asset_file_names.json" | "library_files.json") {
            continue;
        }
        match catalog.bytes(member, limits.side_file_bytes) {
            Ok(bytes) => names.add_side_file(&name_without_copy_mark, &String::from_utf8_lossy(&bytes)),
            Err(e @ FormatError::Limit { limit: "total_bytes", .. }) => return Err(e),
            // The import reports the error when it reads the same side file.
            Err(_) => {}
        }
    }
    Ok(names)
}

/// Returns the role that a member has in the export of a group. None if the member does not belong to that export.
fn role_in(
    group: &Group,
    member: &Member,
    others: &OtherFolders<'_>,
    names: &FileNames,
    conversation_archives: &[&str],
) -> Option<Role> {
    let place = member.place.as_str();
    if ancestors(place).any(|dir| others.other_vendor.contains(dir)) && !is_upload(place) {
        return None;
    }
    let is_whole_archive = match group {
        Group::Archive(outer) => {
            place.strip_prefix(outer.as_str()).filter(|inside| inside.starts_with("!/"))?;
            let is_inside =
                |archive_path: &&str| place.strip_prefix(*archive_path).is_some_and(|inside| inside.starts_with("!/"));
            conversation_archives.is_empty() || conversation_archives.iter().any(is_inside)
        }
        Group::Portal(dir) => {
            let outer = place.split_once("!/").map(|(outer, _)| outer);
            match outer {
                Some(outer) if is_portal_part(last_segment(outer)) => {
                    if portal_dir(outer) != *dir {
                        return None;
                    }
                    true
                }
                Some(_) => return None,
                None => {
                    let inside =
                        if dir.is_empty() { place } else { place.strip_prefix(dir.as_str())?.strip_prefix('/')? };
                    let is_portal_file = plain_name(inside) == "report.html"
                        || ["Financial/", "User Profile/", "User Online Activity/"]
                            .iter()
                            .any(|p| inside.starts_with(p))
                        || is_portal_part(last_segment(inside))
                        || !inside.contains('/') && is_junk(inside);
                    if !is_portal_file {
                        return None;
                    }
                    true
                }
            }
        }
        Group::Folder(dir) => {
            let inside = place.strip_prefix(dir.as_str())?.strip_prefix('/')?;
            // A subfolder that contains conversations of its own is another export.
            let is_in_nearer_export =
                inside.char_indices().any(|(i, c)| c == '/' && others.folders.contains(&place[..dir.len() + 1 + i]));
            if is_in_nearer_export || member.depth > 0 {
                return None;
            }
            // If the folder contains side files of an export, every file in it whose name begins like that of an upload
            // is an upload.
            if names.is_export_folder() && !inside.contains('/') && has_upload_prefix(inside) {
                return Some(Role::Attachment);
            }
            // A folder such as Downloads also contains unrelated files. A file belongs to the export only if it is in
            // one of the usual places of an export, or if the side files of the export list it.
            return match role_by_name(&member.name, place, false) {
                None | Some(Role::Attachment) => {
                    (names.is_listed(inside) || is_folder_file_place(inside)).then_some(Role::Attachment)
                }
                side => side,
            };
        }
        Group::Loose => {
            if member.depth > 0 || place.contains('/') {
                return None;
            }
            false
        }
    };
    role_by_name(&member.name, place, is_whole_archive)
}

/// Determines the role of a member from its name. Files with unknown names belong to the export only if
/// `accepts_unknown` is set.
fn role_by_name(name: &str, place: &str, accepts_unknown: bool) -> Option<Role> {
    let name_without_copy_mark = plain_name(name);
    if is_junk(name) {
        return Some(Role::Junk);
    }
    if is_upload(place) {
        return Some(Role::Attachment);
    }
    match name_without_copy_mark.as_str() {
        "chat.html" | "report.html" => return Some(Role::DuplicateRendering),
        "export_manifest.json" => return Some(Role::Manifest),
        _ if SIDE_FILES.contains(&name_without_copy_mark.as_str()) => return Some(Role::Sidecar),
        _ if is_file_place(place) => return Some(Role::Attachment),
        _ => {}
    }
    if name.split('/').any(|part| part == "textdocs") {
        return Some(Role::Sidecar);
    }
    if !accepts_unknown {
        return None;
    }
    let extension = name_without_copy_mark.rsplit_once('.').map_or("", |(_, e)| e);
    Some(match extension {
        "json" | "jsonl" | "html" | "csv" | "zip" => Role::Sidecar,
        _ => Role::Attachment,
    })
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    export_files: Vec<ListedFile>,
    #[serde(default)]
    logical_files: BTreeMap<String, LogicalFile>,
}

#[derive(Deserialize)]
struct ListedFile {
    #[serde(default)]
    path: String,
}

#[derive(Deserialize)]
struct LogicalFile {
    #[serde(default)]
    files: Vec<String>,
}

/// Returns the paths of the conversation files, in the order in which the manifests list them.
fn listed_shards(catalog: &Catalog, manifests: &[&Member], limits: &Limits) -> Result<Vec<String>, FormatError> {
    let mut out: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for member in manifests {
        let bytes = match catalog.bytes(member, limits.side_file_bytes) {
            Ok(bytes) => bytes,
            Err(e @ FormatError::Limit { limit: "total_bytes", .. }) => return Err(e),
            Err(_) => continue,
        };
        let Ok(manifest) = serde_json::from_slice::<Manifest>(&bytes) else { continue };
        let logical_files = manifest.logical_files.into_iter().filter(|(name, _)| name == "conversations.json");
        let paths = logical_files.flat_map(|(_, l)| l.files).chain(manifest.export_files.into_iter().map(|f| f.path));
        for path in paths {
            let file_name = last_segment(&path);
            let stem = file_name.strip_suffix(".json").and_then(|s| s.strip_prefix("conversations"));
            let is_shard = stem.is_some_and(|s| s.is_empty() || s.starts_with('-'));
            if is_shard && seen.insert(file_name.to_owned()) {
                out.push(path);
            }
        }
    }
    Ok(out)
}
