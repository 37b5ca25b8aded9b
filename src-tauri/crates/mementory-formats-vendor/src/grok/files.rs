//! Ids of the files (assets) of an export, and references to files in messages.
use super::GROK;
use mementory_format::is_uuid;
use mementory_formats_shared::object::{Object, decode_string};
use mementory_formats_shared::values::{first_id, first_text};
use mementory_model::{AttachmentRef, RecordKey};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// Folder that contains all files of the export: `prod-mc-asset-server/<id>/content`.
const ASSET_FOLDER: &str = "prod-mc-asset-server";

/// Returns the id of an asset from the path of its file. The id is the name of the asset's folder or, without a folder,
/// the file name without its extension. None for a file that is not an asset.
pub(super) fn asset_id(path: &str) -> Option<&str> {
    let (_, inside) = path.rsplit_once(ASSET_FOLDER)?;
    // In some archives, two slashes follow the name of the folder.
    let id = inside.strip_prefix('/')?.trim_start_matches('/').split('/').next()?;
    let id = id.split_once('.').map_or(id, |(stem, _)| stem);
    (!id.is_empty()).then_some(id)
}

pub(super) fn file_key(id: &str) -> RecordKey {
    RecordKey::new(GROK, format!("file/{id}"))
}

/// Reads a reference to a file, which is a string with the file id, or an object with the id and the name.
pub(super) fn reference(raw: &RawValue) -> Option<AttachmentRef> {
    let (id, name) = match decode_string(raw) {
        Some(id) => (id.trim().to_owned(), None),
        None => {
            let object = Object::parse(raw.get())?;
            let name = first_text(&object, &["file_name", "fileName", "name"]);
            let id = first_id(&object, &["file_metadata_id", "fileMetadataId", "asset_id", "file_id", "_id", "id"]);
            (id.or_else(|| name.clone())?, name)
        }
    };
    (!id.is_empty()).then(|| by_id(id, name))
}

fn by_id(id: String, name: Option<String>) -> AttachmentRef {
    AttachmentRef {
        key: file_key(&id),
        name: name.unwrap_or_else(|| id.clone()),
        origin_id: Some(id),
        media_type: None,
        size: None,
        text: None,
    }
}

/// Returns a reference to a generated file with the given address. If the address contains the UUID of an asset in the
/// export, or if `id` is such a UUID, the reference is to this asset.
pub(super) fn link(address: &str, id: Option<&str>, assets: &HashSet<&str>) -> AttachmentRef {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let uuids = path.split('/').rev().map(|part| part.split('.').next().unwrap_or(part)).filter(|part| is_uuid(part));
    let asset_id = uuids.chain(id).find(|id| assets.contains(id));
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(address);
    AttachmentRef {
        key: asset_id.map_or_else(|| RecordKey::new(GROK, format!("link/{path}")), file_key),
        origin_id: Some(address.to_owned()),
        name: name.to_owned(),
        media_type: None,
        size: None,
        text: None,
    }
}
