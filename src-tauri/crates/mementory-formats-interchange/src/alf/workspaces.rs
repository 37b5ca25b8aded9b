//! Workspaces (OpenClaw, ZeroClaw) as the agents that they are (spec §6.1, §9): identity and person from their files, the
//! files themselves under `raw/<runtime>/`. A file that is made of records alone is listed with its digest, so that at
//! home it is not kept a second time beside them.
use super::container::Container;
use super::lineage::Lineage;
use super::manifest::Manifest;
use super::plan::{Plan, Row};
use super::sealed::Secrets;
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

/// What the archive's agent is called and where it lived, when everything in the file is one workspace.
#[derive(Debug, Clone)]
pub(super) struct Home {
    /// Its runtime.
    pub runtime: &'static str,
    /// Its name.
    pub name: String,
}

/// The runtime whose workspace a record came from.
pub(super) fn runtime_of(record: &Record) -> Option<&'static Runtime> {
    by_id(&record.origin.format)
}

/// Is this the id space of a workspace of that runtime?
pub(super) fn is_scope_of(runtime: &Runtime, scope: &str) -> bool {
    scope.strip_prefix(runtime.id).is_some_and(|rest| rest.len() > 1 && rest.starts_with(':'))
}

/// A runtime by its id.
pub(super) fn by_id(id: &str) -> Option<&'static Runtime> {
    [&OPENCLAW, &ZEROCLAW].into_iter().find(|r| r.id == id)
}

/// Is this one of the files that say who an agent is and whom it serves?
pub(super) fn is_profile(record: &Record) -> bool {
    record.kind == Kind::Profile && record.verbatim.is_some() && runtime_of(record).is_some()
}

/// An edited piece of a workspace's file with its text of now. The text of the file is the truth there: with the old one
/// beside it the edit would be lost on the way home.
pub(super) fn as_it_is_now(stored: &StoredRecord) -> Option<Record> {
    let text = |v: &Verbatim| v.media_type == "text/markdown";
    let edited =
        stored.edited && runtime_of(&stored.record).is_some() && stored.record.verbatim.as_ref().is_some_and(text);
    edited.then(|| {
        let mut record = stored.record.clone();
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text_of(stored) });
        record
    })
}

/// The agent's id: what the workspace says, else one that is always the same for its name.
pub(super) fn agent_of(scope: &str) -> String {
    let own = scope.split_once(':').map_or(scope, |(_, id)| id);
    match uuid::Uuid::parse_str(own) {
        Ok(id) => id.hyphenated().to_string(),
        Err(_) => super::partitions::stable_v5(&format!("agent:{scope}")).hyphenated().to_string(),
    }
}

/// Puts the profiles of the workspace that has most records into identity and principals; gives back those that have to
/// be lines. An agent's own identity stays the file's.
pub(super) fn settle(
    source: &mut dyn RecordSource,
    plan: &mut Plan,
    profiles: Vec<StoredRecord>,
) -> Result<Vec<StoredRecord>, FormatError> {
    let first = plan.homes.iter().max_by_key(|(_, n)| **n).map(|(scope, _)| scope.clone());
    let Some(scope) = first.filter(|_| plan.identity.is_none() && !plan.rows.contains_key("identity")) else {
        return Ok(profiles);
    };
    let (own, mut rest): (Vec<_>, Vec<_>) = profiles.into_iter().partition(|p| p.record.key.scope == scope);
    let runtime = scope.split(':').next().and_then(by_id).map_or("", |r| r.id);
    if !plan.strangers && plan.agents.is_empty() && plan.homes.len() == 1 {
        plan.agent = agent_of(&scope);
        let name = workspace_profile::name(&own).unwrap_or_else(|| "Agent".into());
        plan.home = Some(Home { runtime, name });
    }
    let (mut identity, mut persons) = (Vec::<StoredRecord>::new(), Vec::new());
    for stored in own {
        let block = stored.record.record_type.clone();
        // Each block is there once; a second file of its kind travels as a memory.
        match block.as_deref() {
            Some("user_profile") => persons.push(stored),
            _ if identity.iter().any(|p| p.record.record_type == block) => rest.push(stored),
            _ => identity.push(stored),
        }
    }
    let lineage = match identity.is_empty() {
        true => None,
        false => Some(Lineage::of(source, runtime, &scope, &identity)?),
    };
    let mut put = |layer: &'static str, text: String, covered: &[StoredRecord]| {
        plan.documented.extend(covered.iter().map(|p| p.id.clone()));
        let (value, scope, runtime) = (String::new(), String::new(), runtime.to_owned());
        plan.rows.entry(layer).or_default().push(Row { value, scope, runtime, text, file: None });
    };
    if let Some(lineage) = &lineage {
        let text = workspace_profile::identity(&identity, runtime, &plan.agent, lineage.version);
        put("identity", text, &identity);
    }
    for person in persons {
        let text = workspace_profile::principal(&person, runtime, &plan.agent);
        put("principals", text, std::slice::from_ref(&person));
    }
    plan.lineage = lineage;
    Ok(rest)
}

/// The files of all workspaces in scope.
#[derive(Default)]
pub(super) struct Files {
    of: Vec<Held>,
}

/// One runtime's files.
struct Held {
    runtime: &'static Runtime,
    workspace: Workspace,
    artifacts: Vec<Artifact>,
}

impl Files {
    /// Puts them together. Only an export of everything has them: of a selection they would say more than was selected.
    pub(super) fn gather(
        source: &mut dyn RecordSource,
        plan: &mut Plan,
        options: &WriteOptions,
        secrets: &mut Secrets,
    ) -> Result<Self, FormatError> {
        let mut out = Self::default();
        for runtime in [&OPENCLAW, &ZEROCLAW] {
            if !plan.homes.keys().any(|scope| scope.split(':').next() == Some(runtime.id)) {
                continue;
            }
            if !options.everything {
                let note = "the files of a workspace are in an export of everything only";
                plan.losses.add(runtime.id, "files", LossKind::LeftOut, note);
                continue;
            }
            let options = WriteOptions { everything: true, ..WriteOptions::default() };
            let mut own = Own { source, runtime: runtime.id };
            let mut workspace = match runtime.id {
                id if id == ZEROCLAW.id => zeroclaw::workspace(&mut own, &options)?,
                _ => Workspace::gather(runtime, &mut own, &options)?,
            };
            let artifacts = tiers::take(runtime, &mut workspace);
            for (path, bytes) in workspace.withhold(secrets.wanted()) {
                secrets.add(format!("raw/{}/{path}", runtime.id), bytes);
            }
            for loss in std::mem::take(&mut workspace.report.losses).items {
                plan.losses.add(&loss.record, &loss.field, loss.kind, &loss.note);
            }
            out.of.push(Held { runtime, workspace, artifacts });
        }
        Ok(out)
    }

    /// The files that the runtimes do not live on: what is below the threshold into the archive, and a row for each.
    /// `name` gives an entry's name that is free.
    pub(super) fn artifacts(
        &self,
        source: &mut dyn RecordSource,
        out: &mut Container,
        plan: &Plan,
        threshold: u64,
        name: &dyn Fn(&Container, &str, &str) -> String,
    ) -> Result<Vec<Row>, FormatError> {
        let mut rows = Vec::new();
        for Held { runtime, workspace, artifacts } in &self.of {
            let spoken_of = tiers::mentions(source, plan, &artifacts.iter().collect::<Vec<_>>())?;
            for (at, artifact) in artifacts.iter().enumerate() {
                let mut path = None;
                if (artifact.bytes.len() as u64) < threshold {
                    let name = name(out, &artifact.source, &tiers::row_id(artifact));
                    out.entry(&name, &mut artifact.bytes.as_slice())?;
                    path = Some(name);
                }
                let row = tiers::row(runtime, artifact, path.as_deref(), spoken_of.get(&at));
                rows.push(((&artifact.scope, &artifact.own), row));
            }
            for absent in &workspace.absent {
                let row = tiers::absent_row(runtime, &absent.scope, &absent.path, &absent.row);
                rows.push(((&absent.scope, &absent.path), row));
            }
        }
        // in one order, whether their bytes are there or not
        rows.sort_by_key(|(at, _)| *at);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Which of them stay behind.
    pub(super) fn too_large(&self, threshold: u64, losses: &mut LossReport) {
        for artifact in self.of.iter().flat_map(|held| &held.artifacts) {
            if artifact.bytes.len() as u64 >= threshold {
                losses.add(&artifact.source, "file", LossKind::LeftOut, &tiers::too_large(threshold));
            }
        }
    }

    /// Writes them; gives what the manifest says of them.
    pub(super) fn write(
        &self,
        out: &mut Container,
        losses: &mut LossReport,
    ) -> Result<Vec<(String, Tree)>, FormatError> {
        let mut said = Vec::new();
        for Held { runtime, workspace, .. } in &self.of {
            let (mut made, mut others) = (Vec::new(), Vec::new());
            for (path, bytes) in &workspace.files {
                let name = format!("raw/{}/{path}", runtime.id);
                if out.has(&name) {
                    losses.add(&name, "file", LossKind::LeftOut, "another file has its name in the archive");
                    continue;
                }
                let (_, digest) = out.entry(&name, &mut bytes.as_slice())?;
                match workspace.parts.get(path) {
                    None => made.push((path.clone(), Tree::Text(digest))),
                    Some((scope, own)) if *scope != workspace.first => {
                        let owner = vec![Tree::Text(scope.clone()), Tree::Text(own.clone())];
                        others.push((path.clone(), Tree::Array(owner)));
                    }
                    Some(_) => {}
                }
            }
            let mut row = vec![
                ("scope".to_owned(), Tree::Text(workspace.first.clone())),
                ("files".to_owned(), Tree::Object(made)),
            ];
            if !others.is_empty() {
                row.push(("others".to_owned(), Tree::Object(others)));
            }
            said.push((runtime.id.to_owned(), Tree::Object(row)));
        }
        Ok(said)
    }
}

/// What a raw entry of a file of ours is.
pub(super) enum RawEntry<'k> {
    /// Records make it, if it still has this digest: runtime and path.
    Made(&'static str, &'k str, &'k str),
    /// A part of a workspace: runtime, id space, path.
    Part(&'static str, &'k str, &'k str),
}

/// What the manifest says of the workspaces under `raw/`. Only a manifest that we made up is believed, and only about
/// workspaces of that runtime.
#[derive(Default)]
pub(super) struct Known {
    made: HashMap<String, (&'static str, String, String)>,
    parts: HashMap<String, (&'static str, String, String)>,
    scopes: HashMap<&'static str, String>,
}

impl Known {
    /// Reads it; empty for anybody else's file.
    pub(super) fn of(manifest: &Manifest) -> Self {
        let mut out = Self::default();
        let Some(Tree::Object(rows)) = manifest.keepsake("workspaces").filter(|_| manifest.generated()) else {
            return out;
        };
        for (runtime, row) in rows {
            let Some(runtime) = by_id(runtime) else { continue };
            let ours = |scope: &str| is_scope_of(runtime, scope);
            let Some(scope) = row.get("scope").and_then(Tree::as_str).filter(|s| ours(s)) else { continue };
            out.scopes.insert(runtime.id, scope.to_owned());
            let name = |path: &str| format!("raw/{}/{path}", runtime.id);
            if let Some(Tree::Object(files)) = row.get("files") {
                let digest = |(path, digest): &(String, Tree)| {
                    Some((name(path), (runtime.id, path.clone(), digest.as_str()?.to_owned())))
                };
                out.made.extend(files.iter().filter_map(digest));
            }
            if let Some(Tree::Object(others)) = row.get("others") {
                for (path, owner) in others {
                    if let Tree::Array(owner) = owner
                        && let [Tree::Text(scope), Tree::Text(own)] = owner.as_slice()
                        && ours(scope)
                        && may_bring(own)
                    {
                        out.parts.insert(name(path), (runtime.id, scope.clone(), own.clone()));
                    }
                }
            }
        }
        out
    }

    /// What an entry is; None when nothing is known of it.
    pub(super) fn entry<'k>(&'k self, name: &'k str) -> Option<RawEntry<'k>> {
        if let Some((runtime, path, digest)) = self.made.get(name) {
            return Some(RawEntry::Made(runtime, path, digest));
        }
        if let Some((runtime, scope, path)) = self.parts.get(name) {
            return Some(RawEntry::Part(runtime, scope, path));
        }
        let (runtime, path) = name.strip_prefix("raw/")?.split_once('/')?;
        let (runtime, scope) = self.scopes.get_key_value(runtime)?;
        may_bring(path).then_some(RawEntry::Part(runtime, scope, path))
    }
}

/// May an archive bring a file of this name into a workspace?
fn may_bring(path: &str) -> bool {
    files::is_safe(path) && !files::is_bookkeeping(path)
}

/// Raw files of an archive that its records make, by what its manifest says: stale once its records change.
pub(super) fn made_of_records(manifest: &Manifest) -> HashSet<String> {
    Known::of(manifest).made.into_keys().collect()
}

/// A source that holds one runtime's records and parts and nothing else.
struct Own<'a> {
    source: &'a mut dyn RecordSource,
    runtime: &'static str,
}

impl RecordSource for Own<'_> {
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

impl Files {
    /// Is everything of this runtime's workspaces in the archive?
    pub(super) fn holds(&self, format: &str) -> bool {
        self.of.iter().any(|held| held.runtime.id == format)
    }
}

/// Counts a record of a workspace.
pub(super) fn count(homes: &mut BTreeMap<String, u64>, record: &Record) -> bool {
    let from = runtime_of(record).is_some();
    if from {
        *homes.entry(record.key.scope.clone()).or_default() += 1;
    }
    from
}
