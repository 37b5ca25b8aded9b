//! Document → records. Two passes: everything but the records first (version, header, checksum), then the records one
//! by one; what cannot be read costs itself only.
use super::{
    adapters, envelope,
    extension::restore,
    map::{self, to_record, unusable, value},
    part,
    sections::{EDGES, MEMORIES, NODES, Section},
    source::{Form, Source},
    survey::{Checksum, Survey},
    walk::{Item, walk},
    wire::{SCOPE, Shape, bare_id, json, text},
};
use mementory_format::extension as slot;
use mementory_format::{Catalog, Detected, FormatError, PassthroughItem, ReadContext, Sink};
use mementory_json::Tree;
use mementory_model::{Dropped, DroppedAs, Fields, Issue, Kind, Origin, Record, RecordKey, Timestamp, Unit, Verbatim};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, hash_map::Entry};

/// Size that the specification recommends as the limit of an import (security considerations 5).
const RECOMMENDED: u64 = 100 << 20;

/// Reads every detected member.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut done = 0;
    for claimed in &detected.claim.parts {
        let Some(member) = catalog.members().get(claimed.member) else { continue };
        let form = super::detect::form(catalog, member, true)?
            .ok_or_else(|| FormatError::invalid("malformed", &member.place, "no document of this format"))?;
        let mut source = Source::open(catalog, member, form, &context.limits)?;
        if member.size > RECOMMENDED {
            let message = "larger than the 100 MB that the specification recommends as the limit";
            sink.note(Issue::new("larger_than_recommended", &member.place, message));
        }
        if form.adapter().is_some() {
            adapters::read(&mut source, context, sink)?;
        } else {
            document(&mut source, context, sink, done, false)?;
        }
        done += member.size;
        sink.progress(done)?;
    }
    Ok(())
}

fn document(
    source: &mut Source<'_>,
    context: &ReadContext,
    sink: &mut dyn Sink,
    done: u64,
    inside: bool,
) -> Result<(), FormatError> {
    let limits = &context.limits;
    let mut survey = Survey::of(source, limits)?;
    survey.check_version(&source.place)?;
    if let Some(encryption) = envelope::of(&survey.root) {
        if inside {
            return Err(FormatError::invalid("encrypted_twice", &source.place, "an envelope inside an envelope"));
        }
        let mut inner = Source::of_envelope(encryption, context.passphrase.as_deref(), &source.place, limits)?;
        document(&mut inner, context, sink, done, true)?;
        if survey.counts.iter().all(|n| *n == 0) {
            return Ok(());
        }
        // Records beside the envelope are records too.
        survey.root.remove("encryption");
    }
    notes(&survey, source, context, sink)?;
    let mut reading = Reading {
        metadata: take_metadata(&mut survey.root),
        survey: &survey,
        source,
        context,
        seen: HashMap::new(),
        remarks: BTreeMap::new(),
        done,
        sink,
    };
    walk(source, limits, &mut |item| match item {
        Item::Element(section, index, json) => reading.element(section, index, json),
        Item::BadLine(number, code) => {
            reading.drop(format!("line {number}"), DroppedAs::Failed, format!("{code}: the line is no record"), None);
            Ok(())
        }
        _ => Ok(()),
    })?;
    let Reading { metadata, remarks, .. } = reading;
    for ((code, message), (place, count)) in remarks {
        let times = if count > 1 { format!(", {count} times; first here") } else { String::new() };
        sink.note(Issue::new(code, place, format!("{message}{times}")));
    }
    put_metadata(&mut survey.root, metadata);
    kept(&survey, source, sink)
}

/// What the document itself gives to say.
fn notes(survey: &Survey, source: &Source<'_>, context: &ReadContext, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let mut note = |code: &str, message: &str| sink.note(Issue::new(code, &source.place, message));
    match survey.version.as_deref() {
        None => note("version_missing", "no mif_version; taken from the shape of the document"),
        Some(v) if !v.starts_with(&survey.shape.version()[..1]) => {
            note("version_and_shape_differ", "the version says one form, the document has the other; read as it is");
        }
        Some(v) if v != survey.shape.version() => {
            note("other_minor_version", "a minor version other than the known one; unknown members are kept");
        }
        Some(_) => {}
    }
    for pointer in &source.repeated {
        let message = "a key stands twice in one mapping, which YAML does not allow";
        sink.note(Issue::new("duplicate_key", format!("{}#{pointer}", source.place), message));
    }
    for pointer in &survey.wrong {
        let place = format!("{}#{pointer}", source.place);
        let reason = "wrong_type: neither a list nor a graph as the format has it here".to_owned();
        sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: None });
    }
    let mut note = |code: &str, message: &str| sink.note(Issue::new(code, &source.place, message));
    if survey.unknown_lines > 0 {
        note("unknown_lines", &format!("{} lines of types that are not known, left aside", survey.unknown_lines));
    }
    if source.form == Form::Jsonl && survey.footer.is_none() {
        note("footer_missing", "no last line: the file may have been cut off");
    }
    match survey.checksum(source, &context.limits)? {
        Checksum::Mismatch => {
            let message = "the document is not what was written";
            return Err(FormatError::invalid("checksum_mismatch", &source.place, message));
        }
        Checksum::Placeholder => note("checksum_placeholder", "the checksum is the digest of nothing"),
        Checksum::CountsOnly => note("checksum_counts_only", "the checksum is over counts, not over content"),
        Checksum::UnknownRule => {
            note("checksum_unknown_rule", "the file does not say what its checksum is over: not verified");
        }
        Checksum::Absent | Checksum::Verified => {}
    }
    Ok(())
}

/// Everything but the records, kept for an export that goes home.
fn kept(survey: &Survey, source: &Source<'_>, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let mut send = |group: String, text: &str| {
        let (format, name, role) = (SCOPE.into(), part::NAME.into(), "manifest".into());
        let item = PassthroughItem { format, group, name, role, place: source.place.clone() };
        sink.passthrough(item, &mut text.as_bytes())
    };
    let ours = slot::get(&survey.root);
    if let Some(Tree::Array(documents)) = ours.and_then(|o| o.get("documents")) {
        for document in documents {
            let Some(kept) = part::read(document) else { continue };
            let group = super::wire::inner(&kept.document, kept.shape.header(), "id").unwrap_or("document").to_owned();
            send(group, &json(document))?;
        }
    }
    // Of a document that we made up for a vault nothing but its records is anyone's.
    if ours.and_then(|o| o.get("generated")).is_some() {
        return Ok(());
    }
    send(part::group(survey), &part::part(survey))
}

/// `vendor_extensions["shodh-memory"].memory_metadata`, which belongs to the memories, by their ids.
fn take_metadata(root: &mut Tree) -> HashMap<String, Tree> {
    let Some(Tree::Object(members)) = metadata_of(root) else { return HashMap::new() };
    std::mem::take(members).into_iter().collect()
}

/// What of it belonged to no memory stays with the document.
fn put_metadata(root: &mut Tree, left: HashMap<String, Tree>) {
    if let Some(Tree::Object(members)) = metadata_of(root) {
        members.extend(left);
        members.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

fn metadata_of(root: &mut Tree) -> Option<&mut Tree> {
    ["vendor_extensions", "shodh-memory", "memory_metadata"].into_iter().try_fold(root, |tree, key| match tree {
        Tree::Object(members) => members.iter_mut().rev().find(|(k, _)| k == key).map(|(_, v)| v),
        _ => None,
    })
}

struct Reading<'a> {
    survey: &'a Survey,
    source: &'a Source<'a>,
    context: &'a ReadContext,
    metadata: HashMap<String, Tree>,
    /// Keys met: digest of the element, and how many had the key.
    seen: HashMap<u128, (u128, u32)>,
    remarks: BTreeMap<(&'static str, &'static str), (String, u64)>,
    done: u64,
    sink: &'a mut dyn Sink,
}

impl Reading<'_> {
    fn drop(&mut self, pointer: String, outcome: DroppedAs, reason: String, kind: Option<Kind>) {
        let place = format!("{}#{pointer}", self.source.place);
        self.sink.dropped(Dropped { place, outcome, reason, kind });
    }

    fn remark(&mut self, pointer: &str, code: &'static str, message: &'static str) {
        let place = format!("{}#{pointer}", self.source.place);
        self.remarks.entry((code, message)).or_insert((place, 0)).1 += 1;
    }

    fn element(&mut self, section: &'static Section, index: u64, json: &str) -> Result<(), FormatError> {
        self.done += json.len() as u64;
        self.sink.progress(self.done)?;
        let pointer = section.pointer(index);
        let tree = match Tree::parse(json, &self.context.limits) {
            Ok(tree) => tree,
            Err(e) => {
                let reason = format!("{}: {e}", self.source.why(&pointer, json, &e));
                self.drop(pointer, DroppedAs::Failed, reason, Some(section.kind));
                return Ok(());
            }
        };
        if let Some(code) = self.source.spared.get(&pointer) {
            let reason = format!("{code}: the element is only nearly JSON");
            self.drop(pointer, DroppedAs::Failed, reason, Some(section.kind));
            return Ok(());
        }
        if let Some(code) = unusable(section, &tree) {
            let reason = format!("{code}: what a record needs is not there");
            self.drop(pointer, DroppedAs::Failed, reason, Some(section.kind));
            return Ok(());
        }
        let slot = *section == NODES && text(&tree, "type").is_some_and(|kind| kind != "entity");
        if slot {
            return Ok(()); // names a memory or todo that is in its own list
        }
        let mut mapped = to_record(section, &tree);
        mapped.origin = Origin {
            format: SCOPE.into(),
            version: Some(self.survey.version_of_records()),
            container: self.source.place.clone(),
            pointer: pointer.clone(),
        };
        let digest = digest(json);
        if mapped.origin_id.is_none() && *section != EDGES {
            mapped.key = RecordKey::new(SCOPE, format!("{}/content:{digest:032x}", section.key));
            self.remark(&pointer, "id_missing", "a record without an id; known by its content");
        }
        if let Some(restored) = restore(&tree, &mapped, json) {
            if restored.changed {
                self.remark(&pointer, "changed_elsewhere", "changed by another program; its values are taken");
            }
            return self.send(section, pointer, restored.record, digest);
        }
        self.check(section, &tree, &pointer);
        let mut record = Record { verbatim: Some(Verbatim::json(json)), ..mapped };
        if *section == MEMORIES
            && let Some(metadata) = record.origin_id.as_ref().and_then(|id| self.metadata.remove(id))
        {
            apply_metadata(&mut record, &metadata);
        }
        self.send(section, pointer, record, digest)
    }

    fn send(
        &mut self,
        section: &Section,
        pointer: String,
        mut record: Record,
        digest: u128,
    ) -> Result<(), FormatError> {
        let key = self::digest(&format!("{}\0{}", record.key.scope, record.key.value));
        match self.seen.entry(key) {
            Entry::Vacant(slot) => drop(slot.insert((digest, 1))),
            Entry::Occupied(slot) if slot.get().0 == digest => {
                let reason = "duplicate: the same record is there twice".to_owned();
                self.drop(pointer, DroppedAs::Skipped, reason, Some(section.kind));
                return Ok(());
            }
            Entry::Occupied(mut slot) => {
                slot.get_mut().1 += 1;
                // Two records under one id: both are kept, the later one under a key of its own.
                record.key.value = format!("{}#{}", record.key.value, slot.get().1);
                self.remark(&pointer, "duplicate_id", "two records have one id");
            }
        }
        self.sink.unit(Unit::from(record))
    }

    /// What a tolerant reader takes and says.
    fn check(&mut self, section: &Section, tree: &Tree, pointer: &str) {
        let mut breaches = Vec::new();
        super::shape::check(tree, self.survey.shape.rule(section), "", &mut breaches);
        for breach in breaches.iter().filter(|b| !b.warning && b.at != "/id") {
            self.remark(pointer, breach.code, "a record that breaks a rule of the format; taken as it is");
        }
    }
}

/// Importance and last access, which version 2 keeps outside the memory; all of it is kept with the record.
fn apply_metadata(record: &mut Record, metadata: &Tree) {
    record.importance = super::wire::number(metadata, "importance").or(record.importance);
    let accessed = ["accessed_at", "last_accessed", "last_accessed_at"].into_iter();
    let accessed = accessed.filter_map(|name| text(metadata, name)).find_map(Timestamp::parse);
    record.times.last_accessed = accessed.or(record.times.last_accessed);
    let told = value(metadata);
    let exact = json(metadata);
    if json(&map::tree_of(&told)) != exact {
        record.fields.insert(METADATA_TEXT.into(), exact.into());
    }
    record.fields.insert(METADATA.into(), told);
}

/// Field of a record with what version 2 keeps of it outside.
pub(super) const METADATA: &str = "memory_metadata";
/// The same as it was written, where that is not the usual form.
const METADATA_TEXT: &str = "memory_metadata_text";

/// What version 2 keeps of a record outside, as it was written.
pub(super) fn metadata_of_record(fields: &Fields) -> Option<Tree> {
    let told = fields.get(METADATA)?;
    let exact = fields.get(METADATA_TEXT).and_then(|t| Tree::parse(t.as_str()?, 512).ok());
    Some(exact.filter(|tree| value(tree) == *told).unwrap_or_else(|| map::tree_of(told)))
}

/// What stands outside the element, and stays there.
pub(super) fn copy_metadata(from: &Fields, to: &mut Fields) {
    for name in [METADATA, METADATA_TEXT] {
        to.extend(from.get(name).map(|v| (name.to_owned(), v.clone())));
    }
}

/// First half of a SHA-256.
pub(super) fn digest(text: &str) -> u128 {
    let mut first = [0; 16];
    first.copy_from_slice(&Sha256::digest(text)[..16]);
    u128::from_be_bytes(first)
}

/// Key of a record of one of the adapters.
pub(super) fn adapter_key(id: Option<&str>, content: &str) -> RecordKey {
    match id.filter(|id| !id.is_empty()) {
        Some(id) => map::key("memory", &bare_id(id)),
        None => RecordKey::new(SCOPE, format!("memory/content:{:032x}", digest(content))),
    }
}

/// Shape by a version's first digit.
pub(super) fn shape_named(version: &str) -> Option<Shape> {
    match version {
        "1" | "1.0" => Some(Shape::V1),
        "2" | "2.0" => Some(Shape::V2),
        _ => None,
    }
}
