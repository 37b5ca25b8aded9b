//! Validates an `.alf` against the specification: schemas of all documents, counts, order and ranges of partitions,
//! ids, and the checksum if it is computed by our definition. Unknown values are only warnings.
use super::archive_writer::checksum;
use super::clear_secrets;
use super::findings::{FOREIGN_AGENT, Findings};
use super::hashing_reader::HashingReader;
use super::identity;
use super::jsonl::{JsonLine, each_line};
use super::line_check::{CheckResult, CheckedLine, LineCheck};
use super::list_document;
use super::manifest::{
    Archive, CHECKSUM_SCOPE, LAYER_DOCUMENTS, MANIFEST_FILE, Manifest, NO_PARTITION_LIST, NOT_AN_ARTIFACT_CODE,
    Partition, SEQUENCE_FAULT, is_artifact_path, number, stated_count, unsafe_name,
};
use super::read::line_scan::{LineScan, LineScanner, ScannedLine};
use super::references::References;
use super::schema;
use mementory_format::extension as slot;
use mementory_format::{BatchPipeline, Catalog, Detected, FormatError, Member, TextBatch, Validation, sha256};
use mementory_json::Tree;
use mementory_model::Limits;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Codes of the errors that prevent an import: content is missing, damaged, or belongs to another agent.
pub(super) const REFUSED_ERROR_CODES: [&str; 13] = [
    "layer_missing",
    "partitions_not_listed",
    "partition_missing",
    "partition_twice",
    "partition_truncated",
    "count_differs",
    "foreign_agent_id",
    "checksum_mismatch",
    "partition_checksum_mismatch",
    "damaged_entry",
    "invalid_utf8",
    "malformed_document",
    "manifest_missing",
];

/// Validates one file.
pub(super) fn validate(catalog: &Catalog, detected: &Detected, limits: &Limits) -> Result<Validation, FormatError> {
    let archive = Archive::open(catalog, detected)?;
    let entry =
        archive.entry(MANIFEST_FILE).ok_or_else(|| FormatError::invalid("manifest_missing", &archive.place, "none"))?;
    let manifest = Manifest::read(&archive, limits)?;
    let out =
        Validation { version: Some(manifest.version.clone()), kind: Some("full".into()), ..Validation::default() };
    let findings = Findings::new(out);
    let references = References::default();
    let digests = HashMap::new();
    let mut check = Check { archive: &archive, manifest: &manifest, limits, findings, references, digests };
    check.findings.check_schema(&manifest.tree, &schema::MANIFEST_RULE, &entry.place);
    check.findings.check_container(&archive);
    if manifest.sequence(&archive.place).is_err() {
        let at = format!("{}#/sync/last_sequence", entry.place);
        check.warning("sequence_not_usable", &at, SEQUENCE_FAULT);
    }
    check.check_documents()?;
    check.check_memory()?;
    check.warn_about_unlisted_files();
    check.check_raw_sources();
    check.check_checksum(entry)?;
    let Check { mut findings, references, .. } = check;
    references.report(&archive.place, &mut findings);
    clear_secrets::check_manifest(&archive, limits, &mut findings);
    clear_secrets::check_files(&archive, &mut findings)?;
    Ok(findings.finish())
}

struct Check<'a> {
    archive: &'a Archive<'a>,
    manifest: &'a Manifest,
    limits: &'a Limits,
    findings: Findings,
    references: References,
    /// SHA-256 of the members that were read to their end, by [`Member::id`].
    digests: HashMap<usize, String>,
}

impl Check<'_> {
    fn error(&mut self, code: &str, place: &str, message: &str) {
        self.findings.error(code, place, message);
    }

    fn warning(&mut self, code: &str, place: &str, message: &str) {
        self.findings.warning(code, place, message);
    }

    fn layer(&self, layer: &str, key: &str) -> Option<&Tree> {
        self.manifest.tree.get("layers")?.get(layer)?.get(key)
    }

    fn check_documents(&mut self) -> Result<(), FormatError> {
        let rules = [
            ("identity", &schema::IDENTITY_RULE),
            ("principals", &schema::PRINCIPALS_RULE),
            ("credentials", &schema::CREDENTIALS_RULE),
            ("attachments", &schema::ATTACHMENTS_RULE),
        ];
        for (layer, rule) in rules {
            let Some(file) = self.manifest.layer_file(layer) else {
                if self.manifest.has_unnamed_file(layer, self.archive) {
                    let at = format!("{}!/{MANIFEST_FILE}#/layers/{layer}", self.archive.place);
                    self.error("layer_missing", &at, "the manifest does not name the file of this layer");
                }
                continue;
            };
            let Some(member) = self.archive.entry(file) else {
                self.error(
                    "layer_missing",
                    &self.archive.place,
                    &format!("the archive does not have the file of layer {layer}"),
                );
                continue;
            };
            let text = self.archive.text(member, self.limits)?;
            let tree = match Tree::parse(&text, self.limits) {
                Ok(tree) => tree,
                Err(error) => {
                    self.error("malformed_document", &member.place, &error.to_string());
                    continue;
                }
            };
            self.findings.check_schema(&tree, rule, &member.place);
            if !list_document::is_document_of(layer, &text, &tree) {
                self.error("malformed_document", &member.place, "not the JSON document of this layer");
                continue;
            }
            self.references.add_document(layer, &tree, &member.place);
            if matches!(layer, "identity" | "principals") {
                clear_secrets::check_text(self.archive, member, &text, &mut self.findings);
            }
            self.check_owner(layer, &tree, &member.place);
            let element_count = list_document::split(&text, layer).map(|d| d.elements.len() as u64);
            if let Some(count) = element_count {
                self.findings.out.records += count - count_non_record_elements(&tree, layer);
                if number(self.layer(layer, "count")) != Some(count) {
                    self.error(
                        "count_differs",
                        &member.place,
                        "the manifest's count differs from the number of elements",
                    );
                }
            } else if layer == "identity" {
                self.findings.out.records += 1;
                if number(self.layer(layer, "version")) != number(tree.get("version")) {
                    self.warning("version_differs", &member.place, "the manifest states another identity version");
                }
            }
            self.findings.check_elements(layer, &tree, &member.place, self.archive.catalog.is_decrypted(member.root));
            if layer == "attachments" {
                self.check_attachments(&tree, &member.place)?;
            }
        }
        Ok(())
    }

    /// Checks that identity, profiles and credentials belong to the agent in the manifest (spec §11.3: a file contains
    /// one agent). A credential of another agent is only a warning, because the official sample has such credentials.
    fn check_owner(&mut self, layer: &str, tree: &Tree, place: &str) {
        let agent = |row: &Tree| row.get("agent_id").and_then(Tree::as_str).map(str::to_owned);
        match layer {
            "identity" if self.manifest.is_foreign(agent(identity::document(tree)).as_deref()) => {
                self.error("foreign_agent_id", place, FOREIGN_AGENT);
            }
            "credentials" => {
                for (i, row) in rows(tree, "credentials").iter().enumerate() {
                    if self.manifest.is_foreign(agent(row).as_deref()) {
                        self.warning("foreign_agent_id", &format!("{place}#/credentials/{i}"), FOREIGN_AGENT);
                    }
                }
            }
            "principals" => self.findings.check_profile_owners(self.manifest, tree, place),
            _ => {}
        }
    }

    fn check_attachments(&mut self, tree: &Tree, place: &str) -> Result<(), FormatError> {
        self.check_tiers(tree, place);
        self.warn_about_unlisted_artifacts(tree);
        let manifest = self.manifest;
        let layer_files: HashSet<&str> = manifest.named_files().into_iter().collect();
        for (i, row) in rows(tree, "attachments").iter().enumerate() {
            let at = format!("{place}#/attachments/{i}");
            let Some(path) = row.get("archive_path").and_then(Tree::as_str) else { continue };
            if !is_artifact_path(path, &layer_files) {
                self.warning(NOT_AN_ARTIFACT_CODE, &at, "archive_path names a file of a layer, not an artifact");
            }
            let Some(member) = self.archive.entry(path) else {
                self.warning(
                    "attachment_not_in_archive",
                    &at,
                    "the archive does not have the file that archive_path names",
                );
                continue;
            };
            if stated_count(row.get("size_bytes")).is_some_and(|size| size != member.size) {
                self.error("attachment_size_differs", &at, "size_bytes differs from the size of the file");
            }
            let hash = |key: &str| row.get("hash").and_then(|h| h.get(key)).and_then(Tree::as_str).unwrap_or_default();
            let digest = self.digest(member)?;
            if hash("algorithm") == "sha256" && !hash("value").eq_ignore_ascii_case(&digest) {
                self.error("attachment_checksum_mismatch", &at, "the SHA-256 of the file differs from its row");
            }
        }
        Ok(())
    }

    /// Warns about files in `artifacts/` that no row of the index lists (spec §3.1.9).
    fn warn_about_unlisted_artifacts(&mut self, tree: &Tree) {
        let archive = self.archive;
        let rows = rows(tree, "attachments").iter();
        let named_files: HashSet<&str> =
            rows.filter_map(|row| row.get("archive_path").and_then(Tree::as_str)).collect();
        for (name, member) in &archive.entries {
            if name.starts_with("artifacts/") && !named_files.contains(name) {
                self.warning("unlisted_artifact", &member.place, "no row of the artifact index names this file");
            }
        }
    }

    /// Compares the counts of included and referenced files with the counts in the manifest, if the manifest has any
    /// (spec §10.6, item 9). A difference is only a warning: these fields are optional, the reader does not use them,
    /// and the official sample has wrong values in them.
    fn check_tiers(&mut self, tree: &Tree, place: &str) {
        let (mut included, mut referenced) = ((0u64, 0u64), (0u64, 0u64));
        for row in rows(tree, "attachments") {
            let is_inside = row.get("archive_path").and_then(Tree::as_str).is_some();
            let count_and_bytes = if is_inside { &mut included } else { &mut referenced };
            *count_and_bytes = (
                count_and_bytes.0 + 1,
                count_and_bytes.1.saturating_add(stated_count(row.get("size_bytes")).unwrap_or(0)),
            );
        }
        for (key, now) in [
            ("included_count", included.0),
            ("included_size_bytes", included.1),
            ("referenced_count", referenced.0),
            ("referenced_size_bytes", referenced.1),
        ] {
            if stated_count(self.layer("attachments", key)).is_some_and(|stated| stated != now) {
                self.warning("tier_count_differs", place, &format!("the manifest's {key} differs from the index"));
            }
        }
    }

    /// Warns about JSONL files that no partition lists, and about documents that no layer names. An import stores such
    /// files as passthrough files, not as memories.
    fn warn_about_unlisted_files(&mut self) {
        let (archive, index) = (self.archive, self.manifest.index_file());
        let named_files: HashSet<&str> = self.manifest.named_files().into_iter().collect();
        for (name, member) in &archive.entries {
            let has_lines = name.starts_with("memory/") && name.ends_with(".jsonl");
            if has_lines && !named_files.contains(name) && index != Some(*name) {
                self.warning("unlisted_partition", &member.place, "no partition of the manifest lists this file");
            }
            if LAYER_DOCUMENTS.contains(name) && !named_files.contains(name) {
                self.warning("unlisted_layer", &member.place, "no layer of the manifest names this document");
            }
        }
        // A later minor version may define more layers (§8.2). Their files are stored, but not read.
        for file in self.manifest.unknown_layer_files() {
            if archive.entry(file).is_none() {
                let message = "the archive does not have the file of a layer that is not known here";
                self.warning("unknown_layer_missing", &archive.place, message);
            }
        }
    }

    /// Warns about runtimes that the manifest lists as raw sources, but that have no raw files.
    fn check_raw_sources(&mut self) {
        for (i, runtime) in rows(&self.manifest.tree, "raw_sources").iter().enumerate() {
            let Some(runtime) = runtime.as_str() else { continue };
            let folder = format!("raw/{runtime}/");
            if !self.archive.entries.keys().any(|name| name.starts_with(&folder)) {
                let at = format!("{}#/raw_sources/{i}", self.archive.place);
                self.warning("raw_source_missing", &at, "the archive has no raw files of this runtime");
            }
        }
    }

    fn check_memory(&mut self) -> Result<(), FormatError> {
        let mut total = 0u64;
        let mut last_from = String::new();
        let table = self.layer("memory", "partitions");
        let mut sealed: Vec<(bool, bool, Option<String>)> = match table {
            Some(Tree::Array(rows)) => rows
                .iter()
                .map(|r| {
                    let is_sealed = r.get("sealed") == Some(&Tree::Bool(true));
                    let sha = r.get("sha256").and_then(Tree::as_str).map(str::to_owned);
                    (is_sealed, r.get("to").and_then(Tree::as_str).is_some(), sha)
                })
                .collect(),
            _ => vec![],
        };
        let manifest = self.manifest;
        if manifest.has_unlisted_memories {
            let at = format!("{}!/{MANIFEST_FILE}#/layers/memory", self.archive.place);
            self.error("partitions_not_listed", &at, NO_PARTITION_LIST);
            sealed.resize(manifest.partitions.len(), (false, false, None));
        }
        let mut files = HashSet::new();
        let (scanner, mut scan) = (LineScanner::new(self.archive, manifest, self.limits), LineScan::default());
        for (i, (row, (is_sealed, has_to, sha))) in manifest.partitions.iter().zip(sealed).enumerate() {
            let at = format!("{}#/layers/memory/partitions/{i}", self.archive.place);
            if is_sealed && !has_to {
                self.error("sealed_without_to", &at, "a sealed partition needs an end date");
            }
            let from = row.from.clone().unwrap_or_default();
            if from < last_from {
                self.warning("partition_order", &at, "partitions are not sorted by their first day");
            }
            last_from = from;
            if row.from.is_some() && row.to.as_ref().is_some_and(|to| *to < last_from) {
                self.error("partition_range", &at, "the partition ends before it starts");
            }
            if !files.insert(row.file.as_str()) {
                self.error("partition_twice", &at, "the manifest lists this partition twice");
                continue;
            }
            let Some(member) = self.archive.entry(&row.file) else {
                self.error("partition_missing", &at, "the archive does not have the file of this partition");
                continue;
            };
            let lines = self.check_partition(member, (i, row), &scanner, &mut scan)?;
            total += lines;
            if row.count.is_some_and(|c| c != lines) {
                self.error("count_differs", &at, "record_count differs from the number of lines");
            }
            if let Some(sha) = sha.filter(|_| self.has_our_checksum())
                && sha != self.digest(member)?
            {
                self.error(
                    "partition_checksum_mismatch",
                    &at,
                    "the SHA-256 of the partition differs from the manifest",
                );
            }
        }
        scan.cache_for(self.archive)?;
        self.findings.out.records += total;
        if let Some(count) = stated_count(self.layer("memory", "record_count"))
            && count != total
        {
            self.error(
                "count_differs",
                &self.archive.place,
                "layers.memory.record_count differs from the number of lines",
            );
        }
        self.check_ranges();
        self.check_index()
    }

    /// Warns about partitions with overlapping ranges. Two partitions without an end always overlap.
    fn check_ranges(&mut self) {
        let mut partitions: Vec<_> = self.manifest.partitions.iter().filter(|p| p.from.is_some()).collect();
        partitions.sort_by_key(|p| p.from.clone());
        for pair in partitions.windows(2) {
            if let [first, second] = pair
                && first.file != second.file
                && first.to.as_ref().is_none_or(|to| second.from.as_ref().is_some_and(|from| from <= to))
            {
                self.warning("partition_overlap", &self.archive.place, "the ranges of two partitions overlap");
            }
        }
    }

    /// Checks the name of the memory index. An index that is missing, is not JSON, or lists other partitions than the
    /// manifest gets only a warning, because the reader does not use it.
    fn check_index(&mut self) -> Result<(), FormatError> {
        let Some(index) = self.manifest.index_file() else { return Ok(()) };
        let Some(member) = self.archive.entry(index) else {
            match unsafe_name(index) {
                true => self.error("unsafe_path", &self.archive.place, "index_file is no path inside the archive"),
                false => self.warning("index_missing", &self.archive.place, "the memory index is not in the archive"),
            }
            return Ok(());
        };
        let text = self.archive.text(member, self.limits)?;
        let Ok(tree) = Tree::parse(&text, self.limits) else {
            self.warning("index_malformed", &member.place, "the memory index is not JSON");
            return Ok(());
        };
        let Some(Tree::Array(listed)) = tree.get("partitions") else { return Ok(()) };
        let stated_counts: Vec<_> = listed
            .iter()
            .map(|row| (row.get("file").and_then(Tree::as_str), number(row.get("record_count"))))
            .collect();
        let partitions = self.manifest.partitions.iter();
        if stated_counts != partitions.map(|row| (Some(row.file.as_str()), row.count)).collect::<Vec<_>>() {
            self.warning("index_differs", &member.place, "the memory index lists other partitions than the manifest");
        }
        Ok(())
    }

    fn check_partition(
        &mut self,
        member: &Member,
        (index, row): (usize, &Partition),
        scanner: &LineScanner,
        scan: &mut LineScan,
    ) -> Result<u64, FormatError> {
        let (archive, check) = (self.archive, LineCheck { manifest: self.manifest, limits: self.limits, row, scanner });
        // Place of the last line, if it is not JSON. If it has no line end either, the file was truncated.
        let mut malformed = None;
        let (mut line_count, mut batch, mut has_line_end) = (0u64, TextBatch::default(), true);
        let mut outcome = Ok(());
        let mut report = |this: &mut Self, checked: Vec<CheckResult>| {
            if outcome.is_ok() {
                outcome = this.report_lines(checked, member, &mut malformed, &mut |number, found| {
                    scan.add((index, number), found);
                });
            }
        };
        std::thread::scope(|scope| {
            let process = |batch: &TextBatch| batch.process(|number, bytes| Some((number, check.check(bytes))));
            let mut pipeline = BatchPipeline::start(scope, process);
            archive.catalog.read(member, |reader| {
                let mut reader = HashingReader::new(reader, self.has_our_checksum());
                each_line(&mut reader, &member.place, self.limits.line_bytes, &mut |entry, bytes| {
                    let (number, text) = match entry {
                        JsonLine::Text(_, "") => return Ok(()),
                        JsonLine::Text(number, text) => (number, text),
                        JsonLine::Unreadable(number, code) => {
                            pipeline.finish(&mut batch, &mut |checked| report(self, checked));
                            line_count += 1;
                            self.error(code, &format!("{}#line {number}", member.place), "this line cannot be read");
                            return Ok(());
                        }
                    };
                    line_count += 1;
                    if batch.is_full_with(text.len()) {
                        pipeline.push(&mut batch, &mut |checked| report(self, checked));
                    }
                    batch.push(number, text.as_bytes());
                    // A line without a line end takes exactly as many bytes as its text.
                    has_line_end = bytes != text.len() as u64;
                    if batch.is_full() {
                        pipeline.push(&mut batch, &mut |checked| report(self, checked));
                    }
                    self.findings.refuse_too_many(&member.place)
                })?;
                self.digests.extend(reader.digest().map(|digest| (member.id, digest)));
                Ok::<(), FormatError>(())
            })?;
            pipeline.finish(&mut batch, &mut |checked| report(self, checked));
            Ok::<(), FormatError>(())
        })?;
        outcome?;
        if let Some(place) = malformed.filter(|_| !has_line_end) {
            self.error("partition_truncated", &place, "the partition ends inside this line");
        }
        Ok(line_count)
    }

    /// Reports the faults of checked lines, in the order of the lines. Sets `malformed` to the place of the last line
    /// if it is not JSON. Passes the scan of each line, which is needed for reading the lines later, to `scanned`.
    fn report_lines(
        &mut self,
        checked: Vec<CheckResult>,
        member: &Member,
        malformed: &mut Option<String>,
        scanned: &mut dyn FnMut(u64, ScannedLine),
    ) -> Result<(), FormatError> {
        for (number, (found, line)) in checked {
            scanned(number, found);
            let place = format!("{}#line {number}", member.place);
            *malformed = None;
            match line {
                Ok(line) => self.report_line(line, &place),
                Err(error) => {
                    self.error("malformed", &place, &error.to_string());
                    *malformed = Some(place);
                    continue;
                }
            }
            self.findings.refuse_too_many(&member.place)?;
        }
        Ok(())
    }

    /// Reports the faults of a line, and compares its id with those of the lines before it.
    fn report_line(&mut self, line: CheckedLine, place: &str) {
        if let Some(tree) = &line.schema_violator {
            self.findings.check_schema(tree, &schema::MEMORY_RULE, place);
        }
        line.faults.iter().for_each(|fault| self.findings.report_memory_fault(fault, place));
        if line.has_secret {
            clear_secrets::report_in_memory(place, &mut self.findings);
        }
        if !self.references.add_memory(line.references, place) {
            self.error("duplicate_id", place, "another record has the same id");
        }
        if line.is_foreign {
            self.error("foreign_agent_id", place, "this record is of another agent than the manifest's");
        }
        if line.is_outside_partition {
            self.warning("outside_partition", place, "created_at is outside the partition's range");
        }
    }

    fn has_our_checksum(&self) -> bool {
        self.manifest.tree.get("checksum_scope").and_then(Tree::as_str) == Some(CHECKSUM_SCOPE)
    }

    fn check_checksum(&mut self, manifest: &Member) -> Result<(), FormatError> {
        let Some(stated_checksum) = self.manifest.tree.get("checksum").and_then(Tree::as_str) else { return Ok(()) };
        if !self.has_our_checksum() {
            self.warning(
                "checksum_not_verifiable",
                &manifest.place,
                "the definition of this checksum is not known, so it was not verified",
            );
            return Ok(());
        }
        let (archive, mut digests) = (self.archive, BTreeMap::new());
        for (name, member) in archive.entries.iter().filter(|(name, _)| **name != MANIFEST_FILE) {
            digests.insert(*name, self.digest(member)?);
        }
        if checksum(digests.iter().map(|(n, d)| (*n, d.as_str()))) != stated_checksum {
            self.error("checksum_mismatch", &manifest.place, "the content of the archive does not match its checksum");
        }
        Ok(())
    }

    /// SHA-256 of a member, which is read only if it was not yet read to its end.
    fn digest(&mut self, member: &Member) -> Result<String, FormatError> {
        if let Some(digest) = self.digests.get(&member.id) {
            return Ok(digest.clone());
        }
        let digest = self.archive.catalog.read(member, |bytes| sha256(bytes, &member.place))?;
        self.digests.insert(member.id, digest.clone());
        Ok(digest)
    }
}

/// Number of elements that do not count as records: rows for files of other formats, and a generated principal.
fn count_non_record_elements(tree: &Tree, layer: &str) -> u64 {
    let our_slots = rows(tree, layer).iter().filter_map(|row| slot::vendor_slot(row));
    let companion = |slot: &&Tree| match layer {
        "attachments" => true,
        "principals" => slot.get("generated").is_some(),
        _ => false,
    };
    our_slots.filter(companion).count() as u64
}

fn rows<'t>(tree: &'t Tree, key: &str) -> &'t [Tree] {
    match tree.get(key) {
        Some(Tree::Array(rows)) => rows,
        _ => &[],
    }
}
