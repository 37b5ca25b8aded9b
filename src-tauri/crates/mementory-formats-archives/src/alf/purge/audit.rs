//! The audit record of a deletion (spec §3.1.11): what was deleted, from where, why and when, without any content.
use super::super::partitions::stable_v7;
use super::PurgeOptions;
use mementory_format::{FormatError, PurgeReport};
use mementory_model::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The audit record of a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Id of the deletion.
    pub purge_id: String,
    /// Id of the agent.
    pub agent_id: String,
    /// `record_purge` or `full_agent`.
    pub scope: String,
    /// Ids of the records. None if the whole agent was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_ids: Option<Vec<String>>,
    /// Entry names of the partitions that contained the records. All partitions if the whole agent was deleted.
    pub partitions_affected: Vec<String>,
    /// Reason for the deletion.
    pub reason: String,
    /// Time of the request, in RFC 3339.
    pub requested_at: String,
    /// Time of completion, in RFC 3339. None in a dry run, and while files remain to be changed.
    pub completed_at: Option<String>,
    /// Id of the principal who requested the deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    /// Names of the files that still have to be changed. Empty once the deletion is complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

impl Audit {
    fn new(agent: &str, scope: &str, seed: &str, partitions: Vec<String>, options: &PurgeOptions) -> Self {
        Self {
            purge_id: stable_v7(options.now, &format!("purge:{agent}:{scope}:{seed}")).hyphenated().to_string(),
            agent_id: agent.to_owned(),
            scope: scope.to_owned(),
            record_ids: None,
            partitions_affected: partitions,
            reason: options.reason.clone(),
            requested_at: options.now.to_rfc3339(),
            completed_at: None,
            requested_by: options.requested_by.clone(),
            left: vec![],
        }
    }

    pub(super) fn of_records(
        agent: &str,
        ids: &BTreeSet<String>,
        partitions: Vec<String>,
        options: &PurgeOptions,
    ) -> Self {
        let ids: Vec<String> = ids.iter().cloned().collect();
        let audit = Self::new(agent, "record_purge", &ids.join(","), partitions, options);
        Self { record_ids: Some(ids), ..audit }
    }

    pub(super) fn of_whole_agent(agent: &str, partitions: Vec<String>, options: &PurgeOptions) -> Self {
        Self::new(agent, "full_agent", "", partitions, options)
    }

    pub(super) fn complete(&mut self, at: Timestamp) {
        self.completed_at = Some(at.to_rfc3339());
    }

    /// A report of the deletion that contains this audit record.
    pub(in crate::alf) fn report(&self, path: Option<PathBuf>, removed: u64) -> Result<PurgeReport, FormatError> {
        let audit =
            serde_json::to_value(self).map_err(|e| FormatError::invalid("malformed", "audit", e.to_string()))?;
        let partitions_affected = self.partitions_affected.clone();
        Ok(PurgeReport { audit, audit_path: path, partitions_affected, removed, ..PurgeReport::default() })
    }

    /// Writes the audit record next to `file`, under a name with the id of the deletion. Replaces an earlier state of
    /// the record.
    pub(super) fn write_beside(&self, file: &Path) -> Result<PathBuf, FormatError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| FormatError::invalid("malformed", "audit", e.to_string()))?;
        let mut name = file.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
        name.push(format!(".purge-{}.json", self.purge_id));
        let path = file.with_file_name(name);
        let io =
            |e| FormatError::io(path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned()), e);
        // The file is replaced atomically, so that there is always a complete record.
        let partial_path = path.with_extension("json.mementory-partial");
        let result = std::fs::File::create(&partial_path).and_then(|mut out| {
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")?;
            out.sync_all()?;
            std::fs::rename(&partial_path, &path)
        });
        result.map_err(|e| {
            let _ = std::fs::remove_file(&partial_path);
            io(e)
        })?;
        Ok(path)
    }
}
