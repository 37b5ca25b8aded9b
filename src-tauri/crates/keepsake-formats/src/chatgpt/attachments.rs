//! Files: which id a shipped file has, what it was called, what it is.
use super::wire::{File, Nodes};
use keepsake_model::RecordKey;
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
    media: HashMap<String, String>,
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

impl Names {
    /// `conversation_asset_file_names.json`: `{"<id>.dat": "name or path"}`.
    pub(super) fn add_map(&mut self, json: &str) {
        let Ok(members) = serde_json::from_str::<Nodes<'_>>(json) else { return };
        for (file, name) in members.0 {
            let Ok(name) = serde_json::from_str::<String>(name.get()) else { continue };
            let id = file.strip_suffix(".dat").unwrap_or(&file).to_owned();
            if name.is_empty() || id.is_empty() {
                continue;
            }
            self.by_path.insert(name.clone(), id.clone());
            self.by_path.insert(last(&name).to_owned(), id.clone());
            self.by_id.insert(id, last(&name).to_owned());
        }
    }

    /// `library_files.json`: `[{file_id,file_name,…}]`. The name map has the better names.
    pub(super) fn add_library(&mut self, json: &str) {
        let Ok(raw) = serde_json::from_str::<&serde_json::value::RawValue>(json) else { return };
        for file in super::content::list::<File<'_>>(Some(raw)) {
            let Some(id) = file.file_id.owned().or_else(|| file.id.owned()) else { continue };
            if let Some(media) = file.mime_type.owned() {
                self.media.insert(id.clone(), media);
            }
            if let Some(name) = file.file_name.owned().or_else(|| file.name.owned()) {
                self.by_path.entry(name.clone()).or_insert_with(|| id.clone());
                self.by_id.entry(id).or_insert(name);
            }
        }
    }

    /// Known name of an id.
    pub(super) fn name(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(String::as_str)
    }

    /// Known media type of an id.
    pub(super) fn media(&self, id: &str) -> Option<&str> {
        self.media.get(id).map(String::as_str)
    }

    /// Id and name of a shipped file, by its path: `<id>.dat`, `file-<id>-<name>`, `file_<hex>.wav`, a path of the
    /// name map; otherwise the path itself is its id. A second file with an id already given gets its path as id.
    pub(super) fn identify(&mut self, path: &str) -> (String, String) {
        let own = last(path);
        let (stem, tail) = match own.strip_suffix(".dat") {
            Some(stem) => (Some(stem.to_owned()), None),
            None => match id_prefix(own) {
                Some((id, name)) => (Some(id.to_owned()), name),
                None => (self.by_path.get(path).or_else(|| self.by_path.get(own)).cloned(), None),
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
