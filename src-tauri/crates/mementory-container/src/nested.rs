//! Which archives are opened, by role. A zip that the person once uploaded to a chat is their file, not an export,
//! although it may hold a `conversations.json`.

/// Extensions of documents that are ZIP files inside.
const DOCUMENTS: [&str; 22] = [
    "docx", "docm", "dotx", "xlsx", "xlsm", "pptx", "pptm", "odt", "ods", "odp", "odg", "epub", "jar", "apk", "xpi",
    "crx", "whl", "vsix", "pages", "numbers", "key", "sketch",
];

/// Starts of names (folded) that vendors give to archives which are parts of an export.
const PARTS: [&str; 12] = [
    "conversations__",
    "conversations-",
    "conversations.",
    "files__",
    "projects-",
    "memories-",
    "design_chats-",
    "frames-",
    "feedback-",
    "light_metadata-",
    "data-",
    "openai-export",
];

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn folded(name: &str) -> String {
    last(name).to_ascii_lowercase()
}

/// Ends in `.zip`.
pub(super) fn named_zip(name: &str) -> bool {
    folded(name).ends_with(".zip")
}

/// A file of the person's: ChatGPT's `file-…`, `file_…`, `….dat`, all that is under `Files__…`, office documents.
pub(super) fn is_user_file(name: &str) -> bool {
    let own = folded(name);
    let extension = own.rsplit_once('.').map_or("", |(_, e)| e);
    own.starts_with("file-")
        || own.starts_with("file_")
        || extension == "dat"
        || DOCUMENTS.contains(&extension)
        || in_user_files(name)
}

/// Is it inside an (unpacked) archive of the person's own files?
fn in_user_files(name: &str) -> bool {
    name.rsplit_once('/').is_some_and(|(dir, _)| dir.split('/').any(holds_user_files))
}

/// Is this the archive of the person's own library files?
pub(super) fn holds_user_files(name: &str) -> bool {
    last(name).get(..7).is_some_and(|start| start.eq_ignore_ascii_case("files__"))
}

/// A part of an export by its name.
pub(super) fn named_part(name: &str) -> bool {
    let own = folded(name);
    PARTS.iter().any(|p| own.starts_with(p))
}

/// `conversations.json`, `conversations-000.json`: an archive or folder with this holds data itself.
pub(super) fn named_conversations(name: &str) -> bool {
    let own = folded(name);
    own.strip_suffix(".json")
        .and_then(|stem| stem.strip_prefix("conversations"))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ' ', '(']))
}

/// Last part of a name, folded, without the `(1)` of a repeated download.
pub fn plain_name(name: &str) -> String {
    let own = folded(name);
    let Some((stem, extension)) = own.rsplit_once('.') else { return own };
    let stem = stem.trim_end();
    let stem = match stem.strip_suffix(')').and_then(|s| s.rsplit_once('(')) {
        Some((rest, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => rest.trim_end(),
        _ => stem,
    };
    format!("{stem}.{extension}")
}
