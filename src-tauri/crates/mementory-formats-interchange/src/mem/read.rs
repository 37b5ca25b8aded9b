//! Reading: the whole bundle is verified first, then sent: tombstones, records with parents before children, the
//! source's audit trail, and the parts that are no records.
use super::{
    bundle::{Bundle, CHECKSUMS, MANIFEST, known_line},
    extension::{read_whole, restore},
    kinds::{KINDS, LOG, Spec, TOMBSTONE, TOMBSTONES, Type, by_path, vendor_of},
    map::{self, foreign, to_record},
    native::{FOREIGN, FORMER_FOREIGN},
    tombstones,
    verify::{Depth, Report, Severity, verify},
    wire::{decode, line, list, text},
};
use mementory_format::extension as slot;
use mementory_format::{Detected, FormatError, Member, PassthroughItem, ReadContext, Role, Sink};
use mementory_json::Tree;
use mementory_model::{Bounds, Dropped, DroppedAs, Issue, Kind, Origin, Record, RecordKey, Unit, Verbatim};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Marks a chunk that only repeats the text of one of our resources for other programs.
pub(super) const RENDERING: &str = "rendering_of";

/// Reads a bundle into the sink. Nothing is sent when anything is wrong with it.
pub(super) fn read(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let report = verify(bundle, Depth::Import, &mut || sink.progress(0))?;
    if let Some(refusal) = report.refusal(bundle) {
        return Err(refusal);
    }
    for (severity, _, finding) in &report.findings {
        if *severity != Severity::Fatal {
            let place = bundle.place_of(&finding.place);
            sink.note(Issue { code: finding.code.clone(), place, message: finding.message.clone() });
        }
    }
    let version = report.manifest.as_ref().map(|m| m.format.clone());
    let mut reading = Reading {
        bundle,
        context,
        report: &report,
        version,
        sent: 0,
        seen: HashMap::new(),
        dead: HashSet::new(),
        sink,
    };
    reading.tombstones()?;
    for spec in &KINDS {
        reading.records(&spec.path(), spec)?;
    }
    let vendors = bundle.files.iter().filter_map(|(path, member)| Some((vendor_of(path)?, *member)));
    for (vendor, member) in vendors {
        reading.vendor(vendor, member)?;
    }
    reading.records(LOG, &super::kinds::AUDIT_LOG)?;
    reading.parts(detected)
}

struct Reading<'a> {
    bundle: &'a Bundle<'a>,
    context: &'a ReadContext,
    report: &'a Report,
    version: Option<String>,
    sent: u64,
    /// How often a position-free key was met.
    seen: HashMap<String, u32>,
    /// Ids of records that were left out since they cannot be without what was deleted; nor can others without them.
    dead: HashSet<String>,
    sink: &'a mut dyn Sink,
}

impl Reading<'_> {
    fn each(
        &mut self,
        member: &Member,
        mut visit: impl FnMut(&mut Self, u64, &[u8]) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let bundle = self.bundle;
        let before = self.sent;
        let read = bundle.lines(member, &mut |number, bytes| {
            self.sent += bytes.len() as u64 + 1;
            visit(self, number, bytes)?;
            self.sink.progress(self.sent)
        })?;
        self.sent = before + member.size;
        // The same bytes as in the first pass, or the import ends here and none of it is kept.
        let listed = self.report.manifest.iter().flat_map(|m| &m.files);
        let mut same = listed.filter(|f| bundle.files.get(f.path.as_str()).is_some_and(|m| m.id == member.id));
        match (read, same.next()) {
            (Some((_, digest)), Some(file)) if digest == file.sha256 => Ok(()),
            _ => Err(self.changed(member)),
        }
    }

    fn changed(&self, member: &Member) -> FormatError {
        FormatError::invalid("checksum_mismatch", &member.place, "the file changed while it was read")
    }

    fn tombstones(&mut self) -> Result<(), FormatError> {
        let Some(member) = self.bundle.files.get(TOMBSTONES).copied() else { return Ok(()) };
        let bounds = Bounds::from(&self.context.limits);
        self.each(member, |this, _, bytes| {
            let Some(source) = known_line(bytes) else { return Ok(()) };
            let source = source.map_err(|()| this.changed(member))?;
            let tree = decode(&TOMBSTONE, source, bounds).map_err(|_| this.changed(member))?;
            this.sink.tombstone(tombstones::from_tree(&tree, source))
        })
    }

    fn origin(&self, path: &str, number: u64) -> Origin {
        Origin {
            format: map::SCOPE.into(),
            version: self.version.clone(),
            container: self.bundle.place.clone(),
            pointer: format!("{path}:{number}"),
        }
    }

    fn records(&mut self, path: &str, spec: &'static Spec) -> Result<(), FormatError> {
        let Some(member) = self.bundle.files.get(path).copied() else { return Ok(()) };
        let bounds = Bounds::from(&self.context.limits);
        self.each(member, |this, number, bytes| {
            let Some(source) = known_line(bytes) else { return Ok(()) };
            let source = source.map_err(|()| this.changed(member))?;
            let tree = decode(spec, source, bounds).map_err(|_| this.changed(member))?;
            let place = format!("{}:{number}", member.place);
            if slot::get(&tree).is_some_and(|x| x.get(RENDERING).is_some()) {
                this.skip(place, "duplicate_rendering: the text is in its resource", Kind::Chunk);
                return Ok(());
            }
            if let Some(parent) = this.dead_parent(spec, &tree) {
                this.skip(place, &format!("tombstoned: {parent} names a deleted record"), spec.model);
                this.dead.insert(map::id_of(spec, &tree));
                return Ok(());
            }
            let mut mapped = to_record(spec, &tree);
            if spec.id.is_empty() {
                let canonical = line(spec, &tree).map_err(|_| this.changed(member))?;
                mapped.key = this.content_key(spec.kind, &canonical);
            }
            mapped.origin = this.origin(path, number);
            let verbatim = Verbatim::json(source);
            let record = match slot::get(&tree).and_then(|_| restore(spec, &tree, &mapped, &verbatim)) {
                Some(restored) => {
                    if restored.changed {
                        let message = "changed by another program; its values are taken";
                        this.sink.note(Issue::new("changed_elsewhere", &place, message));
                    }
                    // The vault knows tombstones by key; this record's key is not the bundle's id.
                    let foreign_key = restored.record.key.scope != map::SCOPE;
                    if foreign_key && this.is_dead(&map::id_of(spec, &tree)) {
                        this.skip(place, "tombstoned: deleted by the bundle itself", restored.record.kind);
                        return Ok(());
                    }
                    restored.record
                }
                None => Record { verbatim: Some(verbatim), ..mapped },
            };
            this.sink.unit(Unit::from(record))
        })
    }

    fn skip(&mut self, place: String, reason: &str, kind: Kind) {
        self.sink.dropped(Dropped { place, outcome: DroppedAs::Skipped, reason: reason.into(), kind: Some(kind) });
    }

    fn is_dead(&self, id: &str) -> bool {
        self.report.tombstoned.contains(id) || self.dead.contains(id)
    }

    /// A record cannot be without the records that its required references name (spec v1.1 §4).
    fn dead_parent(&self, spec: &Spec, tree: &Tree) -> Option<&'static str> {
        let needed = |f: &str| spec.field(f).is_some_and(|f| f.required && f.ty == Type::Text);
        let mut fields = spec.references.iter().map(|(f, ..)| *f).filter(|f| needed(f));
        fields.find(|f| list(tree, f).iter().any(|id| self.is_dead(id)))
    }

    /// Key by content, for lines without an id; the second equal line gets `#2`.
    fn content_key(&mut self, kind: &str, content: &str) -> RecordKey {
        let digest = hex::encode(&Sha256::digest(content)[..16]);
        RecordKey::new(map::SCOPE, self.unique(format!("{kind}/line:{digest}")))
    }

    fn unique(&mut self, value: String) -> String {
        let count = self.seen.entry(value.clone()).or_default();
        *count += 1;
        if *count == 1 { value } else { format!("{value}#{count}") }
    }

    fn vendor(&mut self, vendor: &str, member: &Member) -> Result<(), FormatError> {
        let path = format!("items/{vendor}.jsonl");
        let bounds = Bounds::from(&self.context.limits);
        self.seen.clear();
        self.each(member, |this, number, bytes| {
            if bytes.is_empty() {
                return Ok(());
            }
            let source = std::str::from_utf8(bytes).map_err(|_| this.changed(member))?;
            let tree = Tree::parse(source, bounds).ok();
            if [FOREIGN, FORMER_FOREIGN].contains(&vendor)
                && let Some(tree) = &tree
                && let Some(record) = read_whole(tree)
            {
                if text(tree, "id").is_some_and(|id| this.is_dead(id)) {
                    let place = format!("{}:{number}", member.place);
                    this.skip(place, "tombstoned: deleted by the bundle itself", record.kind);
                    return Ok(());
                }
                return this.sink.unit(Unit::from(record));
            }
            let id = tree.as_ref().and_then(|t| text(t, "id")).filter(|id| !id.is_empty()).map(str::to_owned);
            let key = match &id {
                Some(id) => this.unique(format!("{vendor}/{id}")),
                None => this.content_key(vendor, source).value,
            };
            let mut record = foreign(vendor, key, id);
            record.origin = this.origin(&path, number);
            let media_type = if tree.is_some() { "application/json" } else { "text/plain" };
            record.verbatim = Some(Verbatim { media_type: media_type.into(), text: source.into() });
            this.sink.unit(Unit::from(record))
        })
    }

    /// Manifest, signature and every file that is no record.
    fn parts(&mut self, detected: &Detected) -> Result<(), FormatError> {
        let digest = self.report.manifest.as_ref().and_then(|m| m.bundle_digest.clone());
        let group = digest.unwrap_or_else(|| hex::encode(Sha256::digest(&self.report.manifest_bytes)));
        for (path, member) in &self.bundle.files {
            let claimed = detected.claim.parts.iter().find(|p| p.member == member.id).map(|p| p.role);
            let Some(role) = claimed else { continue };
            if role == Role::Junk || *path == CHECKSUMS || by_path(path).is_some() || vendor_of(path).is_some() {
                continue;
            }
            let role = if *path == MANIFEST { "manifest" } else { "entry" };
            let item = PassthroughItem {
                format: map::SCOPE.into(),
                group: group.clone(),
                name: (*path).to_owned(),
                role: role.into(),
                place: member.place.clone(),
            };
            self.bundle.catalog.read(member, |r| self.sink.passthrough(item, r))?;
            self.sent += member.size;
            self.sink.progress(self.sent)?;
        }
        Ok(())
    }
}

/// Kind of the line that a record came from, by the pointer in its origin.
pub(super) fn spec_of(origin: &Origin) -> Option<&'static Spec> {
    let path = origin.pointer.rsplit_once(':').map_or(origin.pointer.as_str(), |(path, _)| path);
    by_path(path)
}
