//! Detects threads by the names of their members, and workbooks by the names of their columns.
use super::document;
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::{
    files::{extension, folder, is_inside_one, is_junk, json_keys, root_of},
    workbook,
};
use mementory_json::Keys;
use mementory_model::Limits;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Columns that occur only in Perplexity's workbook.
const WORKBOOK_COLUMNS: [&str; 3] = ["OUTPUT_STR", "MEMORY_VALUE", "MEMORY_KEY"];

/// Root and archive of files that form one claim.
type RootAndArchive = (Option<usize>, Option<usize>);

/// The shape of a JSON file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// All conversations of an account, which Perplexity sends on request.
    Account,
    /// A thread that a browser extension saved, or responses of the website's API.
    Threads,
}

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog, limits: &Limits) -> Vec<Claim> {
    let mut groups: BTreeMap<RootAndArchive, Vec<(&Member, Role)>> = BTreeMap::new();
    for member in catalog.members() {
        let role = match json_keys(catalog, member) {
            Some(keys) if shape_of(&keys).is_some() => Role::Conversations,
            Some(_) => continue,
            None if document::is_document(catalog, member) => Role::Conversations,
            None if is_workbook(catalog, member, limits) => Role::Records,
            None => continue,
        };
        groups.entry(place_of(member)).or_default().push((member, role));
    }
    groups
        .into_iter()
        .map(|(place, mut found)| {
            mark_renderings(catalog, &mut found);
            claim(catalog, place, found)
        })
        .collect()
}

/// Marks Markdown files that repeat a JSON file. perplexport saves each thread twice under the same name: as JSON and
/// as Markdown.
fn mark_renderings(catalog: &Catalog, found: &mut [(&Member, Role)]) {
    let stem = |member: &Member| member.place.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    let is_json = |member: &Member| extension(&member.name).as_deref() == Some("json");
    let stems: HashSet<String> =
        found.iter().filter(|(member, _)| is_json(member)).filter_map(|(member, _)| stem(member)).collect();
    for (member, role) in found.iter_mut().filter(|(member, _)| !is_json(member)) {
        let has_json = stem(member).is_some_and(|stem| stems.contains(&stem));
        if *role == Role::Conversations && has_json && document::is_perplexport(catalog, member) {
            *role = Role::DuplicateRendering;
        }
    }
}

fn place_of(member: &Member) -> RootAndArchive {
    (root_of(member), member.archive)
}

/// Determines the shape of a JSON file from its keys. None if the file is not from Perplexity.
pub(super) fn shape_of(keys: &Keys) -> Option<Shape> {
    let has_name = |names: &[&str]| names.iter().any(|name| keys.has_name(name));
    let is_cited = keys.has_name("role") && has_name(&["citations", "search_results"]);
    if !is_cited && !has_name(&["query", "query_str", "question"]) {
        return None;
    }
    let has = |path: &str| keys.has(path);
    let has_any = |paths: &[&str]| paths.iter().any(|path| keys.has(path));
    if has("entries.query") && has_any(&["context_title", "collection_uuid", "context_uuid"]) {
        Some(Shape::Account)
    } else if THREAD_PATHS.iter().any(|place| is_thread_at(keys, place)) {
        Some(Shape::Threads)
    } else {
        None
    }
}

/// Returns the keys of the arrays of threads or entries in a file that is an object.
pub(super) fn wrappers_of(keys: &Keys) -> Vec<&'static str> {
    let mut wrappers: Vec<_> =
        WRAPPER_KEYS.into_iter().filter(|wrapper| is_thread_at(keys, &format!("{wrapper}."))).collect();
    // In the files of some extensions, `conversations` contains the entries of one thread.
    if has_list_at(keys, "conversations.") {
        wrappers.push("conversations");
    }
    wrappers
}

/// Keys under which a file may contain an array of threads or entries.
const WRAPPER_KEYS: [&str; 4] = ["threads", "data", "results", "items"];
/// Prefixes of the paths at which a file may contain threads or entries.
const THREAD_PATHS: [&str; 8] =
    ["", "threads.", "data.", "results.", "items.", "thread.", "data.threads.", "data.thread."];
/// Members that identify a thread and that other programs rarely use.
const THREAD_NAMES: [&str; 6] =
    ["thread_id", "thread_uuid", "context_uuid", "thread_url_slug", "thread_url", "thread_title"];
/// Members of entries that other programs rarely use.
const ENTRY_MARKS: [&str; 6] =
    ["context_uuid", "thread_url_slug", "backend_uuid", "blocks", "related_queries", "search_focus"];
/// Members that answers with sources have.
const SOURCE_MARKS: [&str; 6] =
    ["sources", "web_results", "search_results", "citations", "related_queries", "display_model"];

/// True if the keys at a path are those of a thread or an entry.
fn is_thread_at(keys: &Keys, place: &str) -> bool {
    let has_any = |names: &[&str]| names.iter().any(|name| keys.has(&format!("{place}{name}")));
    let is_named = has_any(&THREAD_NAMES);
    let is_entry = has_any(&["query_str"]) && (is_named || has_any(&ENTRY_MARKS))
        || has_any(&["query"]) && has_any(&["answer"]) && is_named && has_any(&SOURCE_MARKS);
    is_entry || has_list_at(keys, place)
}

/// True if the keys at a path are those of a thread with a list of entries.
fn has_list_at(keys: &Keys, place: &str) -> bool {
    let has_any = |names: &[&str]| names.iter().any(|name| keys.has(&format!("{place}{name}")));
    let is_named = has_any(&THREAD_NAMES);
    let is_numbered = is_named || has_any(&["uuid", "slug", "id"]);
    // As far as is known, only Perplexity writes `threads` with `entries`.
    let is_thread = place.ends_with("threads.");
    let has_metadata = ["metadata", "meta", "thread_metadata"]
        .iter()
        .any(|metadata| THREAD_NAMES.iter().any(|name| keys.has(&format!("{place}{metadata}.{name}"))));
    let is_list = |list: &str| {
        let has = |names: &[&str]| names.iter().any(|name| keys.has(&format!("{place}{list}.{name}")));
        let has_sources = has(&SOURCE_MARKS);
        let is_exchange = has(&["query", "question"]) && has(&["answer", "response"]);
        has(&["query_str"]) && (is_numbered || has(&ENTRY_MARKS))
            || has(&["query"]) && has_metadata
            || is_exchange && (is_named || is_numbered && (has_sources || is_thread && list == "entries"))
            || (is_named || is_thread) && has(&["role"]) && has(&["content"]) && has(&["citations", "search_results"])
    };
    super::threads::LIST_KEYS.iter().any(|list| is_list(list))
}

fn is_workbook(catalog: &Catalog, member: &Member, limits: &Limits) -> bool {
    let has_workbook_name = matches!(extension(&member.name).as_deref(), None | Some("xlsx" | "xlsm"));
    has_workbook_name
        && catalog.head(member, 4).is_ok_and(|head| workbook::may_be_workbook(&head))
        && catalog
            .bytes(member, limits.side_file_bytes)
            .is_ok_and(|bytes| workbook::mentions(&bytes, &WORKBOOK_COLUMNS))
}

fn claim(catalog: &Catalog, place: RootAndArchive, files: Vec<(&Member, Role)>) -> Claim {
    let mut parts: Vec<Part> = files.iter().map(|(m, role)| Part { member: m.id, role: *role }).collect();
    // The files of an account are in the folder `assets` next to its workbook. In an archive, all other files belong to
    // the account too.
    let found_ids: HashSet<usize> = files.iter().map(|(owner, _)| owner.id).collect();
    let others = catalog.members().iter().filter(|m| place_of(m) == place && !found_ids.contains(&m.id));
    let assets: BTreeSet<String> = files
        .iter()
        .map(|(owner, _)| format!("{}/assets", folder(&owner.name)).trim_start_matches('/').to_owned())
        .collect();
    let assets: BTreeSet<&str> = assets.iter().map(String::as_str).collect();
    let mut further_parts = Vec::new();
    for member in others {
        let is_asset = is_inside_one(&member.name, &assets);
        let role = match (is_junk(&member.name), is_asset, member.archive.is_some()) {
            (true, _, true) => Role::Junk,
            (false, true, _) => Role::Attachment,
            (false, false, true) => Role::Sidecar,
            _ => continue,
        };
        further_parts.push(Part { member: member.id, role });
    }
    let count = parts.len();
    parts.extend(further_parts);
    Claim {
        version: None,
        confidence: 0.9,
        reason: match count {
            1 => "a file in Perplexity's format".into(),
            count => format!("{count} files in Perplexity's formats"),
        },
        parts,
        missing_parts: vec![],
    }
}
