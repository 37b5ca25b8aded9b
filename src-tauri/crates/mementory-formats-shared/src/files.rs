//! Files of an export: determines their folders and media types, and sends their bytes to the sink.
use super::json_head::has_json_name;
use super::reader::FileReader;
use mementory_format::{AttachmentFile, Catalog, FormatError, Member};
use mementory_json::Keys;
use mementory_model::RecordKey;
use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

/// Number of bytes that are read to determine the media type.
const MAGIC_BYTES: u64 = 512;

/// Last segment of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a path, without `/` at the end. Empty if the path has no folder.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The root, archive and folder of a file. They are equal for files in the same folder.
pub type Folder<'m> = (usize, Option<usize>, &'m str);

/// The folder of a file of a catalog.
pub fn folder_of(member: &Member) -> Folder<'_> {
    (member.root, member.archive, folder(&member.name))
}

/// True if a path is inside a folder, at any depth. Every path is inside the folder with an empty name.
pub fn is_inside(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// True if a path is inside one of these folders, at any depth.
pub fn is_inside_one(path: &str, folders: &BTreeSet<&str>) -> bool {
    folders.contains("") || path.match_indices('/').any(|(at, _)| path.get(..at).is_some_and(|p| folders.contains(p)))
}

/// True for the bookkeeping files of operating systems.
pub fn is_junk(path: &str) -> bool {
    let name = file_name(path);
    path.split('/').any(|part| part == "__MACOSX")
        || name.starts_with("._")
        || matches!(name, ".DS_Store" | "Thumbs.db" | "desktop.ini")
}

/// The extension of a file in lower case. None if it has no extension.
pub fn extension(path: &str) -> Option<String> {
    file_name(path).rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}

/// The part of a path or file name before its last `.`, or all of it if it has none.
pub fn without_extension(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

/// Index of the selected folder or archive that contains a file. None for a file that was selected on its own, so that
/// all such files count as being in the same place.
pub fn root_of(member: &Member) -> Option<usize> {
    (!member.is_selected_alone()).then_some(member.root)
}

/// The keys at the start of a file whose name allows JSON: `.json`, `.jsonl`, `.ndjson`, `.txt`, no extension, or the
/// name of pasted text. A file that was selected on its own may have nearly any name, because people rename exports.
/// None for any other file, and for a file that cannot be read.
pub fn json_keys(catalog: &Catalog, member: &Member) -> Option<Arc<Keys>> {
    if !has_json_name(member) || member.size == 0 || is_junk(&member.name) {
        return None;
    }
    mementory_format::json_keys(catalog, member).ok().flatten()
}

/// Sends one of the user's files to the sink with its content, and detects its media type.
pub fn send_file(
    reader: &mut FileReader<'_>,
    member: &Member,
    key: RecordKey,
    origin_id: Option<String>,
    name: &str,
) -> Result<(), FormatError> {
    let catalog = reader.catalog;
    catalog.read(member, |bytes| {
        let mut head = Vec::new();
        (&mut *bytes).take(MAGIC_BYTES).read_to_end(&mut head).map_err(|e| FormatError::io(&member.place, e))?;
        let file = AttachmentFile {
            key,
            origin_id,
            name: name.to_owned(),
            media_type: media_type(&head, name).map(str::to_owned),
            place: member.place.clone(),
        };
        reader.sink.attachment(file, &mut head.as_slice().chain(bytes))
    })
}

/// Media type of a file, determined from its first bytes, otherwise from its name.
pub fn media_type(head: &[u8], name: &str) -> Option<&'static str> {
    let type_by_bytes = match head {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xFF, 0xD8, 0xFF, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
        [b'%', b'P', b'D', b'F', ..] => "application/pdf",
        [b'I', b'D', b'3', ..] | [0xFF, 0xFB | 0xF3 | 0xF2, ..] => "audio/mpeg",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [0x1A, 0x45, 0xDF, 0xA3, ..] => "video/webm",
        [_, _, _, _, b'f', b't', b'y', b'p', b'M', b'4', b'A', ..] => "audio/mp4",
        [_, _, _, _, b'f', b't', b'y', b'p', b'h', b'e', b'i', ..] => "image/heic",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "video/mp4",
        _ => "",
    };
    if !type_by_bytes.is_empty() {
        return Some(type_by_bytes);
    }
    let extension = file_name(name).rsplit_once('.').map_or(String::new(), |(_, e)| e.to_ascii_lowercase());
    let type_by_name = match extension.as_str() {
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ if head.starts_with(b"PK\x03\x04") => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "svg" => "image/svg+xml",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "mp4" => "video/mp4",
        "pdf" => "application/pdf",
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "zip" => "application/zip",
        _ => return None,
    };
    Some(type_by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_inside_a_folder_at_any_depth() {
        let folders = BTreeSet::from(["a", "b/c"]);
        for (path, expected) in
            [("a/x", true), ("a/y/x", true), ("b/c/x", true), ("b/x", false), ("a", false), ("ab/x", false)]
        {
            assert_eq!(is_inside_one(path, &folders), expected, "{path}");
            assert_eq!(folders.iter().any(|folder| is_inside(path, folder)), expected, "{path}");
        }
        assert!(is_inside_one("x", &BTreeSet::from([""])));
    }
}
