//! Records → one `.alf` file (spec §4, §6.1).
//!
//! What came from one agent's file goes back as that agent; anything else becomes an agent that stands for the vault.
//! The manifest is the last entry: its counts and checksums are known only then (the spec leaves the order free).
use super::compose::{self, LineFacts};
use super::container::Container;
use super::lineage;
use super::manifest::{CHECKSUM_SCOPE, MANIFEST};
use super::partitions::Period;
use super::parts::Parts;
use super::plan::{Own, Plan, Row, own};
use super::sealed::Secrets;
use super::tiers;
use super::workspaces::Files;
use super::write_documents::{self as documents, FileFacts};
use super::write_manifest::{Layers, PartitionRow, VERSION, build, index};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport, passthrough_envelope};
use mementory_json::Tree;
use mementory_model::{LossKind, Timestamp};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Partitions are put together in memory, as many at a time as stay below this (estimated); one partition that is
/// larger is put together alone.
const BATCH_BYTES: u64 = 128 << 20;

/// Largest file of another format that is held in memory on its way; of a larger one the bytes are asked for twice.
const HELD: u64 = 1 << 20;

/// Writes the file.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let about = source.about();
    let mut plan = Plan::survey(source)?;
    let parts = Parts::survey(source, &plan, options.everything)?;
    let agent = parts.agent.clone().unwrap_or_else(|| plan.agent.clone());
    let mut file = Container::create_with(out, options.passphrase.as_deref())?;
    let mut secrets = Secrets::new(options.passphrase.as_deref());
    let workspaces = Files::gather(source, &mut plan, options, &mut secrets)?;
    let original = parts.manifest.as_deref().and_then(|text| Tree::parse(text, 512).ok());
    let mut layers = Layers::from_manifest(original.as_ref());
    layers.home = plan.home.clone().filter(|_| parts.agent.is_none());
    plan.settle_periods(original.as_ref());

    identity(&mut file, &plan, &mut layers)?;
    if parts.agent.is_none() && !plan.rows.contains_key("principals") {
        plan.rows.insert("principals", vec![documents::owner_row(&about, &agent)]);
    }
    list(&mut file, &plan, &parts, &mut layers, "principals")?;
    let threshold = tiers::threshold(options);
    files(source, &mut file, &mut plan, &parts, &workspaces, options)?;
    layers.count_files(plan.rows.get("attachments").map_or(&[][..], Vec::as_slice));
    layers.threshold = (threshold, options.artifact_threshold.is_some());
    list(&mut file, &plan, &parts, &mut layers, "attachments")?;
    memory(source, &mut file, &plan, &parts, &mut layers, &agent, about.now)?;
    let index_name = layers.index_file();
    if !layers.partitions.is_empty() || parts.layers.contains_key(&index_name) {
        let text = index(parts.layers.get(&index_name).map(String::as_str), &layers.partitions);
        file.entry(&index_name, &mut text.as_bytes())?;
    }
    for (name, text) in &parts.layers {
        if !file.has(name) && !layers.owns(name) {
            file.entry(name, &mut text.as_bytes())?;
        }
    }
    layers.entries = parts.write(source, &mut file, &mut plan.losses, &mut secrets)?;
    layers.workspaces = workspaces.write(&mut file, &mut plan.losses)?;
    let sealed = secrets.rows(options.passphrase.as_deref(), &agent, &about.now.to_rfc3339())?;
    plan.rows.entry("credentials").or_default().extend(sealed);
    list(&mut file, &plan, &parts, &mut layers, "credentials")?;
    layers.has_embeddings = plan.has_embeddings;
    if parts.agent.is_none() {
        let rows = plan.rows.values().flatten().filter(|r| !r.scope.is_empty());
        let said = rows.map(|r| (r.value.clone(), space(&r.scope, Some(&r.runtime))));
        layers.scopes = said.chain(plan.scopes.iter().map(|(id, s)| (id.clone(), space(s, None)))).collect();
    }
    let grown = plan.lineage.as_ref().filter(|lineage| lineage.version > 1);
    layers.lineage = grown.map(|_| lineage::counted_by(&about.vault_id));
    let checksum = file.checksum();
    let (text, version) = build(original, &layers, &about, &agent, parts.agent.is_none(), &checksum, CHECKSUM_SCOPE);
    file.entry(MANIFEST, &mut text.as_bytes())?;
    file.finish()?;
    left_out(source, &mut plan, options, &|format| workspaces.holds(format))?;
    Ok(WriteReport { version, by_kind: plan.by_kind, losses: plan.losses, ..WriteReport::default() })
}

/// What [`write`] would hold and lose. Nothing is written.
pub(super) fn plan(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
    let mut plan = Plan::survey(source)?;
    let mut secrets = Secrets::new(options.passphrase.as_deref());
    let workspaces = Files::gather(source, &mut plan, options, &mut secrets)?;
    let threshold = tiers::threshold(options);
    workspaces.too_large(threshold, &mut plan.losses);
    let own = plan.rows.get("attachments").into_iter().flatten();
    let named = own.filter(|row| options.artifact_threshold.is_some_and(|t| tiers::only_named(&row.text, t).is_some()));
    for id in named.map(|row| row.value.clone()).collect::<Vec<_>>() {
        plan.losses.add(&id, "attachment", LossKind::LeftOut, &tiers::too_large(threshold));
    }
    for id in std::mem::take(&mut plan.files).keys() {
        let mut held = None;
        let bound = threshold.saturating_add(1);
        source.attachment(id, &mut |bytes| {
            let n = std::io::copy(&mut bytes.take(bound), &mut std::io::sink());
            held = Some(n.map_err(|e| FormatError::io("attachment", e))?);
            Ok(())
        })?;
        file_loss(&mut plan, id, held, threshold);
    }
    left_out(source, &mut plan, options, &|format| workspaces.holds(format))?;
    Ok(WriteReport { version: VERSION.into(), by_kind: plan.by_kind, losses: plan.losses, ..WriteReport::default() })
}

/// What is lost of a file of this many bytes (None = the vault has none).
fn file_loss(plan: &mut Plan, id: &str, bytes: Option<u64>, threshold: u64) {
    let note = match bytes {
        Some(n) if n < threshold => return,
        Some(_) => tiers::too_large(threshold),
        None => "the vault does not have the file itself".to_owned(),
    };
    plan.losses.add(id, "attachment", LossKind::LeftOut, &note);
}

pub(super) fn space(scope: &str, runtime: Option<&str>) -> Tree {
    let members = [("scope", Some(scope)), ("runtime", runtime)];
    let members = members.into_iter().filter_map(|(k, v)| Some((k.to_owned(), Tree::Text(v?.to_owned()))));
    Tree::Object(members.collect())
}

/// What has no place in an `.alf`.
fn left_out(
    source: &mut dyn RecordSource,
    plan: &mut Plan,
    options: &WriteOptions,
    held: &dyn Fn(&str) -> bool,
) -> Result<(), FormatError> {
    for tombstone in source.tombstones()? {
        plan.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, "ALF has no signed deletions");
    }
    if options.everything {
        passthrough_envelope::note_left_out(source, |id| id != "alf" && !held(id), &mut plan.losses)?;
    }
    Ok(())
}

fn identity(file: &mut Container, plan: &Plan, layers: &mut Layers) -> Result<(), FormatError> {
    let Some(row) = plan.rows.get("identity").and_then(|rows| rows.first()) else { return Ok(()) };
    file.entry(&layers.file("identity"), &mut row.text.as_bytes())?;
    layers.identity_version = Some(documents::identity_version(&row.text));
    Ok(())
}

fn list(
    file: &mut Container,
    plan: &Plan,
    parts: &Parts,
    layers: &mut Layers,
    layer: &'static str,
) -> Result<(), FormatError> {
    let name = layers.file(layer);
    let skeleton = parts.layers.get(&name).map(String::as_str);
    let rows = plan.rows.get(layer).map_or(&[][..], Vec::as_slice);
    if rows.is_empty() && skeleton.is_none() {
        return Ok(());
    }
    let head = match layer {
        "attachments" => format!("\"artifact_size_threshold\":{},", layers.threshold.0),
        _ => String::new(),
    };
    let (mut text, count) = documents::assemble(layer, skeleton, rows, &head);
    if layer == "attachments" && layers.threshold.1 {
        text = documents::with_threshold(text, layers.threshold.0);
    }
    file.entry(&name, &mut text.as_bytes())?;
    layers.counts.insert(layer, count as u64);
    Ok(())
}

/// Tier 2 files, and rows for the files of other formats and of workspaces.
fn files(
    source: &mut dyn RecordSource,
    out: &mut Container,
    plan: &mut Plan,
    parts: &Parts,
    workspaces: &Files,
    options: &WriteOptions,
) -> Result<(), FormatError> {
    let threshold = tiers::threshold(options);
    let mut rows = plan.rows.remove("attachments").unwrap_or_default();
    for row in &mut rows {
        // an agent's own classification stays unless another one is asked for
        if let Some(asked) = options.artifact_threshold
            && let Some(named) = tiers::only_named(&row.text, asked)
        {
            row.text = named;
            plan.losses.add(&row.value, "attachment", LossKind::LeftOut, &tiers::too_large(asked));
            continue;
        }
        own_file(source, out, row, parts)?;
    }
    for (id, foreign) in std::mem::take(&mut plan.files) {
        let mut facts = FileFacts { path: None, size: foreign.reference.size.unwrap_or(0), sha256: String::new() };
        let mut held = None;
        let found = source.attachment(&id, &mut |bytes| {
            (facts.size, facts.sha256, held) = measured(bytes, threshold.min(HELD))?;
            Ok(())
        })?;
        if found && facts.size < threshold {
            let name = free_artifact(out, parts, &foreign.reference.name, &id);
            match held {
                Some(held) => drop(out.entry(&name, &mut held.as_slice())?),
                None => drop(source.attachment(&id, &mut |bytes| out.entry(&name, bytes).map(drop))?),
            }
            facts.path = Some(name);
        }
        file_loss(plan, &id, found.then_some(facts.size), threshold);
        rows.push(documents::file_row(&id, &foreign.reference, &foreign.referenced_by, &facts));
    }
    let name = |out: &Container, name: &str, id: &str| free_artifact(out, parts, name, id);
    rows.extend(workspaces.artifacts(source, out, plan, threshold, &name)?);
    workspaces.too_large(threshold, &mut plan.losses);
    if !rows.is_empty() {
        plan.rows.insert("attachments", rows);
    }
    Ok(())
}

/// Size and SHA-256 of a file, and its bytes where they are not more than `bound`.
pub(super) fn measured(bytes: &mut dyn Read, bound: u64) -> Result<(u64, String, Option<Vec<u8>>), FormatError> {
    let (mut hasher, mut size, mut buffer) = (Sha256::new(), 0u64, vec![0u8; 64 << 10]);
    let mut held = Some(Vec::new());
    loop {
        let n = bytes.read(&mut buffer).map_err(|e| FormatError::io("attachment", e))?;
        if n == 0 {
            return Ok((size, hex::encode(hasher.finalize()), held));
        }
        hasher.update(&buffer[..n]);
        size += n as u64;
        match &mut held {
            Some(held) if size <= bound => held.extend_from_slice(&buffer[..n]),
            held => *held = None,
        }
    }
}

/// The file of a row that came from an ALF file, under the name that the row gives it. In a file of several sources
/// that name may be taken; the row then says the new one.
fn own_file(
    source: &mut dyn RecordSource,
    out: &mut Container,
    row: &mut Row,
    parts: &Parts,
) -> Result<(), FormatError> {
    let (Some(id), Ok(mut tree)) = (&row.file, Tree::parse(&row.text, 512)) else { return Ok(()) };
    let Some(path) = tree.get("archive_path").and_then(Tree::as_str).map(str::to_owned) else { return Ok(()) };
    if parts.agent.is_some() && (out.has(&path) || parts.reserved.contains(&path)) {
        return Ok(()); // two rows of one file, or a part that goes back as it came
    }
    let name = if out.has(&path) { free_artifact(out, parts, &path, id) } else { path.clone() };
    let found = source.attachment(id, &mut |bytes| out.entry(&name, bytes).map(drop))?;
    if found && name != path {
        tree.set("archive_path", Tree::Text(name));
        row.text.clear();
        tree.write(&mut row.text);
    }
    Ok(())
}

fn free_artifact(out: &Container, parts: &Parts, name: &str, id: &str) -> String {
    let clean: Vec<String> = name
        .split(['/', '\\'])
        .map(|part| part.chars().map(|c| if c.is_control() || ":*?\"<>|".contains(c) { '_' } else { c }).collect())
        .filter(|part: &String| !part.is_empty() && part != "." && part != ".." && part != "artifacts")
        .collect();
    let clean = if clean.is_empty() { "file".to_owned() } else { clean.join("/") };
    let free = |name: &String| !out.has(name) && !parts.reserved.contains(name);
    let first = Some(format!("artifacts/{clean}")).filter(free);
    first.unwrap_or_else(|| format!("artifacts/{id}/{clean}"))
}

fn memory(
    source: &mut dyn RecordSource,
    out: &mut Container,
    plan: &Plan,
    parts: &Parts,
    layers: &mut Layers,
    agent: &str,
    now: Timestamp,
) -> Result<(), FormatError> {
    let mut batches: Vec<(Vec<Period>, u64)> = Vec::new();
    for (period, (_, bytes)) in &plan.periods {
        match batches.last_mut() {
            Some((batch, sum)) if *sum + bytes <= BATCH_BYTES => {
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
                let created = plan.created(&stored);
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
            while out.has(&name) || parts.reserved.contains(&name) {
                name = format!("{}-keepsake.jsonl", name.trim_end_matches(".jsonl"));
            }
            let count = lines.len() as u64;
            let mut bytes = Lines { lines: lines.into_iter(), current: vec![], at: 0 };
            let (_, sha256) = out.entry(&name, &mut bytes)?;
            layers.partitions.push(PartitionRow::new(name, period, count, sha256, now));
        }
    }
    Ok(())
}

/// Id and text of the line of a record.
pub(super) fn line(plan: &Plan, stored: &StoredRecord, agent: &str, created: Timestamp) -> (String, String) {
    let record = &stored.record;
    let id = plan.id_of(&stored.id).unwrap_or_default();
    if let (Some(Own::Line), Some(verbatim)) = (own(record), &record.verbatim) {
        if !stored.edited && !verbatim.text.contains('\n') {
            return (id, verbatim.text.clone());
        }
        if let Some(patched) = compose::patch(record, &verbatim.text) {
            return (id, patched);
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
    let text = compose::line(stored, &LineFacts { id: &id, agent, created, identity_version, links: &links });
    (id, text)
}

/// Lines as a stream, so that a partition is not copied once more.
struct Lines {
    lines: std::vec::IntoIter<(Timestamp, String, String)>,
    current: Vec<u8>,
    at: usize,
}

impl std::io::Read for Lines {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.current.len() {
            let Some((_, _, line)) = self.lines.next() else { return Ok(0) };
            self.current = line.into_bytes();
            self.current.push(b'\n');
            self.at = 0;
        }
        let n = buf.len().min(self.current.len() - self.at);
        buf[..n].copy_from_slice(&self.current[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
