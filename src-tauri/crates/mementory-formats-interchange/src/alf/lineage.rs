//! Which version of its identity an agent had when it took a memory in (spec §3.1.10, §3.2.3). The files of a workspace say
//! neither: versions are counted by the times at which the vault took in another text of its profiles, and a memory has the
//! version of the time at which it came. In another vault those times are lost; what its archive said is kept beside the
//! workspace (`.keepsake/lineage.json`) and holds there.
use super::partitions::stable_v5;
use super::workspaces;
use mementory_format::{FormatError, RecordSource, StoredRecord};
use mementory_formats_vendor::openclaw::files::LINEAGE;
use mementory_model::{Kind, Record, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

/// What is kept is no larger than this.
const KEPT_BYTES: u64 = 64 << 20;

/// What an archive said, for a vault that did not see it happen.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The vault that counted.
    vault: String,
    /// Version of the identity.
    version: u64,
    /// Memories of another version, by their key.
    lines: BTreeMap<String, u64>,
}

/// A workspace's identity and its memories.
pub(super) struct Lineage {
    scope: String,
    /// Version of the identity now.
    pub version: u64,
    /// Memories of another version, by vault id.
    lines: HashMap<String, u64>,
}

/// By which a vault knows its own counting again.
pub(super) fn counted_by(vault_id: &str) -> String {
    stable_v5(&format!("lineage:{vault_id}")).to_string()
}

impl Lineage {
    /// Of the workspace with this id space, whose identity these profiles are.
    pub(super) fn of(
        source: &mut dyn RecordSource,
        runtime: &str,
        scope: &str,
        profiles: &[StoredRecord],
    ) -> Result<Self, FormatError> {
        let own = counted_by(&source.about().vault_id);
        let kept = kept(source, runtime, scope)?.filter(|kept| kept.vault != own);
        let mut times = BTreeSet::<Timestamp>::new();
        for profile in profiles {
            times.extend(source.taken_in(&profile.id)?);
        }
        let first = kept.as_ref().map_or(1, |kept| kept.version.max(1));
        let version = first.saturating_add(times.len().saturating_sub(1) as u64);
        let mut out = Self { scope: scope.to_owned(), version, lines: HashMap::new() };
        if version == 1 {
            return Ok(out);
        }
        let mut memories = Vec::new();
        source.records(&mut |stored| {
            if stored.record.kind != Kind::Profile && out.holds(&stored.record) {
                memories.push((stored.id, stored.record.key.value));
            }
            Ok(())
        })?;
        for (id, key) in memories {
            let said = kept.as_ref().and_then(|kept| kept.lines.get(&key).copied());
            let then = match said {
                Some(said) => said,
                None => {
                    let came = source.taken_in(&id)?.into_iter().next();
                    let before = came.map_or(times.len(), |came| times.iter().filter(|time| **time <= came).count());
                    first.saturating_add(before.saturating_sub(1) as u64)
                }
            };
            if then != version {
                out.lines.insert(id, then);
            }
        }
        Ok(out)
    }

    fn holds(&self, record: &Record) -> bool {
        record.key.scope == self.scope && workspaces::runtime_of(record).is_some()
    }

    /// The version that a memory belongs to; None = it is not of this workspace.
    pub(super) fn version_of(&self, stored: &StoredRecord) -> Option<u64> {
        self.holds(&stored.record).then(|| self.lines.get(&stored.id).copied().unwrap_or(self.version))
    }
}

fn kept(source: &mut dyn RecordSource, runtime: &str, scope: &str) -> Result<Option<Kept>, FormatError> {
    let mut out = None;
    source.passthrough(runtime, &mut |item, bytes| {
        if item.name == LINEAGE && item.group == scope {
            let mut text = Vec::new();
            bytes.take(KEPT_BYTES).read_to_end(&mut text).map_err(|e| FormatError::io(&item.name, e))?;
            // what cannot be read says nothing, as if it were not there
            out = serde_json::from_slice(&text).ok();
        }
        Ok(())
    })?;
    Ok(out)
}

/// What an archive of ours says of it, as it is read.
#[derive(Default)]
pub(super) struct Seen {
    /// The vault that counted, by the manifest.
    pub vault: Option<String>,
    /// Version of the identity.
    pub version: u64,
    lines: BTreeMap<(&'static str, String), BTreeMap<String, u64>>,
}

impl Seen {
    /// A memory that came back whole, and its line.
    pub(super) fn line(&mut self, record: &Record, line: &str) {
        if self.vault.is_some()
            && let Some(runtime) = workspaces::runtime_of(record)
            && let Some(version) = super::wire::identity_version(line)
        {
            let lines = self.lines.entry((runtime.id, record.key.scope.clone())).or_default();
            lines.insert(record.key.value.clone(), version);
        }
    }

    /// What is to be kept: runtime, id space, text.
    pub(super) fn kept(self) -> Vec<(&'static str, String, String)> {
        let Self { vault: Some(vault), version, lines } = self else { return vec![] };
        let text = |mut lines: BTreeMap<String, u64>| {
            lines.retain(|_, own| *own != version);
            serde_json::to_string(&Kept { vault: vault.clone(), version, lines }).ok()
        };
        lines.into_iter().filter_map(|((runtime, scope), lines)| Some((runtime, scope, text(lines)?))).collect()
    }
}
