//! Writes records into one `.alf` file (spec §4, §6.1).
//!
//! If all records are from one imported agent or one workspace, they are exported as that agent. Otherwise they are
//! exported as an agent that represents the vault. The manifest is the last entry, because its counts and checksums are
//! not known earlier. The specification does not define an order.
use super::archive_writer::ArchiveWriter;
use super::clear_secrets;
use super::compose::{self, LineContext};
use super::document_row::Row;
use super::first_pass::{AlfElement, ExportPlan, alf_element};
use super::invalid_layer_values::state_size_and_digest;
use super::invalid_values;
use super::lineage;
use super::manifest::{CHECKSUM_SCOPE, MANIFEST_FILE, can_be_index, is_artifact_path};
use super::partitions::Period;
use super::passthrough::PassthroughFiles;
use super::sealed_secrets::Secrets;
use super::tiers;
use super::workspaces::WorkspaceFiles;
use super::write_documents::{self as documents, FileData};
use super::write_manifest::{FORMAT_VERSION, Layers, PartitionRow, build, index};
use mementory_format::{
    FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport, folded_name, passthrough_envelope,
};
use mementory_json::Tree;
use mementory_model::{LossKind, Timestamp};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::Path;

/// Limit for the total estimated size, in bytes, of partitions assembled in memory together. A larger partition is
/// assembled alone.
const MAX_BATCH_BYTES: u64 = 128 << 20;

/// Size in bytes of the largest file that is read into memory. A larger file is read from the source twice: to compute
/// its digest, and to write it.
const MAX_IN_MEMORY_BYTES: u64 = 1 << 20;

/// Writes the archive. If `out` is None, only the report is made, and the records are read only once.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let description = source.description();
    let mut plan = ExportPlan::collect(source)?;
    let passthrough = PassthroughFiles::collect(source, &plan, options.everything)?;
    let agent = passthrough.agent.clone().unwrap_or_else(|| plan.agent.clone());
    let mut file = ArchiveWriter::create(out, options.passphrase.as_deref())?;
    let mut secrets = Secrets::new(options.passphrase.as_deref());
    let workspaces = WorkspaceFiles::collect(source, &mut plan, options, &mut secrets)?;
    let stated_manifest = passthrough.manifest.as_deref();
    let redacted = stated_manifest.and_then(|text| clear_secrets::redacted_document(text, file.is_encrypted()));
    if redacted.is_some() {
        clear_secrets::report_redacted(MANIFEST_FILE, &mut plan.losses);
    }
    let original = redacted.as_deref().or(stated_manifest).and_then(|text| Tree::parse(text, 512).ok());
    let mut layers = Layers::from_manifest(original.as_ref());
    layers.sole_workspace = plan.sole_workspace.clone().filter(|_| passthrough.agent.is_none());
    plan.choose_periods(original.as_ref());

    write_identity(&mut file, &mut plan, &passthrough, &mut layers)?;
    if passthrough.agent.is_none() && !plan.rows.contains_key("principals") {
        plan.rows.insert("principals", vec![documents::owner_row(&description, &agent)]);
    }
    write_list(&mut file, &mut plan, &passthrough, &mut layers, "principals")?;
    let threshold = tiers::threshold(options);
    write_files(source, &mut file, &mut plan, &passthrough, &workspaces, options)?;
    layers.count_files(plan.rows.get("attachments").map_or(&[][..], Vec::as_slice));
    layers.threshold = (threshold, options.artifact_threshold.is_some());
    write_list(&mut file, &mut plan, &passthrough, &mut layers, "attachments")?;
    if !file.is_discarding() {
        write_partitions(source, &mut file, &plan, &passthrough, &mut layers, &agent, description.now)?;
    }
    write_index(&mut file, &passthrough, &mut layers)?;
    for (name, text) in &passthrough.layers {
        if !file.has_entry(name) && !layers.is_assembled(name) {
            file.entry(name, &mut text.as_bytes())?;
        }
    }
    layers.entries = passthrough.write(source, &mut file, &mut plan.losses, &mut secrets)?;
    layers.workspaces = workspaces.write(&mut file, &mut plan.losses, &mut secrets)?;
    report_left_out(source, &mut plan, options, &|format| workspaces.contains_runtime(format))?;
    if file.is_discarding() {
        let version = FORMAT_VERSION.into();
        return Ok(WriteReport { version, by_kind: plan.by_kind, losses: plan.losses, ..WriteReport::default() });
    }
    let sealed_rows = secrets.rows(options.passphrase.as_deref(), &agent, &description.now.to_rfc3339())?;
    plan.rows.entry("credentials").or_default().extend(sealed_rows);
    write_list(&mut file, &mut plan, &passthrough, &mut layers, "credentials")?;
    layers.has_embeddings = plan.has_embeddings;
    if passthrough.agent.is_none() {
        let rows = plan.rows.values().flatten().filter(|r| !r.scope.is_empty());
        let row_scopes = rows.map(|r| (r.value.clone(), scope_entry(&r.scope, Some(&r.runtime))));
        layers.scopes =
            row_scopes.chain(plan.scopes.iter().map(|(id, s)| (id.clone(), scope_entry(s, None)))).collect();
    }
    if let Some(agent) = &passthrough.agent {
        // The stored manifest is that of the last full archive. Deltas imported since then may have led to a later
        // state (§4.3.1).
        let reached_state = source.reached_state("alf", &agent.to_ascii_lowercase())?;
        layers.reached = reached_state.filter(|(sequence, _)| *sequence > 0);
    }
    let several_versions = plan.lineage.as_ref().filter(|lineage| lineage.version > 1);
    layers.lineage = several_versions.map(|_| lineage::version_counter_id(&description.vault_id));
    let checksum = file.checksum();
    let (text, version) =
        build(original, &layers, &description, &agent, passthrough.agent.is_none(), &checksum, CHECKSUM_SCOPE);
    file.entry(MANIFEST_FILE, &mut text.as_bytes())?;
    file.finish()?;
    Ok(WriteReport { version, by_kind: plan.by_kind, losses: plan.losses, ..WriteReport::default() })
}

/// Reports a loss if a file is too large for the archive. `bytes` is the size of the file, or None if the vault does not
/// have it: then the export loses nothing.
fn report_file_loss(plan: &mut ExportPlan, id: &str, bytes: Option<u64>, threshold: u64) {
    if bytes.is_some_and(|n| n >= threshold) {
        plan.losses.add(id, "attachment", LossKind::LeftOut, &tiers::too_large_note(threshold));
    }
}

/// The value that describes an id space in the manifest.
pub(super) fn scope_entry(scope: &str, runtime: Option<&str>) -> Tree {
    let members = [("scope", Some(scope)), ("runtime", runtime)];
    let members = members.into_iter().filter_map(|(k, v)| Some((k.to_owned(), Tree::Text(v?.to_owned()))));
    Tree::Object(members.collect())
}

/// Reports content that an `.alf` cannot contain as losses: tombstones, and passthrough files of other formats.
fn report_left_out(
    source: &mut dyn RecordSource,
    plan: &mut ExportPlan,
    options: &WriteOptions,
    is_included: &dyn Fn(&str) -> bool,
) -> Result<(), FormatError> {
    for tombstone in source.tombstones()? {
        plan.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, "ALF cannot contain signed deletions");
    }
    if options.everything {
        passthrough_envelope::note_left_out(source, |id| id != "alf" && !is_included(id), &mut plan.losses)?;
    }
    Ok(())
}

/// True if a generated entry may get this name.
fn is_free_name(out: &ArchiveWriter, passthrough: &PassthroughFiles, name: &str) -> bool {
    out.is_free(name) && !passthrough.is_reserved(name)
}

/// Writes the memory index, if there are partitions or the imported archive has one.
fn write_index(
    file: &mut ArchiveWriter,
    passthrough: &PassthroughFiles,
    layers: &mut Layers,
) -> Result<(), FormatError> {
    let stated_name = layers.index_file();
    let stated_text = passthrough.layers.get(&stated_name).map(String::as_str);
    if layers.partitions.is_empty() && stated_text.is_none() {
        return Ok(());
    }
    // The manifest of another program may name a file with a different purpose as the index. That file keeps its name
    // and bytes.
    let is_index = can_be_index(&stated_name);
    let credentials_name = folded_name(&layers.file("credentials"));
    let name = layers.choose_name("memory", &|name| {
        let is_for_another = folded_name(name) == credentials_name || !is_index && name == stated_name;
        !is_for_another && is_free_name(file, passthrough, name)
    });
    let text = index(stated_text.filter(|_| is_index), &layers.partitions);
    file.entry(&name, &mut text.as_bytes()).map(drop)
}

fn write_identity(
    file: &mut ArchiveWriter,
    plan: &mut ExportPlan,
    passthrough: &PassthroughFiles,
    layers: &mut Layers,
) -> Result<(), FormatError> {
    let Some(row) = plan.rows.get("identity").and_then(|rows| rows.first()) else { return Ok(()) };
    let name = layers.choose_name("identity", &|name| is_free_name(file, passthrough, name));
    clear_secrets::write_document(file, &name, &row.text, &mut plan.losses)?;
    layers.identity_version = Some(documents::identity_version(&row.text));
    Ok(())
}

/// Writes a list document.
fn write_list(
    file: &mut ArchiveWriter,
    plan: &mut ExportPlan,
    passthrough: &PassthroughFiles,
    layers: &mut Layers,
    layer: &'static str,
) -> Result<(), FormatError> {
    let skeleton = passthrough.layers.get(&layers.file(layer)).map(String::as_str);
    let rows = plan.rows.get(layer).map_or(&[][..], Vec::as_slice);
    if rows.is_empty() && skeleton.is_none() {
        return Ok(());
    }
    let name = layers.choose_name(layer, &|name| is_free_name(file, passthrough, name));
    let head = match layer {
        "attachments" => format!("\"artifact_size_threshold\":{},", layers.threshold.0),
        _ => String::new(),
    };
    let (mut text, count) = documents::assemble(layer, skeleton, rows, &head);
    if layer == "attachments" && layers.threshold.1 {
        text = documents::with_threshold(text, layers.threshold.0);
    }
    // Only the principals are redacted. Redacting the attachment index would corrupt file names, and the rows of
    // credentials contain only encrypted secrets.
    match layer {
        "principals" => clear_secrets::write_document(file, &name, &text, &mut plan.losses)?,
        _ => drop(file.entry(&name, &mut text.as_bytes())?),
    }
    layers.counts.insert(layer, count as u64);
    Ok(())
}

/// Writes tier 2 files, and adds rows for the files of other formats and of workspaces.
fn write_files(
    source: &mut dyn RecordSource,
    out: &mut ArchiveWriter,
    plan: &mut ExportPlan,
    passthrough: &PassthroughFiles,
    workspaces: &WorkspaceFiles,
    options: &WriteOptions,
) -> Result<(), FormatError> {
    let threshold = tiers::threshold(options);
    let mut rows = plan.rows.remove("attachments").unwrap_or_default();
    for row in &mut rows {
        // An imported row keeps its tier unless the user set a threshold.
        if let Some(threshold) = options.artifact_threshold
            && let Some(text) = tiers::as_tier_3(&row.text, threshold)
        {
            row.text = text;
            plan.losses.add(&row.value, "attachment", LossKind::LeftOut, &tiers::too_large_note(threshold));
            continue;
        }
        if !write_row_file(source, out, row, passthrough)? {
            plan.losses.add(&row.value, "secret", LossKind::LeftOut, clear_secrets::LEFT_OUT_NOTE);
        }
    }
    // A preview reads only as many bytes as show whether the file is too large.
    let read_limit = if out.is_discarding() { threshold.saturating_add(1) } else { u64::MAX };
    for (id, foreign) in std::mem::take(&mut plan.files) {
        let mut file_data = FileData { path: None, size: foreign.reference.size.unwrap_or(0), sha256: String::new() };
        let mut content = None;
        let has_bytes = source.attachment(&id, &mut |bytes| {
            (file_data.size, file_data.sha256, content) =
                size_digest_and_bytes(&mut bytes.take(read_limit), threshold.min(MAX_IN_MEMORY_BYTES))?;
            Ok(())
        })?;
        let is_withheld = !out.is_encrypted() && content.as_deref().is_some_and(clear_secrets::file_has_secret);
        if is_withheld && file_data.size < threshold {
            plan.losses.add(&id, "secret", LossKind::LeftOut, clear_secrets::LEFT_OUT_NOTE);
        } else if has_bytes && file_data.size < threshold {
            let name = free_artifact_name(out, passthrough, &foreign.reference.name, &id);
            match content {
                Some(content) => drop(out.entry(&name, &mut content.as_slice())?),
                None => drop(source.attachment(&id, &mut |bytes| out.entry(&name, bytes).map(drop))?),
            }
            file_data.path = Some(name);
        }
        report_file_loss(plan, &id, has_bytes.then_some(file_data.size), threshold);
        rows.push(documents::file_row(&id, &foreign.reference, &foreign.referenced_by, &file_data));
    }
    let name = |out: &ArchiveWriter, name: &str, id: &str| free_artifact_name(out, passthrough, name, id);
    rows.extend(workspaces.artifacts(source, out, plan, threshold, &name)?);
    workspaces.report_unwritten(out, threshold, &mut plan.losses);
    if !rows.is_empty() {
        plan.rows.insert("attachments", rows);
    }
    Ok(())
}

/// Size and SHA-256 of a file, and its bytes if it has at most `bound` bytes.
pub(super) fn size_digest_and_bytes(
    bytes: &mut dyn Read,
    bound: u64,
) -> Result<(u64, String, Option<Vec<u8>>), FormatError> {
    let (mut hasher, mut size, mut buffer) = (Sha256::new(), 0u64, vec![0u8; 64 << 10]);
    let mut content = Some(Vec::new());
    loop {
        let n = bytes.read(&mut buffer).map_err(|e| FormatError::io("attachment", e))?;
        if n == 0 {
            return Ok((size, hex::encode(hasher.finalize()), content));
        }
        hasher.update(&buffer[..n]);
        size += n as u64;
        match &mut content {
            Some(content) if size <= bound => content.extend_from_slice(&buffer[..n]),
            content => *content = None,
        }
    }
}

/// Writes the file of an imported index row under the name in the row. If another entry has this name, which can happen
/// in an archive of several sources, file and row get a new name. If the file contains secrets and the archive is not
/// encrypted, the file is left out, the row is changed to say so, and the result is false.
fn write_row_file(
    source: &mut dyn RecordSource,
    out: &mut ArchiveWriter,
    row: &mut Row,
    passthrough: &PassthroughFiles,
) -> Result<bool, FormatError> {
    let (Some(id), Ok(mut tree)) = (&row.file, Tree::parse(&row.text, 512)) else { return Ok(true) };
    let Some(path) = tree.get("archive_path").and_then(Tree::as_str).map(str::to_owned) else { return Ok(true) };
    if !is_artifact_path(&path, &HashSet::new()) && !source.attachment(id, &mut |_| Ok(()))? {
        // The path names another file of the archive.
        tree.set("archive_path", Tree::Null);
        row.text.clear();
        tree.write(&mut row.text);
        return Ok(true);
    }
    if passthrough.agent.is_some() && (out.has_entry(&path) || passthrough.has_entry(&path)) {
        // The entry is already written for another row, or it will be written as a passthrough file.
        return Ok(true);
    }
    let is_free = is_free_name(out, passthrough, &path);
    let name = if is_free { path.clone() } else { free_artifact_name(out, passthrough, &path, id) };
    let (mut has_secret, mut written) = (false, None);
    let has_bytes = source.attachment(id, &mut |bytes| {
        let head = if out.is_encrypted() { vec![] } else { clear_secrets::read_head(bytes, &path)? };
        has_secret = clear_secrets::file_has_secret(&head);
        if !has_secret {
            written = Some(out.entry(&name, &mut head.as_slice().chain(bytes))?);
        }
        Ok(())
    })?;
    if has_secret {
        tree.set("archive_path", Tree::Null);
        row.text.clear();
        tree.write(&mut row.text);
        return Ok(false);
    }
    let mut is_changed = false;
    if let Some((size, digest)) = written.filter(|_| !out.is_discarding()) {
        is_changed |= state_size_and_digest(&mut tree, size, &digest);
    }
    if has_bytes && name != path {
        tree.set("archive_path", Tree::Text(name));
        is_changed = true;
    }
    if is_changed {
        row.text.clear();
        tree.write(&mut row.text);
    }
    Ok(true)
}

fn free_artifact_name(out: &ArchiveWriter, passthrough: &PassthroughFiles, name: &str, id: &str) -> String {
    let safe_name: Vec<String> = name
        .split(['/', '\\'])
        .map(|part| part.chars().map(|c| if c.is_control() || ":*?\"<>|".contains(c) { '_' } else { c }).collect())
        .filter(|part: &String| !part.is_empty() && part != "." && part != ".." && part != "artifacts")
        .collect();
    let safe_name = if safe_name.is_empty() { "file".to_owned() } else { safe_name.join("/") };
    let is_free = |name: &String| is_free_name(out, passthrough, name);
    let preferred_name = Some(format!("artifacts/{safe_name}")).filter(is_free);
    preferred_name.unwrap_or_else(|| {
        let mut name = out.free_name(&format!("artifacts/{id}/{safe_name}"));
        // The loop ends, because there are only finitely many passthrough files whose name could be taken.
        while !is_free(&name) {
            name.push('_');
        }
        name
    })
}

fn write_partitions(
    source: &mut dyn RecordSource,
    out: &mut ArchiveWriter,
    plan: &ExportPlan,
    passthrough: &PassthroughFiles,
    layers: &mut Layers,
    agent: &str,
    now: Timestamp,
) -> Result<(), FormatError> {
    let mut batches: Vec<(Vec<Period>, u64)> = Vec::new();
    for (period, (_, bytes)) in &plan.periods {
        match batches.last_mut() {
            Some((batch, sum)) if *sum + bytes <= MAX_BATCH_BYTES => {
                batch.push(*period);
                *sum += bytes;
            }
            _ => batches.push((vec![*period], *bytes)),
        }
    }
    for (batch, _) in batches {
        let mut lines: BTreeMap<Period, Vec<(Timestamp, String, String)>> = BTreeMap::new();
        source.records(&mut |stored| {
            if plan.is_line(&stored) {
                let created = plan.partition_time(&stored);
                let period = plan.period_of(created);
                if batch.contains(&period) {
                    let (id, text) = line(plan, &stored, agent, created);
                    lines.entry(period).or_default().push((created, id, text));
                }
            }
            Ok(())
        })?;
        for (period, mut lines) in lines {
            lines.sort();
            let mut name = format!("memory/partitions/{}.jsonl", period.name());
            while !is_free_name(out, passthrough, &name) {
                name = format!("{}-mementory.jsonl", name.trim_end_matches(".jsonl"));
            }
            let count = lines.len() as u64;
            let mut bytes = PartitionStream { lines: lines.into_iter(), current_line: vec![], at: 0 };
            let (_, sha256) = out.entry(&name, &mut bytes)?;
            layers.partitions.push(PartitionRow::new(name, period, count, sha256, now));
        }
    }
    Ok(())
}

/// Id and text of the line for a record.
pub(super) fn line(plan: &ExportPlan, stored: &StoredRecord, agent: &str, created: Timestamp) -> (String, String) {
    let record = &stored.record;
    let id = plan.id_of(&stored.id).unwrap_or_default();
    if let (Some(AlfElement::Line), Some(verbatim)) = (alf_element(record), &record.verbatim) {
        let unchanged_line = (!stored.edited && !verbatim.text.contains('\n')).then(|| verbatim.text.clone());
        if let Some(text) = unchanged_line.or_else(|| compose::patch(record, &verbatim.text)) {
            let id_space = record.key.scope.strip_prefix("alf:").unwrap_or(agent);
            let id_is_taken = plan.has_repeated_id(&stored.id);
            let names = invalid_values::LineNames { agent, id_space, key: &record.key.value, id_is_taken };
            return (id, invalid_values::move_invalid_values(&text, &names).unwrap_or(text));
        }
    }
    let links: Vec<(String, String)> = record
        .links
        .iter()
        .zip(&stored.link_ids)
        .filter_map(|(link, target)| Some((link.relation.clone(), plan.id_of(target.as_deref()?)?)))
        .filter(|(_, target)| uuid::Uuid::parse_str(target).is_ok())
        .collect();
    let identity_version = plan.lineage.as_ref().and_then(|lineage| lineage.version_of(stored));
    let text = compose::line(stored, &LineContext { id: &id, agent, created, identity_version, links: &links });
    (id, text)
}

/// The lines of a partition as a stream, which avoids a copy of the whole partition in memory.
struct PartitionStream {
    lines: std::vec::IntoIter<(Timestamp, String, String)>,
    current_line: Vec<u8>,
    at: usize,
}

impl std::io::Read for PartitionStream {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.current_line.len() {
            let Some((_, _, line)) = self.lines.next() else { return Ok(0) };
            self.current_line = line.into_bytes();
            self.current_line.push(b'\n');
            self.at = 0;
        }
        let n = buf.len().min(self.current_line.len() - self.at);
        buf[..n].copy_from_slice(&self.current_line[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
