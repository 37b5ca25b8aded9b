//! Exports the passthrough files of ALF archives: the files in `raw/`, unknown entries, skeletons (list documents
//! without their elements), and the manifest.
use super::archive_writer::ArchiveWriter;
use super::clear_secrets;
use super::first_pass::ExportPlan;
use super::manifest::MANIFEST_FILE;
use super::sealed_secrets::Secrets;
use mementory_format::{FormatError, PassthroughItem, RecordSource, folded_name};
use mementory_formats_agents::openclaw::{
    files::{self, FileRole},
    redact,
};
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// Size limit of a document that is assembled in memory, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 64 << 20;

/// The passthrough files that an export writes into the archive.
#[derive(Default)]
pub(super) struct PassthroughFiles {
    /// Id of the imported agent that is exported. None if the archive has several sources.
    pub agent: Option<String>,
    /// The agent's manifest.
    pub manifest: Option<String>,
    /// The agent's layer documents (skeletons, memory index, unknown layers) by name.
    pub layers: BTreeMap<String, String>,
    /// Names of the agent's entries that are neither the manifest nor layer documents.
    reserved: BTreeSet<String>,
    /// `reserved`, folded: names that some systems cannot distinguish, such as `a` and `A`, are equal. No generated
    /// entry may have one of these names.
    reserved_folded: BTreeSet<String>,
    groups: BTreeSet<String>,
    is_full_export: bool,
}

impl PassthroughFiles {
    /// First pass: reads the documents, and collects the names of all other passthrough files.
    pub(super) fn collect(
        source: &mut dyn RecordSource,
        plan: &ExportPlan,
        is_full_export: bool,
    ) -> Result<Self, FormatError> {
        let agent = plan.single_agent().map(str::to_owned);
        let mut passthrough = Self { agent, groups: plan.agents.clone(), is_full_export, ..Self::default() };
        source.passthrough("alf", &mut |item, bytes| {
            if passthrough.agent.as_deref() != Some(item.group.as_str()) {
                return Ok(());
            }
            if item.role != "manifest" && item.role != "layer" {
                passthrough.reserve(item);
                return Ok(());
            }
            let mut raw = Vec::new();
            let io = |e| FormatError::io(&item.name, e);
            bytes.take(MAX_DOCUMENT_BYTES).read_to_end(&mut raw).map_err(io)?;
            match (String::from_utf8(raw), item.role.as_str()) {
                (Ok(text), "manifest") => passthrough.manifest = Some(text),
                (Ok(text), _) => drop(passthrough.layers.insert(item.name.clone(), text)),
                (Err(_), _) => passthrough.reserve(item),
            }
            Ok(())
        })?;
        Ok(passthrough)
    }

    fn reserve(&mut self, item: &PassthroughItem) {
        self.reserved_folded.insert(folded_name(&item.name));
        self.reserved.insert(item.name.clone());
    }

    /// True if one of the reserved entries has exactly this name.
    pub(super) fn has_entry(&self, name: &str) -> bool {
        self.reserved.contains(name)
    }

    /// True if a reserved entry has this name, or a name that some systems cannot distinguish from this one.
    pub(super) fn is_reserved(&self, name: &str) -> bool {
        self.reserved_folded.contains(&folded_name(name))
    }

    /// Writes the passthrough files that are neither the manifest nor a layer document. In an archive of several
    /// sources, each file gets a unique name. Returns the rows for `mementory.entries` in the manifest: agent, original
    /// name and role of each file.
    pub(super) fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &mut ArchiveWriter,
        losses: &mut LossReport,
        secrets: &mut Secrets,
    ) -> Result<Vec<(String, Tree)>, FormatError> {
        let mut table = Vec::new();
        source.passthrough("alf", &mut |item, bytes| {
            if self.agent.as_deref() == Some(item.group.as_str()) {
                let is_assembled = item.name == MANIFEST_FILE || self.layers.contains_key(&item.name);
                if !is_assembled && !out.has_entry(&item.name) {
                    let name = out.free_name(&item.name);
                    write_entry(out, &name, item, bytes, losses, secrets)?;
                }
                return Ok(());
            }
            if self.agent.is_none() && (self.is_full_export || self.groups.contains(&item.group)) {
                let name = free_name(out, item);
                if !write_entry(out, &name, item, bytes, losses, &mut Secrets::default())? {
                    return Ok(());
                }
                let text = |t: &str| Tree::Text(t.to_owned());
                let row = [("group", &item.group), ("name", &item.name), ("role", &item.role)];
                table.push((name, Tree::Object(row.map(|(k, v)| (k.to_owned(), text(v))).to_vec())));
            }
            Ok(())
        })?;
        Ok(table)
    }
}

/// Writes a passthrough file unchanged, except for credentials, which no file of the archive may contain in the clear
/// (spec §8.3). A key file is left out, and secrets in a settings file are replaced; with a passphrase, the originals
/// of both are added to `secrets`. In all other files, keys and tokens are replaced, unless the whole archive is
/// encrypted. Returns true if an entry was written.
fn write_entry(
    out: &mut ArchiveWriter,
    name: &str,
    item: &PassthroughItem,
    bytes: &mut dyn Read,
    losses: &mut LossReport,
    secrets: &mut Secrets,
) -> Result<bool, FormatError> {
    let runtime_path = item.name.strip_prefix("raw/").and_then(|path| path.split_once('/')).map(|(_, path)| path);
    let role = runtime_path.map(files::role);
    if role == Some(FileRole::Secret) {
        // The whole content of a key file is a secret.
        if secrets.are_sealed() {
            let mut raw = Vec::new();
            bytes.take(MAX_DOCUMENT_BYTES).read_to_end(&mut raw).map_err(|e| FormatError::io(name, e))?;
            secrets.add(name.to_owned(), raw);
        } else {
            losses.add(&item.name, "secret", LossKind::LeftOut, "key files are not exported");
        }
        return Ok(false);
    }
    let mut write = |bytes: &mut dyn Read, losses: &mut LossReport| {
        clear_secrets::write_redacted(out, name, &item.name, bytes, losses).map(|digest| digest.is_some())
    };
    if role != Some(FileRole::Settings) {
        return write(bytes, losses);
    }
    let mut raw = Vec::new();
    (&mut *bytes).take(MAX_DOCUMENT_BYTES).read_to_end(&mut raw).map_err(|e| FormatError::io(name, e))?;
    let redacted = std::str::from_utf8(&raw).ok().map(redact::redact).filter(|(_, n)| *n > 0);
    if let Some((redacted, _)) = redacted {
        if secrets.are_sealed() {
            secrets.add(name.to_owned(), std::mem::take(&mut raw));
        } else {
            let note = "secrets in this settings file are replaced by <redacted>";
            losses.add(&item.name, "secret", LossKind::LeftOut, note);
        }
        raw = redacted.into_bytes();
    }
    write(&mut raw.as_slice().chain(bytes), losses)
}

fn free_name(out: &ArchiveWriter, item: &PassthroughItem) -> String {
    let group = match uuid::Uuid::parse_str(&item.group) {
        Ok(id) => id.to_string(),
        Err(_) => super::partitions::stable_v5(&format!("group:{}", item.group)).to_string(),
    };
    out.free_name(&format!("mementory/{group}/{}", item.name))
}
