//! Writes a bundle as a folder or as an archive of that folder (spec v1.1 §1, §3, §10). The bundle has version 1.1, or
//! 1.0 on request, and conformance level L2.
use super::{
    bundle::{MANIFEST_FILE, SIGNATURE_FILE},
    claims,
    delta::Delta,
    extension::{attach, foreign_record_line, report_losses},
    invalid_values::{has_empty_id, move_invalid_values},
    kinds::{AUDIT_LOG_FILE, KindSpec, TOMBSTONE_SPEC, TOMBSTONES_FILE, Type, kind_named, vendor_kind_at_path},
    line_encoder::{FOREIGN_KIND, FORMER_FOREIGN_KIND, id_prefix, patch, skeleton},
    line_stream::Stream,
    manifest::{BUNDLE_CAPABILITIES, FORMAT_VERSION, FileEntry, Manifest, WRITABLE_VERSIONS, checksums, path_is_safe},
    output_target::OutputTarget,
    read::{RENDERING_OF_MEMBER, spec_of},
    sign,
    similar_names::WrittenNames,
    to_record::{KEY_SCOPE, to_record},
    tombstones,
    wire::{self, decode, line, text},
};
use mementory_format::extension as slot;
use mementory_format::{
    FormatError, PassthroughItem, RecordSource, Signer, SourceDescription, StoredRecord, WriteOptions, WriteReport,
    note_files_left_out, passthrough_envelope,
};
use mementory_json::{Tree, tree_of};
use mementory_model::{Kind, Limits, LossKind, Record, Timestamp, Tombstone, TombstoneOp};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    io::Read,
    path::Path,
};

/// Writes all records of `source` to the new folder or archive `out`.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let mut writer = BundleWriter::new(source.description(), options, limits, true)?;
    writer.is_conversion &= !source.covers();
    writer.encode_all(source)?;
    let mut target = OutputTarget::create(out, &["items", "audit"])?;
    source.passthrough(KEY_SCOPE, &mut |item, bytes| writer.add_passthrough_file(Some(&mut target), item, bytes))?;
    writer.drop_conflicting_manifests();
    writer.report_foreign_passthrough(source, options)?;
    writer.finish(target)
}

/// Returns the same report as [`write`], including the losses, but writes nothing.
pub(super) fn plan(
    source: &mut dyn RecordSource,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let mut writer = BundleWriter::new(source.description(), options, limits, false)?;
    writer.is_conversion &= !source.covers();
    writer.encode_all(source)?;
    source.passthrough(KEY_SCOPE, &mut |item, bytes| writer.add_passthrough_file(None, item, bytes))?;
    writer.drop_conflicting_manifests();
    writer.report_foreign_passthrough(source, options)?;
    Ok(writer.report)
}

struct BundleWriter<'l> {
    description: SourceDescription,
    limits: &'l Limits,
    /// False for a dry run, which encodes lines only to find losses.
    store_lines: bool,
    delta: Delta,
    signer: Option<&'l dyn Signer>,
    streams: BTreeMap<String, Stream>,
    passthrough_files: BTreeMap<String, Option<FileEntry>>,
    /// Names of the files in `streams` and `passthrough_files`.
    written_names: WrittenNames,
    /// Manifests of the bundles that the records came from, with their bytes, and the signatures of those bundles.
    manifests: Vec<(Manifest, Vec<u8>)>,
    signatures: Vec<Vec<u8>>,
    /// Requested version. If the source bundle has this version and nothing changed, its manifest and signature are
    /// reused.
    version: Option<String>,
    /// Version of the source bundle, used if no version was requested. The manifest and signature of that bundle are
    /// then reused as well, but only if the counts in the manifest are right.
    source_version: Option<String>,
    /// True if a bundle is converted without masking. In this case, no record was deleted or changed after it was read.
    is_conversion: bool,
    coverage: Option<(Timestamp, Timestamp)>,
    scopes: BTreeSet<String>,
    /// Times of the conversations so far, by vault id, for messages without a time.
    conversation_times: HashMap<u128, Timestamp>,
    /// Vault ids of the attachments that are written without their files.
    left_out_files: Vec<String>,
    report: WriteReport,
}

impl<'l> BundleWriter<'l> {
    fn new(
        description: SourceDescription,
        options: &'l WriteOptions,
        limits: &'l Limits,
        store_lines: bool,
    ) -> Result<Self, FormatError> {
        let version = options.version.clone();
        if let Some(version) = version.as_ref().filter(|v| !WRITABLE_VERSIONS.contains(&v.as_str())) {
            return Err(FormatError::Version { place: MANIFEST_FILE.into(), version: version.clone() });
        }
        let source_version = options.source_version.clone().filter(|v| WRITABLE_VERSIONS.contains(&v.as_str()));
        let delta = Delta::new(options, description.now, limits)?;
        Ok(Self {
            description,
            limits,
            store_lines,
            delta,
            signer: options.signer.as_deref(),
            streams: BTreeMap::new(),
            passthrough_files: BTreeMap::new(),
            written_names: WrittenNames::new(),
            manifests: Vec::new(),
            signatures: Vec::new(),
            coverage: None,
            scopes: BTreeSet::new(),
            conversation_times: HashMap::new(),
            left_out_files: Vec::new(),
            report: WriteReport {
                version: version.clone().or(source_version.clone()).unwrap_or_else(|| FORMAT_VERSION.into()),
                ..WriteReport::default()
            },
            version,
            source_version,
            is_conversion: options.source_version.is_some(),
        })
    }

    /// Encodes all records and tombstones.
    fn encode_all(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        source.records(&mut |stored| self.add_record(&stored))?;
        note_files_left_out(source, &self.left_out_files, &mut self.report.losses)?;
        let mut seen_tombstones = HashSet::new();
        for tombstone in source.tombstones()? {
            // A tombstone is a duplicate only if its target is the same too, because different programs may give the
            // same id to different deletions.
            let Tombstone { id, op, target_kind, target_id, .. } = &tombstone;
            if seen_tombstones.insert((id.clone(), *op == TombstoneOp::Redact, target_kind.clone(), target_id.clone()))
            {
                self.add_tombstone(&tombstone)?;
            }
        }
        Ok(())
    }

    fn add_tombstone(&mut self, tombstone: &Tombstone) -> Result<(), FormatError> {
        let depth = self.limits.json_depth;
        let mut line = tombstones::to_line(tombstone, depth);
        let tree = decode(&TOMBSTONE_SPEC, &line, depth)
            .map_err(|_| FormatError::invalid("malformed", TOMBSTONES_FILE, "malformed tombstone record"))?;
        if !self.delta.includes(TOMBSTONES_FILE, &tree, &line, None) {
            return Ok(());
        }
        // A tombstone from a bundle is not signed, because our signature would vouch for a deletion that another
        // program made.
        if let Some(signer) = self.signer.filter(|_| self.store_lines && tombstones::needs_our_signature(tombstone)) {
            line = sign::sign_tombstone(&line, signer, depth)?;
        }
        self.push(TOMBSTONES_FILE, String::new(), &line)
    }

    /// Counts a record that is left out because the base export already has it.
    fn count_unchanged(&mut self) {
        *self.report.withheld.entry("unchanged".into()).or_default() += 1;
    }

    fn count_written(&mut self, record: &Record) {
        match self.report.by_kind.get_mut(record.kind.as_str()) {
            Some(count) => *count += 1,
            None => drop(self.report.by_kind.insert(record.kind.as_str().into(), 1)),
        }
    }

    /// The manifests of several bundles cannot be merged into one, so they are dropped.
    fn drop_conflicting_manifests(&mut self) {
        if self.manifests.len() > 1 {
            for _ in &self.manifests {
                let note =
                    "several bundles were imported, and the additional entries of their manifests cannot be merged";
                self.report.losses.add(MANIFEST_FILE, "manifest", LossKind::LeftOut, note);
            }
            self.manifests.clear();
            self.signatures.clear();
        }
    }

    fn push(&mut self, path: &str, order: String, line: &str) -> Result<(), FormatError> {
        if !self.streams.contains_key(path) {
            self.written_names.insert(path);
            self.streams.insert(path.to_owned(), Stream::default());
        }
        let Some(stream) = self.streams.get_mut(path) else { return Ok(()) };
        stream.bytes += line.len() as u64 + 1;
        if stream.bytes > self.limits.mem_file_bytes {
            return Err(FormatError::Limit { limit: "mem_file_bytes", place: path.into(), figure: stream.bytes });
        }
        if self.store_lines {
            stream.add(order, line);
        }
        Ok(())
    }

    fn add_record(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        if record.kind == Kind::Conversation
            && let (Some(time), Ok(id)) = (record.times.nearest_to_creation(), u128::from_str_radix(&stored.id, 16))
        {
            self.conversation_times.insert(id, time);
        }
        if record.origin.format == KEY_SCOPE {
            if let Some(spec) = spec_of(&record.origin) {
                if let Some((tree, mapped, moved_fields)) = self.patched_tree(spec, stored) {
                    for name in moved_fields {
                        self.report.losses.add(&stored.id, name, LossKind::MovedToExtension, INVALID_VALUE_NOTE);
                    }
                    return self.add_line(spec, stored, tree, mapped, false);
                }
            } else if let Some(vendor) = vendor_kind_at_path(pointer_path(record)).filter(|v| self.can_copy_vendor(v))
                && let Some(verbatim) = &record.verbatim
                && !verbatim.text.contains('\n')
            {
                // The verbatim of a vendor line is always current: it has no editable fields, and a redaction changes
                // the verbatim.
                let order = format!("{}\u{0}{:020}", record.origin.container, pointer_line(record));
                return self.add_vendor_line(
                    &format!("items/{vendor}.jsonl"),
                    order,
                    verbatim.text.clone(),
                    stored,
                    None,
                );
            }
        }
        self.write_foreign(stored)
    }

    /// True if the lines of a vendor kind are copied. The lines of our own kind are copied only by a conversion,
    /// because any other import restores records from them. Kinds with similar names may come from several bundles.
    fn can_copy_vendor(&self, vendor: &str) -> bool {
        let is_ours = [FOREIGN_KIND, FORMER_FOREIGN_KIND].contains(&vendor);
        let path = format!("items/{vendor}.jsonl");
        // A file that exists already was checked when its first line was written.
        let is_similar = || !self.streams.contains_key(&path) && self.written_names.has_similar_kind(vendor, &path);
        is_safe_vendor_name(vendor) && (self.is_conversion || !is_ours && !is_similar())
    }

    fn add_vendor_line(
        &mut self,
        path: &str,
        order: String,
        line: String,
        stored: &StoredRecord,
        loss: Option<&str>,
    ) -> Result<(), FormatError> {
        if !self.delta.includes_vendor(path, &line) {
            self.count_unchanged();
            return Ok(());
        }
        self.count_written(&stored.record);
        if let Some(note) = loss {
            self.report.losses.add(&stored.id, "record", LossKind::MovedToExtension, note);
        }
        self.push(path, order, &line)
    }

    /// The line of a record of this format, with edits applied. None if the verbatim is not a line of this kind.
    fn patched_tree(&self, spec: &'static KindSpec, stored: &StoredRecord) -> Option<PatchedLine> {
        let record = &stored.record;
        let mut tree = decode(spec, &record.verbatim.as_ref()?.text, self.limits.json_depth).ok()?;
        if spec.id.len() > 1 && has_empty_id(spec, &tree) {
            return None; // an end of a link cannot get a generated id
        }
        let moved_fields = move_invalid_values(spec, &mut tree, &format!("{}{}", id_prefix(record.kind), stored.id));
        if !stored.edited && !moved_fields.iter().any(|name| spec.id.contains(name)) {
            return Some((tree, None, moved_fields));
        }
        let current_record = to_record(spec, &tree);
        patch(spec, &mut tree, &current_record, record);
        let mut mapped = to_record(spec, &tree);
        if spec.id.is_empty() {
            mapped.key = record.key.clone(); // the edit changed the content, from which the key was computed
        }
        mapped.repeats = record.repeats;
        attach(spec, &mut tree, &mapped, record, true);
        Some((tree, Some(mapped), moved_fields))
    }

    /// The time of the conversation that contains the record. It is known because a conversation precedes its messages.
    fn conversation_time(&self, stored: &StoredRecord) -> Option<Timestamp> {
        let id = u128::from_str_radix(stored.parent_id.as_deref()?, 16).ok()?;
        self.conversation_times.get(&id).copied()
    }

    fn write_foreign(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        if record.kind == Kind::Foreign {
            let id = format!("{}{}", id_prefix(record.kind), stored.id);
            let note = "stored completely in a vendor kind, which other programs preserve but do not read";
            let line = foreign_record_line(&id, record);
            return self.add_vendor_line(&format!("items/{FOREIGN_KIND}.jsonl"), id, line, stored, Some(note));
        }
        let (spec, mut tree) = skeleton(stored, self.conversation_time(stored));
        let current_record = to_record(spec, &tree);
        let mut visible_record = record.clone();
        if record.kind == Kind::Message {
            // The line of a message has the conversation as `namespace` and the type `chat`, by which other programs
            // recognise messages. The record's values must not replace these two.
            visible_record.namespace.clone_from(&current_record.namespace);
            visible_record.record_type.clone_from(&current_record.record_type);
        }
        patch(spec, &mut tree, &current_record, &visible_record);
        if spec.kind == "resource" && is_longer_than_summary(record) {
            tree.set("summary", Tree::Text(record.text.chars().take(MAX_SUMMARY_CHARS).collect()));
        }
        let mapped = to_record(spec, &tree);
        attach(spec, &mut tree, &mapped, record, false);
        self.add_line(spec, stored, tree, Some(mapped), true)
    }

    /// Also writes the text of a document as a chunk, because other programs look for the text there.
    fn add_text_chunk(&mut self, stored: &StoredRecord, resource: &str) -> Result<(), FormatError> {
        let chunk = json!({
            "id": format!("chunk_{}", stored.id), "resourceID": resource, "position": 0, "text": stored.record.text,
            "sensitivity": stored.record.sensitivity.as_deref().unwrap_or("low"), (slot::MEMBER): {(RENDERING_OF_MEMBER): resource},
        });
        let Some(spec) = kind_named("chunk") else { return Ok(()) };
        let line = to_line(spec, &tree_of(&chunk))?;
        self.push(&spec.path(), String::new(), &line)
    }

    /// Writes one line of a known kind. `mapped` is the record as read from the line without its extension slot, or
    /// None if the line was not edited. `is_new` is true if the line was built from a record of another format.
    fn add_line(
        &mut self,
        spec: &'static KindSpec,
        stored: &StoredRecord,
        tree: Tree,
        mapped: Option<Record>,
        is_new: bool,
    ) -> Result<(), FormatError> {
        let (line, path) = (to_line(spec, &tree)?, spec.path());
        let is_undated = is_new && stored.record.times.nearest_to_creation().is_none();
        // A record without a time may be newer than the earlier export, so it counts as changed.
        let changed_at = is_undated.then_some(self.description.now).or(stored.changed.max(stored.record.times.updated));
        if !self.delta.includes(&path, &tree, &line, changed_at) {
            self.count_unchanged();
            return Ok(());
        }
        let record = &stored.record;
        self.count_written(record);
        if let Some(mapped) = mapped {
            report_losses(&stored.id, &mapped, record, &tree, &mut self.report.losses);
        }
        if is_undated && spec.fields.iter().any(|field| field.required && field.ty == Type::Time) {
            let note = self.conversation_time(stored).map_or(UNDATED_NOTE, |_| CONVERSATION_TIME_NOTE);
            self.report.losses.add(&stored.id, "times.created", LossKind::Narrowed, note);
        }
        if is_new && spec.kind == "resource" && is_longer_than_summary(record) {
            self.add_text_chunk(stored, text(&tree, "id").unwrap_or_default())?;
        }
        if is_new && record.kind == Kind::Attachment {
            self.left_out_files.push(stored.id.clone());
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

    /// Copies a file without records from an imported bundle. Its manifest and its signature are stored for
    /// [`Self::original_manifest`]. A file that this export must not contain is reported as a loss: a file with
    /// provenance, which is part of an evidence pack, or, except in a conversion, a file with vectors, because these
    /// may belong to records that were deleted after the import.
    fn add_passthrough_file(
        &mut self,
        target: Option<&mut OutputTarget>,
        item: &PassthroughItem,
        bytes: &mut dyn Read,
    ) -> Result<(), FormatError> {
        let mut content = Vec::new();
        let bound = self.limits.mem_file_bytes;
        bytes.take(bound + 1).read_to_end(&mut content).map_err(|e| FormatError::io(&item.name, e))?;
        if item.name == MANIFEST_FILE {
            self.manifests.extend(Manifest::parse(&content, self.limits.json_depth).map(|m| (m, content)));
            return Ok(());
        }
        let note = match item.name.as_str() {
            SIGNATURE_FILE => {
                self.signatures.push(content);
                return Ok(());
            }
            name if name.starts_with(VECTORS_FOLDER) && !self.is_conversion => {
                "the receiving program computes vectors again"
            }
            name if name.starts_with("provenance/") => "belongs to an evidence pack, and this export is none",
            name if !path_is_safe(name) || content.len() as u64 > bound => {
                "the file's name or size is not allowed in a bundle"
            }
            name if self.streams.contains_key(name) || self.passthrough_files.contains_key(name) => {
                "another imported bundle has a file of the same name"
            }
            name if self.written_names.has_similar(name) => {
                "another file has a name that differs only by case or Unicode normalisation"
            }
            name => {
                if !self.delta.includes_file(name, &hex::encode(Sha256::digest(&content))) {
                    return Ok(());
                }
                let entry = target.map(|p| p.write_file(name, &content)).transpose()?;
                self.written_names.insert(name);
                self.passthrough_files.insert(name.to_owned(), entry);
                return Ok(());
            }
        };
        self.report.losses.add(&item.name, "part", LossKind::LeftOut, note);
        Ok(())
    }

    /// Reports stored files of other formats as losses.
    fn report_foreign_passthrough(
        &mut self,
        source: &mut dyn RecordSource,
        options: &WriteOptions,
    ) -> Result<(), FormatError> {
        if options.everything {
            passthrough_envelope::note_left_out(source, |id| id != KEY_SCOPE, &mut self.report.losses)?;
        }
        Ok(())
    }

    fn finish(mut self, mut target: OutputTarget) -> Result<WriteReport, FormatError> {
        let mut counts = BTreeMap::new();
        let mut files: Vec<FileEntry> = std::mem::take(&mut self.passthrough_files).into_values().flatten().collect();
        for (path, mut stream) in std::mem::take(&mut self.streams) {
            counts.insert(name_in_counts(&path).to_owned(), stream.lines.len() as u64);
            files.push(target.write_lines(&path, stream.sorted_lines())?);
        }
        if let Some((bytes, signature)) = self.original_manifest(&files, &counts) {
            self.report.digest = target.finish_with_manifest(&files, &bytes, signature.as_deref())?;
            return Ok(self.report);
        }
        let mut manifest = Manifest::new(&self.description.generator, self.description.now, "L2", &BUNDLE_CAPABILITIES);
        // If all records came from one bundle, the additional members of its manifest are still valid.
        if let Some((manifest_before, _)) = self.manifests.pop() {
            manifest.schema_version = manifest_before.schema_version;
            manifest.embedding_model = manifest_before.embedding_model;
            manifest.unknown = manifest_before.unknown;
            manifest.set_embedding_dim(manifest_before.embedding_dim);
        }
        if let Some(version) = self.version.take().or(self.source_version.take()) {
            manifest.format = version;
        }
        manifest.embeddings_included = files.iter().any(|file| file.path.starts_with(VECTORS_FOLDER));
        if self.delta.is_incremental() {
            manifest.mode = "incremental".into();
            manifest.since = self.delta.since;
        }
        manifest.counts = counts;
        manifest.coverage = self.coverage;
        manifest.scopes = (!self.scopes.is_empty()).then(|| self.scopes.iter().cloned().collect());
        self.report.digest = target.finish_with_new_manifest(files, manifest, self.signer)?;
        Ok(self.report)
    }
}

impl BundleWriter<'_> {
    /// Manifest and signature of the only source bundle, if they are still valid. This requires that the version is the
    /// same, that all files are unchanged, and that the export is full and has no new signature. The manifest of an
    /// increment is only valid in a conversion, because an export of a vault is not an increment.
    fn original_manifest(
        &mut self,
        files: &[FileEntry],
        counts: &BTreeMap<String, u64>,
    ) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let [(manifest_before, bytes)] = self.manifests.as_slice() else { return None };
        let mut sorted_files: (Vec<_>, Vec<_>) = (files.iter().collect(), manifest_before.files.iter().collect());
        sorted_files.0.sort_by(|a, b| a.path.cmp(&b.path));
        sorted_files.1.sort_by(|a, b| a.path.cmp(&b.path));
        let digest = hex::encode(Sha256::digest(checksums(files)));
        let is_version = |version: &Option<String>| version.as_ref() == Some(&manifest_before.format);
        let has_counts = || {
            let stated_counts = manifest_before.counts.iter().filter(|(_, count)| **count > 0);
            stated_counts.eq(counts.iter().filter(|(_, count)| **count > 0))
        };
        let is_kept = self.version.is_none() && is_version(&self.source_version) && has_counts();
        let is_same = (is_version(&self.version) || is_kept)
            && self.signer.is_none()
            && !self.delta.is_incremental()
            && (self.is_conversion || manifest_before.mode == "full")
            && sorted_files.0 == sorted_files.1
            && manifest_before.bundle_digest.as_ref().is_none_or(|declared| *declared == digest)
            && self.has_valid_claims(manifest_before)
            && claims::has_valid_form(manifest_before, bytes);
        is_same.then(|| (bytes.clone(), self.signatures.first().cloned()))
    }

    /// True if the validator would accept coverage, scopes, dimension and absent fields of a manifest for the written
    /// records.
    fn has_valid_claims(&self, manifest: &Manifest) -> bool {
        let seconds = |(from, to): (Timestamp, Timestamp)| (from.to_rfc3339_seconds(), to.to_rfc3339_seconds());
        manifest.coverage.is_none_or(|claimed| Some(seconds(claimed)) == self.coverage.map(seconds))
            && manifest.scopes.as_ref().is_none_or(|claimed| claimed.iter().eq(self.scopes.iter()))
            && !manifest.has_negative_dim()
            && manifest.null_fields.is_empty()
    }
}

/// A line as a tree, the record as read from the line without its extension slot (None if the record was not edited and
/// its id was kept), and the names of the fields from which values that the schemas forbid were moved.
type PatchedLine = (Tree, Option<Record>, Vec<&'static str>);

/// Folder of the vectors in a bundle.
const VECTORS_FOLDER: &str = "embeddings/";

/// Loss note for a record without a time.
const UNDATED_NOTE: &str = "no time is known, but the format requires one: 1970 is written";

/// Loss note for a message without a time in a conversation that has a time.
const CONVERSATION_TIME_NOTE: &str = "no time is known, but the format requires one: the conversation's is written";

/// Loss note for a value that the format forbids in its field.
const INVALID_VALUE_NOTE: &str = "the format forbids this value, so it is kept in mementory_forbidden";

fn to_line(spec: &KindSpec, tree: &Tree) -> Result<String, FormatError> {
    line(spec, tree).map_err(|_| FormatError::invalid("malformed", spec.path(), "a number is out of range"))
}

fn is_longer_than_summary(record: &Record) -> bool {
    record.text.chars().count() > MAX_SUMMARY_CHARS
}

/// Number of characters of a text that are used as its summary.
const MAX_SUMMARY_CHARS: usize = 120;

fn name_in_counts(path: &str) -> &str {
    match path {
        TOMBSTONES_FILE => "tombstone",
        AUDIT_LOG_FILE => "audit",
        _ => path.trim_start_matches("items/").trim_end_matches(".jsonl"),
    }
}

fn pointer_path(record: &Record) -> &str {
    record.origin.pointer.rsplit_once(':').map_or("", |(path, _)| path)
}

fn pointer_line(record: &Record) -> u64 {
    record.origin.pointer.rsplit_once(':').and_then(|(_, n)| n.parse().ok()).unwrap_or_default()
}

/// True if the name of a vendor kind can be used as a file name.
fn is_safe_vendor_name(vendor: &str) -> bool {
    path_is_safe(vendor) && !vendor.contains('/') && vendor.len() <= 120
}
