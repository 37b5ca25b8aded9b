//! The identity version under which an agent made each memory (spec §3.1.10, §3.2.3). Workspace files do not contain
//! this version, so the vault derives it: each import of a changed profile text starts a new version, and a memory gets
//! the version that was current when it was imported. Another vault that imports the archive cannot derive the
//! versions, because it does not know the import times. Instead it stores the archive's versions in a workspace file,
//! `.mementory/lineage.json`.
use super::partitions::stable_v5;
use super::workspace_origin::runtime_of;
use mementory_format::{FormatError, RecordSource, StoredRecord};
use mementory_formats_agents::openclaw::files::{LINEAGE_FILE, is_our_file};
use mementory_model::{Kind, Record, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

/// Size limit of a stored lineage file in bytes.
const MAX_LINEAGE_BYTES: u64 = 64 << 20;

/// The versions stated in an archive from another vault.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct StoredLineage {
    /// Id of the vault that counted the versions.
    vault: String,
    /// Current version of the identity.
    version: u64,
    /// Version of each memory whose version is not the current one, by the memory's key.
    lines: BTreeMap<String, u64>,
}

/// The version of a workspace's identity, and the versions under which its memories were made.
pub(super) struct Lineage {
    scope: String,
    /// Current version of the identity.
    pub version: u64,
    /// Version of each memory whose version is not the current one, by vault id.
    lines: HashMap<String, u64>,
}

/// An id by which a vault recognises versions that it counted itself. It is a digest, so it does not reveal the vault
/// id.
pub(super) fn version_counter_id(vault_id: &str) -> String {
    stable_v5(&format!("lineage:{vault_id}")).to_string()
}

impl Lineage {
    /// Counts the versions of the workspace with this id space. `profiles` are the records of its identity.
    pub(super) fn count_versions(
        source: &mut dyn RecordSource,
        runtime: &str,
        scope: &str,
        profiles: &[StoredRecord],
    ) -> Result<Self, FormatError> {
        let this_vault = version_counter_id(&source.description().vault_id);
        let stored = stored_lineage(source, runtime, scope)?.filter(|stored| stored.vault != this_vault);
        let mut times = BTreeSet::<Timestamp>::new();
        for profile in profiles {
            times.extend(source.import_times(&profile.id)?);
        }
        let first_version = stored.as_ref().map_or(1, |stored| stored.version.max(1));
        let version = first_version.saturating_add(times.len().saturating_sub(1) as u64);
        let mut out = Self { scope: scope.to_owned(), version, lines: HashMap::new() };
        if version == 1 {
            return Ok(out);
        }
        let mut memories = Vec::new();
        source.records(&mut |stored| {
            if stored.record.kind != Kind::Profile && out.is_from_workspace(&stored.record) {
                memories.push((stored.id, stored.record.key.value));
            }
            Ok(())
        })?;
        for (id, key) in memories {
            let stated_version = stored.as_ref().and_then(|stored| stored.lines.get(&key).copied());
            let version_at_import = match stated_version {
                Some(stated_version) => stated_version,
                None => {
                    let import_time = source.import_times(&id)?.into_iter().next();
                    let earlier_count =
                        import_time.map_or(times.len(), |at| times.iter().filter(|time| **time <= at).count());
                    first_version.saturating_add(earlier_count.saturating_sub(1) as u64)
                }
            };
            if version_at_import != version {
                out.lines.insert(id, version_at_import);
            }
        }
        Ok(out)
    }

    fn is_from_workspace(&self, record: &Record) -> bool {
        record.key.scope == self.scope && runtime_of(record).is_some()
    }

    /// The version of a memory. None if the memory is not from this workspace.
    pub(super) fn version_of(&self, stored: &StoredRecord) -> Option<u64> {
        self.is_from_workspace(&stored.record).then(|| self.lines.get(&stored.id).copied().unwrap_or(self.version))
    }
}

fn stored_lineage(
    source: &mut dyn RecordSource,
    runtime: &str,
    scope: &str,
) -> Result<Option<StoredLineage>, FormatError> {
    let mut out = None;
    source.passthrough(runtime, &mut |item, bytes| {
        if is_our_file(&item.name, LINEAGE_FILE) && item.group == scope {
            let mut text = Vec::new();
            bytes.take(MAX_LINEAGE_BYTES).read_to_end(&mut text).map_err(|e| FormatError::io(&item.name, e))?;
            // A file that cannot be parsed is ignored.
            out = serde_json::from_slice(&text).ok();
        }
        Ok(())
    })?;
    Ok(out)
}

/// Collects the versions that an archive states, while the archive is read.
#[derive(Default)]
pub(super) struct LineageCollector {
    /// Id from the manifest that identifies the vault that counted the versions (see [`version_counter_id`]). None if
    /// the manifest has no such id.
    pub vault: Option<String>,
    /// Version of the identity.
    pub version: u64,
    lines: BTreeMap<(&'static str, String), BTreeMap<String, u64>>,
}

impl LineageCollector {
    /// Adds the version that a memory's line states. Called only for memories that were restored unchanged from their
    /// extension slots.
    pub(super) fn add_line(&mut self, record: &Record, line: &str) {
        if self.vault.is_some()
            && let Some(runtime) = runtime_of(record)
            && let Some(version) = super::wire::identity_version(line)
        {
            let lines = self.lines.entry((runtime.id, record.key.scope.clone())).or_default();
            lines.insert(record.key.value.clone(), version);
        }
    }

    /// Runtime, id space and text of each lineage file to be stored.
    pub(super) fn into_files(self) -> Vec<(&'static str, String, String)> {
        let Self { vault: Some(vault), version, lines } = self else { return vec![] };
        let text = |mut lines: BTreeMap<String, u64>| {
            lines.retain(|_, stated| *stated != version);
            serde_json::to_string(&StoredLineage { vault: vault.clone(), version, lines }).ok()
        };
        lines.into_iter().filter_map(|((runtime, scope), lines)| Some((runtime, scope, text(lines)?))).collect()
    }
}
