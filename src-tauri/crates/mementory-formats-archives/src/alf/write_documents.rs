//! Writes the identity and the list documents. Elements of an imported document are inserted at their positions in its
//! skeleton, and new elements are appended.
use super::document_row::Row;
use super::list_document::{new_document, split};
use super::{extension, wire};
use mementory_format::{NOT_EXPORTED, SourceDescription, StoredRecord};
use mementory_json::{Tree, write_string};
use mementory_model::{AttachmentRef, Timestamp};

/// The text of a list document, and the number of its elements. `skeleton` is the imported document, in which each
/// element is replaced with its key.
pub(super) fn assemble(list: &str, skeleton: Option<&str>, rows: &[Row], head: &str) -> (String, usize) {
    let row_texts: Vec<String> = rows.iter().map(|r| r.text.clone()).collect();
    let Some((text, document)) = skeleton.and_then(|text| Some((text, split(text, list)?))) else {
        return (new_document(list, head, &row_texts), rows.len());
    };
    let slots: Vec<String> =
        document.elements.iter().map(|slot| serde_json::from_str::<String>(slot).unwrap_or_default()).collect();
    // If a memory has the same id as an element, the element's key ends in `#` and the name of the layer. The skeleton
    // of a delta has the key without this ending, because the delta does not contain the memory.
    let short_key = |row: &Row| Some(row.value.strip_suffix(list)?.strip_suffix('#')?.to_owned());
    let slot_of = |row: &Row| {
        let exact_position = slots.iter().position(|slot| *slot == row.value);
        exact_position.or_else(|| short_key(row).and_then(|key| slots.iter().position(|slot| *slot == key)))
    };
    let positions: Vec<Option<usize>> = rows.iter().map(slot_of).collect();
    let is_added = |(_, position): &(&Row, &Option<usize>)| position.is_none();
    let added_texts: Vec<String> =
        rows.iter().zip(&positions).filter(is_added).map(|(row, _)| row.text.clone()).collect();
    if slots.is_empty() && !added_texts.is_empty() {
        // The list is empty, so the rows have no elements to replace. The document is parsed and written again, which
        // loses its white space.
        let Ok(mut tree) = Tree::parse(text, 512) else { return (new_document(list, head, &row_texts), rows.len()) };
        tree.set(list, Tree::Array(added_texts.iter().filter_map(|a| Tree::parse(a, 512).ok()).collect()));
        let mut out = String::new();
        tree.write(&mut out);
        return (out, added_texts.len());
    }
    let fill = |i: usize| positions.iter().position(|position| *position == Some(i)).and_then(|row| rows.get(row));
    let count = (0..slots.len()).filter(|i| fill(*i).is_some()).count() + added_texts.len();
    (document.with_elements(|i| fill(i).map(|r| r.text.clone()), &added_texts), count)
}

/// Sets the user's threshold in the attachment index.
pub(super) fn with_threshold(index: String, threshold: u64) -> String {
    let Ok(mut tree) = Tree::parse(&index, 512) else { return index };
    tree.set("artifact_size_threshold", Tree::Number(threshold.to_string()));
    let mut out = String::new();
    tree.write(&mut out);
    out
}

fn push_member(out: &mut String, key: &str, value: &str) {
    if out.len() > 1 {
        out.push(',');
    }
    write_string(key, out);
    out.push(':');
    write_string(value, out);
}

/// Row for a credential of another format. It has only metadata; the record itself is in the row's extension slot.
pub(super) fn credential_row(stored: &StoredRecord, agent: &str) -> String {
    let record = &stored.record;
    let mut out = String::from("{");
    push_member(&mut out, "id", &super::partitions::stable_v5(&format!("credential:{}", stored.id)).to_string());
    push_member(&mut out, "agent_id", agent);
    push_member(&mut out, "service", record.title.as_deref().unwrap_or("unknown"));
    push_member(&mut out, "credential_type", "custom");
    push_member(&mut out, "encrypted_payload", NOT_EXPORTED);
    // The reference tool rejects an empty nonce, even without encryption.
    out.push_str(",\"encryption\":{\"algorithm\":\"none\",\"nonce\":\"<not-encrypted>\"}");
    let created = record.times.created.or_else(|| Timestamp::from_micros(0));
    push_member(&mut out, "created_at", &created.map(Timestamp::to_rfc3339).unwrap_or_default());
    out.push_str(",\"tags\":[\"metadata-only\"],\"mementory\":");
    out.push_str(&extension::row_slot(record, &stored.id));
    out.push('}');
    out
}

/// A generated human principal, for an archive without principals (spec §3.3.1).
pub(super) fn owner_row(description: &SourceDescription, agent: &str) -> Row {
    let id = super::partitions::stable_v5(&format!("owner:{}", description.vault_id)).to_string();
    let profile = super::partitions::stable_v5(&format!("owner profile:{}", description.vault_id)).to_string();
    let mut text = String::from("{");
    push_member(&mut text, "id", &id);
    push_member(&mut text, "principal_type", "human");
    text.push_str(",\"agent_id\":null,\"profile\":");
    let mut profile_json = String::from("{");
    push_member(&mut profile_json, "id", &profile);
    push_member(&mut profile_json, "agent_id", agent);
    push_member(&mut profile_json, "principal_id", &id);
    // No value depends on the time of the export, so that the row never changes.
    profile_json.push_str(",\"version\":1");
    push_member(&mut profile_json, "updated_at", "1970-01-01T00:00:00Z");
    profile_json.push_str(",\"structured\":{\"principal_type\":\"human\"}");
    push_member(&mut profile_json, "source_format", "mementory");
    profile_json.push('}');
    text.push_str(&profile_json);
    text.push_str(",\"mementory\":{\"generated\":true}}");
    Row { value: id, scope: String::new(), runtime: String::new(), text, file: None }
}

/// The properties of a file in its index row.
pub(super) struct FileData {
    /// Name of the file in the archive. None for a file of tier 3.
    pub path: Option<String>,
    /// Size of the file in bytes.
    pub size: u64,
    /// SHA-256. Empty if the vault does not have the bytes.
    pub sha256: String,
}

/// The index row of an attachment from another format. `id` is its export id. `referenced_by` lists the ids of the
/// records that refer to the attachment.
pub(super) fn file_row(id: &str, reference: &AttachmentRef, referenced_by: &[String], file_data: &FileData) -> Row {
    let uuid = super::partitions::stable_v5(&format!("attachment:{id}")).to_string();
    let mut out = String::from("{");
    push_member(&mut out, "id", &uuid);
    push_member(&mut out, "filename", &reference.name);
    push_member(&mut out, "media_type", reference.media_type.as_deref().unwrap_or("application/octet-stream"));
    out.push_str(&format!(
        ",\"size_bytes\":{},\"hash\":{{\"algorithm\":\"sha256\",\"value\":\"{}\"}}",
        file_data.size, file_data.sha256
    ));
    push_member(&mut out, "source_path", &reference.name);
    match &file_data.path {
        Some(path) => push_member(&mut out, "archive_path", path),
        None => out.push_str(",\"archive_path\":null"),
    }
    out.push_str(",\"remote_ref\":null,\"referenced_by\":[");
    for (i, id) in referenced_by.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(id, &mut out);
    }
    out.push_str("],\"mementory\":");
    out.push_str(&extension::file_slot(reference, id));
    out.push('}');
    Row { value: uuid, scope: String::new(), runtime: String::new(), text: out, file: None }
}

/// Version number of the identity, for the manifest.
pub(super) fn identity_version(text: &str) -> u64 {
    let Some(m) = wire::members(text) else { return 1 };
    wire::get(&m, "version").and_then(|v| v.get().parse().ok()).filter(|v| *v >= 1).unwrap_or(1)
}
