//! Reads the attachment index (spec §3.1.9): each row becomes a record. A tier 2 file is read if its size and digest
//! match its row. A tier 3 file has no content in the archive. Files that we exported from a workspace become files of
//! that workspace again.
use super::super::invalid_layer_values::original_id;
use super::super::manifest::{NOT_AN_ARTIFACT_CODE, is_artifact_path};
use super::super::{extension, identity, list_document, tiers, wire};
use super::{Reader, object};
use mementory_format::{AttachmentFile, FormatError, Member, PassthroughItem};
use mementory_formats_agents::openclaw::files::ABSENT_FILE;
use mementory_json::Tree;
use mementory_model::{AttachmentRef, Issue, Kind, RecordKey, is_damage};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};

/// References to files, by the id of the memory that refers to them.
#[derive(Default)]
pub(super) struct Attachments {
    by_record: HashMap<String, Vec<AttachmentRef>>,
}

impl Attachments {
    /// The files that a record refers to.
    pub(super) fn of_record(&self, id: &str) -> Vec<AttachmentRef> {
        self.by_record.get(id).cloned().unwrap_or_default()
    }
}

/// Id of a list element for record keys: the original id of the element, or its position if it has no id. If an earlier
/// element has the same id, the position is appended.
pub(super) fn element_id(doc: &Tree, position: usize, used_ids: &mut HashSet<String>) -> String {
    let id = doc.get("id").and_then(Tree::as_str).filter(|id| !id.is_empty());
    let id = match original_id(doc).or(id) {
        Some(id) if used_ids.contains(id) => format!("{id}#{position}"),
        Some(id) => id.to_owned(),
        None => format!("#{position}"),
    };
    used_ids.insert(id.clone());
    id
}

/// Reads `attachments.json` and the files that it lists.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Attachments, FormatError> {
    let mut out = Attachments::default();
    let Some((text, member)) = reader.read_document("attachments")? else { return Ok(out) };
    let Some(document) = list_document::split(&text, "attachments") else {
        reader.store_bad_document(&member, Kind::Attachment)?;
        return Ok(out);
    };
    let (mut slots, mut used_ids) = (Vec::new(), HashSet::new());
    let mut absent_files = BTreeMap::<(&str, String), Vec<&str>>::new();
    let manifest = reader.manifest;
    let layer_files: HashSet<&str> = manifest.named_files().into_iter().collect();
    for (i, element) in document.elements.iter().enumerate() {
        let Some(doc) = object(element, reader.limits) else {
            slots.push(String::new());
            let place = format!("{}#/attachments/{i}", member.place);
            let reason = "malformed: not an object".to_owned();
            let (outcome, kind) = (mementory_model::DroppedAs::Failed, Some(Kind::Attachment));
            reader.sink.dropped(mementory_model::Dropped { place, outcome, reason, kind });
            continue;
        };
        if let Some((runtime, scope, path)) = tiers::described_file(&doc).filter(|_| reader.manifest.is_generated()) {
            slots.push(String::new());
            let place = format!("{}#/attachments/{i}", member.place);
            let name = doc.get("filename").and_then(Tree::as_str).unwrap_or(&path);
            match verified_entry(reader, &doc, name, &place, &layer_files)? {
                Some(file) => read_workspace_file(reader, &file, workspace_item(runtime.id, scope, path, &file.place))?,
                None => absent_files.entry((runtime.id, scope)).or_default().push(element),
            }
            continue;
        }
        // If Mementory wrote this row for a file of another format, the file is restored with its original key.
        let our_slot = wire::members(element).and_then(|m| wire::vendor(&m)).filter(|_| reader.manifest.restores);
        let our_reference = our_slot.and_then(|raw| serde_json::from_str::<AttachmentRef>(raw.get()).ok());
        let is_restored = our_reference.is_some();
        if let (Some(reference), Some(id)) = (&our_reference, our_slot.and_then(extension::row_export_id)) {
            reader.sink.export_id(&reference.key, &id);
        }
        let reference = match our_reference {
            Some(reference) => reference,
            None => {
                let key = reader.document_key("attachments", &element_id(&doc, i, &mut used_ids));
                reference(&doc, key)
            }
        };
        slots.push(if is_restored { String::new() } else { reference.key.value.clone() });
        if !is_restored {
            if let Some(Tree::Array(ids)) = doc.get("referenced_by") {
                for id in ids.iter().filter_map(Tree::as_str) {
                    out.by_record.entry(wire::folded_id(id)).or_default().push(reference.clone());
                }
            }
            let mut record = identity::attachment(element, &doc, reference.key.clone());
            record.origin = reader.origin(&member, format!("/attachments/{i}"));
            record.source.platform = reader.manifest.runtime_of(&reference.key.value).to_owned();
            record.attachments = vec![reference.clone()];
            reader.sink.unit(record.into())?;
        }
        read_file(reader, &doc, reference, &format!("{}#/attachments/{i}", member.place), &layer_files)?;
    }
    for ((runtime, scope), rows) in absent_files {
        let item = workspace_item(runtime, scope, ABSENT_FILE.to_owned(), &member.place);
        reader.sink.passthrough(item, &mut format!("[{}]", rows.join(",\n")).as_bytes())?;
    }
    reader.store_skeleton(&member, &document, &slots)?;
    Ok(out)
}

/// A passthrough file of a workspace.
fn workspace_item(runtime: &str, scope: String, path: String, place: &str) -> PassthroughItem {
    PassthroughItem { format: runtime.into(), group: scope, name: path, role: "raw".into(), place: place.into() }
}

fn read_workspace_file(reader: &mut Reader<'_>, file: &Member, item: PassthroughItem) -> Result<(), FormatError> {
    reader.mark_used(&file.name);
    let archive = reader.archive;
    archive.catalog.read(file, |bytes| reader.sink.passthrough(item, bytes))
}

fn declared_size(doc: &Tree) -> Option<u64> {
    super::super::manifest::number(doc.get("size_bytes"))
}

fn reference(doc: &Tree, key: RecordKey) -> AttachmentRef {
    let text = |key: &str| doc.get(key).and_then(Tree::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
    let size = declared_size(doc);
    let name = text("filename").unwrap_or_else(|| key.value.clone());
    AttachmentRef { origin_id: text("id"), name, media_type: text("media_type"), size, text: None, key }
}

/// Reads a tier 2 file as an attachment. If its size or digest does not match its row, the file becomes a passthrough
/// file.
fn read_file(
    reader: &mut Reader<'_>,
    doc: &Tree,
    reference: AttachmentRef,
    row: &str,
    layer_files: &HashSet<&str>,
) -> Result<(), FormatError> {
    let Some(member) = verified_entry(reader, doc, &reference.name, row, layer_files)? else { return Ok(()) };
    let AttachmentRef { key, origin_id, name, media_type, .. } = reference;
    let file = AttachmentFile { key, origin_id, name, media_type, place: member.place.clone() };
    let archive = reader.archive;
    // The bytes are stored once, as an attachment, and not also as a passthrough file.
    reader.mark_used(&member.name);
    archive.catalog.read(&member, |bytes| reader.sink.attachment(file, bytes))
}

/// The entry that a row names. None if the entry is missing, damaged or not an artifact, or if its size or SHA-256
/// differs from the row. If the row's digest is not a SHA-256, neither is compared.
fn verified_entry(
    reader: &mut Reader<'_>,
    doc: &Tree,
    name: &str,
    row: &str,
    layer_files: &HashSet<&str>,
) -> Result<Option<Member>, FormatError> {
    let path = doc.get("archive_path").and_then(Tree::as_str);
    if path.is_some_and(|path| !is_artifact_path(path, layer_files)) {
        let message = "archive_path names a file of a layer, which is not read as this file";
        reader.sink.note(Issue::new(NOT_AN_ARTIFACT_CODE, row, message));
        return Ok(None);
    }
    let Some(member) = path.and_then(|p| reader.archive.entry(p)).cloned() else {
        let size = declared_size(doc).map_or_else(|| "size not known".to_owned(), |s| format!("{s} bytes"));
        let message = format!("the archive lists {name} ({size}) without its content");
        reader.sink.note(Issue::new("attachment_not_in_archive", row, message));
        return Ok(None);
    };
    let hash = |key: &str| doc.get("hash").and_then(|h| h.get(key)).and_then(Tree::as_str).unwrap_or_default();
    let (size, digest) = match digest(reader, &member) {
        // The damage is reported later, when the entry is read as a passthrough file.
        Err(FormatError::Io { source, .. }) if is_damage(&source) && !reader.is_delta => return Ok(None),
        other => other?,
    };
    if hash("algorithm") != "sha256" {
        reader.remark(row, ("attachment_hash_not_verifiable", "the digest is not SHA-256".into()));
    } else if !hash("value").eq_ignore_ascii_case(&digest) || declared_size(doc).is_some_and(|s| s != size) {
        let message = "size or SHA-256 differs from the index; the entry is stored, but not as this file";
        reader.sink.note(Issue::new("attachment_checksum_mismatch", row, message));
        return Ok(None);
    }
    Ok(Some(member))
}

fn digest(reader: &Reader<'_>, member: &Member) -> Result<(u64, String), FormatError> {
    reader.archive.catalog.read(member, |bytes| {
        let (mut hasher, mut size, mut buffer) = (Sha256::new(), 0u64, vec![0u8; 64 << 10]);
        loop {
            let n = bytes.read(&mut buffer).map_err(|e| FormatError::io(&member.place, e))?;
            if n == 0 {
                return Ok((size, hex::encode(hasher.finalize())));
            }
            hasher.update(&buffer[..n]);
            size += n as u64;
        }
    })
}
