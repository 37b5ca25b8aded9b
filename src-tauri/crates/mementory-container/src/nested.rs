//! Decides by names which archives inside archives are opened. A ZIP file that the user uploaded to a chat is an
//! attachment, not an export, even if it contains a `conversations.json`.

/// Extensions of documents and programs whose file format is ZIP.
const ZIP_BASED_EXTENSIONS: [&str; 22] = [
    "docx", "docm", "dotx", "xlsx", "xlsm", "pptx", "pptm", "odt", "ods", "odp", "odg", "epub", "jar", "apk", "xpi",
    "crx", "whl", "vsix", "pages", "numbers", "key", "sketch",
];

/// Ends of the names of archives that are always exports, even if other files are next to them.
const EXPORT_ARCHIVE_ENDS: [&str; 2] = [".alf", ".alf-delta"];

/// Lower-case prefixes of the names that vendors give to the parts of an export.
const EXPORT_PART_PREFIXES: [&str; 11] = [
    "conversations_",
    "conversations-",
    "conversations.",
    "projects-",
    "memories-",
    "design_chats-",
    "frames-",
    "feedback-",
    "light_metadata-",
    "data-",
    "openai-export",
];

fn last_segment(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn lower_case_file_name(name: &str) -> String {
    last_segment(name).to_ascii_lowercase()
}

/// True for a name that ends in `.zip`.
pub(super) fn has_zip_name(name: &str) -> bool {
    lower_case_file_name(name).ends_with(".zip")
}

/// True for a name that ends in `.zip`, `.tar` or one of the [`EXPORT_ARCHIVE_ENDS`].
pub(super) fn has_archive_name(name: &str) -> bool {
    let file_name = lower_case_file_name(name);
    has_zip_name(name) || file_name.ends_with(".tar") || EXPORT_ARCHIVE_ENDS.iter().any(|end| file_name.ends_with(end))
}

/// True for a file of the user: a file with a name that exports give to uploads (`file-…`, `file_…`, `….dat`, anything
/// in `Files__…`), or with one of the [`ZIP_BASED_EXTENSIONS`].
pub(super) fn is_user_file(name: &str) -> bool {
    let file_name = lower_case_file_name(name);
    let extension = file_name.rsplit_once('.').map_or("", |(_, e)| e);
    file_name.starts_with("file-")
        || file_name.starts_with("file_")
        || extension == "dat"
        || ZIP_BASED_EXTENSIONS.contains(&extension)
        || is_in_user_files(name)
}

/// True for a file in an unpacked archive of user files.
fn is_in_user_files(name: &str) -> bool {
    name.rsplit_once('/').is_some_and(|(dir, _)| dir.split('/').any(is_user_files_archive))
}

/// True for the name of an archive of user files: `Files__…`, `Files_…-files-0001`.
pub(super) fn is_user_files_archive(name: &str) -> bool {
    let name = lower_case_file_name(name);
    name.strip_prefix("files_").is_some_and(|rest| rest.starts_with('_') || rest.contains("-files-"))
}

/// True for a file that operating systems add to folders and archives: a hidden file, or a file of macOS.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with("__MACOSX/") || last_segment(name).starts_with('.')
}

pub(super) fn has_export_part_name(name: &str) -> bool {
    let file_name = lower_case_file_name(name);
    EXPORT_PART_PREFIXES.iter().any(|p| file_name.starts_with(p)) || is_user_files_archive(name)
}

/// True for names such as `conversations.json` or `conversations-000.json`. An archive or folder with such a file
/// contains export data itself.
pub(super) fn has_conversations_name(name: &str) -> bool {
    let file_name = lower_case_file_name(name);
    file_name
        .strip_suffix(".json")
        .and_then(|stem| stem.strip_prefix("conversations"))
        .is_some_and(|suffix| suffix.is_empty() || suffix.starts_with(['-', ' ', '(']))
}

/// Last segment of a name in lower case, without the `(1)` that browsers append to the name of a repeated download.
pub fn plain_name(name: &str) -> String {
    let file_name = lower_case_file_name(name);
    let Some((stem, extension)) = file_name.rsplit_once('.') else { return file_name };
    let stem = stem.trim_end();
    let stem = match stem.strip_suffix(')').and_then(|s| s.rsplit_once('(')) {
        Some((base, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => base.trim_end(),
        _ => stem,
    };
    format!("{stem}.{extension}")
}
