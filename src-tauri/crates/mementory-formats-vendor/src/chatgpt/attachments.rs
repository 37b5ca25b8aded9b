//! Files of an export: their ids, names and media types.
use super::wire::{File, Nodes};
use mementory_format::is_uuid;
use mementory_model::{AttachmentRef, RecordKey};
use std::{
    collections::{HashMap, HashSet},
    io::Read,
};

/// Names and ids of files, collected from side files, from messages and from the names of the files in the export.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    by_id: HashMap<String, String>,
    /// Maps the paths in the name map, and the last segments of these paths, to file ids. The export contains these
    /// files under such a path instead of `<id>.dat`.
    by_path: HashMap<String, String>,
    /// Maps names to file ids. The id is None if several files have the name.
    by_name: HashMap<String, Option<String>>,
    media_types: HashMap<String, String>,
    /// Ids that messages state for a file name. In an export without a name map, only messages link names to ids.
    ids_in_messages: HashMap<String, HashSet<String>>,
    /// Maps the ids in the file names of the export to the original names that follow the ids, as in
    /// `file-<id>-<name>`.
    names_in_export: HashMap<String, Option<String>>,
    assigned_ids: HashSet<String>,
    /// True if the folder has side files that occur only in exports.
    is_export_folder: bool,
    /// References to files of records of other formats, restored from extension slots. The map is keyed by the value of
    /// the record key that the file has in the export.
    restored: HashMap<String, AttachmentRef>,
}

pub(super) fn file_key(id: &str) -> RecordKey {
    RecordKey::new("chatgpt", format!("file/{id}"))
}

pub(super) fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Makes an id for a file that has a name but no id.
pub(super) fn id_of_name(name: &str) -> String {
    format!("name/{name}")
}

/// Returns the id and the name of a referenced file. None if the key of the reference is not that of a file of ChatGPT.
pub(super) fn id_and_name(reference: &mementory_model::AttachmentRef) -> Option<(&str, &str)> {
    Some((reference.key.value.strip_prefix("file/")?, reference.name.as_str()))
}

impl FileNames {
    /// Adds the names that a side file lists. `side_file_name` is the name of the side file without folders.
    pub(super) fn add_side_file(&mut self, side_file_name: &str, text: &str) {
        let json = text.trim_start_matches('\u{feff}');
        if side_file_name.starts_with("conversation_asset_file_names") {
            self.add_map(json);
        } else if side_file_name.starts_with("library_files") {
            self.add_library(json);
        }
    }

    /// Adds the names in `conversation_asset_file_names.json`: `{"<id>.dat": "name or path"}`.
    fn add_map(&mut self, json: &str) {
        let Ok(members) = serde_json::from_str::<Nodes<'_>>(json) else { return };
        for (file, name) in members.0 {
            let Ok(name) = serde_json::from_str::<String>(name.get()) else { continue };
            let id = file.strip_suffix(".dat").unwrap_or(&file).to_owned();
            if name.is_empty() || id.is_empty() {
                continue;
            }
            self.add_name(last_segment(&name), &id);
            self.by_path.insert(name.clone(), id.clone());
            self.by_path.insert(last_segment(&name).to_owned(), id.clone());
            self.by_id.insert(id, last_segment(&name).to_owned());
        }
    }

    /// Adds the names in `library_files.json`: `[{file_id,file_name,…}]`. A name from
    /// `conversation_asset_file_names.json` is not replaced.
    fn add_library(&mut self, json: &str) {
        let Ok(raw) = serde_json::from_str::<&serde_json::value::RawValue>(json) else { return };
        for file in super::content::parse_list::<File<'_>>(Some(raw)) {
            let Some(id) = file.file_id.to_owned_text().or_else(|| file.id.to_owned_text()) else { continue };
            if let Some(media) = file.mime_type.to_owned_text() {
                self.media_types.insert(id.clone(), media);
            }
            if let Some(name) = file.file_name.to_owned_text().or_else(|| file.name.to_owned_text()) {
                self.add_name(&name, &id);
                self.by_path.entry(name.clone()).or_insert_with(|| id.clone());
                self.by_id.entry(id).or_insert(name);
            }
        }
    }

    /// Records that the folder has side files that occur only in exports.
    pub(super) fn set_export_folder(&mut self) {
        self.is_export_folder = true;
    }

    /// True if the folder has side files that occur only in exports.
    pub(super) fn is_export_folder(&self) -> bool {
        self.is_export_folder
    }

    /// True if the side files list the file at `path`. The file is identified by its path or by the id in its name.
    pub(super) fn is_listed(&self, path: &str) -> bool {
        let file_name = last_segment(path);
        let id = file_name.strip_suffix(".dat").or_else(|| id_prefix(file_name).map(|(id, _)| id));
        self.by_path.contains_key(path)
            || self.by_path.contains_key(file_name)
            || id.is_some_and(|id| self.by_id.contains_key(id))
    }

    /// Returns the id of the file with the given name. None if no file or several files have this name.
    pub(super) fn id_by_name(&self, name: &str) -> Option<&str> {
        self.by_name.get(name)?.as_deref()
    }

    fn add_name(&mut self, name: &str, id: &str) {
        let known_id = self.by_name.entry(name.to_owned()).or_insert_with(|| Some(id.to_owned()));
        if known_id.as_deref() != Some(id) {
            *known_id = None;
        }
    }

    /// Adds the `(id, name)` pairs of files that a message refers to. Ignores pairs whose name is only the id.
    pub(super) fn add_references<'a>(&mut self, files: impl Iterator<Item = (&'a str, &'a str)>) {
        for (id, name) in files.filter(|(id, name)| id != name) {
            if !self.ids_in_messages.get(name).is_some_and(|ids| ids.contains(id)) {
                self.ids_in_messages.entry(name.to_owned()).or_default().insert(id.to_owned());
            }
        }
    }

    /// Adds the references to files of other formats that were restored from extension slots, each with its key in the
    /// export.
    pub(super) fn add_restored(&mut self, files: Vec<(RecordKey, AttachmentRef)>) {
        self.restored.extend(files.into_iter().map(|(key, file)| (key.value, file)));
    }

    /// Returns the reference that was restored for the file with this key. None if the file belongs to no record of
    /// another format.
    pub(super) fn restored(&self, key: &RecordKey) -> Option<&AttachmentRef> {
        self.restored.get(&key.value)
    }

    /// Adds a file of the export, if its name contains its id.
    pub(super) fn add_file_in_export(&mut self, path: &str) {
        let file_name = last_segment(path);
        let id_in_name = file_name.strip_suffix(".dat").map(|id| (id, None)).or_else(|| id_prefix(file_name));
        if let Some((id, name)) = id_in_name {
            self.names_in_export.entry(id.to_owned()).or_insert_with(|| name.map(str::to_owned));
        }
    }

    /// Returns the id that messages state for a file name. None if they state several ids, or if the name of another
    /// file in the export contains the id.
    fn only_id_in_messages(&self, name: &str) -> Option<String> {
        let ids = self.ids_in_messages.get(name).filter(|ids| ids.len() == 1)?;
        ids.iter().next().filter(|id| !self.names_in_export.contains_key(*id)).cloned()
    }

    /// Returns the name of the file with this id: the name in a side file, or else the name that follows the id in the
    /// file name.
    pub(super) fn name(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).or_else(|| self.names_in_export.get(id)?.as_ref()).map(String::as_str)
    }

    /// Returns the media type that a side file states for the file with this id.
    pub(super) fn media_type_of(&self, id: &str) -> Option<&str> {
        self.media_types.get(id).map(String::as_str)
    }

    /// Determines the id and name of a file in the export from its path. The path is `<id>.dat`, `file-<id>-<name>`,
    /// `file_<hex>.wav`, a path in the name map, or a name for which messages state exactly one id. For any other path,
    /// and for a second file with an id that is already assigned, the id is the path itself.
    pub(super) fn identify(&mut self, path: &str) -> (String, String) {
        let file_name = last_segment(path);
        let (stem, tail) = match file_name.strip_suffix(".dat") {
            Some(stem) => (Some(stem.to_owned()), None),
            None => match id_prefix(file_name) {
                Some((id, name)) => (Some(id.to_owned()), name),
                None => {
                    let mapped = self.by_path.get(path).or_else(|| self.by_path.get(file_name)).cloned();
                    (mapped.or_else(|| self.only_id_in_messages(file_name)), None)
                }
            },
        };
        let id = match stem {
            Some(id) if self.assigned_ids.insert(id.clone()) => id,
            _ => path.to_owned(),
        };
        let name = self.name(&id).or(tail).unwrap_or(file_name).to_owned();
        (id, name)
    }
}

/// Splits a file name into the prefix `file-<id>` or `file_<id>` and the original name after the prefix, if any.
fn id_prefix(name: &str) -> Option<(&str, Option<&str>)> {
    let after_prefix = name.strip_prefix("file-").or_else(|| name.strip_prefix("file_"))?;
    let len = after_prefix.find(['-', '.', ' ', '(']).unwrap_or(after_prefix.len());
    if len < 8 || !after_prefix[..len].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let tail = after_prefix[len..].strip_prefix('-').filter(|t| !t.is_empty());
    Some((&name[..name.len() - after_prefix.len() + len], tail))
}

/// True if the place is that of a file that the user uploaded. An upload is never a part of the export itself, even if
/// it is called `conversations.json`. Every file in an archive of library files (`Files__…`) is an upload.
pub(super) fn is_upload(place: &str) -> bool {
    let file_name = last_segment(place);
    id_prefix(file_name).is_some()
        || file_name.ends_with(".dat")
        || place.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').any(super::part_names::contains_user_files))
}

/// True if the place is that of an upload, or is in a folder in which an export stores uploads or generated files.
pub(super) fn is_file_place(place: &str) -> bool {
    let is_file_folder = |part: &str| part == "dalle-generations" || part == "audio" || part.starts_with("user-");
    is_upload(place) || place.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').skip(1).any(is_file_folder))
}

/// Like [`is_file_place`], but for a path inside a folder that may also contain unrelated files, such as Downloads. At
/// the top of the folder, the file name must contain an id that ChatGPT generated. In the subfolders of an export, no
/// id is required, except in `user-…`, and in an `audio` folder that is not in the folder of a conversation.
pub(super) fn is_folder_file_place(inside: &str) -> bool {
    let file_name = last_segment(inside);
    let stem = file_name.strip_suffix(".dat").unwrap_or(file_name);
    let has_generated_id = id_prefix(stem).is_some_and(|(id, _)| is_generated_id(id));
    let Some((dirs, _)) = inside.rsplit_once('/') else { return has_generated_id };
    let dir = last_segment(dirs);
    let above = dirs.rsplit('/').nth(1);
    let is_in_library = dirs.split('/').any(|d| d.get(..7).is_some_and(|p| p.eq_ignore_ascii_case("files__")));
    is_in_library
        || dir == "dalle-generations"
        || dir.starts_with("user-") && has_generated_id
        || dir == "audio" && (has_generated_id || above.is_some_and(is_uuid))
}

/// True if a name begins with `file-` or `file_`, like the name of an upload, and does not end like a data file of the
/// export itself.
pub(super) fn has_upload_prefix(file_name: &str) -> bool {
    let has_prefix = ["file-", "file_"].iter().any(|prefix| file_name.starts_with(prefix));
    has_prefix && ![".json", ".html"].iter().any(|ending| file_name.ends_with(ending))
}

/// True if the part after `file-` looks as if ChatGPT generated it: at least 12 characters that are either hexadecimal
/// with at least one digit, or contain both lower-case and upper-case letters. False for a word, as in `file-report`.
fn is_generated_id(id: &str) -> bool {
    let digits = &id["file-".len()..];
    let has = |test: fn(&u8) -> bool| digits.bytes().any(|b| test(&b));
    let is_hex_with_digit = digits.bytes().all(|b| b.is_ascii_hexdigit()) && has(u8::is_ascii_digit);
    digits.len() >= 12 && (is_hex_with_digit || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
}

/// A reader that records the error of the inner reader. If copying fails and no error was recorded, the sink has
/// failed.
pub(super) struct ErrorRecorder<'r> {
    pub(super) inner: &'r mut dyn Read,
    pub(super) error: Option<String>,
}

impl Read for ErrorRecorder<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(buf).inspect_err(|e| self.error = Some(e.to_string()))
    }
}
