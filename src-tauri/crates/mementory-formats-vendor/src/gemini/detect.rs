//! Detects files of Gemini by their content. File names are not enough, because every product of Google writes a
//! `MyActivity.json`, and names of files and folders are translated.
use super::{activity::is_in_gemini_folder, html_row, json_row, voyager};
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role, decoded_head, plain_name};
use mementory_formats_shared::{files::file_name, html::Rows, json_head::has_json_name, object::Object};
use mementory_json::{Elements, repair};
use mementory_model::Limits;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Number of bytes at the beginning of a file that detection examines first.
const HEAD_BYTES: usize = JsonHead::BYTES;
/// Number of bytes that detection examines if the first bytes of an activity log contain no activity of Gemini. A log
/// may contain the activities of all products, and a page has 100 KB of styles before its first row.
const LARGE_HEAD_BYTES: usize = 4 << 20;
/// Keys under which a file may contain the list of activities.
pub(super) const WRAPPER_KEYS: [&str; 6] = ["activities", "items", "data", "results", "Gemini Apps", "My Activity"];

/// The content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    ActivityJson,
    ActivityHtml,
    /// Threads of Gemini in Workspace.
    Workspace,
    /// Chats that the browser extension Gemini Voyager exported.
    Voyager,
    Gems,
}

/// Returns one claim for each archive, folder or single file. The archives of a Takeout are claimed together, because a
/// log and the files of its activities may be in different archives.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut groups: BTreeMap<String, Vec<(&Member, Content)>> = BTreeMap::new();
    for member in catalog.members() {
        if let Some(content) = content(catalog, member) {
            groups.entry(group_of(member)).or_default().push((member, content));
        }
    }
    groups.values().map(|found| build_claim(catalog, found)).collect()
}

/// Returns the name of the group to which a file belongs. The files of a group form one claim: those of an archive, of
/// all archives of a Takeout, or of a selected folder.
fn group_of(member: &Member) -> String {
    match (member.archive, takeout_of(member)) {
        (Some(_), Some(takeout)) => format!("takeout {takeout}"),
        (Some(archive), None) => format!("archive {archive}"),
        (None, _) => format!("root {}", member.root),
    }
}

/// Returns the place and the part of the name that all archives of a Takeout share: `takeout-20260726T100000Z-1` for
/// `takeout-20260726T100000Z-1-002.zip`. None for a file in any other archive.
fn takeout_of(member: &Member) -> Option<&str> {
    let archive = member.place.strip_suffix(member.name.as_str())?.strip_suffix("!/")?;
    let (stem, number) = archive.rsplit_once('.')?.0.rsplit_once('-')?;
    // If a file was downloaded twice, the browser appends a number in parentheses to its name.
    let number = number.split(" (").next().unwrap_or(number);
    let is_number = number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && file_name(stem).starts_with("takeout")).then_some(stem)
}

fn build_claim(catalog: &Catalog, contents: &[(&Member, Content)]) -> Claim {
    let has = |content: Content| contents.iter().any(|(_, c)| *c == content);
    let mut parts: Vec<Part> = contents
        .iter()
        .map(|(member, content)| {
            let role = if *content == Content::Gems { Role::Projects } else { Role::Conversations };
            Part { member: member.id, role }
        })
        .collect();
    parts.extend(other_parts(catalog, contents));
    let words = [
        (Content::ActivityJson, "activities of Gemini as JSON"),
        (Content::ActivityHtml, "activities of Gemini as a web page"),
        (Content::Workspace, "threads of Gemini in Workspace"),
        (Content::Voyager, "chats that Gemini Voyager exported"),
        (Content::Gems, "Gems"),
    ];
    let found_words: Vec<&str> =
        words.into_iter().filter(|(content, _)| has(*content)).map(|(_, words)| words).collect();
    let version = match (has(Content::ActivityJson), has(Content::ActivityHtml), has(Content::Workspace)) {
        (true, ..) => "json",
        (_, true, _) => "html",
        (_, _, true) => "workspace",
        _ if has(Content::Voyager) => voyager::LAYOUT,
        _ => "gems",
    };
    Claim {
        version: Some(version.into()),
        confidence: 0.95,
        reason: found_words.join(", "),
        parts,
        missing_parts: vec![],
    }
}

/// Returns the files in the folders of the activities, and the pages of a Takeout that contain no activities.
fn other_parts(catalog: &Catalog, contents: &[(&Member, Content)]) -> Vec<Part> {
    let found_ids: BTreeSet<usize> = contents.iter().map(|(member, _)| member.id).collect();
    let place = |member: &Member| (group_of(member), dir_in_takeout(&member.name).to_owned());
    let has_files =
        |content: Content| matches!(content, Content::ActivityJson | Content::ActivityHtml | Content::Workspace);
    let folders: BTreeSet<_> = contents
        .iter()
        .filter(|(member, content)| has_files(*content) && is_own_folder(member))
        .map(|(member, _)| place(member))
        .collect();
    let groups: BTreeSet<String> = contents.iter().map(|(member, _)| group_of(member)).collect();
    let role = |member: &Member| {
        let name = plain_name(&member.name);
        if name.ends_with("archive_browser.html") || name.ends_with("gemini_scheduled_actions_data.html") {
            return groups.contains(&group_of(member)).then_some(Role::Sidecar);
        }
        if !folders.contains(&place(member)) {
            return None;
        }
        let file = member.file_name();
        let is_junk = file.starts_with("._") || matches!(file, ".DS_Store" | "Thumbs.db" | "desktop.ini");
        Some(if is_junk { Role::Junk } else { Role::Attachment })
    };
    let others = catalog.members().iter().filter(|member| !found_ids.contains(&member.id));
    others.filter_map(|member| Some(Part { member: member.id, role: role(member)? })).collect()
}

/// True if the folder of a file contains only activities and their files. Such a folder is in an archive or in a
/// Takeout, or has the name of the product. A folder such as Downloads also contains unrelated files.
fn is_own_folder(member: &Member) -> bool {
    let dir = dir_of(&member.place);
    let last = dir.rsplit('/').next().unwrap_or(dir);
    member.archive.is_some()
        || super::activity::is_product(last)
        || dir.split('/').any(|part| part.eq_ignore_ascii_case("takeout"))
}

fn dir_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// Returns the folder of a file from `Takeout` on, so that the path is the same in all archives of a Takeout.
fn dir_in_takeout(path: &str) -> &str {
    let dir = dir_of(path);
    let starts = std::iter::once(0).chain(dir.match_indices('/').map(|(at, _)| at + 1));
    let is_takeout = |rest: &str| rest.split('/').next().is_some_and(|name| name.eq_ignore_ascii_case("takeout"));
    starts.filter_map(|at| dir.get(at..)).find(|rest| is_takeout(rest)).unwrap_or(dir)
}

/// Determines what a file contains. None if the file is not from Gemini.
pub(super) fn content(catalog: &Catalog, member: &Member) -> Option<Content> {
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_usual = matches!(ending, None | Some("json" | "html" | "htm" | "txt" | "md" | "markdown"));
    if name.starts_with("._") || !is_usual && !has_json_name(member) {
        return None;
    }
    let read = |bytes| decoded_head(catalog, member, bytes);
    if let Some(json) = JsonHead::of(catalog, member) {
        return json_content(&json, &name, member, &|| read(LARGE_HEAD_BYTES).ok());
    }
    // An unreadable file is not claimed, and the import reports it as an unknown file.
    let head = read(HEAD_BYTES).ok()?;
    match head.iter().find(|byte| !byte.is_ascii_whitespace())? {
        b'<' => {
            if is_gems(&head, &name) {
                return Some(Content::Gems);
            }
            let has = |word: &str| memchr::memmem::find(&head, word.as_bytes()).is_some();
            let is_gemini_file = is_in_gemini_folder(member);
            let has_gemini = has_gemini_cell(&head, is_gemini_file);
            let is_log = has("outer-cell") || has("mdl-") || has("<style");
            let is_found = has_gemini
                || is_log && head.len() >= HEAD_BYTES && has_gemini_cell(&read(LARGE_HEAD_BYTES).ok()?, is_gemini_file);
            is_found.then_some(Content::ActivityHtml)
        }
        _ => None,
    }
}

/// Determines what a JSON file contains. `name` is its file name in lower case, and `longer_head` reads more of the
/// file. None if the file is not from Gemini.
fn json_content(
    json: &JsonHead,
    name: &str,
    member: &Member,
    longer_head: &dyn Fn() -> Option<Arc<[u8]>>,
) -> Option<Content> {
    if json.first == b'"' {
        return None;
    }
    if json.is_empty_list() {
        // The file is the log of an account without activities. Only its folder shows that the log is Gemini's.
        return (name.ends_with(".json") && is_in_gemini_folder(member)).then_some(Content::ActivityJson);
    }
    let keys = &json.keys;
    if is_thread(keys) {
        return Some(Content::Workspace);
    }
    if voyager::is_chat(json) {
        return Some(Content::Voyager);
    }
    let has = |key: &str| keys.has(key) || WRAPPER_KEYS.iter().any(|w| keys.has(&format!("{w}.{key}")));
    let has_any = |names: &[&str]| names.iter().any(|name| has(name));
    let is_log = has_any(&["title", "details", "subtitles", "userInteractions"])
        && has_any(&["header", "products", "safeHtmlItem", "titleUrl", "activityControls"]);
    // The rows of a log may contain only a prompt and a time.
    let may_be_log = is_log || has("time") && has_any(&["title", "details", "userInteractions"]);
    if !may_be_log || keys.has("mapping") || keys.has("chat_messages") {
        return None;
    }
    let (head, is_gemini_file) = (json.bytes(), is_in_gemini_folder(member));
    let is_found = has_gemini_row(&head, is_gemini_file)
        || is_log && head.len() >= HEAD_BYTES && has_gemini_row(&longer_head()?, is_gemini_file);
    is_found.then_some(Content::ActivityJson)
}

/// True for the keys of threads of Gemini in Workspace, whose turns are under `user_turn` or `system_turn`.
fn is_thread(keys: &mementory_json::Keys) -> bool {
    keys.has("conversation_turns")
        && (keys.has("conversation_turns.user_turn") || keys.has("conversation_turns.system_turn"))
        || keys.has("conversation_turns.user_turn.prompt")
}

fn has_gemini_row(head: &[u8], is_gemini_file: bool) -> bool {
    let mut bytes = head;
    let limits = Limits::default();
    let mut elements = Elements::new(&mut bytes, &limits).with_keys(&WRAPPER_KEYS);
    // The head ends inside the last element, so reading this element returns an error, which ends the loop.
    while let Ok(Some(element)) = elements.next() {
        let is_gemini = |text: &str| Object::parse(text).is_some_and(|row| json_row::is_gemini(&row, is_gemini_file));
        // The reader repairs damaged rows, so a damaged row of Gemini counts here too.
        if std::str::from_utf8(element.bytes).is_ok_and(is_gemini)
            || repair(element.bytes).is_some_and(|(text, _)| is_gemini(&text))
        {
            return true;
        }
    }
    // If the first activity is longer than the head, the loop finds no complete row, so only the header of this
    // activity is checked.
    let text = String::from_utf8_lossy(head);
    head.len() >= LARGE_HEAD_BYTES.min(HEAD_BYTES) && has_gemini_header(&text)
}

/// True if the first member `header` in a text is the name of Gemini.
fn has_gemini_header(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("\"header\"") else { return false };
    let value = rest.trim_start().strip_prefix(':').map(str::trim_start).and_then(|rest| rest.strip_prefix('"'));
    value.and_then(|value| value.split('"').next()).is_some_and(super::activity::is_product)
}

fn has_gemini_cell(head: &[u8], is_gemini_file: bool) -> bool {
    let mut bytes = head;
    let limits = Limits::default();
    let mut rows = Rows::new(&mut bytes, html_row::OUTER_CELL, &limits);
    while let Ok(Some(row)) = rows.next_row() {
        if html_row::is_gemini(&row.html, is_gemini_file) {
            return true;
        }
    }
    false
}

/// True for a page with a list of Gems: the page has labels or headings for names and instructions, or the file has a
/// name that only such a list has.
fn is_gems(head: &[u8], name: &str) -> bool {
    let text = String::from_utf8_lossy(head);
    let has_labels = super::gems::has_labels(&text) || super::gems::has_heading(&text);
    let is_named = name.starts_with(super::gems::FILE);
    has_labels || is_named && !text.contains("outer-cell")
}
