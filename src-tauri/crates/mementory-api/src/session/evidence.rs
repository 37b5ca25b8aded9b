//! Writes Evidence Packs.
use super::{context::Context, filter::query_of_fields, now, offers::Offers};
use crate::{ApiResult, Job, files, types::*};
use mementory_model::Timestamp;
use mementory_vault::{Applied, EvidencePackOptions, EvidenceParts};
use std::path::Path;

/// Writes Evidence Packs of the vault.
#[derive(Clone, Copy)]
pub struct EvidencePacks<'s> {
    context: &'s Context,
}

impl<'s> EvidencePacks<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl EvidencePacks<'_> {
    /// Writes an Evidence Pack and checks it. The pack is a folder, or an archive if the name ends in `.zip`.
    ///
    /// # Errors
    /// `usage` for a malformed time, `exists`, `io`.
    pub fn write(&self, out: &Path, request: &EvidencePackRequest, job: &Job) -> ApiResult<Applied<Evidence>> {
        let (since, until) = (request.since.clone(), request.until.clone());
        let period = query_of_fields(&Filter { since, until, ..Filter::default() })?;
        let has_part = |part: EvidencePart| request.parts.as_ref().is_some_and(|parts| parts.contains(&part));
        let options = EvidencePackOptions {
            since: period.since.and_then(Timestamp::from_micros),
            until: period.until.and_then(Timestamp::from_micros),
            sign: request.sign,
            parts: request.parts.is_some().then(|| EvidenceParts {
                tombstones: has_part(EvidencePart::Tombstones),
                log: has_part(EvidencePart::Log),
                key: has_part(EvidencePart::Key),
                transfers: has_part(EvidencePart::Transfers),
            }),
        };
        let cancel = job.cancel_flag();
        let _guard = self.context.snapshot_guard();
        let export_guard = Offers::new(self.context).begin_file_export(out);
        let Applied { value: pack, warnings } =
            self.context.vault.exporter().evidence_pack(out, &options, now(), &cancel)?;
        export_guard.mark_written([&out.to_path_buf()]);
        // A failed check is no error, because the pack is already written.
        let validated = files::validate(out, &files::Check::default(), job).is_ok_and(|checked| checked.ok);
        let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let value = Evidence {
            path: out.display().to_string(),
            tombstones: count(pack.report.tombstones),
            audit_entries: count(pack.report.audit_entries),
            provenance_edges: count(pack.report.provenance_edges),
            receipts: count(pack.receipts),
            transfers: count(pack.transfers),
            validated,
            signed: pack.report.signed,
        };
        Ok(Applied { value, warnings })
    }
}
