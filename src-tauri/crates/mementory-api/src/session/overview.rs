//! Statistics about the vault, its integrity check, and the audit log.
use super::{context::Context, path_exists, time};
use crate::{ApiResult, Job, types::*};
use mementory_model::Timestamp;
use mementory_vault::{IndexFault, IndexState};

/// Returns information about the vault as a whole.
#[derive(Clone, Copy)]
pub struct Overview<'s> {
    context: &'s Context,
}

impl<'s> Overview<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Overview<'_> {
    /// Returns statistics about the vault.
    pub fn info(&self) -> ApiResult<VaultInfo> {
        let facts = self
            .context
            .vault
            .queries()
            .vault_counts()
            .map_err(|error| self.context.vault.count_damaged_pages(error))?;
        let header = self.context.vault.header();
        let sources = facts
            .sources
            .into_iter()
            .map(|((platform, format), s)| SourceInfo {
                // Records that the person wrote and imports of several formats have no single format, so the name of
                // the platform is used instead.
                format: format.unwrap_or_else(|| platform.clone()),
                counts: s.counts,
                newest_at: s.newest.and_then(Timestamp::from_micros).map(Timestamp::to_rfc3339),
                exported_at: s.exported.map(time),
                platform,
            })
            .collect();
        let export_diff = self.context.vault.export_diff()?;
        let export_diff_counts = export_diff.counts.iter().map(|((platform, kind, status), count)| ExportStatusCount {
            platform: platform.clone(),
            kind: (*kind).to_owned(),
            export_diff_status: status.as_str().into(),
            count: *count,
        });
        Ok(VaultInfo {
            export_diff_counts: export_diff_counts.collect(),
            vault_id: header.vault_id,
            path: self.context.vault.dir().display().to_string(),
            schema_version: mementory_vault::SCHEMA_VERSION,
            created_at: header.created_at,
            counts: facts.counts,
            sources,
            trash: facts.trash,
            tombstones: facts.tombstones,
            index: IndexInfo {
                state: match self.context.vault.index_state() {
                    IndexState::Current => "current".into(),
                    IndexState::Rebuilt => "rebuilt".into(),
                },
                why: self.context.vault.index_fault().map(|fault| {
                    match fault {
                        IndexFault::Missing => "missing",
                        IndexFault::Damaged => "damaged",
                        IndexFault::Behind => "behind",
                    }
                    .into()
                }),
                documents: u32::try_from(self.context.vault.index_documents()).unwrap_or(u32::MAX),
            },
            bytes: self.context.vault.bytes(),
        })
    }

    /// Checks the integrity of every part of the vault. With `rebuild_index`, the search index is rebuilt first.
    pub fn check(&self, rebuild_index: bool, job: &Job) -> ApiResult<CheckReport> {
        let _guard = self.context.write_guard();
        if rebuild_index {
            self.context.vault.index_rebuild_until(&job.cancel_flag())?;
        }
        let places = self.context.vault.integrity().check_until(&job.cancel_flag())?;
        Ok(CheckReport {
            ok: places.iter().all(|p| p.ok),
            places: places
                .into_iter()
                .map(|p| CheckPlace { place: p.place.into(), ok: p.ok, detail: p.detail })
                .collect(),
        })
    }

    /// Returns the audit log. With `verify`, its chain and signatures are checked.
    pub fn audit(&self, verify: bool) -> ApiResult<AuditLog> {
        let exports = self.context.vault.file_locations().all()?.exports;
        let entries = self
            .context
            .vault
            .audit()
            .entries()?
            .into_iter()
            .map(|e| AuditEntry {
                file: exports.get(&e.seq).filter(|path| path_exists(path)).cloned(),
                seq: u32::try_from(e.seq).unwrap_or(u32::MAX),
                at: Timestamp::from_micros(e.at).map(Timestamp::to_rfc3339).unwrap_or_default(),
                actor: e.actor,
                op: e.op,
                target: e.target,
                detail: e.detail,
            })
            .collect();
        let verified = if verify { Some(self.context.vault.audit().verify()?) } else { None };
        Ok(AuditLog { entries, verified })
    }
}
