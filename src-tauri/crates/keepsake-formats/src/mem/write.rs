//! Writing a bundle folder, version 1.1, level L2 (spec v1.1 §1, §3, §10).
use super::{
    bundle::{MANIFEST, SIGNATURE},
    kinds::{LOG, Spec, TOMBSTONES, by_name, vendor_of},
    manifest::{FileEntry, Manifest, VERSION, checksums, path_is_safe},
    map::{SCOPE, to_record, tree_of},
    native::{FOREIGN, id_prefix, patch, skeleton},
    overlay::{EXTENSION, attach, losses, whole},
    read::{RENDERING, spec_of},
    tombstones,
    wire::{self, decode, line, text},
};
use crate::{FormatError, PassthroughItem, RecordSource, SourceAbout, StoredRecord, WriteReport};
use keepsake_model::{Kind, Limits, LossKind, Record, Timestamp, json::Tree};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io::Read,
    path::Path,
};

/// Writes everything `source` has into the new folder `out`.
pub(super) fn write(source: &mut dyn RecordSource, out: &Path, limits: &Limits) -> Result<WriteReport, FormatError> {
    let mut writing = Writing::new(source.about(), limits, true);
    writing.lines(source)?;
    let folder = Folder::create(out)?;
    source.passthrough(SCOPE, &mut |item, bytes| writing.part(Some(&folder), item, bytes))?;
    writing.several_bundles();
    writing.finish(&folder)
}

/// What [`write`] would hold and lose. Nothing is written, and no line is kept.
pub(super) fn plan(source: &mut dyn RecordSource, limits: &Limits) -> Result<WriteReport, FormatError> {
    let mut writing = Writing::new(source.about(), limits, false);
    writing.lines(source)?;
    source.passthrough(SCOPE, &mut |item, bytes| writing.part(None, item, bytes))?;
    writing.several_bundles();
    Ok(writing.report)
}

struct Folder<'a>(&'a Path);

impl<'a> Folder<'a> {
    fn create(out: &'a Path) -> Result<Self, FormatError> {
        for path in [out.to_path_buf(), out.join("items"), out.join("audit")] {
            std::fs::create_dir(&path).map_err(|e| FormatError::io(path.display().to_string(), e))?;
        }
        Ok(Self(out))
    }

    fn put(&self, path: &str, bytes: &[u8]) -> Result<FileEntry, FormatError> {
        let target = self.0.join(path);
        let io = |e| FormatError::io(path, e);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(io)?;
        }
        std::fs::write(&target, bytes).map_err(io)?;
        Ok(FileEntry { path: path.to_owned(), sha256: hex::encode(Sha256::digest(bytes)), bytes: bytes.len() as u64 })
    }
}

/// Lines of one file with what orders them.
#[derive(Default)]
struct Stream {
    lines: Vec<(String, String)>,
    bytes: u64,
}

struct Writing<'l> {
    about: SourceAbout,
    limits: &'l Limits,
    /// False while planning: lines are made, for their losses, and let go.
    keep: bool,
    streams: BTreeMap<String, Stream>,
    parts: BTreeMap<String, Option<FileEntry>>,
    manifests: Vec<Manifest>,
    coverage: Option<(Timestamp, Timestamp)>,
    scopes: BTreeSet<String>,
    report: WriteReport,
}

impl<'l> Writing<'l> {
    fn new(about: SourceAbout, limits: &'l Limits, keep: bool) -> Self {
        Self {
            about,
            limits,
            keep,
            streams: BTreeMap::new(),
            parts: BTreeMap::new(),
            manifests: Vec::new(),
            coverage: None,
            scopes: BTreeSet::new(),
            report: WriteReport { version: VERSION.into(), ..WriteReport::default() },
        }
    }

    /// Records and tombstones.
    fn lines(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        source.records(&mut |stored| self.record(&stored))?;
        let mut seen = HashSet::new();
        for tombstone in source.tombstones()? {
            if seen.insert(tombstone.id.clone()) {
                self.push(TOMBSTONES, String::new(), tombstones::to_line(&tombstone, self.limits.json_depth))?;
            }
        }
        Ok(())
    }

    /// What two manifests say of two stores cannot be said of one.
    fn several_bundles(&mut self) {
        if self.manifests.len() > 1 {
            for _ in &self.manifests {
                let note = "several bundles were imported; their manifests' own entries cannot be merged";
                self.report.losses.add(MANIFEST, "manifest", LossKind::LeftOut, note);
            }
            self.manifests.clear();
        }
    }

    fn push(&mut self, path: &str, order: String, line: String) -> Result<(), FormatError> {
        let stream = self.streams.entry(path.to_owned()).or_default();
        stream.bytes += line.len() as u64 + 1;
        if stream.bytes > self.limits.mem_file_bytes {
            return Err(FormatError::Limit { limit: "mem_file_bytes", place: path.into(), figure: stream.bytes });
        }
        if self.keep {
            stream.lines.push((order, line));
        }
        Ok(())
    }

    fn record(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        *self.report.by_kind.entry(record.kind.as_str().into()).or_default() += 1;
        if record.origin.format == SCOPE {
            if let Some(spec) = spec_of(&record.origin) {
                if let Some(tree) = self.own_tree(spec, stored) {
                    return self.item(spec, tree);
                }
            } else if let Some(vendor) = vendor_of(pointer_path(record)).filter(|v| vendor_is_safe(v))
                && let Some(verbatim) = &record.verbatim
                && !verbatim.text.contains('\n')
            {
                // A foreign line has no fields that could be edited; redaction rewrites the verbatim itself.
                let order = format!("{}\u{0}{:020}", record.origin.container, pointer_line(record));
                return self.push(&format!("items/{vendor}.jsonl"), order, verbatim.text.clone());
            }
        }
        self.elsewhere(stored)
    }

    /// A record of this format: its own line, patched where it was edited.
    fn own_tree(&mut self, spec: &'static Spec, stored: &StoredRecord) -> Option<Tree> {
        let record = &stored.record;
        let mut tree = decode(spec, &record.verbatim.as_ref()?.text, self.limits.json_depth).ok()?;
        if stored.edited {
            let said = to_record(spec, &tree);
            patch(spec, &mut tree, &said, record);
            let mut mapped = to_record(spec, &tree);
            if spec.id.is_empty() {
                mapped.key = record.key.clone(); // by content, which the edit changed
            }
            mapped.repeats = record.repeats;
            attach(spec, &mut tree, &mapped, record, true);
            losses(&stored.id, &mapped, record, &tree, &mut self.report.losses);
        }
        Some(tree)
    }

    fn elsewhere(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        if record.kind == Kind::Foreign {
            let id = format!("{}{}", id_prefix(record.kind), stored.id);
            let note = "kept whole in a vendor kind, which other programs carry and do not read";
            self.report.losses.add(&stored.id, "record", LossKind::MovedToExtension, note);
            return self.push(&format!("items/{FOREIGN}.jsonl"), id.clone(), whole(&id, record));
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
        let long = record.text.chars().count() > SUMMARY;
        if spec.kind == "resource" && long {
            tree.set("summary", Tree::Text(record.text.chars().take(SUMMARY).collect()));
            self.rendering(stored, text(&tree, "id").unwrap_or_default())?;
        }
        let mapped = to_record(spec, &tree);
        attach(spec, &mut tree, &mapped, record, false);
        losses(&stored.id, &mapped, record, &tree, &mut self.report.losses);
        if record.kind == Kind::Attachment {
            let note = "bytes of files do not travel in this format; name, type and text do";
            self.report.losses.add(&stored.id, "bytes", LossKind::LeftOut, note);
        }
        self.item(spec, tree)
    }

    /// The text of a document as a chunk, which is where other programs look for it.
    fn rendering(&mut self, stored: &StoredRecord, resource: &str) -> Result<(), FormatError> {
        let chunk = json!({
            "id": format!("chunk_{}", stored.id), "resourceID": resource, "position": 0, "text": stored.record.text,
            "sensitivity": stored.record.sensitivity.as_deref().unwrap_or("low"), (EXTENSION): {(RENDERING): resource},
        });
        match by_name("chunk") {
            Some(spec) => self.item(spec, tree_of(&chunk)),
            None => Ok(()),
        }
    }

    fn item(&mut self, spec: &'static Spec, tree: Tree) -> Result<(), FormatError> {
        let line = line(spec, &tree)
            .map_err(|_| FormatError::invalid("malformed", spec.path(), "a number is out of range"))?;
        let mut order = String::new();
        match spec.kind {
            "episode" => {
                order = text(&tree, "id").unwrap_or_default().to_owned();
                if let Some(t) = wire::time_of(&tree, "eventTime") {
                    let (from, to) = self.coverage.unwrap_or((t, t));
                    self.coverage = Some((from.min(t), to.max(t)));
                }
                self.scopes.extend(text(&tree, "contextID").filter(|c| !c.is_empty()).map(str::to_owned));
            }
            "context" => self.scopes.extend(text(&tree, "id").map(str::to_owned)),
            _ => {}
        }
        self.push(&spec.path(), order, line)
    }

    /// Files of imported bundles that are no records. Vectors and provenance speak of records that may be gone since.
    fn part(
        &mut self,
        folder: Option<&Folder>,
        item: &PassthroughItem,
        bytes: &mut dyn Read,
    ) -> Result<(), FormatError> {
        let mut all = Vec::new();
        let bound = self.limits.mem_file_bytes;
        bytes.take(bound + 1).read_to_end(&mut all).map_err(|e| FormatError::io(&item.name, e))?;
        if item.name == MANIFEST {
            self.manifests.extend(Manifest::parse(&all, self.limits.json_depth));
            return Ok(());
        }
        let note = match item.name.as_str() {
            SIGNATURE => return Ok(()), // of another manifest
            name if name.starts_with("embeddings/") => "vectors are made anew by the receiving program",
            name if name.starts_with("provenance/") => "part of an evidence pack, which is not what is written here",
            name if !path_is_safe(name) || all.len() as u64 > bound => "the name or size is not allowed",
            name if self.streams.contains_key(name) || self.parts.contains_key(name) => {
                "another bundle has a file of this name"
            }
            name => {
                let entry = folder.map(|f| f.put(name, &all)).transpose()?;
                self.parts.insert(name.to_owned(), entry);
                return Ok(());
            }
        };
        self.report.losses.add(&item.name, "part", LossKind::LeftOut, note);
        Ok(())
    }

    fn finish(mut self, folder: &Folder) -> Result<WriteReport, FormatError> {
        let mut counts = BTreeMap::new();
        let mut files: Vec<FileEntry> = std::mem::take(&mut self.parts).into_values().flatten().collect();
        for (path, mut stream) in std::mem::take(&mut self.streams) {
            // Episodes by id, vendor lines as they stood, everything else by the whole line.
            stream.lines.sort_unstable();
            let mut text = String::with_capacity(usize::try_from(stream.bytes).unwrap_or_default());
            for (_, line) in &stream.lines {
                text.push_str(line);
                text.push('\n');
            }
            counts.insert(count_name(&path).to_owned(), stream.lines.len() as u64);
            files.push(folder.put(&path, text.as_bytes())?);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let sums = checksums(&files);
        folder.put("CHECKSUMS", sums.as_bytes())?;
        let digest = hex::encode(Sha256::digest(&sums));
        // With one bundle behind it, what that one's manifest said of its store still holds.
        let only = self.manifests.pop();
        let manifest = Manifest {
            format: VERSION.into(),
            generator: self.about.generator.clone(),
            level: "L2".into(),
            created: Some(self.about.now),
            mode: "full".into(),
            since: None,
            schema_version: only.as_ref().map_or_else(|| "1".into(), |m| m.schema_version.clone()),
            embedding_model: only.as_ref().map(|m| m.embedding_model.clone()).unwrap_or_default(),
            embedding_dim: only.as_ref().map_or_else(|| "0".into(), |m| m.embedding_dim.clone()),
            counts,
            files,
            coverage: self.coverage,
            scopes: (!self.scopes.is_empty()).then(|| self.scopes.iter().cloned().collect()),
            bundle_digest: Some(digest.clone()),
            unknown: only.map(|m| m.unknown).unwrap_or_default(),
        };
        folder.put(MANIFEST, manifest.write().as_bytes())?;
        self.report.digest = digest;
        Ok(self.report)
    }
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
    path_is_safe(vendor) && !vendor.contains('/') && vendor.len() <= 120 && vendor != FOREIGN
}
