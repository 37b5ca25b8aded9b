//! Reads a bundle. The whole bundle is checked first. Then tombstones, records (parents before children), the audit
//! trail of the source and the files without records are sent to the sink.
use super::{
    bundle::{Bundle, CHECKSUMS_FILE, MANIFEST_FILE, is_fully_listed_folder, line_text},
    conformance::{CheckDepth, Report, Severity, check_bundle},
    extension::{export_id_in, read_foreign_record, restore},
    kinds::{
        AUDIT_LOG_FILE, KIND_SPECS, KindSpec, TOMBSTONE_SPEC, TOMBSTONES_FILE, Type, kind_at_path, vendor_kind_at_path,
    },
    line_encoder::{FOREIGN_KIND, FORMER_FOREIGN_KIND},
    manifest::FileEntry,
    salvage::SALVAGEABLE_CODES,
    to_record::{self, to_record, vendor_record},
    tombstones,
    wire::{decode, line, list, text},
};
use crate::unique_keys::{AssignedKey, UniqueKeys};
use mementory_format::extension as slot;
use mementory_format::{Detected, FormatError, Member, PassthroughItem, ReadContext, Role, Sink};
use mementory_json::Tree;
use mementory_model::{Bounds, Dropped, DroppedAs, Issue, Kind, Origin, Record, RecordKey, Unit, Verbatim, is_damage};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Member of the extension slot of a chunk. It marks a chunk that repeats the text of a resource, so that other
/// programs can read this text.
pub(super) const RENDERING_OF_MEMBER: &str = "rendering_of";

/// Reads a bundle into the sink. Nothing is sent if the check finds a fatal error.
pub(super) fn read(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    read_files(bundle, detected, context, (&[], true), sink)
}

/// Like [`read`], but ignores the extension slots.
pub(super) fn read_elements(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    read_files(bundle, detected, context, (&[], false), sink)
}

/// Reads the intact files (see [`super::salvage`]) and skips lines that are not records.
pub(super) fn salvage(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    read_files(bundle, detected, context, (&SALVAGEABLE_CODES, true), sink)
}

fn read_files(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    (ignored_codes, restores): (&[&str], bool),
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let report = check_bundle(bundle, CheckDepth::Full, &mut || sink.progress(0))?;
    if let Some(refusal) = report.fatal_error(bundle, ignored_codes) {
        return Err(refusal);
    }
    if report.manifest.is_none() {
        let message = "without a manifest that can be read, nothing says which files are whole";
        return Err(FormatError::invalid("malformed", bundle.place_of(MANIFEST_FILE), message));
    }
    for (severity, _, finding) in &report.findings {
        if *severity != Severity::Fatal {
            let place = bundle.place_of(&finding.place);
            sink.note(Issue { code: finding.code.clone(), place, message: finding.message.clone() });
        }
    }
    let version = report.manifest.as_ref().map(|m| m.format.clone());
    let mut listed_files: HashMap<&str, &FileEntry> = HashMap::new();
    for file in report.manifest.iter().flat_map(|m| &m.files) {
        listed_files.entry(file.path.as_str()).or_insert(file);
    }
    let mut reader = BundleReader {
        bundle,
        context,
        report: &report,
        listed_files,
        is_salvage: !ignored_codes.is_empty(),
        restores,
        version,
        sent: 0,
        keys: UniqueKeys::default(),
        skipped_records: HashSet::new(),
        sink,
    };
    reader.read_tombstones()?;
    for spec in &KIND_SPECS {
        reader.read_records(&spec.path(), spec)?;
    }
    let vendors = bundle.files.iter().filter_map(|(path, member)| Some((vendor_kind_at_path(path)?, *member)));
    for (vendor, member) in vendors {
        reader.read_vendor(vendor, member)?;
    }
    reader.read_records(AUDIT_LOG_FILE, &super::kinds::AUDIT_LOG_SPEC)?;
    reader.read_passthrough(detected)
}

struct BundleReader<'a> {
    bundle: &'a Bundle<'a>,
    context: &'a ReadContext,
    report: &'a Report,
    /// Files in the manifest by path.
    listed_files: HashMap<&'a str, &'a FileEntry>,
    /// True in a salvage, which skips damaged files and lines that are not records. In an ordinary import, such files
    /// and lines are errors.
    is_salvage: bool,
    /// True if records are restored from extension slots.
    restores: bool,
    version: Option<String>,
    sent: u64,
    /// Keys of lines without an id, and of vendor lines.
    keys: UniqueKeys,
    /// Records skipped because a record that they require was deleted or skipped, each as its kind in the format, `/`
    /// and its id.
    skipped_records: HashSet<String>,
    sink: &'a mut dyn Sink,
}

impl<'a> BundleReader<'a> {
    fn for_each_line(
        &mut self,
        member: &Member,
        mut visit: impl FnMut(&mut Self, u64, &[u8]) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let bundle = self.bundle;
        let sent_before = self.sent;
        let read = bundle.visit_lines(member, &mut |number, bytes| {
            self.sent += bytes.len() as u64 + 1;
            visit(self, number, bytes)?;
            self.sink.progress(self.sent)
        })?;
        self.sent = sent_before + member.size;
        // If the file changed since the check, the import fails and nothing is stored.
        let path = member.name.strip_prefix(bundle.prefix.as_str()).unwrap_or_default();
        match (read, self.listed_files.get(path)) {
            (Some((_, digest)), Some(file)) if digest == file.sha256 => Ok(()),
            _ => Err(self.changed_while_reading(member)),
        }
    }

    fn changed_while_reading(&self, member: &Member) -> FormatError {
        FormatError::invalid(
            "checksum_mismatch",
            &member.place,
            "the file was changed by another program while it was read",
        )
    }

    /// A file with records. None if it is missing, or if a salvage skips it because it is damaged.
    fn records_file(&mut self, path: &str, kind: Option<Kind>) -> Option<&'a Member> {
        let member = self.bundle.files.get(path).copied()?;
        if !self.is_salvage || self.report.intact_files.contains(path) {
            return Some(member);
        }
        let reason = "not_whole: the manifest does not list these bytes".into();
        self.sink.dropped(Dropped { place: member.place.clone(), outcome: DroppedAs::Failed, reason, kind });
        None
    }

    /// Text and record of a line. None if the line is blank, or if a salvage skips it because it is not a record.
    fn parse_line<'l>(
        &mut self,
        spec: &'static KindSpec,
        member: &Member,
        number: u64,
        bytes: &'l [u8],
    ) -> Result<Option<(&'l str, Tree)>, FormatError> {
        let Some(source) = line_text(bytes) else { return Ok(None) };
        let bounds = Bounds::from(&self.context.limits);
        match source.ok().and_then(|source| Some((source, decode(spec, source, bounds).ok()?))) {
            Some(parsed) => Ok(Some(parsed)),
            None if self.is_salvage => {
                let (place, kind) = (format!("{}:{number}", member.place), Some(spec.model));
                let reason = format!("malformed: not a {} record", spec.kind);
                self.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind });
                Ok(None)
            }
            None => Err(self.changed_while_reading(member)),
        }
    }

    fn read_tombstones(&mut self) -> Result<(), FormatError> {
        let Some(member) = self.records_file(TOMBSTONES_FILE, None) else { return Ok(()) };
        self.for_each_line(member, |reader, number, bytes| {
            let Some((source, tree)) = reader.parse_line(&TOMBSTONE_SPEC, member, number, bytes)? else {
                return Ok(());
            };
            let tombstone = tombstones::from_tree(&tree, source);
            if tombstones::deletes_nothing(&tombstone) { Ok(()) } else { reader.sink.tombstone(tombstone) }
        })
    }

    fn origin(&self, path: &str, number: u64) -> Origin {
        Origin {
            format: to_record::KEY_SCOPE.into(),
            version: self.version.clone(),
            container: self.bundle.place.clone(),
            pointer: format!("{path}:{number}"),
        }
    }

    fn read_records(&mut self, path: &str, spec: &'static KindSpec) -> Result<(), FormatError> {
        let Some(member) = self.records_file(path, Some(spec.model)) else { return Ok(()) };
        self.for_each_line(member, |reader, number, bytes| {
            let Some((source, tree)) = reader.parse_line(spec, member, number, bytes)? else { return Ok(()) };
            let place = format!("{}:{number}", member.place);
            let slot = slot::get(&tree).filter(|_| reader.restores);
            if slot.is_some_and(|x| x.get(RENDERING_OF_MEMBER).is_some()) {
                reader.report_skipped(place, "duplicate_rendering: the text is in its resource", Kind::Chunk);
                return Ok(());
            }
            if let Some(parent) = reader.deleted_parent(spec, &tree) {
                reader.report_skipped(place, &format!("tombstoned: {parent} refers to a deleted record"), spec.model);
                reader.skipped_records.insert(format!("{}/{}", spec.kind, to_record::id_of(spec, &tree)));
                return Ok(());
            }
            let mut mapped = to_record(spec, &tree);
            if spec.id.is_empty() {
                let canonical = line(spec, &tree).map_err(|_| reader.changed_while_reading(member))?;
                mapped.key = reader.content_key(spec.kind, &canonical);
            }
            mapped.origin = reader.origin(path, number);
            let verbatim = Verbatim::json(source);
            let record = match slot.and_then(|_| restore(spec, &tree, &mapped, &verbatim)) {
                Some(restored) => {
                    if restored.changed {
                        let message = "changed by another program; the values of that program are used";
                        reader.sink.note(Issue::new("changed_elsewhere", &place, message));
                    }
                    // The vault deletes records by key, but the tombstone refers to this record by its bundle id, which
                    // is not in its key. So the record is skipped here.
                    let has_foreign_key = restored.record.key.scope != to_record::KEY_SCOPE;
                    if has_foreign_key && reader.is_deleted(&to_record::id_of(spec, &tree)) {
                        reader.report_skipped(place, "tombstoned: deleted by the bundle itself", restored.record.kind);
                        return Ok(());
                    }
                    if let Some(id) = restored.export_id {
                        reader.sink.export_id(&restored.record.key, &id);
                    }
                    restored.record
                }
                None => Record { verbatim: Some(verbatim), ..mapped },
            };
            reader.sink.unit(Unit::from(record))
        })
    }

    fn report_skipped(&mut self, place: String, reason: &str, kind: Kind) {
        self.sink.dropped(Dropped { place, outcome: DroppedAs::Skipped, reason: reason.into(), kind: Some(kind) });
    }

    fn is_deleted(&self, id: &str) -> bool {
        self.report.tombstoned.contains(id)
    }

    /// The name of the first required field that refers to a deleted or skipped record (spec v1.1 §4), if any. A
    /// tombstone deletes a record of its kind, so a record of another kind with the same id is still there.
    fn deleted_parent(&self, spec: &KindSpec, tree: &Tree) -> Option<&'static str> {
        let is_needed = |f: &str| spec.field(f).is_some_and(|f| f.required && f.ty == Type::Text);
        let is_gone = |kind: &str, id: &str| {
            let record = format!("{kind}/{id}");
            self.report.tombstoned_records.contains(&record) || self.skipped_records.contains(&record)
        };
        let mut fields = spec.references.iter().filter(|(f, ..)| is_needed(f));
        let found = fields.find(|(f, _, _, kind)| list(tree, f).iter().any(|id| is_gone(kind, id)));
        found.map(|(f, ..)| *f)
    }

    /// A key computed from the content, for lines without an id. If two lines are equal, the key of the second ends in
    /// `#2`.
    fn content_key(&mut self, kind: &str, content: &str) -> RecordKey {
        let digest = hex::encode(&Sha256::digest(content)[..16]);
        RecordKey::new(to_record::KEY_SCOPE, self.unique_key(format!("{kind}/line:{digest}")))
    }

    /// Returns `value`, or `value` with a number appended if an earlier line has this key.
    fn unique_key(&mut self, value: String) -> String {
        match self.keys.assign(to_record::KEY_SCOPE, &value, None) {
            AssignedKey::Numbered(numbered) => numbered,
            AssignedKey::Free | AssignedKey::Duplicate => value,
        }
    }

    fn read_vendor(&mut self, vendor: &str, member: &Member) -> Result<(), FormatError> {
        let path = format!("items/{vendor}.jsonl");
        if self.records_file(&path, Some(Kind::Foreign)).is_none() {
            return Ok(());
        }
        let bounds = Bounds::from(&self.context.limits);
        self.keys.clear();
        self.for_each_line(member, |reader, number, bytes| {
            if bytes.is_empty() {
                return Ok(());
            }
            let source = match std::str::from_utf8(bytes) {
                Ok(source) => source,
                Err(_) if reader.is_salvage => {
                    let (place, kind) = (format!("{}:{number}", member.place), Some(Kind::Foreign));
                    let reason = "malformed: not UTF-8".into();
                    reader.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind });
                    return Ok(());
                }
                Err(_) => return Err(reader.changed_while_reading(member)),
            };
            let tree = Tree::parse(source, bounds).ok();
            if reader.restores
                && [FOREIGN_KIND, FORMER_FOREIGN_KIND].contains(&vendor)
                && let Some(tree) = &tree
                && let Some(record) = read_foreign_record(tree)
            {
                let id = text(tree, "id").unwrap_or_default();
                if reader.is_deleted(id) {
                    let place = format!("{}:{number}", member.place);
                    reader.report_skipped(place, "tombstoned: deleted by the bundle itself", record.kind);
                    return Ok(());
                }
                if let Some(id) = export_id_in(id, record.kind) {
                    reader.sink.export_id(&record.key, &id);
                }
                return reader.sink.unit(Unit::from(record));
            }
            let id = tree.as_ref().and_then(|t| text(t, "id")).filter(|id| !id.is_empty()).map(str::to_owned);
            let key = match &id {
                Some(id) => reader.unique_key(format!("{vendor}/{id}")),
                None => reader.content_key(vendor, source).value,
            };
            let mut record = vendor_record(vendor, key, id);
            record.origin = reader.origin(&path, number);
            let media_type = if tree.is_some() { "application/json" } else { "text/plain" };
            record.verbatim = Some(Verbatim { media_type: media_type.into(), text: source.into() });
            reader.sink.unit(Unit::from(record))
        })
    }

    /// Sends the manifest, the signature and all files without records.
    fn read_passthrough(&mut self, detected: &Detected) -> Result<(), FormatError> {
        let digest = self.report.manifest.as_ref().and_then(|m| m.bundle_digest.clone());
        let group = digest.unwrap_or_else(|| hex::encode(Sha256::digest(&self.report.manifest_bytes)));
        // If a file has several roles, the first one counts.
        let claimed_roles: HashMap<usize, Role> =
            detected.claim.parts.iter().rev().map(|part| (part.member, part.role)).collect();
        for (path, member) in &self.bundle.files {
            let Some(&role) = claimed_roles.get(&member.id) else { continue };
            if role == Role::Junk
                || *path == CHECKSUMS_FILE
                || kind_at_path(path).is_some()
                || vendor_kind_at_path(path).is_some()
                || self.is_salvage && self.is_left_out(path)
            {
                continue;
            }
            let role = if *path == MANIFEST_FILE { "manifest" } else { "entry" };
            let item = PassthroughItem {
                format: to_record::KEY_SCOPE.into(),
                group: group.clone(),
                name: (*path).to_owned(),
                role: role.into(),
                place: member.place.clone(),
            };
            match self.bundle.catalog.read(member, |r| self.sink.passthrough(item, r)) {
                Err(FormatError::Io { source, .. }) if self.is_salvage && is_damage(&source) => {
                    let (place, reason) = (member.place.clone(), format!("damaged_entry: {source}"));
                    self.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: None });
                }
                other => other?,
            }
            self.sent += member.size;
            self.sink.progress(self.sent)?;
        }
        Ok(())
    }

    /// True if a salvage skips this file without records: its digest differs from the manifest's, or the manifest must
    /// list it but does not.
    fn is_left_out(&self, path: &str) -> bool {
        let is_listed = self.listed_files.contains_key(path);
        let folder = path.split_once('/').map_or(path, |(folder, _)| folder);
        (is_listed || is_fully_listed_folder(folder)) && !self.report.intact_files.contains(path)
    }
}

/// Kind of the line that a record was read from, determined by the pointer in its origin.
pub(super) fn spec_of(origin: &Origin) -> Option<&'static KindSpec> {
    let path = origin.pointer.rsplit_once(':').map_or(origin.pointer.as_str(), |(path, _)| path);
    kind_at_path(path)
}
