//! Exports workspaces (OpenClaw, ZeroClaw) as agents (spec §6.1, §9). The identity and the principal are built from the
//! files, and the files themselves are under `raw/<runtime>/`. If the text of a file is also in the archive's records,
//! the manifest lists the file with its digest, so that an import does not store this text twice.
use super::archive_writer::ArchiveWriter;
use super::clear_secrets;
use super::document_row::Row;
use super::first_pass::ExportPlan;
use super::manifest::Manifest;
use super::sealed_secrets::Secrets;
use super::tiers::{self, Artifact};
use super::workspace_origin::{by_id, is_scope_of};
use mementory_format::{FormatError, PassthroughItem, RecordSource, SourceDescription, StoredRecord, WriteOptions};
use mementory_formats_agents::openclaw::{OPENCLAW, Runtime, files, write::Workspace};
use mementory_formats_agents::zeroclaw::{self, ZEROCLAW};
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport, Tombstone};
use std::collections::{HashMap, HashSet};
use std::io::Read;

/// The files of all exported workspaces.
#[derive(Default)]
pub(super) struct WorkspaceFiles {
    runtimes: Vec<RuntimeFiles>,
}

/// The workspace files of one runtime.
struct RuntimeFiles {
    runtime: &'static Runtime,
    workspace: Workspace,
    artifacts: Vec<Artifact>,
    /// Paths of the files that are only in the sealed credential.
    key_files: Vec<String>,
}

/// True if the artifact has a secret that must not be in the archive in the clear, so that it is only listed.
fn is_withheld(out: &ArchiveWriter, artifact: &Artifact) -> bool {
    !out.is_encrypted() && clear_secrets::file_has_secret(&artifact.bytes)
}

impl WorkspaceFiles {
    /// Collects the files for a full export. An export of a selection contains no files, because they would reveal
    /// records that were not selected.
    pub(super) fn collect(
        source: &mut dyn RecordSource,
        plan: &mut ExportPlan,
        options: &WriteOptions,
        secrets: &mut Secrets,
    ) -> Result<Self, FormatError> {
        let mut out = Self::default();
        for runtime in [&OPENCLAW, &ZEROCLAW] {
            if !plan.workspaces.keys().any(|scope| scope.split(':').next() == Some(runtime.id)) {
                continue;
            }
            if !options.everything {
                let note = "only an export of everything contains the files of a workspace";
                plan.losses.add(runtime.id, "files", LossKind::LeftOut, note);
                continue;
            }
            let options = WriteOptions { everything: true, ..WriteOptions::default() };
            let mut runtime_source = RuntimeSource { source, runtime: runtime.id };
            let mut workspace = match runtime.id {
                id if id == ZEROCLAW.id => zeroclaw::workspace(&mut runtime_source, &options)?,
                _ => Workspace::collect(runtime, &mut runtime_source, &options)?,
            };
            let artifacts = tiers::take_artifacts(runtime, &mut workspace);
            let mut key_files = Vec::new();
            for (path, bytes) in workspace.remove_secrets(secrets.are_sealed()) {
                secrets.add(format!("raw/{}/{path}", runtime.id), bytes);
                if !workspace.files.contains_key(&path) {
                    key_files.push(path);
                }
            }
            for loss in std::mem::take(&mut workspace.report.losses).items {
                plan.losses.add(&loss.record, &loss.field, loss.kind, &loss.note);
            }
            out.runtimes.push(RuntimeFiles { runtime, workspace, artifacts, key_files });
        }
        Ok(out)
    }

    /// Writes the artifacts that are smaller than the threshold into the archive. Returns the index row of every
    /// artifact. `name` returns an unused entry name.
    pub(super) fn artifacts(
        &self,
        source: &mut dyn RecordSource,
        out: &mut ArchiveWriter,
        plan: &ExportPlan,
        threshold: u64,
        name: &dyn Fn(&ArchiveWriter, &str, &str) -> String,
    ) -> Result<Vec<Row>, FormatError> {
        let mut rows = Vec::new();
        for RuntimeFiles { runtime, workspace, artifacts, .. } in &self.runtimes {
            let lines = tiers::lines_by_artifact(source, plan, &artifacts.iter().collect::<Vec<_>>())?;
            for (at, artifact) in artifacts.iter().enumerate() {
                let mut path = None;
                if (artifact.bytes.len() as u64) < threshold && !is_withheld(out, artifact) {
                    let name = name(out, &artifact.source_path, &tiers::row_id(artifact));
                    out.entry(&name, &mut artifact.bytes.as_slice())?;
                    path = Some(name);
                }
                let row = tiers::row(runtime, artifact, path.as_deref(), lines.get(&at));
                rows.push(((&artifact.scope, &artifact.stored_path), row));
            }
            for absent in &workspace.absent {
                let row = tiers::absent_row(runtime, &absent.scope, &absent.path, &absent.row);
                rows.push(((&absent.scope, &absent.path), row));
            }
        }
        // The order of the rows must be the same whether files are written or only listed.
        rows.sort_by_key(|(at, _)| *at);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Reports the artifacts that are too large for the archive, or contain secrets.
    pub(super) fn report_unwritten(&self, out: &ArchiveWriter, threshold: u64, losses: &mut LossReport) {
        for artifact in self.runtimes.iter().flat_map(|files| &files.artifacts) {
            if artifact.bytes.len() as u64 >= threshold {
                losses.add(&artifact.source_path, "file", LossKind::LeftOut, &tiers::too_large_note(threshold));
            } else if is_withheld(out, artifact) {
                losses.add(&artifact.source_path, "secret", LossKind::LeftOut, clear_secrets::LEFT_OUT_NOTE);
            }
        }
    }

    /// Writes the raw files. Returns the rows that describe them in the manifest.
    pub(super) fn write(
        &self,
        out: &mut ArchiveWriter,
        losses: &mut LossReport,
        secrets: &mut Secrets,
    ) -> Result<Vec<(String, Tree)>, FormatError> {
        let mut manifest_rows = Vec::new();
        for RuntimeFiles { runtime, workspace, key_files, .. } in &self.runtimes {
            let (mut from_records, mut others) = (Vec::new(), Vec::new());
            let folder = format!("raw/{}/", runtime.id);
            let mut new_names = HashSet::new();
            for (path, bytes) in &workspace.files {
                let wanted_name = format!("{folder}{path}");
                // If a renamed file already has the wanted name, this file is renamed too. If any other entry has the
                // wanted name, this file is left out.
                if out.has_entry(&wanted_name) && !new_names.contains(&wanted_name) {
                    losses.add(&wanted_name, "file", LossKind::LeftOut, "another file of the archive has this name");
                    continue;
                }
                let name = out.free_name(&wanted_name);
                let is_renamed = name != wanted_name;
                if is_renamed {
                    losses.add(&wanted_name, "file", LossKind::Narrowed, "renamed, as some systems refuse this name");
                    secrets.rename(wanted_name, &name);
                    new_names.insert(name.clone());
                }
                let mut bytes = bytes.as_slice();
                let digest = clear_secrets::write_redacted(out, &name, path, &mut bytes, losses)?;
                let Some(digest) = digest else { continue };
                let written_path = name.strip_prefix(&folder).unwrap_or(path).to_owned();
                match workspace.passthrough.get(path) {
                    None if is_renamed => {
                        let row = vec![Tree::Text(digest), Tree::Text(path.clone())];
                        from_records.push((written_path, Tree::Array(row)));
                    }
                    None => from_records.push((written_path, Tree::Text(digest))),
                    Some(owner) if is_renamed || owner.0 != workspace.main_scope => {
                        others.push((written_path, owner_row(owner)));
                    }
                    Some(_) => {}
                }
            }
            for path in key_files {
                if let Some(owner) = workspace.passthrough.get(path).filter(|owner| owner.0 != workspace.main_scope) {
                    others.push((path.clone(), owner_row(owner)));
                }
            }
            let mut row = vec![
                ("scope".to_owned(), Tree::Text(workspace.main_scope.clone())),
                ("files".to_owned(), Tree::Object(from_records)),
            ];
            if !others.is_empty() {
                row.push(("others".to_owned(), Tree::Object(others)));
            }
            manifest_rows.push((runtime.id.to_owned(), Tree::Object(row)));
        }
        Ok(manifest_rows)
    }
}

/// The manifest row of a file that has a different id space than its workspace or a different path in the archive: the
/// id space, and the path in the vault.
fn owner_row((scope, stored_path): &(String, String)) -> Tree {
    Tree::Array(vec![Tree::Text(scope.clone()), Tree::Text(stored_path.clone())])
}

/// The manifest's description of a raw entry.
pub(super) enum RawEntry<'k> {
    /// Runtime, path and digest of a file whose text is in records. If the entry's digest differs, another program
    /// changed the file.
    FromRecords(&'static str, &'k str, &'k str),
    /// Runtime, id space and path of a passthrough file of a workspace.
    Passthrough(&'static str, &'k str, &'k str),
}

/// The manifest's description of the workspaces under `raw/`. Trusted only if Mementory generated the manifest, and
/// only for id spaces of the stated runtime.
#[derive(Default)]
pub(super) struct ManifestWorkspaces {
    from_records: HashMap<String, (&'static str, String, String)>,
    passthrough: HashMap<String, (&'static str, String, String)>,
    scopes: HashMap<&'static str, String>,
}

impl ManifestWorkspaces {
    /// Reads a manifest. The result is empty for an archive of another program.
    pub(super) fn from_manifest(manifest: &Manifest) -> Self {
        let mut out = Self::default();
        let Some(Tree::Object(rows)) = manifest.vendor("workspaces").filter(|_| manifest.is_generated()) else {
            return out;
        };
        for (runtime, row) in rows {
            let Some(runtime) = by_id(runtime) else { continue };
            let is_valid = |scope: &str| is_scope_of(runtime, scope);
            let Some(scope) = row.get("scope").and_then(Tree::as_str).filter(|s| is_valid(s)) else { continue };
            out.scopes.insert(runtime.id, scope.to_owned());
            let name = |path: &str| format!("raw/{}/{path}", runtime.id);
            if let Some(Tree::Object(files)) = row.get("files") {
                // The row of a renamed file also has the original path.
                let file = |(path, row): &(String, Tree)| {
                    let (digest, original_path) = match row {
                        Tree::Text(digest) => (digest, path),
                        Tree::Array(parts) => match parts.as_slice() {
                            [Tree::Text(digest), Tree::Text(original_path)] => (digest, original_path),
                            _ => return None,
                        },
                        _ => return None,
                    };
                    Some((name(path), (runtime.id, original_path.clone(), digest.clone())))
                };
                out.from_records.extend(files.iter().filter_map(file));
            }
            if let Some(Tree::Object(others)) = row.get("others") {
                for (path, owner) in others {
                    if let Tree::Array(owner) = owner
                        && let [Tree::Text(scope), Tree::Text(stored_path)] = owner.as_slice()
                        && is_valid(scope)
                        && may_import(stored_path)
                    {
                        out.passthrough.insert(name(path), (runtime.id, scope.clone(), stored_path.clone()));
                    }
                }
            }
        }
        out
    }

    /// The manifest's description of an entry, if it lists the entry.
    pub(super) fn entry<'k>(&'k self, name: &'k str) -> Option<RawEntry<'k>> {
        if let Some((runtime, path, digest)) = self.from_records.get(name) {
            return Some(RawEntry::FromRecords(runtime, path, digest));
        }
        if let Some((runtime, scope, path)) = self.passthrough.get(name) {
            return Some(RawEntry::Passthrough(runtime, scope, path));
        }
        let (runtime, path) = name.strip_prefix("raw/")?.split_once('/')?;
        let (runtime, scope) = self.scopes.get_key_value(runtime)?;
        may_import(path).then_some(RawEntry::Passthrough(runtime, scope, path))
    }
}

/// True if an archive may write a file to this path of a workspace: a safe path that is not a bookkeeping file.
fn may_import(path: &str) -> bool {
    files::is_safe(path) && !files::is_bookkeeping(path)
}

/// Names of the raw entries whose text is in records according to the manifest. They are outdated once a record
/// changes.
pub(super) fn raw_files_from_records(manifest: &Manifest) -> HashSet<String> {
    ManifestWorkspaces::from_manifest(manifest).from_records.into_keys().collect()
}

/// A record source with only the records and passthrough files of one runtime.
struct RuntimeSource<'a> {
    source: &'a mut dyn RecordSource,
    runtime: &'static str,
}

impl RecordSource for RuntimeSource<'_> {
    fn description(&self) -> SourceDescription {
        self.source.description()
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let runtime = self.runtime;
        self.source.records(&mut |stored| if stored.record.origin.format == runtime { visit(stored) } else { Ok(()) })
    }
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        Ok(Vec::new())
    }
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        Ok(vec![self.runtime.to_owned()])
    }
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        if format == self.runtime { self.source.passthrough(format, visit) } else { Ok(()) }
    }
    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        self.source.attachment(id, read)
    }
}

impl WorkspaceFiles {
    /// True if the workspace files of the runtime with this id are exported.
    pub(super) fn contains_runtime(&self, format: &str) -> bool {
        self.runtimes.iter().any(|files| files.runtime.id == format)
    }
}
