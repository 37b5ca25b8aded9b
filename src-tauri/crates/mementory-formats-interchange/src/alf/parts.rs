//! Parts of ALF files that are no records (`raw/`, unknown entries, skeletons, the manifest), on their way back out.
use super::container::Container;
use super::manifest::MANIFEST;
use super::plan::Plan;
use super::sealed::Secrets;
use mementory_format::{FormatError, PassthroughItem, RecordSource};
use mementory_formats_vendor::openclaw::{
    files::{self, FileRole},
    redact,
};
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// A document that is held in memory while its file is put together is no larger than this.
const DOCUMENT_BYTES: u64 = 64 << 20;

/// The parts that go into this file.
#[derive(Default)]
pub(super) struct Parts {
    /// The agent whose own file this is; None = a file of several sources.
    pub agent: Option<String>,
    /// Its manifest.
    pub manifest: Option<String>,
    /// Its layer documents (skeletons, index, unknown layers) by name.
    pub layers: BTreeMap<String, String>,
    /// Names that its other entries need.
    pub reserved: BTreeSet<String>,
    groups: BTreeSet<String>,
    everything: bool,
}

impl Parts {
    /// Looks at all parts once.
    pub(super) fn survey(source: &mut dyn RecordSource, plan: &Plan, everything: bool) -> Result<Self, FormatError> {
        let agent = plan.single_agent().map(str::to_owned);
        let mut parts = Self { agent, groups: plan.agents.clone(), everything, ..Self::default() };
        source.passthrough("alf", &mut |item, bytes| {
            if parts.agent.as_deref() != Some(item.group.as_str()) {
                return Ok(());
            }
            if item.role != "manifest" && item.role != "layer" {
                parts.reserved.insert(item.name.clone());
                return Ok(());
            }
            let mut raw = Vec::new();
            let io = |e| FormatError::io(&item.name, e);
            bytes.take(DOCUMENT_BYTES).read_to_end(&mut raw).map_err(io)?;
            match (String::from_utf8(raw), item.role.as_str()) {
                (Ok(text), "manifest") => parts.manifest = Some(text),
                (Ok(text), _) => drop(parts.layers.insert(item.name.clone(), text)),
                (Err(_), _) => drop(parts.reserved.insert(item.name.clone())),
            }
            Ok(())
        })?;
        Ok(parts)
    }

    /// Streams every other part in. In a file of several sources each gets a name of its own, and the manifest will
    /// say (`keepsake.entries`) whose it is and how it was called. Gives that table.
    pub(super) fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &mut Container,
        losses: &mut LossReport,
        secrets: &mut Secrets,
    ) -> Result<Vec<(String, Tree)>, FormatError> {
        let mut table = Vec::new();
        source.passthrough("alf", &mut |item, bytes| {
            if self.agent.as_deref() == Some(item.group.as_str()) {
                let assembled = item.name == MANIFEST || self.layers.contains_key(&item.name);
                if !assembled && !out.has(&item.name) {
                    entry(out, &item.name, item, bytes, losses, secrets)?;
                }
                return Ok(());
            }
            if self.agent.is_none() && (self.everything || self.groups.contains(&item.group)) {
                let name = free_name(out, item);
                entry(out, &name, item, bytes, losses, &mut Secrets::default())?;
                let text = |t: &str| Tree::Text(t.to_owned());
                let row = [("group", &item.group), ("name", &item.name), ("role", &item.role)];
                table.push((name, Tree::Object(row.map(|(k, v)| (k.to_owned(), text(v))).to_vec())));
            }
            Ok(())
        })?;
        Ok(table)
    }
}

/// A part as it came; of a runtime's settings files everything but their secrets (spec §8.3: no credential in the clear in
/// any file of the archive).
fn entry(
    out: &mut Container,
    name: &str,
    item: &PassthroughItem,
    bytes: &mut dyn Read,
    losses: &mut LossReport,
    secrets: &mut Secrets,
) -> Result<(), FormatError> {
    let inner = item.name.strip_prefix("raw/").and_then(|rest| rest.split_once('/')).map(|(_, path)| path);
    let role = inner.map(files::role);
    if role == Some(FileRole::Secret) {
        // A key file has nothing but its secret.
        if secrets.wanted() {
            let mut raw = Vec::new();
            bytes.take(DOCUMENT_BYTES).read_to_end(&mut raw).map_err(|e| FormatError::io(name, e))?;
            secrets.add(name.to_owned(), raw);
        } else {
            losses.add(&item.name, "secret", LossKind::LeftOut, "a key file is not written out");
        }
        return Ok(());
    }
    if role != Some(FileRole::Settings) {
        return out.entry(name, bytes).map(drop);
    }
    let mut raw = Vec::new();
    (&mut *bytes).take(DOCUMENT_BYTES).read_to_end(&mut raw).map_err(|e| FormatError::io(name, e))?;
    let clean = std::str::from_utf8(&raw).ok().map(redact::redact).filter(|(_, n)| *n > 0);
    if let Some((clean, _)) = clean {
        if secrets.wanted() {
            secrets.add(name.to_owned(), std::mem::take(&mut raw));
        } else {
            let note = "secrets of a settings file are written as <redacted>";
            losses.add(&item.name, "secret", LossKind::LeftOut, note);
        }
        raw = clean.into_bytes();
    }
    out.entry(name, &mut raw.as_slice().chain(bytes)).map(drop)
}

fn free_name(out: &Container, item: &PassthroughItem) -> String {
    let group = match uuid::Uuid::parse_str(&item.group) {
        Ok(id) => id.to_string(),
        Err(_) => super::partitions::stable_v5(&format!("group:{}", item.group)).to_string(),
    };
    let first = format!("mementory/{group}/{}", item.name);
    let mut name = first.clone();
    let mut n = 2;
    while out.has(&name) {
        name = format!("{first}~{n}");
        n += 1;
    }
    name
}
