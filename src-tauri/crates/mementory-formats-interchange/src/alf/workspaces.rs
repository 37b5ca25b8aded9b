//! Exports workspaces (OpenClaw, ZeroClaw) as agents (spec §6.1, §9): identity and principal from their files, the files
//! themselves under `raw/<runtime>/`. The manifest lists files made only of records with their digests, so that an import
//! does not store their text a second time.
use super::archive_writer::ArchiveWriter;
use super::first_pass::{ExportPlan, Row};
use super::lineage::Lineage;
use super::manifest::Manifest;
use super::sealed_secrets::Secrets;
use super::tiers::{self, Artifact};
use super::workspace_profile;
use mementory_format::{FormatError, PassthroughItem, RecordSource, SourceAbout, StoredRecord, WriteOptions};
use mementory_formats_vendor::openclaw::{
    OPENCLAW, Runtime, files,
    write::{Workspace, text_of},
};
use mementory_formats_vendor::zeroclaw::{self, ZEROCLAW};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, LossReport, Record, Tombstone, Verbatim};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

/// Runtime and name of the archive's agent, when everything in the archive is from one workspace.
#[derive(Debug, Clone)]
pub(super) struct SoleWorkspace {
    /// Id of the runtime.
    pub runtime: &'static str,
    /// Name of the agent.
    pub name: String,
}

/// The runtime whose workspace a record came from.
pub(super) fn runtime_of(record: &Record) -> Option<&'static Runtime> {
    by_id(&record.origin.format)
}

/// True for the id space of a workspace of that runtime.
pub(super) fn is_scope_of(runtime: &Runtime, scope: &str) -> bool {
    scope.strip_prefix(runtime.id).is_some_and(|id| id.len() > 1 && id.starts_with(':'))
}

/// A runtime by its id.
pub(super) fn by_id(id: &str) -> Option<&'static Runtime> {
    [&OPENCLAW, &ZEROCLAW].into_iter().find(|r| r.id == id)
}

/// True for the record of a profile file, which describes the agent or its user.
pub(super) fn is_profile(record: &Record) -> bool {
    record.kind == Kind::Profile && record.verbatim.is_some() && runtime_of(record).is_some()
}

/// An edited workspace record with its verbatim text updated; None for any other record. A workspace is restored from the
/// verbatim texts, so the edit would be lost otherwise.
pub(super) fn with_current_text(stored: &StoredRecord) -> Option<Record> {
    let text = |v: &Verbatim| v.media_type == "text/markdown";
    let edited =
        stored.edited && runtime_of(&stored.record).is_some() && stored.record.verbatim.as_ref().is_some_and(text);
    edited.then(|| {
        let mut record = stored.record.clone();
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text_of(stored) });
        record
    })
}

/// The agent's id: the one that the workspace states, else one derived from its id space.
pub(super) fn agent_of(scope: &str) -> String {
    let id = scope.split_once(':').map_or(scope, |(_, id)| id);
    match uuid::Uuid::parse_str(id) {
        Ok(id) => id.hyphenated().to_string(),
        Err(_) => super::partitions::stable_v5(&format!("agent:{scope}")).hyphenated().to_string(),
    }
}

/// Puts the profiles of the workspace with the most records into identity and principals, unless an imported agent has an
/// identity already. Gives back the profiles that have to become memory lines.
pub(super) fn add_profiles(
    source: &mut dyn RecordSource,
    plan: &mut ExportPlan,
    profiles: Vec<StoredRecord>,
) -> Result<Vec<StoredRecord>, FormatError> {
    let largest = plan.workspaces.iter().max_by_key(|(_, n)| **n).map(|(scope, _)| scope.clone());
    let Some(scope) = largest.filter(|_| plan.identity.is_none() && !plan.rows.contains_key("identity")) else {
        return Ok(profiles);
    };
    let (of_workspace, mut as_lines): (Vec<_>, Vec<_>) =
        profiles.into_iter().partition(|p| p.record.key.scope == scope);
    let runtime = scope.split(':').next().and_then(by_id).map_or("", |r| r.id);
    if !plan.has_other_formats && plan.agents.is_empty() && plan.workspaces.len() == 1 {
        plan.agent = agent_of(&scope);
        let name = workspace_profile::name(&of_workspace).unwrap_or_else(|| "Agent".into());
        plan.sole_workspace = Some(SoleWorkspace { runtime, name });
    }
    let (mut identity, mut persons) = (Vec::<StoredRecord>::new(), Vec::new());
    for stored in of_workspace {
        let block = stored.record.record_type.clone();
        // an identity has each block once; a second file for a block becomes a memory line
        match block.as_deref() {
            Some("user_profile") => persons.push(stored),
            _ if identity.iter().any(|p| p.record.record_type == block) => as_lines.push(stored),
            _ => identity.push(stored),
        }
    }
    let lineage = match identity.is_empty() {
        true => None,
        false => Some(Lineage::count(source, runtime, &scope, &identity)?),
    };
    let mut add_row = |layer: &'static str, text: String, profiles: &[StoredRecord]| {
        plan.in_documents.extend(profiles.iter().map(|p| p.id.clone()));
        let (value, scope, runtime) = (String::new(), String::new(), runtime.to_owned());
        plan.rows.entry(layer).or_default().push(Row { value, scope, runtime, text, file: None });
    };
    if let Some(lineage) = &lineage {
        let text = workspace_profile::identity(&identity, runtime, &plan.agent, lineage.version);
        add_row("identity", text, &identity);
    }
    for person in persons {
        let text = workspace_profile::principal(&person, runtime, &plan.agent);
        add_row("principals", text, std::slice::from_ref(&person));
    }
    plan.lineage = lineage;
    Ok(as_lines)
}

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
}

impl WorkspaceFiles {
    /// Assembles the files. Only an export of everything has them: they would reveal more than a selection.
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
            let mut of_runtime = RuntimeSource { source, runtime: runtime.id };
            let mut workspace = match runtime.id {
                id if id == ZEROCLAW.id => zeroclaw::workspace(&mut of_runtime, &options)?,
                _ => Workspace::collect(runtime, &mut of_runtime, &options)?,
            };
            let artifacts = tiers::take_artifacts(runtime, &mut workspace);
            for (path, bytes) in workspace.remove_secrets(secrets.are_sealed()) {
                secrets.add(format!("raw/{}/{path}", runtime.id), bytes);
            }
            for loss in std::mem::take(&mut workspace.report.losses).items {
                plan.losses.add(&loss.record, &loss.field, loss.kind, &loss.note);
            }
            out.runtimes.push(RuntimeFiles { runtime, workspace, artifacts });
        }
        Ok(out)
    }

    /// Writes the artifacts below the threshold into the archive, and gives the index row of every artifact. `name` finds an
    /// unused entry name.
    pub(super) fn artifacts(
        &self,
        source: &mut dyn RecordSource,
        out: &mut ArchiveWriter,
        plan: &ExportPlan,
        threshold: u64,
        name: &dyn Fn(&ArchiveWriter, &str, &str) -> String,
    ) -> Result<Vec<Row>, FormatError> {
        let mut rows = Vec::new();
        for RuntimeFiles { runtime, workspace, artifacts } in &self.runtimes {
            let lines = tiers::lines_by_artifact(source, plan, &artifacts.iter().collect::<Vec<_>>())?;
            for (at, artifact) in artifacts.iter().enumerate() {
                let mut path = None;
                if (artifact.bytes.len() as u64) < threshold {
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
        // sorted, so that the order does not depend on which bytes are present
        rows.sort_by_key(|(at, _)| *at);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Reports the artifacts that are too large.
    pub(super) fn report_too_large(&self, threshold: u64, losses: &mut LossReport) {
        for artifact in self.runtimes.iter().flat_map(|files| &files.artifacts) {
            if artifact.bytes.len() as u64 >= threshold {
                losses.add(&artifact.source_path, "file", LossKind::LeftOut, &tiers::too_large_note(threshold));
            }
        }
    }

    /// Writes the raw files; gives the rows that describe them in the manifest.
    pub(super) fn write(
        &self,
        out: &mut ArchiveWriter,
        losses: &mut LossReport,
    ) -> Result<Vec<(String, Tree)>, FormatError> {
        let mut manifest_rows = Vec::new();
        for RuntimeFiles { runtime, workspace, .. } in &self.runtimes {
            let (mut from_records, mut others) = (Vec::new(), Vec::new());
            for (path, bytes) in &workspace.files {
                let name = format!("raw/{}/{path}", runtime.id);
                if out.has(&name) {
                    losses.add(&name, "file", LossKind::LeftOut, "another file of the archive has this name");
                    continue;
                }
                let (_, digest) = out.entry(&name, &mut bytes.as_slice())?;
                match workspace.passthrough.get(path) {
                    None => from_records.push((path.clone(), Tree::Text(digest))),
                    Some((scope, stored_path)) if *scope != workspace.main_scope => {
                        let owner = vec![Tree::Text(scope.clone()), Tree::Text(stored_path.clone())];
                        others.push((path.clone(), Tree::Array(owner)));
                    }
                    Some(_) => {}
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

/// What a raw entry of an archive of ours is.
pub(super) enum RawEntry<'k> {
    /// A file made of records, if it still has this digest: runtime, path, digest.
    FromRecords(&'static str, &'k str, &'k str),
    /// A passthrough file of a workspace: runtime, id space, path.
    Passthrough(&'static str, &'k str, &'k str),
}

/// What the manifest states about the workspaces under `raw/`. Only a manifest that we generated is trusted, and only for
/// workspaces of the runtime that it names.
#[derive(Default)]
pub(super) struct ManifestWorkspaces {
    from_records: HashMap<String, (&'static str, String, String)>,
    passthrough: HashMap<String, (&'static str, String, String)>,
    scopes: HashMap<&'static str, String>,
}

impl ManifestWorkspaces {
    /// Reads the manifest; empty for an archive of another program.
    pub(super) fn of(manifest: &Manifest) -> Self {
        let mut out = Self::default();
        let Some(Tree::Object(rows)) = manifest.vendor("workspaces").filter(|_| manifest.generated()) else {
            return out;
        };
        for (runtime, row) in rows {
            let Some(runtime) = by_id(runtime) else { continue };
            let is_valid = |scope: &str| is_scope_of(runtime, scope);
            let Some(scope) = row.get("scope").and_then(Tree::as_str).filter(|s| is_valid(s)) else { continue };
            out.scopes.insert(runtime.id, scope.to_owned());
            let name = |path: &str| format!("raw/{}/{path}", runtime.id);
            if let Some(Tree::Object(files)) = row.get("files") {
                let digest = |(path, digest): &(String, Tree)| {
                    Some((name(path), (runtime.id, path.clone(), digest.as_str()?.to_owned())))
                };
                out.from_records.extend(files.iter().filter_map(digest));
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

    /// What an entry is; None when the manifest does not list it.
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

/// True for a path at which an archive may bring a file into a workspace.
fn may_import(path: &str) -> bool {
    files::is_safe(path) && !files::is_bookkeeping(path)
}

/// Raw entries that the manifest lists as made of records, so that they are outdated when the records change.
pub(super) fn raw_files_from_records(manifest: &Manifest) -> HashSet<String> {
    ManifestWorkspaces::of(manifest).from_records.into_keys().collect()
}

/// A source with only the records and passthrough files of one runtime.
struct RuntimeSource<'a> {
    source: &'a mut dyn RecordSource,
    runtime: &'static str,
}

impl RecordSource for RuntimeSource<'_> {
    fn about(&self) -> SourceAbout {
        self.source.about()
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
    /// True when the archive contains the workspace files of this runtime.
    pub(super) fn contains_runtime(&self, format: &str) -> bool {
        self.runtimes.iter().any(|files| files.runtime.id == format)
    }
}

/// Counts a record if it is of a workspace; false if it is not.
pub(super) fn count_record(counts: &mut BTreeMap<String, u64>, record: &Record) -> bool {
    let is_workspace = runtime_of(record).is_some();
    if is_workspace {
        *counts.entry(record.key.scope.clone()).or_default() += 1;
    }
    is_workspace
}
