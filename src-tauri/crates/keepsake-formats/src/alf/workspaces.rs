//! Workspaces (OpenClaw, ZeroClaw) as the agents that they are (spec §6.1, §9): identity and person from their files, the
//! files themselves under `raw/<runtime>/`. A file that is made of records alone is listed with its digest, so that at
//! home it is not kept a second time beside them.
use super::container::Container;
use super::plan::{Plan, Row};
use super::sealed::Secrets;
use super::workspace_profile;
use crate::openclaw::{OPENCLAW, Runtime, write::Workspace};
use crate::zeroclaw::{self, ZEROCLAW};
use crate::{FormatError, PassthroughItem, RecordSource, SourceAbout, StoredRecord, WriteOptions};
use keepsake_model::json::Tree;
use keepsake_model::{Kind, LossKind, LossReport, Record, Tombstone};
use std::collections::BTreeMap;
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

fn by_id(id: &str) -> Option<&'static Runtime> {
    [&OPENCLAW, &ZEROCLAW].into_iter().find(|r| r.id == id)
}

/// Is this one of the files that say who an agent is and whom it serves?
pub(super) fn is_profile(record: &Record) -> bool {
    record.kind == Kind::Profile && record.verbatim.is_some() && runtime_of(record).is_some()
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
pub(super) fn settle(plan: &mut Plan, profiles: Vec<StoredRecord>) -> Vec<StoredRecord> {
    let first = plan.homes.iter().max_by_key(|(_, n)| **n).map(|(scope, _)| scope.clone());
    let Some(scope) = first.filter(|_| plan.identity.is_none() && !plan.rows.contains_key("identity")) else {
        return profiles;
    };
    let (own, mut rest): (Vec<_>, Vec<_>) = profiles.into_iter().partition(|p| p.record.key.scope == scope);
    let runtime = scope.split(':').next().and_then(by_id).map_or("", |r| r.id);
    if !plan.strangers && plan.agents.is_empty() && plan.homes.len() == 1 {
        plan.agent = agent_of(&scope);
        let name = workspace_profile::name(&own).unwrap_or_else(|| "Agent".into());
        plan.home = Some(Home { runtime, name });
    }
    let (mut identity, mut persons) = (Vec::new(), Vec::new());
    for stored in own {
        match stored.record.record_type.as_deref() {
            Some("user_profile") => persons.push(stored),
            Some("aieos")
                if identity.iter().any(|p: &StoredRecord| p.record.record_type.as_deref() == Some("aieos")) =>
            {
                rest.push(stored);
            }
            _ => identity.push(stored),
        }
    }
    let mut put = |layer: &'static str, text: String, covered: &[StoredRecord]| {
        plan.documented.extend(covered.iter().map(|p| p.id.clone()));
        let (value, scope, runtime) = (String::new(), String::new(), runtime.to_owned());
        plan.rows.entry(layer).or_default().push(Row { value, scope, runtime, text, file: None });
    };
    if !identity.is_empty() {
        let text = workspace_profile::identity(&identity, runtime, &plan.agent);
        put("identity", text, &identity);
    }
    for person in persons {
        let text = workspace_profile::principal(&person, runtime, &plan.agent);
        put("principals", text, std::slice::from_ref(&person));
    }
    rest
}

/// The files of all workspaces in scope.
#[derive(Default)]
pub(super) struct Files {
    of: Vec<(&'static Runtime, String, Workspace)>,
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
            let scopes = plan.homes.iter().filter(|(scope, _)| scope.split(':').next() == Some(runtime.id));
            let Some(scope) = scopes.max_by_key(|(_, n)| **n).map(|(scope, _)| scope.clone()) else { continue };
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
            for (path, bytes) in workspace.withhold(secrets.wanted()) {
                secrets.add(format!("raw/{}/{path}", runtime.id), bytes);
            }
            for loss in std::mem::take(&mut workspace.report.losses).items {
                plan.losses.add(&loss.record, &loss.field, loss.kind, &loss.note);
            }
            out.of.push((runtime, scope, workspace));
        }
        Ok(out)
    }

    /// Writes them; gives what the manifest says of them.
    pub(super) fn write(
        self,
        out: &mut Container,
        losses: &mut LossReport,
    ) -> Result<Vec<(String, Tree)>, FormatError> {
        let mut said = Vec::new();
        for (runtime, scope, workspace) in self.of {
            let mut made = Vec::new();
            for (path, bytes) in &workspace.files {
                let name = format!("raw/{}/{path}", runtime.id);
                if out.has(&name) {
                    losses.add(&name, "file", LossKind::LeftOut, "another file has its name in the archive");
                    continue;
                }
                let (_, digest) = out.entry(&name, &mut bytes.as_slice())?;
                if !workspace.parts.contains(path) {
                    made.push((path.clone(), Tree::Text(digest)));
                }
            }
            let row = vec![("scope".to_owned(), Tree::Text(scope)), ("files".to_owned(), Tree::Object(made))];
            said.push((runtime.id.to_owned(), Tree::Object(row)));
        }
        Ok(said)
    }
}

/// What a raw entry of a file of ours is, by what the manifest says of its workspace.
pub(super) enum RawEntry<'m> {
    /// Records make it, if it still has this digest.
    Made(&'m str),
    /// A part of the workspace: runtime, id space, path.
    Part(&'static str, &'m str, &'m str),
}

/// Looks a raw entry up.
pub(super) fn raw_entry<'m>(workspaces: Option<&'m Tree>, name: &'m str) -> Option<RawEntry<'m>> {
    let (runtime, path) = name.strip_prefix("raw/")?.split_once('/')?;
    let runtime = by_id(runtime)?;
    let row = workspaces?.get(runtime.id)?;
    if let Some(digest) = row.get("files").and_then(|f| f.get(path)).and_then(Tree::as_str) {
        return Some(RawEntry::Made(digest));
    }
    let scope = row.get("scope").and_then(Tree::as_str).filter(|s| s.starts_with(runtime.id))?;
    crate::openclaw::files::is_safe(path).then_some(RawEntry::Part(runtime.id, scope, path))
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

/// Counts a record of a workspace.
pub(super) fn count(homes: &mut BTreeMap<String, u64>, record: &Record) -> bool {
    let from = runtime_of(record).is_some();
    if from {
        *homes.entry(record.key.scope.clone()).or_default() += 1;
    }
    from
}
