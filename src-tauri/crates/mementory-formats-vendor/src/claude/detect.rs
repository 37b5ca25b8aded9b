//! Detects Claude exports by the keys in their files, or by the file names (`memories-000.zip`, `design_chats/`) if the
//! keys do not show what a file contains. File names also decide which files belong to the same export.
use super::frames;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role, json_keys, plain_name};
use mementory_formats_shared::files::root_of;
use mementory_formats_shared::json_head::has_json_name;
use mementory_json::Keys;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The content of a member, as its keys or its name show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Conversations,
    Design,
    Memories,
    Projects,
    Manifest,
    /// Metadata of a published artifact.
    Artifact,
    Reflections,
    /// A list of accounts (`users.json`) or of logins (`login_history.json`).
    AccountFile,
}

/// Names, without the numbers, of the archives that an export in several parts consists of.
const CATEGORY_NAMES: [&str; 7] =
    ["conversations", "projects", "memories", "design_chats", "frames", "feedback", "light_metadata"];
/// Names of the folders inside an export whose files belong to the export.
const CATEGORY_FOLDERS: [&str; 6] = ["projects", "design_chats", "memories", "reflections", "frames", "feedback"];

/// Largest size in bytes of a file that contains only an empty list.
const MAX_EMPTY_BYTES: u64 = 16;

/// Returns one claim for each export. All archives of an export in parts form one export, and so do all batches of a
/// download.
pub(super) fn claims(catalog: &Catalog) -> Result<Vec<Claim>, FormatError> {
    let mut groups: BTreeMap<String, Vec<(usize, Content)>> = BTreeMap::new();
    for member in catalog.members() {
        if !is_candidate(member) {
            continue;
        }
        let keys = match json_keys(catalog, member) {
            Ok(Some(keys)) => keys,
            _ if in_memories_part(member) => Arc::default(),
            // An unreadable member is not claimed, and the import reports it.
            _ => continue,
        };
        if let Some(content) = content_of(&keys, member) {
            groups.entry(group_of(member)).or_default().push((member.id, content));
        }
    }
    merge_parts(&mut groups);
    groups.into_iter().map(|(group, found)| build_claim(catalog, &group, &found)).collect()
}

fn is_candidate(member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, e)| e);
    matches!(ending, Some("json" | "jsonl" | "ndjson" | "txt"))
        || (ending.is_none() && member.depth == 0)
        || member.is_selected_alone() && has_json_name(member)
        || member.name == "pasted text"
}

/// Determines what a member contains. The keys of memories, which occur nowhere else, are checked before more general
/// keys.
fn content_of(keys: &Keys, member: &Member) -> Option<Content> {
    let has = |path: &str| keys.has(path);
    let is_in_folder = |name: &str| member.name.split('/').rev().nth(1) == Some(name);
    if has("data_files.category") && (has("data_files.filename") || has("data_files.export_url")) {
        Some(Content::Manifest)
    } else if has("mapping") || has("chat_messages.message_id") && !has("chat_messages.uuid") {
        // The member contains conversations of ChatGPT or DeepSeek.
        None
    } else if frames::is_artifact(keys) {
        Some(Content::Artifact)
    } else if frames::is_reflections(keys) {
        Some(Content::Reflections)
    } else if has("chat_messages") || (has("messages.sender") && has("uuid")) {
        Some(Content::Conversations)
    } else if ["conversations_memory", "project_memories", "memory_files"].into_iter().any(has)
        || in_memories_part(member)
    {
        Some(Content::Memories)
    } else if has("prompt_template") && (has("docs") || has("is_starter_project") || has("creator")) {
        Some(Content::Projects)
    } else if is_design(keys) || (is_in_folder("design_chats") && has("messages") && has("uuid")) {
        Some(Content::Design)
    } else if has("login_events")
        || (has("uuid") && has("full_name") && (has("email_address") || has("verified_phone_number")))
    {
        Some(Content::AccountFile)
    } else {
        None
    }
}

/// True for `memories/<account>.json` in the archive `memories-000.zip`, or in the folder into which the archive was
/// unpacked. Such a file contains memories, even if its keys are unknown.
fn in_memories_part(member: &Member) -> bool {
    let mut dirs = member.name.rsplit('/').skip(1);
    let is_in_folder = dirs.next() == Some("memories");
    let part = archive_name(member).or_else(|| dirs.next());
    is_in_folder && part.and_then(parse_category_name).is_some_and(|(category, ..)| category == "memories")
}

/// True if the keys show that another program wrote the file. Some programs use the same file names as Claude.
fn is_other_program(keys: &Keys) -> bool {
    let has_claude_keys = keys.has("uuid") || keys.has("account") || keys.has("account_uuid");
    let has_foreign_keys = ["mapping", "current_node", "responses", "fragments"].into_iter().any(|k| keys.has(k));
    has_foreign_keys
        || !has_claude_keys
            && !keys.is_empty()
            && (keys.has("messages") || keys.has("conversation") || keys.has("title"))
}

/// True for the keys of a design chat, in which the content of a message is an object. A chat that was not answered may
/// have no blocks, so the author of a prompt is enough.
pub(super) fn is_design(keys: &Keys) -> bool {
    let names = ["kind", "contentBlocks", "authorAccountUuid"];
    let has_content_object = names.iter().any(|name| keys.has(&format!("messages.content.{name}")));
    has_content_object && keys.has("uuid") && !keys.has("chat_messages") && !keys.has("messages.sender")
}

/// Returns the file name of the archive that directly contains a member. None if the member is not in an archive.
fn archive_name(member: &Member) -> Option<&str> {
    member.archive?;
    let (outside, _) = member.place.rsplit_once("!/")?;
    outside.rsplit(['/', '!']).next()
}

/// Splits the name of an archive that is a part of an export into its category and number. Also returns the name
/// without a copy mark: `conversations-000 (1).zip` → (`conversations`, 0, `conversations-000.zip`).
fn parse_category_name(archive: &str) -> Option<(&'static str, u32, String)> {
    let stem = stem_of(archive);
    let (category, number) = stem.rsplit_once('-')?;
    let category = CATEGORY_NAMES.into_iter().find(|c| *c == category)?;
    Some((category, number.parse().ok()?, format!("{stem}.zip")))
}

/// Splits the name of a batch of an export into its prefix and number: `data-<…>-batch-0001.zip` → (`data-<…>`, 1).
fn parse_batch_name(archive: &str) -> Option<(String, u32)> {
    let stem = stem_of(archive);
    let (prefix, number) = stem.rsplit_once("-batch-")?;
    Some((prefix.to_owned(), number.parse().ok()?))
}

/// Returns the name of an archive without `.zip` and without the `(1)` of a second download. Also accepts the name of
/// the folder into which an archive was unpacked.
fn stem_of(archive: &str) -> String {
    let has_zip_ending = archive.to_ascii_lowercase().ends_with(".zip");
    let category_name = if has_zip_ending { plain_name(archive) } else { plain_name(&format!("{archive}.zip")) };
    category_name.strip_suffix(".zip").unwrap_or(&category_name).to_owned()
}

/// Returns the name of the group of a member. Members with the same group belong to the same export.
fn group_of(member: &Member) -> String {
    match archive_name(member) {
        Some(name) if parse_category_name(name).is_some() => "parts".into(),
        Some(name) => match parse_batch_name(name) {
            Some((prefix, _)) => format!("batch {prefix}"),
            None => format!("archive {}", member.archive.unwrap_or_default()),
        },
        // Files that were selected one by one form one export, and so do all files of a selected folder.
        None if member.is_selected_alone() => "loose".into(),
        None => format!("root {}", member.root),
    }
}

/// Moves groups that belong to the same export into one group. Groups with a manifest belong to the export in parts. If
/// there is only one export, the files that were selected one by one and the account files belong to it.
fn merge_parts(groups: &mut BTreeMap<String, Vec<(usize, Content)>>) {
    let group_with_manifest = |(group, found): (&String, &Vec<(usize, Content)>)| {
        let has_manifest = found.iter().any(|(_, c)| *c == Content::Manifest);
        (has_manifest && group != "parts").then(|| group.clone())
    };
    let groups_with_manifest: Vec<String> = groups.iter().filter_map(group_with_manifest).collect();
    for group in groups_with_manifest {
        let found = groups.remove(&group).unwrap_or_default();
        groups.entry("parts".into()).or_default().extend(found);
    }
    // If there is only one other group, it is the export to which the files that were selected one by one belong.
    if groups.len() == 2
        && let Some(loose) = groups.remove("loose")
        && let Some(found) = groups.values_mut().next()
    {
        found.extend(loose);
    }
    // If only one group contains more than account files, it is the export to which the account files belong.
    let has_only_account_files = |found: &[(usize, Content)]| found.iter().all(|(_, c)| *c == Content::AccountFile);
    if groups.values().filter(|f| !has_only_account_files(f)).count() == 1 {
        let mut account_files = Vec::new();
        groups.retain(|_, found| {
            let is_export = !has_only_account_files(found);
            if !is_export {
                account_files.append(found);
            }
            is_export
        });
        if let Some(found) = groups.values_mut().next() {
            found.extend(account_files);
        }
    }
    for found in groups.values_mut() {
        found.sort_by_key(|(id, _)| *id);
    }
}

fn build_claim(catalog: &Catalog, group: &str, contents: &[(usize, Content)]) -> Result<Claim, FormatError> {
    let members = catalog.members();
    let has_content = |content: Content| contents.iter().any(|(_, c)| *c == content);
    let has_export_content = contents.iter().any(|(_, c)| *c != Content::AccountFile);
    let version = layout_of(group, contents, members);
    let mut parts: Vec<Part> =
        contents.iter().map(|(member, content)| Part { member: *member, role: role_of(*content) }).collect();
    let others = other_parts(catalog, contents);
    // An empty `conversations.json` has no keys that show its vendor. If the list of accounts in the same folder is
    // Claude's, the file is the list of conversations of a Claude export.
    let is_empty_list = |member: &Member| member.file_name() == "conversations.json" && member.size <= MAX_EMPTY_BYTES;
    let is_empty_account = !has_export_content && others.iter().any(|part| is_empty_list(&members[part.member]));
    if has_export_content || is_empty_account {
        parts.extend(others);
    }
    Ok(Claim {
        version: Some(version.into()),
        confidence: if has_content(Content::Manifest) {
            1.0
        } else if has_export_content || is_empty_account {
            0.95
        } else {
            0.7
        },
        reason: claim_reason(contents),
        parts,
        missing_parts: missing_part_names(catalog, contents)?,
    })
}

fn role_of(content: Content) -> Role {
    match content {
        Content::Conversations | Content::Design => Role::Conversations,
        Content::Memories => Role::Memories,
        Content::Projects => Role::Projects,
        Content::Manifest => Role::Manifest,
        Content::Artifact | Content::Reflections => Role::Records,
        Content::AccountFile => Role::Sidecar,
    }
}

fn layout_of(group: &str, contents: &[(usize, Content)], members: &[Member]) -> &'static str {
    if group == "parts" {
        return "parts";
    }
    let is_uuid_batch = group.strip_prefix("batch data-").is_some_and(|rest| {
        rest.split('-').next().is_some_and(|first| first.len() == 8 && first.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    let has_one_item_per_file = contents.iter().any(|(id, content)| {
        *content == Content::Design
            || (*content == Content::Projects && members[*id].name.split('/').rev().nth(1) == Some("projects"))
    });
    if is_uuid_batch || has_one_item_per_file { "batch" } else { "flat" }
}

/// Returns the files that belong to the export although their keys were not recognised: side files, and files with a
/// usual name but no keys, such as empty lists and damaged files.
fn other_parts(catalog: &Catalog, contents: &[(usize, Content)]) -> Vec<Part> {
    let members = catalog.members();
    // ChatGPT's conversations have the same file name, so a file whose keys are those of another program is not claimed
    // by its name.
    let is_of_other_program = |m: &Member| matches!(json_keys(catalog, m), Ok(Some(keys)) if is_other_program(&keys));
    let found_ids: BTreeSet<usize> = contents.iter().map(|(id, _)| *id).collect();
    let dir = |m: &Member| m.name.rsplit_once('/').map(|(d, _)| d.to_owned()).unwrap_or_default();
    let is_folder = |name: &str| CATEGORY_FOLDERS.contains(&name);
    // Top folders of the export: the folders that contain recognised files or, for files in a category folder, the
    // parent of this folder.
    let mut top_folders: BTreeSet<(Option<usize>, Option<usize>, String)> = BTreeSet::new();
    for id in &found_ids {
        let member = &members[*id];
        let mut top_folder = dir(member);
        let last = top_folder.rsplit('/').next().unwrap_or(&top_folder);
        if is_folder(last) {
            top_folder = top_folder.rsplit_once('/').map(|(d, _)| d.to_owned()).unwrap_or_default();
        }
        top_folders.insert((root_of(member), member.archive, top_folder));
    }
    let artifacts: Vec<&Member> =
        contents.iter().filter(|(_, content)| *content == Content::Artifact).map(|(id, _)| &members[*id]).collect();
    let is_in_archives = top_folders.iter().any(|(_, archive, _)| archive.is_some());
    let mut out = Vec::new();
    for member in members.iter().filter(|m| !found_ids.contains(&m.id)) {
        let name = member.file_name();
        let mut top_folder = dir(member);
        let last = top_folder.rsplit('/').next().unwrap_or(&top_folder).to_owned();
        let is_in_category_folder = is_folder(&last);
        if is_in_category_folder {
            top_folder = top_folder.rsplit_once('/').map(|(d, _)| d.to_owned()).unwrap_or_default();
        }
        let is_beside = top_folders.contains(&(root_of(member), member.archive, top_folder));
        let is_in_category_archive = archive_name(member).and_then(parse_category_name).is_some();
        let is_junk = name == ".DS_Store" || name.starts_with("._") || member.name.split('/').any(|s| s == "__MACOSX");
        let usual_names = ["conversations.json", "projects.json", "memories.json", "users.json", "login_history.json"];
        let role = if is_junk && member.archive.is_some() && top_folders.iter().any(|t| t.1 == member.archive) {
            Role::Junk
        } else if is_beside && usual_names.contains(&name) && is_of_other_program(member) {
            continue;
        } else if is_beside && name == "conversations.json" {
            Role::Conversations
        } else if is_beside && name == "projects.json" {
            Role::Projects
        } else if is_beside
            && (name == "memories.json"
                || last == "memories" && name.ends_with(".json") && !is_of_other_program(member))
        {
            Role::Memories
        } else if (is_beside && (member.archive.is_some() || is_in_category_folder || usual_names.contains(&name)))
            || (is_in_category_archive && is_in_archives)
            || artifacts.iter().any(|artifact| frames::is_in_artifact_folder(member, artifact))
        {
            Role::Sidecar
        } else {
            continue;
        };
        out.push(Part { member: member.id, role });
    }
    out
}

fn claim_reason(contents: &[(usize, Content)]) -> String {
    let count = |content: Content| contents.iter().filter(|(_, c)| *c == content).count();
    let mut seen = Vec::new();
    for (content, words) in [
        (Content::Manifest, "the list of download parts of a Claude export"),
        (Content::Conversations, "conversations in Claude's format"),
        (Content::Design, "Claude design chats"),
        (Content::Memories, "Claude's memory"),
        (Content::Projects, "Claude projects with their instructions"),
        (Content::Artifact, "artifacts published with Claude"),
        (Content::Reflections, "Claude's reflections"),
        (Content::AccountFile, "a Claude account list"),
    ] {
        match count(content) {
            0 => {}
            1 => seen.push(words.to_owned()),
            n => seen.push(format!("{words} ({n} files)")),
        }
    }
    format!("Found {}", seen.join(", "))
}

/// Returns the names of missing parts: those that the manifest lists but that were not selected, and those that a gap
/// in the numbers of the archives shows.
fn missing_part_names(catalog: &Catalog, contents: &[(usize, Content)]) -> Result<Vec<String>, FormatError> {
    let members = catalog.members();
    let mut present: BTreeSet<String> = BTreeSet::new();
    for member in members {
        for segment in member.place.split(['/', '!']) {
            let name = parse_category_name(segment).map_or_else(|| segment.to_owned(), |(_, _, name)| name);
            present.insert(name);
        }
    }
    let mut out = Vec::new();
    for (id, _) in contents.iter().filter(|(_, c)| *c == Content::Manifest) {
        for name in super::manifest::file_names(catalog, &members[*id]) {
            let canonical = parse_category_name(&name).map_or_else(|| name.clone(), |(_, _, name)| name);
            if !present.contains(&canonical) && !present.contains(&name) && !out.contains(&name) {
                out.push(name);
            }
        }
    }
    // The numbers of archives start at 0, so every gap below the highest number is a missing archive.
    let mut batches: BTreeMap<String, (BTreeSet<u32>, usize)> = BTreeMap::new();
    for archive in contents.iter().filter_map(|(id, _)| archive_name(&members[*id])) {
        let numbered = parse_category_name(archive)
            .map(|(category, n, _)| (format!("{category}-"), n, 3))
            .or_else(|| parse_batch_name(archive).map(|(prefix, n)| (format!("{prefix}-batch-"), n, 4)));
        if let Some((prefix, number, width)) = numbered {
            let entry = batches.entry(prefix).or_insert((BTreeSet::new(), width));
            entry.0.insert(number);
        }
    }
    for (prefix, (numbers, width)) in batches {
        let last = numbers.last().copied().unwrap_or(0).min(10_000);
        for number in (0..last).filter(|n| !numbers.contains(n)) {
            let name = format!("{prefix}{number:0width$}.zip");
            if !out.contains(&name) && !present.contains(&name) {
                out.push(name);
            }
        }
    }
    Ok(out)
}
