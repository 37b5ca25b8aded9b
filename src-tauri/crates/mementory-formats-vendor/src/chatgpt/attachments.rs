//! Files of an export: their ids, names and media types.
use super::wire::{File, Nodes};
use mementory_format::is_uuid;
use mementory_model::{AttachmentRef, RecordKey};
use std::{
    collections::{HashMap, HashSet},
    io::Read,
};

/// Names and ids of the files, collected from side files, messages and the names of files in the export.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    by_id: HashMap<String, String>,
    /// Ids of files by the paths in the name map, and by the last segments of those paths. These files are exported
    /// under such a path and not as `<id>.dat`.
    by_path: HashMap<String, String>,
    /// Id by name; None if several files have the name.
    by_name: HashMap<String, Option<String>>,
    media_types: HashMap<String, String>,
    /// Ids in messages, by file name. Without a name map this is the only link between a name and an id.
    ids_in_messages: HashMap<String, HashSet<String>>,
    /// Ids in the names of files in the export, each with the original name that follows the id in the file name.
    names_in_export: HashMap<String, Option<String>>,
    assigned_ids: HashSet<String>,
    /// True if the folder has side files that occur only in exports.
    is_export_folder: bool,
    /// Files of records of other formats, as restored from extension slots. The map is keyed by the value of the record
    /// key that the file has in the export.
    restored: HashMap<String, AttachmentRef>,
}

pub(super) fn file_key(id: &str) -> RecordKey {
    RecordKey::new("chatgpt", format!("file/{id}"))
}

pub(super) fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Id for a file that has only a name.
pub(super) fn id_of_name(name: &str) -> String {
    format!("name/{name}")
}

/// Id and name of a referenced file.
pub(super) fn id_and_name(reference: &mementory_model::AttachmentRef) -> Option<(&str, &str)> {
    Some((reference.key.value.strip_prefix("file/")?, reference.name.as_str()))
}

impl FileNames {
    /// Adds the names in a side file. `side_file_name` is the file's name without folders.
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

    /// Adds the names in `library_files.json`: `[{file_id,file_name,…}]`. Does not replace names from the name map.
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

    /// The id of the file with this name. None if no file or several files have the name.
    pub(super) fn id_by_name(&self, name: &str) -> Option<&str> {
        self.by_name.get(name)?.as_deref()
    }

    fn add_name(&mut self, name: &str, id: &str) {
        let known_id = self.by_name.entry(name.to_owned()).or_insert_with(|| Some(id.to_owned()));
        if known_id.as_deref() != Some(id) {
            *known_id = None;
        }
    }

    /// Adds ids and names of files that a message refers to.
    pub(super) fn add_references<'a>(&mut self, files: impl Iterator<Item = (&'a str, &'a str)>) {
        for (id, name) in files.filter(|(id, name)| id != name) {
            if !self.ids_in_messages.get(name).is_some_and(|ids| ids.contains(id)) {
                self.ids_in_messages.entry(name.to_owned()).or_default().insert(id.to_owned());
            }
        }
    }

    /// Adds files that belong to records of other formats.
    pub(super) fn add_restored(&mut self, files: Vec<(RecordKey, AttachmentRef)>) {
        self.restored.extend(files.into_iter().map(|(key, file)| (key.value, file)));
    }

    /// The reference to the file with this key, if records of another format refer to it.
    pub(super) fn restored(&self, key: &RecordKey) -> Option<&AttachmentRef> {
        self.restored.get(&key.value)
    }

    /// Adds a file in the export whose name contains its id.
    pub(super) fn add_file_in_export(&mut self, path: &str) {
        let file_name = last_segment(path);
        let id_in_name = file_name.strip_suffix(".dat").map(|id| (id, None)).or_else(|| id_prefix(file_name));
        if let Some((id, name)) = id_in_name {
            self.names_in_export.entry(id.to_owned()).or_insert_with(|| name.map(str::to_owned));
        }
    }

    /// The id that messages state for this name. None if they state several ids, or if a file in the export has the id.
    fn only_id_in_messages(&self, name: &str) -> Option<String> {
        let ids = self.ids_in_messages.get(name).filter(|ids| ids.len() == 1)?;
        ids.iter().next().filter(|id| !self.names_in_export.contains_key(*id)).cloned()
    }

    /// Name of the file with this id, from a side file or else from the name of the file in the export.
    pub(super) fn name(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).or_else(|| self.names_in_export.get(id)?.as_ref()).map(String::as_str)
    }

    /// Media type of the file with this id, from a side file.
    pub(super) fn media_type_of(&self, id: &str) -> Option<&str> {
        self.media_types.get(id).map(String::as_str)
    }

    /// Determines the id and name of a file in the export from its path: `<id>.dat`, `file-<id>-<name>`,
    /// `file_<hex>.wav`, a path in the name map, or a name for which messages state one id. The id of any other file,
    /// and of a second file with the same id, is its path.
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

/// Splits a file name into `file-<id>` or `file_<id>` and the name that follows, if any.
fn id_prefix(name: &str) -> Option<(&str, Option<&str>)> {
    let after_prefix = name.strip_prefix("file-").or_else(|| name.strip_prefix("file_"))?;
    let len = after_prefix.find(['-', '.', ' ', '(']).unwrap_or(after_prefix.len());
    if len < 8 || !after_prefix[..len].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let tail = after_prefix[len..].strip_prefix('-').filter(|t| !t.is_empty());
    Some((&name[..name.len() - after_prefix.len() + len], tail))
}

/// True for the place of a file that the user uploaded. For example, an uploaded `conversations.json` is not an export.
/// Everything in an archive of library files (`Files__…`) is an upload.
pub(super) fn is_upload(place: &str) -> bool {
    let file_name = last_segment(place);
    id_prefix(file_name).is_some()
        || file_name.ends_with(".dat")
        || place.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').any(super::part_names::holds_user_files))
}

/// True if the place is one where an export stores uploads or generated files.
pub(super) fn is_file_place(place: &str) -> bool {
    let is_file_folder = |part: &str| part == "dalle-generations" || part == "audio" || part.starts_with("user-");
    is_upload(place) || place.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').skip(1).any(is_file_folder))
}

/// Like [`is_file_place`], but for a path in a folder that may also contain unrelated files. A file
/// at the top of the folder must have a ChatGPT id in its name. A file in a subfolder in which exports store files
/// needs no id, except in the subfolder `user-…`, and in `audio` outside of the folder of a conversation.
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

/// True for a name that begins like the name of an upload, with an id of any length, unless it is a data file of the
/// export itself.
pub(super) fn has_upload_prefix(file_name: &str) -> bool {
    let has_prefix = ["file-", "file_"].iter().any(|prefix| file_name.starts_with(prefix));
    has_prefix && ![".json", ".html"].iter().any(|ending| file_name.ends_with(ending))
}

/// True if the part after `file-` looks generated by ChatGPT: at least 12 characters, either hex with a digit or
/// letters of both cases. False for an ordinary word, as in `file-report`.
fn is_generated_id(id: &str) -> bool {
    let digits = &id["file-".len()..];
    let has = |test: fn(&u8) -> bool| digits.bytes().any(|b| test(&b));
    let is_hex_with_digit = digits.bytes().all(|b| b.is_ascii_hexdigit()) && has(u8::is_ascii_digit);
    digits.len() >= 12 && (is_hex_with_digit || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
}

/// A reader that records its error. This shows whether the file is damaged or the sink failed.
pub(super) struct ErrorRecorder<'r> {
    pub(super) inner: &'r mut dyn Read,
    pub(super) error: Option<String>,
}

impl Read for ErrorRecorder<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(buf).inspect_err(|e| self.error = Some(e.to_string()))
    }
}
