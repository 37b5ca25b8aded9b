//! Agent Life Format (`.alf`) 1.0: a ZIP file with one agent, which consists of four layers, attachments and raw files.
//! See README.md.
mod aieos;
#[cfg(test)]
mod ambiguous_tests;
mod archive_writer;
#[cfg(test)]
mod artifact_tests;
#[cfg(test)]
mod budget_tests;
mod capability_check;
mod clear_secrets;
mod compose;
mod credential_encryption;
pub mod delta;
mod delta_changes;
mod delta_operation;
mod detect;
mod document_checks;
mod document_row;
mod extension;
mod findings;
mod first_pass;
#[cfg(test)]
mod forged_tests;
mod hashing_reader;
#[cfg(test)]
mod id_case_tests;
mod identity;
#[cfg(test)]
mod index_name_tests;
mod invalid_layer_values;
mod invalid_values;
mod jsonl;
mod line_check;
mod lineage;
#[cfg(test)]
mod lineage_tests;
mod list_document;
mod manifest;
mod partitions;
mod passthrough;
pub mod purge;
mod read;
mod read_passthrough;
mod references;
#[cfg(test)]
mod renamed_entries_tests;
mod rewrite;
mod schema;
mod sealed_secrets;
#[cfg(test)]
mod shared_id_tests;
#[cfg(test)]
mod spec_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tiers;
mod validate;
mod vocabulary;
mod whole_line;
mod wire;
mod workspace_origin;
mod workspace_profile;
#[cfg(test)]
mod workspace_tests;
mod workspaces;
mod write;
mod write_documents;
mod write_manifest;

use mementory_format::{
    AppliedDeltas, Capabilities, Catalog, Claim, Detected, EditArchives, Format, FormatError, Passphrase, PurgeOptions,
    PurgeReport, ReadContext, RecordSource, Sink, SourceDate, SourceState, Validation, WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::{Path, PathBuf};

/// The format of Agent Life Format archives (`.alf`).
pub struct Alf;

impl Format for Alf {
    fn id(&self) -> &'static str {
        "alf"
    }
    fn name(&self) -> &'static str {
        "Agent Life Format (.alf)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            encrypted_extension: Some("alf"),
            read: true,
            write: true,
            validate: true,
            attachments: true,
            byte_exact: true,
            encrypts: true,
            carries_passthrough: true,
            ending: ".alf",
            interchange: true,
            recommended: true,
            ..Capabilities::default()
        }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, limits)
    }
    fn owns_archive(&self) -> bool {
        true
    }
    fn media_type(&self) -> &'static str {
        "application/zip"
    }
    fn archive_editing(&self) -> Option<&dyn EditArchives> {
        Some(self)
    }
    fn state_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceState>, FormatError> {
        let archive = manifest::Archive::open(catalog, detected)?;
        let manifest = manifest::Manifest::read(&archive, limits)?;
        Ok(Some(SourceState {
            place: archive.place.clone(),
            format: "alf",
            group: manifest.agent.to_ascii_lowercase(),
            base: None,
            sequence: manifest.sequence(&archive.place)?,
            time: manifest.sync_time(),
        }))
    }
    fn date_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceDate>, FormatError> {
        let manifest = manifest::Manifest::read(&manifest::Archive::open(catalog, detected)?, limits)?;
        let scope = manifest::scope_of_agent(&manifest.agent);
        Ok(manifest.created().map(|time| SourceDate { scope, time, overrides_records: false }))
    }
    fn import_refuses(&self) -> Option<&'static [&'static str]> {
        Some(&validate::REFUSED_ERROR_CODES)
    }
    fn can_salvage(&self, _: &Catalog, _: &Detected, code: &str, place: &str) -> bool {
        let is_manifest = place.rsplit(['/', '!']).next() == Some(manifest::MANIFEST_FILE);
        (validate::REFUSED_ERROR_CODES.contains(&code) || code == "truncated_archive")
            && code != "manifest_missing"
            && !(code == "damaged_entry" && is_manifest)
    }
    fn detect_selected(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect_any(catalog, limits)
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(catalog, detected, context, true, sink)
    }
    fn read_elements(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(catalog, detected, context, false, sink)
    }
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, Some(out), options)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::write(source, None, options)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        validate::validate(catalog, detected, limits)
    }
}

impl EditArchives for Alf {
    fn apply_deltas(
        &self,
        archive: &Path,
        deltas: &[PathBuf],
        out: &Path,
        limits: &Limits,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<AppliedDeltas, FormatError> {
        delta::apply_with(archive, deltas, out, limits, passphrase).map_err(|error| match error {
            delta::ApplyError::Format(error) => error,
            refused => FormatError::invalid(refused.code(), "delta", refused.to_string()),
        })
    }
    fn purge(&self, archive: &Path, ids: &[String], options: &PurgeOptions) -> Result<PurgeReport, FormatError> {
        let purge_report = purge::purge(archive, ids, options)?;
        Ok(PurgeReport {
            removed_from: purge_report.removed_from,
            not_found: purge_report.not_found,
            leftovers: purge_report.leftovers,
            ..purge_report.audit.report(purge_report.audit_path, purge_report.removed)?
        })
    }
    fn purge_everything(&self, archive: &Path, options: &PurgeOptions) -> Result<PurgeReport, FormatError> {
        let purge_report = purge::purge_agent(archive, options)?;
        Ok(PurgeReport {
            files_removed: purge_report.files,
            ..purge_report.audit.report(purge_report.audit_path, purge_report.removed)?
        })
    }
}
