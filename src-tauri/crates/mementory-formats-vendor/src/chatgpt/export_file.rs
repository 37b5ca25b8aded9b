//! The files of an export that is being written: their ids, their names, and whether the export contains their bytes.
use super::attachments::{FileNames, file_key};
use mementory_model::RecordKey;
use std::collections::BTreeMap;

/// Name of the side file that maps the files of an export to their names.
pub(super) const NAMES_FILE: &str = "conversation_asset_file_names.json";

/// A file that messages refer to, or an attachment in the vault.
pub(super) struct ExportFile {
    /// Id of the file in the export, in which the file is called `<id>.dat`.
    pub id: String,
    pub name: String,
    /// True if a message in the export refers to the file.
    pub is_referenced: bool,
    /// True if the file comes from ChatGPT, as its record key shows.
    is_from_chatgpt: bool,
    /// True if the vault contains the bytes of the file.
    pub is_present: bool,
}

impl ExportFile {
    /// Returns a file with the given vault id, key and name. A file from ChatGPT keeps the id that ChatGPT gave it.
    pub(super) fn new(vault_id: &str, key: &RecordKey, name: &str) -> Self {
        let own_id = key.value.strip_prefix("file/").filter(|_| key.scope == file_key("").scope);
        let is_plain = |id: &&str| {
            let is_id = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
            (8..=120).contains(&id.len()) && id.bytes().all(is_id)
        };
        let id = own_id.filter(is_plain).map_or_else(|| format!("file-{vault_id}"), str::to_owned);
        let name = if name.is_empty() { id.clone() } else { name.to_owned() };
        Self { id, name, is_referenced: false, is_from_chatgpt: own_id.is_some(), is_present: false }
    }

    /// True if the export contains the bytes of the file.
    pub(super) fn is_written(&self) -> bool {
        self.is_present && (self.is_from_chatgpt || self.is_referenced)
    }
}

/// Returns the JSON of the side file with the names of the files in the export, and the names that a reader extracts
/// from it.
pub(super) fn file_names(files: &BTreeMap<String, ExportFile>) -> (String, FileNames) {
    let renamed_files = files.values().filter(|file| file.is_written() && file.name != file.id);
    let map: serde_json::Map<String, serde_json::Value> =
        renamed_files.map(|file| (format!("{}.dat", file.id), file.name.as_str().into())).collect();
    let json = serde_json::Value::Object(map).to_string();
    let mut names = FileNames::default();
    names.add_side_file(NAMES_FILE, &json);
    (json, names)
}
