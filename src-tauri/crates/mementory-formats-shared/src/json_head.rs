//! The keys at the start of a file that may be JSON.
use mementory_format::{Catalog, JsonHead, Member, json_keys};
use mementory_json::Keys;
use std::sync::Arc;

/// Extensions of files that are never JSON. Their content is not read, because folders contain many such files.
const NON_JSON_EXTENSIONS: [&str; 32] = [
    "png", "jpg", "jpeg", "gif", "webp", "svg", "heic", "pdf", "mp3", "wav", "m4a", "ogg", "flac", "mp4", "mov",
    "webm", "mkv", "zip", "gz", "tgz", "html", "htm", "css", "js", "ts", "rs", "py", "docx", "xlsx", "pptx", "csv",
    "exe",
];

/// The keys in the first 64 KiB of a file. None if the name or the start of the file shows that it is not JSON.
pub fn head_keys(catalog: &Catalog, member: &Member) -> Option<Arc<Keys>> {
    if !may_be_json(member) {
        return None;
    }
    json_keys(catalog, member).ok().flatten().filter(|keys| !keys.is_empty())
}

/// The start of a file that may be JSON by its name. None if its content does not begin like JSON.
pub fn candidate_head<'c>(catalog: &'c Catalog, member: &'c Member) -> Option<JsonHead<'c>> {
    may_be_json(member).then(|| JsonHead::of(catalog, member)).flatten()
}

/// True for Markdown files in a folder or archive. A folder can contain very many of them, so a Markdown file is
/// checked for JSON only if it was selected on its own.
pub fn is_markdown_in_folder(member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let is_markdown = [".md", ".mdc", ".markdown"].iter().any(|ending| name.ends_with(ending));
    is_markdown && !member.is_selected_alone()
}

/// True unless the name of a file shows that it is not JSON.
pub fn may_be_json(member: &Member) -> bool {
    if is_markdown_in_folder(member) {
        return false;
    }
    let ending = member.file_name().rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    !ending.is_some_and(|ending| NON_JSON_EXTENSIONS.contains(&ending.as_str()))
}

/// True for a file name that has no extension, or an extension that JSON files usually have. A file that was selected
/// on its own may have any extension except those of other known kinds of files.
pub fn has_json_name(member: &Member) -> bool {
    let ending = member.file_name().rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    matches!(ending.as_deref(), None | Some("json" | "jsonl" | "ndjson" | "txt"))
        || member.is_selected_alone() && may_be_json(member)
}

/// True for an entry of a truncated archive. The remaining entries of another format's archive may look like a generic
/// format, so generic formats claim such an entry only if the user chose them.
pub fn is_in_truncated_archive(catalog: &Catalog, member: &Member) -> bool {
    let is_truncated = |place: &str| member.place.strip_prefix(place).is_some_and(|rest| rest.starts_with("!/"));
    catalog.issues().iter().any(|issue| issue.code == "truncated_archive" && is_truncated(&issue.place))
}
