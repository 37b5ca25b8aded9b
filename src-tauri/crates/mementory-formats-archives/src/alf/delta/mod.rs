//! Delta bundles (`.alf-delta`, spec §4.3, §6.3): the changes since an export. A delta is written from a base archive
//! and the current records. Deltas can be imported, validated, and applied to an archive in order. See README.md.
mod apply;
mod deletion_line;
mod manifest;
mod read;
#[cfg(test)]
mod tests;
mod validate;
mod write;

use super::delta_operation as operation;
pub use apply::{ApplyError, apply, apply_with};

use mementory_format::{
    BaseFindings, Capabilities, Catalog, Claim, DeltaFile, Detected, Format, FormatError, ReadContext, RecordSource,
    Sink, SourceDate, SourceState, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Limits, Timestamp};
use std::path::Path;

/// The format of delta bundles (`.alf-delta`) of Agent Life Format archives.
pub struct AlfDelta;

impl Format for AlfDelta {
    fn id(&self) -> &'static str {
        "alf_delta"
    }
    fn name(&self) -> &'static str {
        "Agent Life Format delta (.alf-delta)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            encrypts: true,
            base_format: Some("alf"),
            ending: ".alf-delta",
            needs_base: true,
            accepts_base: true,
            interchange: true,
            ..Capabilities::default()
        }
    }
    fn owns_archive(&self) -> bool {
        true
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        super::detect::detect_deltas(catalog, limits)
    }
    fn media_type(&self) -> &'static str {
        "application/zip"
    }
    fn check_base(&self, delta: &DeltaFile<'_>, base: &Path) -> Result<Option<BaseFindings>, FormatError> {
        apply::check_base(base, delta.path, delta.limits, delta.passphrase).map(Some)
    }
    fn state_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceState>, FormatError> {
        let archive = super::manifest::Archive::open_any(catalog, detected)?;
        let delta = manifest::DeltaManifest::read(&archive, limits)?;
        Ok(Some(SourceState {
            place: archive.place.clone(),
            format: "alf",
            group: delta.agent.to_ascii_lowercase(),
            base: Some(delta.base),
            sequence: delta.new,
            time: delta.time().map(str::to_owned),
        }))
    }
    fn date_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceDate>, FormatError> {
        let archive = super::manifest::Archive::open_any(catalog, detected)?;
        let delta = manifest::DeltaManifest::read(&archive, limits)?;
        let scope = super::manifest::scope_of_agent(&delta.agent);
        let time = delta.time().and_then(Timestamp::parse);
        Ok(time.map(|time| SourceDate { scope, time, overrides_records: false }))
    }
    fn import_refuses(&self) -> Option<&'static [&'static str]> {
        Some(&validate::REFUSED_ERROR_CODES)
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(catalog, detected, context, sink)
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

/// Agent id of a delta, and name of the entry with its changed records.
pub(super) fn agent_and_memory_file(
    archive: &super::manifest::Archive<'_>,
    limits: &Limits,
) -> Result<(String, Option<String>), FormatError> {
    let delta = manifest::DeltaManifest::read(archive, limits)?;
    Ok((delta.agent.clone(), delta.file("memory")))
}
