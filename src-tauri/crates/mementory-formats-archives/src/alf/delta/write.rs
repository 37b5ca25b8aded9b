//! Writes a delta from a base archive and the current records (spec §6.3). A line whose text is unchanged since the
//! base is not written.
use super::super::archive_writer::ArchiveWriter;
use super::super::clear_secrets;
use super::super::compose;
use super::super::document_row::Row;
use super::super::first_pass::{AlfElement, ExportPlan, alf_element};
use super::super::jsonl::{JsonLine, each_line};
use super::super::manifest::DELTA_MANIFEST_FILE;
use super::super::manifest::{Archive, MANIFEST_FILE, Manifest};
use super::super::passthrough::PassthroughFiles;
use super::super::rewrite::{self, OpenedFile};
use super::super::write::{line, scope_entry};
use super::super::write_documents::{assemble, identity_version, owner_row};
use super::super::write_manifest::FORMAT_VERSION;
use super::super::{list_document, sealed_secrets, wire};
use super::deletion_line::deletion_line;
use super::operation::{Operation, add_operation};
use mementory_format::extension as slot;
use mementory_format::{FormatError, RecordSource, WriteOptions, WriteReport};
use mementory_json::Tree;
use mementory_model::{Kind, Limits, LossKind};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;

/// Name of the entry with the changed records.
const CHANGED_RECORDS_FILE: &str = "memory/delta.jsonl";

/// A record of the base archive: the digests of its lines (several lines may have the same id), and whether the vault
/// still contains the record.
#[derive(Default)]
struct BaseRecord {
    digests: Vec<[u8; 16]>,
    still_exists: bool,
}

/// Writes the bundle. If `out` is None, only the report is made.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let limits = Limits::default();
    let name = |path: &Path| path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let base = options.base.as_deref().ok_or_else(|| {
        let place = out.map(name).unwrap_or_default();
        FormatError::invalid("base_required", place, "a delta needs the .alf on which it is based")
    })?;
    let opened_file = OpenedFile::open_with(base, &limits, options.passphrase.as_deref())?;
    let archive = opened_file.archive()?;
    let manifest = Manifest::read(&archive, &limits)?;
    manifest.refuse_unlisted_memories(&archive)?;
    let description = source.description();
    let mut plan = ExportPlan::collect(source)?;
    let passthrough = PassthroughFiles::collect(source, &plan, options.everything)?;
    let agent = passthrough.agent.clone().unwrap_or_else(|| plan.agent.clone());
    if !agent.eq_ignore_ascii_case(&manifest.agent) {
        let message = "the base archive is of another agent than the exported records";
        return Err(FormatError::invalid("base_of_another_agent", name(base), message));
    }
    let base_sequence = manifest.sequence(&archive.place)?;
    let new_sequence = base_sequence.checked_add(1).ok_or_else(|| {
        let message = "last_sequence of the base is the largest number, so no delta can follow it";
        FormatError::invalid("manifest_invalid", name(base), message)
    })?;
    let report = WriteReport { version: FORMAT_VERSION.into(), ..WriteReport::default() };
    let is_encrypted = options.passphrase.is_some();
    let mut writer = Writer { archive: &archive, manifest: &manifest, limits: &limits, is_encrypted, report };
    if passthrough.agent.is_none() && !plan.rows.contains_key("principals") {
        plan.rows.insert("principals", vec![owner_row(&description, &agent)]);
    }
    let mut changes: Vec<(String, Tree)> = Vec::new();
    let texts = writer.changed_documents(&plan, &passthrough, &mut changes)?;
    writer.report_files(&plan)?;

    let mut base_records = writer.base_records()?;
    let mut file = ArchiveWriter::create(out, options.passphrase.as_deref())?;
    for (name, text) in &texts {
        file.entry(name, &mut text.as_bytes())?;
    }
    let mut count = 0u64;
    let mut fill = |sink: &mut dyn Write| {
        writer.write_lines(source, &plan, &agent, options.everything, &mut base_records, sink, &mut count)?;
        Ok(count > 0)
    };
    file.entry_from(CHANGED_RECORDS_FILE, &mut fill)?;
    if count > 0 {
        changes
            .push(("memory".into(), object([("file", text(CHANGED_RECORDS_FILE)), ("record_count", number(count))])));
    }
    if file.is_discarding() {
        return Ok(writer.report);
    }
    let now = description.now.to_rfc3339();
    let mut sync = object([("base_sequence", number(base_sequence)), ("new_sequence", number(new_sequence))]);
    let created = || manifest.tree.get("created_at").and_then(Tree::as_str).map(str::to_owned);
    if let Some(since) = manifest.sync_time().or_else(created) {
        sync.set("base_timestamp", text(&since));
    }
    sync.set("new_timestamp", text(&now));
    let mut delta_agent = object([("id", text(&manifest.agent))]);
    if let Some(runtime) = manifest.tree.get("agent").and_then(|a| a.get("source_runtime")) {
        delta_agent.set("source_runtime", runtime.clone());
    }
    let mut tree = object([
        ("alf_version", text(FORMAT_VERSION)),
        ("created_at", text(&now)),
        ("agent", delta_agent),
        ("sync", sync),
    ]);
    tree.set("changes", Tree::Object(changes));
    if passthrough.agent.is_none() {
        let rows = plan.rows.values().flatten().filter(|r| !r.scope.is_empty());
        let row_scopes = rows.map(|r| (r.value.clone(), scope_entry(&r.scope, Some(&r.runtime))));
        let scopes = row_scopes.chain(plan.scopes.iter().map(|(id, s)| (id.clone(), scope_entry(s, None)))).collect();
        slot::set_vendor_slot(&mut tree, object([("generated", Tree::Bool(true)), ("scopes", Tree::Object(scopes))]));
    }
    let mut out = String::new();
    tree.write(&mut out);
    // The manifest is written twice: the specification and the reference tool give it different names.
    file.entry(DELTA_MANIFEST_FILE, &mut out.as_bytes())?;
    file.entry(MANIFEST_FILE, &mut out.as_bytes())?;
    file.finish()?;
    Ok(writer.report)
}

struct Writer<'a> {
    archive: &'a Archive<'a>,
    manifest: &'a Manifest,
    limits: &'a Limits,
    /// True if the whole delta is encrypted, so that it may contain secrets.
    is_encrypted: bool,
    report: WriteReport,
}

impl Writer<'_> {
    fn base_text(&self, layer: &str) -> Result<Option<String>, FormatError> {
        let member = self.manifest.layer_file(layer).and_then(|file| self.archive.entry(file));
        member.map(|m| self.archive.text(m, self.limits)).transpose()
    }

    /// Name and complete text of each changed document (identity, principals, credentials). Adds an entry for each to
    /// `changes`, and reports a removed identity as a loss.
    fn changed_documents(
        &mut self,
        plan: &ExportPlan,
        passthrough: &PassthroughFiles,
        changes: &mut Vec<(String, Tree)>,
    ) -> Result<Vec<(String, String)>, FormatError> {
        let mut texts = Vec::new();
        let file = |layer: &str| self.manifest.layer_file(layer).map_or(format!("{layer}.json"), str::to_owned);
        let base_identity = self.base_text("identity")?;
        let row = plan.rows.get("identity").and_then(|rows| rows.first());
        let redacted_text = row.and_then(|row| clear_secrets::redacted_document(&row.text, self.is_encrypted));
        let is_redacted = redacted_text.is_some();
        match redacted_text.or_else(|| row.map(|row| row.text.clone())) {
            Some(identity) if base_identity.as_deref() != Some(identity.as_str()) => {
                let change = [("file", text(&file("identity"))), ("new_version", number(identity_version(&identity)))];
                changes.push(("identity".into(), object(change)));
                if is_redacted {
                    clear_secrets::report_redacted(&file("identity"), &mut self.report.losses);
                }
                texts.push((file("identity"), identity));
                *self.report.by_kind.entry(Kind::Profile.as_str().into()).or_default() += 1;
            }
            None if base_identity.is_some() => {
                let note = "a delta can change an identity, but not remove it";
                self.report.losses.add(&file("identity"), "identity", LossKind::LeftOut, note);
            }
            _ => {}
        }
        for (layer, kind) in [("principals", Kind::Profile), ("credentials", Kind::Credential)] {
            let base_document = self.base_text(layer)?;
            let mut rows = plan.rows.get(layer).cloned().unwrap_or_default();
            if layer == "credentials" {
                rows.extend(sealed_rows(base_document.as_deref().unwrap_or(""), &rows));
            }
            let skeleton = passthrough.layers.get(&file(layer)).map(String::as_str);
            if rows.is_empty() && skeleton.is_none() && base_document.is_none() {
                continue;
            }
            let (mut current, count) = assemble(layer, skeleton, &rows, "");
            let redacted_text = clear_secrets::redacted_document(&current, self.is_encrypted || layer == "credentials");
            let is_redacted = redacted_text.is_some();
            current = redacted_text.unwrap_or(current);
            if base_document.as_deref() == Some(current.as_str()) {
                continue;
            }
            let mut change = object([("file", text(&file(layer)))]);
            if layer == "principals" {
                let changed_element_ids = changed_ids(base_document.as_deref().unwrap_or(""), &current, layer);
                change.set("changed_ids", Tree::Array(changed_element_ids.iter().map(|id| text(id)).collect()));
            }
            changes.push((layer.to_owned(), change));
            if is_redacted {
                clear_secrets::report_redacted(&file(layer), &mut self.report.losses);
            }
            texts.push((file(layer), current));
            *self.report.by_kind.entry(kind.as_str().into()).or_default() += count as u64;
        }
        Ok(texts)
    }

    /// Reports new and changed files as losses, because a delta cannot contain files.
    fn report_files(&mut self, plan: &ExportPlan) -> Result<(), FormatError> {
        let base_index = self.base_text("attachments")?.unwrap_or_default();
        let base_elements = elements(&base_index, "attachments");
        let note = "a delta cannot contain files; the next whole .alf has them";
        for row in plan.rows.get("attachments").into_iter().flatten() {
            if !base_elements.values().any(|text| *text == row.text) {
                self.report.losses.add(&row.value, "attachment", LossKind::LeftOut, note);
            }
        }
        for id in plan.files.keys() {
            let row = super::super::partitions::stable_v5(&format!("attachment:{id}")).to_string();
            if !base_elements.contains_key(&row) {
                self.report.losses.add(id, "attachment", LossKind::LeftOut, note);
            }
        }
        Ok(())
    }

    fn each_base_line(&self, visit: &mut dyn FnMut(&str) -> Result<(), FormatError>) -> Result<(), FormatError> {
        for row in &self.manifest.partitions {
            let Some(member) = self.archive.entry(&row.file) else { continue };
            self.archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, self.limits.line_bytes, &mut |entry, _| match entry {
                    JsonLine::Text(_, text) if !text.is_empty() => visit(text),
                    _ => Ok(()),
                })
            })?;
        }
        Ok(())
    }

    fn base_records(&self) -> Result<HashMap<Box<str>, BaseRecord>, FormatError> {
        let mut records: HashMap<Box<str>, BaseRecord> = HashMap::new();
        self.each_base_line(&mut |text| {
            if let Some(id) = wire::members(text)
                .and_then(|m| wire::get(&m, "id").and_then(wire::string).map(|id| wire::folded_id(&id)))
            {
                records.entry(id.into()).or_default().digests.push(digest(text));
            }
            Ok(())
        })?;
        Ok(records)
    }

    #[allow(clippy::too_many_arguments)]
    fn write_lines(
        &mut self,
        source: &mut dyn RecordSource,
        plan: &ExportPlan,
        agent: &str,
        is_full_export: bool,
        base_records: &mut HashMap<Box<str>, BaseRecord>,
        sink: &mut dyn Write,
        count: &mut u64,
    ) -> Result<(), FormatError> {
        let mut emit = |text: &str| {
            *count += 1;
            sink.write_all(text.as_bytes())
                .and_then(|()| sink.write_all(b"\n"))
                .map_err(|e| FormatError::io(CHANGED_RECORDS_FILE, e))
        };
        let report = &mut self.report;
        source.records(&mut |stored| {
            if !plan.is_line(&stored) {
                return Ok(());
            }
            let (id, text) = line(plan, &stored, agent, plan.partition_time(&stored));
            // If a record's id is not a UUID, its line has a different id.
            let written_id = rewrite::id_of(&text).unwrap_or_else(|| wire::folded_id(&id));
            let base = base_records.get_mut(written_id.as_str());
            let operation = match base {
                Some(base) => {
                    base.still_exists = true;
                    if base.digests.contains(&digest(&text)) {
                        return Ok(());
                    }
                    let status = wire::members(&text)
                        .and_then(|m| wire::get(&m, "status").and_then(wire::string).map(|s| s == "deleted"));
                    if status == Some(true) { Operation::Delete } else { Operation::Update }
                }
                None => Operation::Create,
            };
            if alf_element(&stored.record) != Some(AlfElement::Line) {
                compose::report_losses(&stored, &mut report.losses);
            }
            *report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            emit(&add_operation(&text, operation))
        })?;
        // When only a selection is exported, records outside the selection do not count as deleted.
        if is_full_export && base_records.values().any(|record| !record.still_exists) {
            let mut written_ids = HashSet::new();
            self.each_base_line(&mut |text| {
                let Some(id) = rewrite::id_of(text) else { return Ok(()) };
                let is_deleted = base_records.get(id.as_str()).is_some_and(|record| !record.still_exists);
                if is_deleted && written_ids.insert(id) {
                    deletion_line(text, self.manifest).map_or(Ok(()), |line| emit(&line))
                } else {
                    Ok(())
                }
            })?;
        }
        Ok(())
    }
}

/// Maps the id of each element of a list document to its text.
fn elements<'t>(text: &'t str, layer: &str) -> BTreeMap<String, &'t str> {
    let Some(document) = list_document::split(text, layer) else { return BTreeMap::new() };
    let id = |element: &str| wire::get(&wire::members(element)?, "id").and_then(wire::string).map(|t| t.into_owned());
    document.elements.into_iter().filter_map(|element| Some((id(element)?, element))).collect()
}

/// Sealed secrets of the base that are not in `rows`. They stay valid, because a delta does not change the settings and
/// key files from which they were taken.
fn sealed_rows(base_document: &str, rows: &[Row]) -> Vec<Row> {
    let is_our_row = |text: &str| Tree::parse(text, 512).is_ok_and(|doc| sealed_secrets::has_our_layout(&doc));
    let base_elements = elements(base_document, "credentials").into_iter().filter(|(_, text)| is_our_row(text));
    let missing_rows = base_elements.filter(|(id, _)| rows.iter().all(|row| row.value != *id));
    let row = |(value, text): (String, &str)| Row {
        value,
        scope: String::new(),
        runtime: String::new(),
        text: text.into(),
        file: None,
    };
    missing_rows.map(row).collect()
}

fn changed_ids(base_document: &str, current_document: &str, layer: &str) -> Vec<String> {
    let (old, new) = (elements(base_document, layer), elements(current_document, layer));
    let removed_ids = old.keys().filter(|id| !new.contains_key(*id));
    let changed = new.iter().filter(|(id, text)| old.get(*id) != Some(*text)).map(|(id, _)| id);
    changed.chain(removed_ids).cloned().collect()
}

fn digest(text: &str) -> [u8; 16] {
    let mut out = [0u8; 16];
    out.copy_from_slice(&Sha256::digest(text)[..16]);
    out
}

fn text(t: &str) -> Tree {
    Tree::Text(t.to_owned())
}

fn number(n: u64) -> Tree {
    Tree::Number(n.to_string())
}

fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}
