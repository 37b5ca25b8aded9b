//! Writing a bundle, version 1.1, level L2 (spec v1.1 §1, §3, §10): a folder, or an archive with that folder in it.
use super::{
    bundle::{MANIFEST, SIGNATURE},
    delta::Delta,
    extension::{attach, losses, whole},
    kinds::{LOG, Spec, TOMBSTONE, TOMBSTONES, by_name, vendor_of},
    manifest::{CAPABILITIES, FileEntry, Manifest, VERSION, VERSIONS, checksums, path_is_safe},
    map::{SCOPE, to_record, tree_of},
    native::{FOREIGN, FORMER_FOREIGN, id_prefix, patch, skeleton},
    place::Place,
    read::{RENDERING, spec_of},
    sign, tombstones,
    wire::{self, decode, line, text},
};
use mementory_format::extension as slot;
use mementory_format::{
    FormatError, NO_BYTES, PassthroughItem, RecordSource, Signer, SourceAbout, StoredRecord, WriteOptions, WriteReport,
    passthrough_envelope,
};
use mementory_json::Tree;
use mementory_model::{Kind, Limits, LossKind, Record, Timestamp, Tombstone};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io::Read,
    ops::Range,
    path::Path,
};

/// Writes what `source` has into the new folder or archive `out`.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let mut writing = Writing::new(source.about(), options, limits, true)?;
    writing.lines(source)?;
    let mut place = Place::create(out, &["items", "audit"])?;
    source.passthrough(SCOPE, &mut |item, bytes| writing.part(Some(&mut place), item, bytes))?;
    writing.several_bundles();
    writing.left_out(source, options)?;
    writing.finish(place)
}

/// What [`write`] would hold and lose. Nothing is written, and no line is kept.
pub(super) fn plan(
    source: &mut dyn RecordSource,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let mut writing = Writing::new(source.about(), options, limits, false)?;
    writing.lines(source)?;
    source.passthrough(SCOPE, &mut |item, bytes| writing.part(None, item, bytes))?;
    writing.several_bundles();
    writing.left_out(source, options)?;
    Ok(writing.report)
}

/// Lines of one file with what orders them, held in blocks: they are most of what an export holds.
#[derive(Default)]
struct Stream {
    blocks: Vec<String>,
    /// What orders a line, its block, and where it stands there.
    lines: Vec<(String, usize, Range<usize>)>,
    bytes: u64,
}

impl Stream {
    const BLOCK: usize = 1 << 20;

    fn keep(&mut self, order: String, line: &str) {
        if self.blocks.last().is_none_or(|block| block.capacity() - block.len() < line.len()) {
            // Most files have few lines.
            let room = if self.blocks.is_empty() { line.len() } else { Self::BLOCK.max(line.len()) };
            self.blocks.push(String::with_capacity(room));
        }
        let at = self.blocks.len() - 1;
        let Some(block) = self.blocks.last_mut() else { return };
        let start = block.len();
        block.push_str(line);
        self.lines.push((order, at, start..block.len()));
    }

    /// Episodes by id, vendor lines as they stood, everything else by the whole line.
    fn sorted(&mut self) -> impl Iterator<Item = &str> {
        let Self { blocks, lines, .. } = self;
        let text = |(_, block, place): &(String, usize, Range<usize>)| &blocks[*block][place.clone()];
        lines.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a).cmp(text(b))));
        lines.iter().map(text)
    }
}

struct Writing<'l> {
    about: SourceAbout,
    limits: &'l Limits,
    /// False while planning: lines are made, for their losses, and let go.
    keep: bool,
    delta: Delta,
    signer: Option<&'l dyn Signer>,
    streams: BTreeMap<String, Stream>,
    parts: BTreeMap<String, Option<FileEntry>>,
    /// Manifests of the bundles behind this export, with their bytes, and those bundles' signatures.
    manifests: Vec<(Manifest, Vec<u8>)>,
    signatures: Vec<Vec<u8>>,
    /// Asked for: the version of a source that is to come out as it was.
    version: Option<String>,
    coverage: Option<(Timestamp, Timestamp)>,
    scopes: BTreeSet<String>,
    report: WriteReport,
}

impl<'l> Writing<'l> {
    fn new(about: SourceAbout, options: &'l WriteOptions, limits: &'l Limits, keep: bool) -> Result<Self, FormatError> {
        let version = options.version.clone();
        if let Some(version) = version.as_ref().filter(|v| !VERSIONS.contains(&v.as_str())) {
            return Err(FormatError::Version { place: MANIFEST.into(), version: version.clone() });
        }
        let delta = Delta::new(options, about.now, limits)?;
        Ok(Self {
            about,
            limits,
            keep,
            delta,
            signer: options.signer.as_deref(),
            streams: BTreeMap::new(),
            parts: BTreeMap::new(),
            manifests: Vec::new(),
            signatures: Vec::new(),
            coverage: None,
            scopes: BTreeSet::new(),
            report: WriteReport {
                version: version.clone().unwrap_or_else(|| VERSION.into()),
                ..WriteReport::default()
            },
            version,
        })
    }

    /// Records and tombstones.
    fn lines(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        source.records(&mut |stored| self.record(&stored))?;
        let mut seen = HashSet::new();
        for tombstone in source.tombstones()? {
            if seen.insert(tombstone.id.clone()) {
                self.tombstone(&tombstone)?;
            }
        }
        Ok(())
    }

    fn tombstone(&mut self, tombstone: &Tombstone) -> Result<(), FormatError> {
        let depth = self.limits.json_depth;
        let mut line = tombstones::to_line(tombstone, depth);
        let tree = decode(&TOMBSTONE, &line, depth)
            .map_err(|_| FormatError::invalid("malformed", TOMBSTONES, "malformed tombstone record"))?;
        if !self.delta.keeps(TOMBSTONES, &tree, &line) {
            return Ok(());
        }
        // What came in a bundle is its vault's to sign: our name under it would say that we know it to be true.
        if let Some(signer) = self.signer.filter(|_| self.keep && tombstones::is_own(tombstone)) {
            line = sign::tombstone(&line, signer, depth)?;
        }
        self.push(TOMBSTONES, String::new(), &line)
    }

    /// A record that the export this one builds on has already.
    fn stays(&mut self) {
        *self.report.withheld.entry("unchanged".into()).or_default() += 1;
    }

    fn goes(&mut self, record: &Record) {
        match self.report.by_kind.get_mut(record.kind.as_str()) {
            Some(count) => *count += 1,
            None => drop(self.report.by_kind.insert(record.kind.as_str().into(), 1)),
        }
    }

    /// What two manifests say of two stores cannot be said of one.
    fn several_bundles(&mut self) {
        if self.manifests.len() > 1 {
            for _ in &self.manifests {
                let note = "several bundles were imported; their manifests' own entries cannot be merged";
                self.report.losses.add(MANIFEST, "manifest", LossKind::LeftOut, note);
            }
            self.manifests.clear();
            self.signatures.clear();
        }
    }

    fn push(&mut self, path: &str, order: String, line: &str) -> Result<(), FormatError> {
        if !self.streams.contains_key(path) {
            self.streams.insert(path.to_owned(), Stream::default());
        }
        let Some(stream) = self.streams.get_mut(path) else { return Ok(()) };
        stream.bytes += line.len() as u64 + 1;
        if stream.bytes > self.limits.mem_file_bytes {
            return Err(FormatError::Limit { limit: "mem_file_bytes", place: path.into(), figure: stream.bytes });
        }
        if self.keep {
            stream.keep(order, line);
        }
        Ok(())
    }

    fn record(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        if record.origin.format == SCOPE {
            if let Some(spec) = spec_of(&record.origin) {
                if let Some((tree, mapped)) = self.own_tree(spec, stored) {
                    return self.item(spec, stored, tree, mapped, false);
                }
            } else if let Some(vendor) = vendor_of(pointer_path(record)).filter(|v| vendor_is_safe(v))
                && let Some(verbatim) = &record.verbatim
                && !verbatim.text.contains('\n')
            {
                // A foreign line has no fields that could be edited; redaction rewrites the verbatim itself.
                let order = format!("{}\u{0}{:020}", record.origin.container, pointer_line(record));
                return self.vendor(&format!("items/{vendor}.jsonl"), order, verbatim.text.clone(), stored, None);
            }
        }
        self.elsewhere(stored)
    }

    fn vendor(
        &mut self,
        path: &str,
        order: String,
        line: String,
        stored: &StoredRecord,
        loss: Option<&str>,
    ) -> Result<(), FormatError> {
        if !self.delta.keeps_vendor(path, &line) {
            self.stays();
            return Ok(());
        }
        self.goes(&stored.record);
        if let Some(note) = loss {
            self.report.losses.add(&stored.id, "record", LossKind::MovedToExtension, note);
        }
        self.push(path, order, &line)
    }

    /// A record of this format: its own line, patched where it was edited, then with what the line says by itself.
    fn own_tree(&self, spec: &'static Spec, stored: &StoredRecord) -> Option<(Tree, Option<Record>)> {
        let record = &stored.record;
        let mut tree = decode(spec, &record.verbatim.as_ref()?.text, self.limits.json_depth).ok()?;
        if !stored.edited {
            return Some((tree, None));
        }
        let said = to_record(spec, &tree);
        patch(spec, &mut tree, &said, record);
        let mut mapped = to_record(spec, &tree);
        if spec.id.is_empty() {
            mapped.key = record.key.clone(); // by content, which the edit changed
        }
        mapped.repeats = record.repeats;
        attach(spec, &mut tree, &mapped, record, true);
        Some((tree, Some(mapped)))
    }

    fn elsewhere(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        if record.kind == Kind::Foreign {
            let id = format!("{}{}", id_prefix(record.kind), stored.id);
            let note = "kept whole in a vendor kind, which other programs carry and do not read";
            let line = whole(&id, record);
            return self.vendor(&format!("items/{FOREIGN}.jsonl"), id, line, stored, Some(note));
        }
        let (spec, mut tree) = skeleton(stored, self.about.now);
        let said = to_record(spec, &tree);
        let mut shown = record.clone();
        if record.kind == Kind::Message {
            // A message's context is its conversation, and `chat` is how programs know it for a message.
            shown.namespace.clone_from(&said.namespace);
            shown.record_type.clone_from(&said.record_type);
        }
        patch(spec, &mut tree, &said, &shown);
        if spec.kind == "resource" && is_long(record) {
            tree.set("summary", Tree::Text(record.text.chars().take(SUMMARY).collect()));
        }
        let mapped = to_record(spec, &tree);
        attach(spec, &mut tree, &mapped, record, false);
        self.item(spec, stored, tree, Some(mapped), true)
    }

    /// The text of a document as a chunk, which is where other programs look for it.
    fn rendering(&mut self, stored: &StoredRecord, resource: &str) -> Result<(), FormatError> {
        let chunk = json!({
            "id": format!("chunk_{}", stored.id), "resourceID": resource, "position": 0, "text": stored.record.text,
            "sensitivity": stored.record.sensitivity.as_deref().unwrap_or("low"), (slot::MEMBER): {(RENDERING): resource},
        });
        let Some(spec) = by_name("chunk") else { return Ok(()) };
        let line = to_line(spec, &tree_of(&chunk))?;
        self.push(&spec.path(), String::new(), &line)
    }

    /// One line of a known kind; `mapped` is what the line says by itself, where that is not all. `fresh` = made here.
    fn item(
        &mut self,
        spec: &'static Spec,
        stored: &StoredRecord,
        tree: Tree,
        mapped: Option<Record>,
        fresh: bool,
    ) -> Result<(), FormatError> {
        let (line, path) = (to_line(spec, &tree)?, spec.path());
        if !self.delta.keeps(&path, &tree, &line) {
            self.stays();
            return Ok(());
        }
        let record = &stored.record;
        self.goes(record);
        if let Some(mapped) = mapped {
            losses(&stored.id, &mapped, record, &tree, &mut self.report.losses);
        }
        if fresh && spec.kind == "resource" && is_long(record) {
            self.rendering(stored, text(&tree, "id").unwrap_or_default())?;
        }
        if fresh && record.kind == Kind::Attachment {
            self.report.losses.add(&stored.id, "bytes", LossKind::LeftOut, NO_BYTES);
        }
        let mut order = String::new();
        match spec.kind {
            "episode" => {
                order = text(&tree, "id").unwrap_or_default().to_owned();
                if let Some(t) = wire::time_of(&tree, "eventTime") {
                    let (from, to) = self.coverage.unwrap_or((t, t));
                    self.coverage = Some((from.min(t), to.max(t)));
                }
                let context = text(&tree, "contextID").filter(|c| !c.is_empty() && !self.scopes.contains(*c));
                self.scopes.extend(context.map(str::to_owned));
            }
            "context" => self.scopes.extend(text(&tree, "id").map(str::to_owned)),
            _ => {}
        }
        self.push(&path, order, &line)
    }

    /// Files of imported bundles that are no records. Vectors and provenance speak of records that may be gone since.
    fn part(
        &mut self,
        place: Option<&mut Place>,
        item: &PassthroughItem,
        bytes: &mut dyn Read,
    ) -> Result<(), FormatError> {
        let mut all = Vec::new();
        let bound = self.limits.mem_file_bytes;
        bytes.take(bound + 1).read_to_end(&mut all).map_err(|e| FormatError::io(&item.name, e))?;
        if item.name == MANIFEST {
            self.manifests.extend(Manifest::parse(&all, self.limits.json_depth).map(|m| (m, all)));
            return Ok(());
        }
        let note = match item.name.as_str() {
            SIGNATURE => {
                self.signatures.push(all);
                return Ok(());
            }
            name if name.starts_with("embeddings/") => "vectors are made anew by the receiving program",
            name if name.starts_with("provenance/") => "part of an evidence pack, which is not what is written here",
            name if !path_is_safe(name) || all.len() as u64 > bound => "the name or size is not allowed",
            name if self.streams.contains_key(name) || self.parts.contains_key(name) => {
                "another bundle has a file of this name"
            }
            name => {
                if !self.delta.keeps_part(name, &hex::encode(Sha256::digest(&all))) {
                    return Ok(());
                }
                let entry = place.map(|p| p.put(name, &all)).transpose()?;
                self.parts.insert(name.to_owned(), entry);
                return Ok(());
            }
        };
        self.report.losses.add(&item.name, "part", LossKind::LeftOut, note);
        Ok(())
    }

    /// What has no place in a bundle.
    fn left_out(&mut self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<(), FormatError> {
        if options.everything {
            passthrough_envelope::note_left_out(source, |id| id != SCOPE, &mut self.report.losses)?;
        }
        Ok(())
    }

    fn finish(mut self, mut place: Place) -> Result<WriteReport, FormatError> {
        let mut counts = BTreeMap::new();
        let mut files: Vec<FileEntry> = std::mem::take(&mut self.parts).into_values().flatten().collect();
        for (path, mut stream) in std::mem::take(&mut self.streams) {
            counts.insert(count_name(&path).to_owned(), stream.lines.len() as u64);
            files.push(place.put_lines(&path, stream.sorted())?);
        }
        if let Some((bytes, signature)) = self.unchanged(&files) {
            self.report.digest = place.seal_as(&files, &bytes, signature.as_deref())?;
            return Ok(self.report);
        }
        let mut manifest = Manifest::new(&self.about.generator, self.about.now, "L2", &CAPABILITIES);
        // With one bundle behind it, what that one's manifest said of its store still holds.
        if let Some((only, _)) = self.manifests.pop() {
            manifest.schema_version = only.schema_version;
            manifest.embedding_model = only.embedding_model;
            manifest.embedding_dim = only.embedding_dim;
            manifest.unknown = only.unknown;
        }
        if let Some(version) = self.version.take() {
            manifest.format = version;
        }
        if self.delta.is_incremental() {
            manifest.mode = "incremental".into();
            manifest.since = self.delta.since;
        }
        manifest.counts = counts;
        manifest.coverage = self.coverage;
        manifest.scopes = (!self.scopes.is_empty()).then(|| self.scopes.iter().cloned().collect());
        self.report.digest = place.seal(files, manifest, self.signer)?;
        Ok(self.report)
    }
}

impl Writing<'_> {
    /// The one bundle behind this export, when its version was asked for and every file of it is as it was: then its
    /// manifest holds, and with it its signature.
    fn unchanged(&mut self, files: &[FileEntry]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let [(only, bytes)] = self.manifests.as_slice() else { return None };
        let mut sorted: (Vec<_>, Vec<_>) = (files.iter().collect(), only.files.iter().collect());
        sorted.0.sort_by(|a, b| a.path.cmp(&b.path));
        sorted.1.sort_by(|a, b| a.path.cmp(&b.path));
        let digest = hex::encode(Sha256::digest(checksums(files)));
        let same = self.version.as_ref() == Some(&only.format)
            && self.signer.is_none()
            && !self.delta.is_incremental()
            && sorted.0 == sorted.1
            && only.bundle_digest.as_ref().is_none_or(|said| *said == digest);
        same.then(|| (bytes.clone(), self.signatures.first().cloned()))
    }
}

fn to_line(spec: &Spec, tree: &Tree) -> Result<String, FormatError> {
    line(spec, tree).map_err(|_| FormatError::invalid("malformed", spec.path(), "a number is out of range"))
}

fn is_long(record: &Record) -> bool {
    record.text.chars().count() > SUMMARY
}

/// Code points of a text that count as its summary.
const SUMMARY: usize = 120;

fn count_name(path: &str) -> &str {
    match path {
        TOMBSTONES => "tombstone",
        LOG => "audit",
        _ => path.trim_start_matches("items/").trim_end_matches(".jsonl"),
    }
}

fn pointer_path(record: &Record) -> &str {
    record.origin.pointer.rsplit_once(':').map_or("", |(path, _)| path)
}

fn pointer_line(record: &Record) -> u64 {
    record.origin.pointer.rsplit_once(':').and_then(|(_, n)| n.parse().ok()).unwrap_or_default()
}

/// A vendor kind becomes a file name.
fn vendor_is_safe(vendor: &str) -> bool {
    path_is_safe(vendor) && !vendor.contains('/') && vendor.len() <= 120 && ![FOREIGN, FORMER_FOREIGN].contains(&vendor)
}
