//! Hard deletion in a local archive (spec §3.1.11, §6.4): removes records permanently, writes an audit record, and
//! lists every place that still contains their text.
mod audit;
mod needles;
#[cfg(test)]
mod tests;

pub use audit::Audit;
pub use mementory_format::{Leftover, PurgeOptions};

use super::manifest::{Archive, MANIFEST_FILE, Manifest};
use super::rewrite::{self, LineEdit, OpenedFile, Rewrite};
use super::{delta, list_document, wire};
use mementory_format::extension as slot;
use mementory_format::{FormatError, Passphrase};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use needles::Needles;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The result of deleting records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purged {
    /// The audit record. It has no content of the deleted records.
    pub audit: Audit,
    /// Path of the audit record. None in a dry run.
    pub audit_path: Option<PathBuf>,
    /// Number of removed records by file: entry name of a partition, or file name of a delta.
    pub removed_from: BTreeMap<String, u64>,
    /// Number of records removed from the archive's partitions.
    pub removed: u64,
    /// Ids for which no record was found.
    pub not_found: Vec<String>,
    /// Number of links from other records to the deleted records, whether or not these links were removed.
    pub links: u64,
    /// Places that still contain text of the deleted records.
    pub leftovers: Vec<Leftover>,
}

/// Deletes records permanently. The rewritten archive replaces the old one when it is complete. The audit record is
/// written next to the archive.
///
/// # Errors
/// `not_found` if no record has any of the ids. Other errors if a file is invalid or cannot be read or written. After
/// an error before the first file is replaced, nothing has changed. After a later error, the audit record has no
/// `completed_at` and lists the remaining files.
pub fn purge(archive: &Path, ids: &[String], options: &PurgeOptions) -> Result<Purged, FormatError> {
    let limits = &options.limits;
    let passphrase = options.passphrase.as_deref();
    let opened_file = OpenedFile::open_with(archive, limits, passphrase)?;
    let open_archive = opened_file.archive()?;
    let manifest = Manifest::read(&open_archive, limits)?;
    manifest.refuse_unlisted_memories(&open_archive)?;
    let mut deletion = Deletion {
        passphrase,
        output_passphrase: opened_file.output_passphrase(passphrase),
        archive: &open_archive,
        manifest: &manifest,
        limits,
        ids: ids.iter().map(|id| id.trim().to_ascii_lowercase()).collect(),
        strip_links: options.strip_links,
        found_ids: BTreeSet::new(),
        removed_from: BTreeMap::new(),
        needles: Needles::default(),
        links: 0,
    };
    deletion.scan_partitions()?;
    let mut changed_deltas = Vec::new();
    for path in distinct_paths(options.deltas.iter())? {
        if let Some(n) = deletion.scan_delta(&path)? {
            changed_deltas.push((path, n));
        }
    }
    if deletion.found_ids.is_empty() {
        return Err(FormatError::invalid(
            "not_found",
            &open_archive.place,
            "no record of this archive has any of these ids",
        ));
    }
    let removed: u64 = deletion.removed_from.values().sum();
    let leftovers = deletion.find_leftovers()?;
    let partitions = deletion.removed_from.keys().cloned().collect();
    let target = options.out.clone().unwrap_or_else(|| archive.to_path_buf());
    if options.out.as_deref().is_some_and(|out| out.symlink_metadata().is_ok()) {
        let exists_error = std::io::Error::from(ErrorKind::AlreadyExists);
        return Err(FormatError::io(file_name(&target), exists_error));
    }
    let mut audit = Audit::of_records(&manifest.agent, &deletion.found_ids, partitions, options);
    let mut audit_path = None;
    if !options.dry_run {
        // The archive is changed last, so that a failed deletion can be repeated.
        let mut steps: Vec<&Path> = changed_deltas.iter().map(|(path, _)| path.as_path()).collect();
        steps.push(&target);
        audit_path = Some(run_with_audit(&mut audit, &target, &steps, &mut |path| {
            if path == target { deletion.write_archive(path) } else { deletion.write_delta(path) }
        })?);
    }
    let mut removed_from = deletion.removed_from.clone();
    removed_from.extend(changed_deltas.iter().map(|(path, n)| (file_name(path), *n)));
    let not_found = deletion.ids.difference(&deletion.found_ids).cloned().collect();
    Ok(Purged { audit, audit_path, removed_from, removed, not_found, links: deletion.links, leftovers })
}

/// The result of deleting a whole agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedAgent {
    /// The audit record. It has no content of the deleted records.
    pub audit: Audit,
    /// Path of the audit record. None in a dry run.
    pub audit_path: Option<PathBuf>,
    /// Number of records in the archive's partitions, all of which are removed.
    pub removed: u64,
    /// The deleted files: the archive and its deltas.
    pub files: Vec<PathBuf>,
}

/// Deletes a whole agent (scope `full_agent`): first its deltas, then the archive. The audit record is written next to
/// the archive.
///
/// # Errors
/// `delta_wrong_agent` if a delta belongs to another agent. Other errors if a file is invalid or cannot be read or
/// removed. After an error before the first file is removed, nothing has been deleted. After a later error, the audit
/// record has no `completed_at` and lists the remaining files.
pub fn purge_agent(archive: &Path, options: &PurgeOptions) -> Result<PurgedAgent, FormatError> {
    let (limits, passphrase) = (&options.limits, options.passphrase.as_deref());
    let (agent, partitions, removed) = {
        let opened_file = OpenedFile::open_with(archive, limits, passphrase)?;
        let open_archive = opened_file.archive()?;
        let manifest = Manifest::read(&open_archive, limits)?;
        let mut removed = 0;
        for row in &manifest.partitions {
            let Some(member) = open_archive.entry(&row.file) else { continue };
            removed += rewrite::edit_lines(&open_archive, member, limits, &mut std::io::sink(), &mut |_, _| {
                Ok(LineEdit::Keep)
            })?
            .0;
        }
        (manifest.agent.clone(), manifest.partitions.iter().map(|p| p.file.clone()).collect(), removed)
    };
    let files = distinct_paths(std::iter::once(archive).chain(options.deltas.iter().map(PathBuf::as_path)))?;
    for path in &files[1..] {
        let opened_file = OpenedFile::open_with(path, limits, passphrase)?;
        let open_archive = opened_file.archive_or_delta()?;
        if !delta::agent_and_memory_file(&open_archive, limits)?.0.eq_ignore_ascii_case(&agent) {
            return Err(FormatError::invalid(
                "delta_wrong_agent",
                &open_archive.place,
                "this delta is for another agent",
            ));
        }
    }
    let mut audit = Audit::of_whole_agent(&agent, partitions, options);
    if options.dry_run {
        return Ok(PurgedAgent { audit, audit_path: None, removed, files });
    }
    let steps: Vec<&Path> = files.iter().rev().map(PathBuf::as_path).collect();
    let audit_path = run_with_audit(&mut audit, archive, &steps, &mut |path| match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(FormatError::io(file_name(path), e)),
        _ => Ok(()),
    })?;
    Ok(PurgedAgent { audit, audit_path: Some(audit_path), removed, files })
}

/// Calls `each` with every file. Writes the audit record next to `beside` before the first call and after each call,
/// and returns its path. If a call fails, the audit record lists the remaining files. If the first call fails, nothing
/// has changed, so the audit record is removed.
fn run_with_audit(
    audit: &mut Audit,
    beside: &Path,
    files: &[&Path],
    each: &mut dyn FnMut(&Path) -> Result<(), FormatError>,
) -> Result<PathBuf, FormatError> {
    let file_names_from = |from: usize| files[from..].iter().map(|path| file_name(path)).collect();
    audit.left = file_names_from(0);
    let path = audit.write_beside(beside)?;
    for (done, file) in files.iter().enumerate() {
        if let Err(error) = each(file) {
            if done == 0 {
                // The deletion's error is returned, even if the audit record cannot be removed.
                let _ = std::fs::remove_file(&path);
            }
            return Err(error);
        }
        audit.left = file_names_from(done + 1);
        if audit.left.is_empty() {
            audit.complete(Timestamp::now());
        }
        audit.write_beside(beside)?;
    }
    Ok(path)
}

/// The paths without duplicates. If several paths lead to the same file, only the first one is returned.
fn distinct_paths<P: AsRef<Path>>(paths: impl Iterator<Item = P>) -> Result<Vec<PathBuf>, FormatError> {
    let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
    for path in paths {
        let path = path.as_ref();
        let canonical = std::fs::canonicalize(path).map_err(|e| FormatError::io(file_name(path), e))?;
        if seen.insert(canonical) {
            out.push(path.to_path_buf());
        }
    }
    Ok(out)
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// A deletion of records that is in progress.
struct Deletion<'a> {
    /// Passphrase for opening deltas.
    passphrase: Option<&'a dyn Passphrase>,
    /// Passphrase for encrypting the new archive.
    output_passphrase: Option<&'a dyn Passphrase>,
    archive: &'a Archive<'a>,
    manifest: &'a Manifest,
    limits: &'a Limits,
    ids: BTreeSet<String>,
    strip_links: bool,
    found_ids: BTreeSet<String>,
    removed_from: BTreeMap<String, u64>,
    needles: Needles,
    links: u64,
}

impl Deletion<'_> {
    fn deleted_id(&self, line: &str) -> Option<String> {
        rewrite::id_of(line).map(|id| id.to_ascii_lowercase()).filter(|id| self.ids.contains(id))
    }

    /// First pass: finds the records, and collects their texts, which are later searched for in the other entries of
    /// the archive.
    fn scan_partitions(&mut self) -> Result<(), FormatError> {
        let (archive, limits) = (self.archive, self.limits);
        for row in &self.manifest.partitions {
            let Some(member) = archive.entry(&row.file) else { continue };
            rewrite::edit_lines(archive, member, limits, &mut std::io::sink(), &mut |text, _| {
                if let Some(text) = text {
                    if let Some(id) = self.deleted_id(text) {
                        self.found_ids.insert(id);
                        *self.removed_from.entry(row.file.clone()).or_default() += 1;
                        self.needles.add_line(text);
                    } else {
                        self.links += self.count_links(text);
                    }
                }
                Ok(LineEdit::Keep)
            })?;
        }
        Ok(())
    }

    fn count_links(&self, line: &str) -> u64 {
        let Some(m) = wire::members(line) else { return 0 };
        let names_deleted_record = |raw: Option<&serde_json::value::RawValue>| {
            raw.and_then(wire::string).is_some_and(|id| self.ids.contains(&id.to_ascii_lowercase()))
        };
        let related_records = wire::get(&m, "related_records")
            .and_then(|raw| serde_json::from_str::<Vec<&serde_json::value::RawValue>>(raw.get()).ok())
            .unwrap_or_default();
        let related_records = related_records
            .iter()
            .filter(|r| wire::members(r.get()).is_some_and(|m| names_deleted_record(wire::get(&m, "id"))));
        related_records.count() as u64 + u64::from(names_deleted_record(wire::get(&m, "supersedes")))
    }

    /// A line without its links to the deleted records. None if the line has no such links, or if links are kept.
    fn without_links(&self, line: &str) -> Option<String> {
        if !self.strip_links || self.count_links(line) == 0 {
            return None;
        }
        let mut tree = Tree::parse(line, 512).ok()?;
        let names_deleted_record =
            |id: Option<&Tree>| id.and_then(Tree::as_str).is_some_and(|id| self.ids.contains(&id.to_ascii_lowercase()));
        if names_deleted_record(tree.get("supersedes")) {
            tree.remove("supersedes");
        }
        if let Some(Tree::Array(rows)) = tree.get("related_records").cloned() {
            let remaining: Vec<Tree> = rows.into_iter().filter(|row| !names_deleted_record(row.get("id"))).collect();
            match remaining.is_empty() {
                true => tree.remove("related_records"),
                false => tree.set("related_records", Tree::Array(remaining)),
            }
        }
        Some(rewrite::to_json(&tree))
    }

    fn write_archive(&mut self, target: &Path) -> Result<(), FormatError> {
        let mut file = Rewrite::begin(target, self.output_passphrase)?;
        let mut rows = rewrite::rows_of(self.manifest);
        for row in &mut rows {
            let name = row.get("file").and_then(Tree::as_str).unwrap_or_default().to_owned();
            let Some(member) = self.archive.entry(&name) else { continue };
            if file.out.has_entry(&name) {
                continue;
            }
            let mut count = 0;
            let sha = file.out.entry_from(&name, &mut |sink| {
                (count, _) = rewrite::edit_lines(self.archive, member, self.limits, sink, &mut |text, _| {
                    let Some(text) = text else { return Ok(LineEdit::Keep) };
                    Ok(match (self.deleted_id(text), self.without_links(text)) {
                        (Some(_), _) => LineEdit::Remove,
                        (None, Some(line)) => LineEdit::Replace(line),
                        _ => LineEdit::Keep,
                    })
                })?;
                Ok(true)
            })?;
            row.set("record_count", Tree::Number(count.to_string()));
            row.set("sha256", Tree::Text(sha.unwrap_or_default()));
        }
        self.write_attachment_index(&mut file)?;
        let mut tree = self.manifest.tree.clone();
        if let Some(mut own) = slot::vendor_slot(&tree).cloned()
            && let Some(Tree::Object(scopes)) = own.get("scopes").cloned()
        {
            let remaining_scopes =
                scopes.into_iter().filter(|(id, _)| !self.ids.contains(&id.to_ascii_lowercase())).collect();
            own.set("scopes", Tree::Object(remaining_scopes));
            slot::set_vendor_slot(&mut tree, own);
        }
        file.finish(self.archive, self.manifest, tree, rows, self.limits, &|_| false)
    }

    /// Removes the deleted records from `referenced_by` in the attachment index.
    fn write_attachment_index(&self, file: &mut Rewrite) -> Result<(), FormatError> {
        if !self.strip_links {
            return Ok(());
        }
        let Some(name) = self.manifest.layer_file("attachments") else { return Ok(()) };
        let Some(member) = self.archive.entry(name) else { return Ok(()) };
        let text = self.archive.text(member, self.limits)?;
        let Some(document) = list_document::split(&text, "attachments") else { return Ok(()) };
        let strip = |element: &str| {
            let mut tree = Tree::parse(element, self.limits).ok()?;
            let Some(Tree::Array(ids)) = tree.get("referenced_by").cloned() else { return None };
            let count_before = ids.len();
            let names_deleted_record =
                |id: &Tree| id.as_str().is_some_and(|id| self.ids.contains(&id.to_ascii_lowercase()));
            let remaining: Vec<Tree> = ids.into_iter().filter(|id| !names_deleted_record(id)).collect();
            (remaining.len() < count_before).then(|| {
                tree.set("referenced_by", Tree::Array(remaining));
                rewrite::to_json(&tree)
            })
        };
        let new_document = document.with_elements(
            |i| document.elements.get(i).map(|element| strip(element).unwrap_or_else(|| (*element).to_owned())),
            &[],
        );
        file.out.entry(name, &mut new_document.as_bytes()).map(drop)
    }

    /// Counts the lines of a delta that change or delete one of the records, and collects the texts of these lines.
    /// None if the delta has no such lines. Fails if the delta belongs to another agent.
    fn scan_delta(&mut self, path: &Path) -> Result<Option<u64>, FormatError> {
        let opened_file = OpenedFile::open_with(path, self.limits, self.passphrase)?;
        let archive = opened_file.archive_or_delta()?;
        let (agent, file) = delta::agent_and_memory_file(&archive, self.limits)?;
        if !agent.eq_ignore_ascii_case(&self.manifest.agent) {
            return Err(FormatError::invalid("delta_wrong_agent", &archive.place, "this delta is for another agent"));
        }
        let mut n = 0;
        if let Some(member) = file.as_deref().and_then(|f| archive.entry(f)) {
            rewrite::edit_lines(&archive, member, self.limits, &mut std::io::sink(), &mut |text, _| {
                if let Some((text, id)) = text.and_then(|t| Some((t, self.deleted_id(t)?))) {
                    self.found_ids.insert(id);
                    self.needles.add_line(text);
                    n += 1;
                }
                Ok(LineEdit::Keep)
            })?;
        }
        Ok((n > 0).then_some(n))
    }

    fn write_delta(&self, path: &Path) -> Result<(), FormatError> {
        let opened_file = OpenedFile::open_with(path, self.limits, self.passphrase)?;
        let archive = opened_file.archive_or_delta()?;
        let (_, Some(name)) = delta::agent_and_memory_file(&archive, self.limits)? else { return Ok(()) };
        let Some(member) = archive.entry(&name) else { return Ok(()) };
        let mut file = Rewrite::begin(path, opened_file.output_passphrase(self.passphrase))?;
        let mut count = 0;
        file.out.entry_from(&name, &mut |sink| {
            (count, _) = rewrite::edit_lines(&archive, member, self.limits, sink, &mut |text, _| {
                let is_deleted = text.and_then(|t| self.deleted_id(t)).is_some();
                Ok(if is_deleted { LineEdit::Remove } else { LineEdit::Keep })
            })?;
            Ok(true)
        })?;
        for manifest in [MANIFEST_FILE, super::manifest::DELTA_MANIFEST_FILE] {
            let Some(member) = archive.entry(manifest) else { continue };
            let text = archive.text(member, self.limits)?;
            let Ok(mut tree) = Tree::parse(&text, self.limits) else { continue };
            if let Some(mut changes) = tree.get("changes").cloned() {
                let mut memory = changes.get("memory").cloned().unwrap_or_else(|| Tree::Object(vec![]));
                memory.set("record_count", Tree::Number(count.to_string()));
                changes.set("memory", memory);
                tree.set("changes", changes);
            }
            file.out.entry(manifest, &mut rewrite::to_json(&tree).as_bytes())?;
        }
        file.copy_remaining(&archive, &|_| false)?;
        file.replace_target()
    }

    /// Searches the remaining content of the archive for texts and ids of the deleted records. In partitions, the
    /// manifest and the attachment index, an id is only a link, so only texts are searched for there.
    fn find_leftovers(&self) -> Result<Vec<Leftover>, FormatError> {
        let mut out = Vec::new();
        let finder = self.needles.finder(&self.found_ids);
        for (name, member) in &self.archive.entries {
            let is_partition = self.manifest.partitions.iter().any(|p| p.file == *name);
            if is_partition {
                let mut number = 0u64;
                rewrite::edit_lines(self.archive, member, self.limits, &mut std::io::sink(), &mut |text, _| {
                    number += 1;
                    if let Some(text) = text.filter(|t| self.deleted_id(t).is_none()) {
                        // Links to deleted records are counted in `links`, so only texts of deleted records are
                        // leftovers here.
                        let hit = finder.search(&mut text.as_bytes(), false)?;
                        out.extend(hit.map(|reason| Leftover {
                            place: format!("{name}#record {number}"),
                            reason: reason.into(),
                        }));
                    }
                    Ok(LineEdit::Keep)
                })?;
                continue;
            }
            let is_structured = *name == MANIFEST_FILE || self.manifest.layer_file("attachments") == Some(name);
            let hit = self.archive.catalog.read(member, |bytes| finder.search(bytes, !is_structured))?;
            let unsearchable = name.starts_with("memory/embeddings/").then_some("cannot_be_searched");
            out.extend(hit.or(unsearchable).map(|reason| Leftover { place: (*name).into(), reason: reason.into() }));
        }
        Ok(out)
    }
}
