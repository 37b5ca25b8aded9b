//! Files: which id a shipped file has, what it was called, what it is.
use super::wire::{File, Nodes};
use mementory_format::is_uuid;
use mementory_model::RecordKey;
use std::{
    collections::{HashMap, HashSet},
    io::Read,
};

/// Names that side files give to file ids.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_id: HashMap<String, String>,
    /// Path or last part of a path in the name map, where a file may lie instead of `<id>.dat`.
    by_path: HashMap<String, String>,
    /// The id that has this name, or None when several have it.
    by_name: HashMap<String, Option<String>>,
    media: HashMap<String, String>,
    /// Ids that messages name, by the file's own name: without a name map it is all that connects the two.
    said: HashMap<String, HashSet<String>>,
    /// Ids that shipped files carry in their own names, and what stands behind the id there.
    carried: HashMap<String, Option<String>>,
    seen: HashSet<String>,
}

/// Key of a file.
pub(super) fn key(id: &str) -> RecordKey {
    RecordKey::new("chatgpt", format!("file/{id}"))
}

/// Last part of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Id of a file that is only named.
pub(super) fn id_of_name(name: &str) -> String {
    format!("name/{name}")
}

/// The id in a reference's key, and its name.
pub(super) fn id_and_name(reference: &mementory_model::AttachmentRef) -> Option<(&str, &str)> {
    Some((reference.key.value.strip_prefix("file/")?, reference.name.as_str()))
}

impl Names {
    /// A side file by its plain name.
    pub(super) fn add(&mut self, plain: &str, text: &str) {
        let json = text.trim_start_matches('\u{feff}');
        if plain.starts_with("conversation_asset_file_names") {
            self.add_map(json);
        } else if plain.starts_with("library_files") {
            self.add_library(json);
        }
    }

    /// `conversation_asset_file_names.json`: `{"<id>.dat": "name or path"}`.
    fn add_map(&mut self, json: &str) {
        let Ok(members) = serde_json::from_str::<Nodes<'_>>(json) else { return };
        for (file, name) in members.0 {
            let Ok(name) = serde_json::from_str::<String>(name.get()) else { continue };
            let id = file.strip_suffix(".dat").unwrap_or(&file).to_owned();
            if name.is_empty() || id.is_empty() {
                continue;
            }
            self.name_id(last(&name), &id);
            self.by_path.insert(name.clone(), id.clone());
            self.by_path.insert(last(&name).to_owned(), id.clone());
            self.by_id.insert(id, last(&name).to_owned());
        }
    }

    /// `library_files.json`: `[{file_id,file_name,…}]`. The name map has the better names.
    fn add_library(&mut self, json: &str) {
        let Ok(raw) = serde_json::from_str::<&serde_json::value::RawValue>(json) else { return };
        for file in super::content::list::<File<'_>>(Some(raw)) {
            let Some(id) = file.file_id.owned().or_else(|| file.id.owned()) else { continue };
            if let Some(media) = file.mime_type.owned() {
                self.media.insert(id.clone(), media);
            }
            if let Some(name) = file.file_name.owned().or_else(|| file.name.owned()) {
                self.name_id(&name, &id);
                self.by_path.entry(name.clone()).or_insert_with(|| id.clone());
                self.by_id.entry(id).or_insert(name);
            }
        }
    }

    /// Do the side files name this file, by its path or by the id in its name?
    pub(super) fn knows(&self, path: &str) -> bool {
        let own = last(path);
        let id = own.strip_suffix(".dat").or_else(|| id_prefix(own).map(|(id, _)| id));
        self.by_path.contains_key(path)
            || self.by_path.contains_key(own)
            || id.is_some_and(|id| self.by_id.contains_key(id))
    }

    /// The id of a file that a message names without one, when only one file has that name.
    pub(super) fn id_by_name(&self, name: &str) -> Option<&str> {
        self.by_name.get(name)?.as_deref()
    }

    fn name_id(&mut self, name: &str, id: &str) {
        let known = self.by_name.entry(name.to_owned()).or_insert_with(|| Some(id.to_owned()));
        if known.as_deref() != Some(id) {
            *known = None;
        }
    }

    /// Files that a message names.
    pub(super) fn said<'a>(&mut self, files: impl Iterator<Item = (&'a str, &'a str)>) {
        for (id, name) in files.filter(|(id, name)| id != name) {
            if !self.said.get(name).is_some_and(|ids| ids.contains(id)) {
                self.said.entry(name.to_owned()).or_default().insert(id.to_owned());
            }
        }
    }

    /// A file that is shipped under its id.
    pub(super) fn carries(&mut self, path: &str) {
        let own = last(path);
        let named = own.strip_suffix(".dat").map(|id| (id, None)).or_else(|| id_prefix(own));
        if let Some((id, name)) = named {
            self.carried.entry(id.to_owned()).or_insert_with(|| name.map(str::to_owned));
        }
    }

    /// The one id that messages have for this name, unless that file is shipped under its id.
    fn said_id(&self, name: &str) -> Option<String> {
        let ids = self.said.get(name).filter(|ids| ids.len() == 1)?;
        ids.iter().next().filter(|id| !self.carried.contains_key(*id)).cloned()
    }

    /// Known name of an id: from a side file, else from the shipped file's own name.
    pub(super) fn name(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).or_else(|| self.carried.get(id)?.as_ref()).map(String::as_str)
    }

    /// Known media type of an id.
    pub(super) fn media(&self, id: &str) -> Option<&str> {
        self.media.get(id).map(String::as_str)
    }

    /// Id and name of a shipped file, by its path: `<id>.dat`, `file-<id>-<name>`, `file_<hex>.wav`, a path of the
    /// name map, a name that messages have one id for; otherwise the path itself is its id. A second file with an id
    /// already given gets its path as id.
    pub(super) fn identify(&mut self, path: &str) -> (String, String) {
        let own = last(path);
        let (stem, tail) = match own.strip_suffix(".dat") {
            Some(stem) => (Some(stem.to_owned()), None),
            None => match id_prefix(own) {
                Some((id, name)) => (Some(id.to_owned()), name),
                None => {
                    let mapped = self.by_path.get(path).or_else(|| self.by_path.get(own)).cloned();
                    (mapped.or_else(|| self.said_id(own)), None)
                }
            },
        };
        let id = match stem {
            Some(id) if self.seen.insert(id.clone()) => id,
            _ => path.to_owned(),
        };
        let name = self.name(&id).or(tail).unwrap_or(own).to_owned();
        (id, name)
    }
}

/// `file-<id>` or `file_<id>` at the start of a file name, and the name behind it.
fn id_prefix(name: &str) -> Option<(&str, Option<&str>)> {
    let rest = name.strip_prefix("file-").or_else(|| name.strip_prefix("file_"))?;
    let len = rest.find(['-', '.', ' ', '(']).unwrap_or(rest.len());
    if len < 8 || !rest[..len].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let tail = rest[len..].strip_prefix('-').filter(|t| !t.is_empty());
    Some((&name[..name.len() - rest.len() + len], tail))
}

/// Is it the person's own upload, whatever it looks like inside? (An uploaded `conversations.json` is no export.)
/// By place: what an archive of library files holds is theirs under any name.
pub(super) fn is_upload(place: &str) -> bool {
    let own = last(place);
    id_prefix(own).is_some()
        || own.ends_with(".dat")
        || place.rsplit_once('/').is_some_and(|(dirs, _)| {
            dirs.split('/').any(|part| part.get(..7).is_some_and(|p| p.eq_ignore_ascii_case("files__")))
        })
}

/// Is this a place at which ChatGPT ships a file of the person's, or one it made for them?
pub(super) fn is_file_place(place: &str) -> bool {
    let kept = |part: &str| part == "dalle-generations" || part == "audio" || part.starts_with("user-");
    is_upload(place) || place.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').skip(1).any(kept))
}

/// The same in a folder that may hold strangers' files too, by the path inside it (vendors.md §2.1): flat files with an
/// id of ChatGPT's in their names, and the folders that an export has.
pub(super) fn is_folder_file_place(inside: &str) -> bool {
    let own = last(inside);
    let stem = own.strip_suffix(".dat").unwrap_or(own);
    let with_id = id_prefix(stem).is_some_and(|(id, _)| is_made_id(id));
    let Some((dirs, _)) = inside.rsplit_once('/') else { return with_id };
    let dir = last(dirs);
    let above = dirs.rsplit('/').nth(1);
    let library = dirs.split('/').any(|d| d.get(..7).is_some_and(|p| p.eq_ignore_ascii_case("files__")));
    library
        || dir == "dalle-generations"
        || dir.starts_with("user-") && with_id
        || dir == "audio" && (with_id || above.is_some_and(is_uuid))
}

/// An id as ChatGPT makes them, not a word behind `file-`: hex digits, or letters of both cases.
fn is_made_id(id: &str) -> bool {
    let made = &id["file-".len()..];
    let has = |test: fn(&u8) -> bool| made.bytes().any(|b| test(&b));
    let hex = made.bytes().all(|b| b.is_ascii_hexdigit()) && has(u8::is_ascii_digit);
    made.len() >= 12 && (hex || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
}

/// Media type by the first bytes, else by the name.
pub(super) fn media_type(head: &[u8], name: &str) -> Option<&'static str> {
    let by_bytes = match head {
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
    if !by_bytes.is_empty() {
        return Some(by_bytes);
    }
    let extension = last(name).rsplit_once('.').map_or(String::new(), |(_, e)| e.to_ascii_lowercase());
    let by_name = match extension.as_str() {
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
    Some(by_name)
}

/// A reader that remembers why it stopped, so that damage to one file is told apart from a failing sink.
pub(super) struct Watched<'r> {
    pub(super) inner: &'r mut dyn Read,
    pub(super) failed: Option<String>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(buf).inspect_err(|e| self.failed = Some(e.to_string()))
    }
}
