//! Reads a document in two passes: first everything except the records (version, header, checksum), then the records
//! one by one. Unreadable records are dropped.
use super::{
    document_frame,
    element_stream::{Item, stream_elements},
    envelope,
    extension::restore,
    first_pass::{Checksum, FirstPass},
    interop_import,
    json_faults::fault_message,
    schema::code_of,
    sections::{EDGES_SECTION, MEMORIES_SECTION, NODES_SECTION, Section},
    source::{Encoding, Source},
    to_record::{missing_requirement, to_record},
    wire::{KEY_SCOPE, Shape, json, text},
};
use crate::{
    seen_records::{Occurrence, SeenRecords},
    text_digest::digest,
};
use mementory_format::extension as slot;
use mementory_format::{Catalog, Detected, FormatError, PassthroughItem, ReadContext, Sink, restore_from_slot};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, check},
    tree_of, value_of,
};
use mementory_model::{Dropped, DroppedAs, Fields, Issue, Kind, Origin, Record, RecordKey, Timestamp, Unit, Verbatim};
use std::collections::{BTreeMap, HashMap};

/// Recommended size limit of an import, in bytes (specification, security considerations 5).
const RECOMMENDED_MAX_BYTES: u64 = 100 << 20;

/// Reads every detected file. Ignores the extension slots unless `restores` is set.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    restores: bool,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut bytes_done = 0;
    for claimed in &detected.claim.parts {
        let Some(member) = catalog.members().get(claimed.member) else { continue };
        let encoding = super::detect::encoding(catalog, member, true)?
            .ok_or_else(|| FormatError::invalid("malformed", &member.place, "not a document of this format"))?;
        let mut source = Source::open(catalog, member, encoding, &context.limits)?;
        if source.has_invalid_utf16 {
            let message = "not valid UTF-16; characters that cannot be decoded are replaced by U+FFFD";
            sink.note(Issue::new("invalid_utf16", &member.place, message));
        }
        if member.size > RECOMMENDED_MAX_BYTES {
            let message = "larger than the 100 MB that the specification recommends as the limit";
            sink.note(Issue::new("larger_than_recommended", &member.place, message));
        }
        if encoding.interop_name().is_some() {
            interop_import::read(&mut source, context, sink)?;
        } else {
            read_document(&mut source, context, sink, (bytes_done, restores), false)?;
        }
        bytes_done += member.size;
        sink.progress(bytes_done)?;
    }
    Ok(())
}

fn read_document(
    source: &mut Source<'_>,
    context: &ReadContext,
    sink: &mut dyn Sink,
    (bytes_done, restores): (u64, bool),
    in_envelope: bool,
) -> Result<(), FormatError> {
    let limits = &context.limits;
    let mut first_pass = FirstPass::read(source, limits)?;
    first_pass.check_version(&source.place)?;
    if let Some(encryption) = envelope::find_in(&first_pass.root) {
        if in_envelope {
            return Err(FormatError::invalid("encrypted_twice", &source.place, "an envelope inside an envelope"));
        }
        let mut inner = Source::of_envelope(encryption, context.passphrase.as_deref(), &source.place, limits)?;
        read_document(&mut inner, context, sink, (bytes_done, restores), true)?;
        if first_pass.counts.iter().all(|n| *n == 0) {
            return Ok(());
        }
        // Records outside the envelope are imported too.
    }
    report_document_findings(&first_pass, source, context, sink)?;
    first_pass.root.remove("encryption");
    let mut reader = DocumentReader {
        metadata: take_metadata(&mut first_pass.root),
        first_pass: &first_pass,
        source,
        context,
        seen: SeenRecords::default(),
        counted_notes: BTreeMap::new(),
        bytes_done,
        restores,
        sink,
    };
    stream_elements(source, limits, &mut |item| match item {
        Item::Element(section, index, json) => reader.read_element(section, index, json),
        Item::BadLine(number, code) => {
            reader.report_dropped(
                format!("line {number}"),
                DroppedAs::Failed,
                format!("{code}: the line is not a record"),
                None,
            );
            Ok(())
        }
        _ => Ok(()),
    })?;
    let DocumentReader { metadata, counted_notes, .. } = reader;
    for ((code, message), (place, count)) in counted_notes {
        let times = if count > 1 { format!(", {count} times; first here") } else { String::new() };
        sink.note(Issue::new(code, place, format!("{message}{times}")));
    }
    put_metadata(&mut first_pass.root, metadata);
    send_frame(&first_pass, source, restores, sink)
}

/// Reports findings about the document as a whole. Fails if its checksum does not match.
fn report_document_findings(
    first_pass: &FirstPass,
    source: &Source<'_>,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut note = |code: &str, message: &str| sink.note(Issue::new(code, &source.place, message));
    match first_pass.version.as_deref() {
        None => note("version_missing", "no mif_version; the version is derived from the shape of the document"),
        Some(v) if !v.starts_with(&first_pass.shape.version()[..1]) => {
            note(
                "version_and_shape_differ",
                "mif_version does not match the shape of the document; it is read by its shape",
            );
        }
        Some(v) if v != first_pass.shape.version() => {
            note("other_minor_version", "an unknown minor version; unknown members are preserved");
        }
        Some(_) => {}
    }
    for pointer in &source.repeated {
        let message = "a key occurs twice in one mapping, which YAML does not allow";
        sink.note(Issue::new("duplicate_key", format!("{}#{pointer}", source.place), message));
    }
    for pointer in &first_pass.wrong_types {
        let place = format!("{}#{pointer}", source.place);
        let reason = "wrong_type: neither a list nor a graph as the format requires".to_owned();
        sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: None });
    }
    let mut note = |code: &str, message: &str| sink.note(Issue::new(code, &source.place, message));
    if first_pass.unknown_lines > 0 {
        note("unknown_lines", &format!("{} lines have unknown types and are skipped", first_pass.unknown_lines));
    }
    if source.encoding == Encoding::Jsonl && first_pass.footer.is_none() {
        note("footer_missing", "no footer: the file may have been cut off");
    }
    match first_pass.compare_checksum(source, &context.limits)? {
        Checksum::Mismatch => {
            let message = "the document was changed after it was written";
            return Err(FormatError::invalid("checksum_mismatch", &source.place, message));
        }
        Checksum::Placeholder => {
            note("checksum_placeholder", "the checksum is only a placeholder (the digest of empty input)")
        }
        Checksum::CountsOnly => note("checksum_counts_only", "the checksum covers the counts, not the content"),
        Checksum::UnknownRule => {
            note("checksum_unknown_rule", "the file does not say what its checksum covers, so it was not verified");
        }
        Checksum::Absent | Checksum::Verified => {}
    }
    Ok(())
}

/// Sends the frame of the document (everything except the records), so that a later export can restore it.
fn send_frame(
    first_pass: &FirstPass,
    source: &Source<'_>,
    restores: bool,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut send = |group: String, text: &str| {
        let (format, name, role) = (KEY_SCOPE.into(), document_frame::FRAME_FILE.into(), "manifest".into());
        let item = PassthroughItem { format, group, name, role, place: source.place.clone() };
        sink.passthrough(item, &mut text.as_bytes())
    };
    let our_slot = slot::get(&first_pass.root).filter(|_| restores);
    if let Some(Tree::Array(documents)) = our_slot.and_then(|o| o.get("documents")) {
        for document in documents {
            let Some(frame) = document_frame::read(document) else { continue };
            let group =
                super::wire::nested_text(&frame.document, frame.shape.header(), "id").unwrap_or("document").to_owned();
            send(group, &json(document))?;
        }
    }
    // A frame that Mementory generated contains nothing to preserve.
    if our_slot.and_then(|o| o.get("generated")).is_some() {
        return Ok(());
    }
    send(document_frame::group(first_pass), &document_frame::to_json(first_pass))
}

/// Removes and returns `vendor_extensions["shodh-memory"].memory_metadata`: metadata by memory id.
fn take_metadata(root: &mut Tree) -> HashMap<String, Tree> {
    let Some(Tree::Object(members)) = metadata_of(root) else { return HashMap::new() };
    std::mem::take(members).into_iter().collect()
}

/// Puts the metadata of memories that the document does not contain back into the document.
fn put_metadata(root: &mut Tree, unclaimed: HashMap<String, Tree>) {
    if let Some(Tree::Object(members)) = metadata_of(root) {
        members.extend(unclaimed);
        members.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

fn metadata_of(root: &mut Tree) -> Option<&mut Tree> {
    ["vendor_extensions", "shodh-memory", "memory_metadata"].into_iter().try_fold(root, |tree, key| match tree {
        Tree::Object(members) => members.iter_mut().rev().find(|(k, _)| k == key).map(|(_, v)| v),
        _ => None,
    })
}

struct DocumentReader<'a> {
    first_pass: &'a FirstPass,
    source: &'a Source<'a>,
    context: &'a ReadContext,
    metadata: HashMap<String, Tree>,
    seen: SeenRecords,
    counted_notes: BTreeMap<(&'static str, &'static str), (String, u64)>,
    bytes_done: u64,
    restores: bool,
    sink: &'a mut dyn Sink,
}

impl DocumentReader<'_> {
    fn report_dropped(&mut self, pointer: String, outcome: DroppedAs, reason: String, kind: Option<Kind>) {
        let place = format!("{}#{pointer}", self.source.place);
        self.sink.dropped(Dropped { place, outcome, reason, kind });
    }

    fn count_note(&mut self, pointer: &str, code: &'static str, message: &'static str) {
        let place = format!("{}#{pointer}", self.source.place);
        self.counted_notes.entry((code, message)).or_insert((place, 0)).1 += 1;
    }

    fn read_element(&mut self, section: &'static Section, index: u64, json: &str) -> Result<(), FormatError> {
        self.bytes_done += json.len() as u64;
        self.sink.progress(self.bytes_done)?;
        let pointer = section.pointer(index);
        let tree = match Tree::parse(json, &self.context.limits) {
            Ok(tree) => tree,
            Err(e) => {
                let reason = format!("{}: {e}", self.source.fault_of(&pointer, json, &e));
                self.report_dropped(pointer, DroppedAs::Failed, reason, Some(section.kind));
                return Ok(());
            }
        };
        if let Some(code) = self.source.faulty.get(&pointer) {
            let reason = format!("{code}: {}", fault_message(code));
            self.report_dropped(pointer, DroppedAs::Failed, reason, Some(section.kind));
            return Ok(());
        }
        if let Some(code) = missing_requirement(section, &tree) {
            let reason = format!("{code}: required data of the record is missing");
            self.report_dropped(pointer, DroppedAs::Failed, reason, Some(section.kind));
            return Ok(());
        }
        let is_reference_node = *section == NODES_SECTION && text(&tree, "type").is_some_and(|kind| kind != "entity");
        if is_reference_node {
            return Ok(()); // The node only refers to a memory or todo, which is an element of another list.
        }
        let mut mapped = to_record(section, &tree);
        mapped.origin = Origin {
            format: KEY_SCOPE.into(),
            version: Some(self.first_pass.version_of_records()),
            container: self.source.place.clone(),
            pointer: pointer.clone(),
        };
        let digest = digest(json);
        if mapped.origin_id.is_none() && *section != EDGES_SECTION {
            mapped.key = RecordKey::new(KEY_SCOPE, format!("{}/content:{digest:032x}", section.key));
            self.count_note(&pointer, "id_missing", "a record without an id; it is identified by its content");
        }
        if let Some(restored) = restore_from_slot(json, self.restores, || restore(&tree, &mapped, json)) {
            if restored.changed {
                self.count_note(
                    &pointer,
                    "changed_elsewhere",
                    "changed by another program; the values of that program are used",
                );
            }
            return self.send_record(section, pointer, restored.record, restored.export_id, digest);
        }
        self.check_schema(section, &tree, &pointer);
        let mut record = Record { verbatim: Some(Verbatim::json(json)), ..mapped };
        if *section == MEMORIES_SECTION
            && let Some(metadata) = record.origin_id.as_ref().and_then(|id| self.metadata.remove(id))
        {
            apply_metadata(&mut record, &metadata);
        }
        self.send_record(section, pointer, record, None, digest)
    }

    fn send_record(
        &mut self,
        section: &Section,
        pointer: String,
        mut record: Record,
        export_id: Option<String>,
        digest: u128,
    ) -> Result<(), FormatError> {
        match self.seen.add(&mut record.key, digest) {
            Occurrence::First => {}
            Occurrence::Duplicate => {
                let reason = "duplicate: the same record occurs twice".to_owned();
                self.report_dropped(pointer, DroppedAs::Skipped, reason, Some(section.kind));
                return Ok(());
            }
            Occurrence::Numbered => self.count_note(&pointer, "duplicate_id", "two records have the same id"),
        }
        if let Some(id) = export_id {
            self.sink.export_id(&record.key, &id);
        }
        self.sink.unit(Unit::from(record))
    }

    /// Reports schema violations that do not prevent an import.
    fn check_schema(&mut self, section: &Section, tree: &Tree, pointer: &str) {
        let rule = self.first_pass.shape.element_rule(section);
        check(tree, rule, RepeatedKeys::Accept, &mut |at, violation| {
            let (code, warning) = code_of(&violation);
            if !warning && at.to_string() != "/id" {
                self.count_note(pointer, code, "a record violates a rule of the format; it is imported unchanged");
            }
        });
    }
}

/// Sets importance and last access from the metadata that version 2 stores outside a memory, and stores the complete
/// metadata in `fields`.
fn apply_metadata(record: &mut Record, metadata: &Tree) {
    record.importance = super::wire::number(metadata, "importance").or(record.importance);
    let accessed = ["accessed_at", "last_accessed", "last_accessed_at"].into_iter();
    let accessed = accessed.filter_map(|name| text(metadata, name)).find_map(Timestamp::parse);
    record.times.last_accessed = accessed.or(record.times.last_accessed);
    let metadata_value = value_of(metadata);
    let metadata_text = json(metadata);
    if json(&tree_of(&metadata_value)) != metadata_text {
        record.fields.insert(METADATA_TEXT_FIELD.into(), metadata_text.into());
    }
    record.fields.insert(METADATA_FIELD.into(), metadata_value);
}

/// Field of a record with the metadata that version 2 stores outside a memory.
pub(super) const METADATA_FIELD: &str = "memory_metadata";
/// Field with the exact JSON of this metadata, if its conversion for [`METADATA_FIELD`] is not lossless.
const METADATA_TEXT_FIELD: &str = "memory_metadata_text";

/// The original metadata that version 2 stores outside a memory.
pub(super) fn metadata_of_record(fields: &Fields) -> Option<Tree> {
    let metadata_value = fields.get(METADATA_FIELD)?;
    let metadata_text = fields.get(METADATA_TEXT_FIELD).and_then(|t| Tree::parse(t.as_str()?, 512).ok());
    Some(metadata_text.filter(|tree| value_of(tree) == *metadata_value).unwrap_or_else(|| tree_of(metadata_value)))
}

/// Copies the fields with the metadata that version 2 stores outside a memory.
pub(super) fn copy_metadata(from: &Fields, to: &mut Fields) {
    for name in [METADATA_FIELD, METADATA_TEXT_FIELD] {
        to.extend(from.get(name).map(|v| (name.to_owned(), v.clone())));
    }
}

/// The shape that is written for a requested version. None if the version cannot be written.
pub(super) fn shape_of_version(version: &str) -> Option<Shape> {
    match version {
        "1" | "1.0" => Some(Shape::V1),
        "2" | "2.0" => Some(Shape::V2),
        _ => None,
    }
}
