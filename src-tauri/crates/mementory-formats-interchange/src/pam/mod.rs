//! Portable AI Memory (PAM) 1.0: a memory store, with conversation files and embeddings in separate files. See
//! README.md.
mod assemble;
mod bundle;
mod canonical;
mod compose;
mod conformance;
mod conversation_writer;
mod detect;
mod document;
mod envelope;
mod extension;
mod first_pass;
mod forms;
mod hash;
mod increment;
mod invalid_values;
mod keys;
mod memory_conformance;
mod message_tree;
mod read;
mod report;
mod salvage;
mod schema;
mod schema_check;
mod sign;
mod to_record;
mod validate;
mod write;

#[cfg(test)]
mod tests;

use bundle::Bundle;
use mementory_format::{
    BaseFindings, Capabilities, Catalog, Claim, DeltaFile, Detected, ExportIdentity, Format, FormatError,
    IdentifyExports, PassthroughItem, ReadContext, RecordSource, SignFiles, SignatureRemover, Signed, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// The format Portable AI Memory.
pub struct Pam;

impl Format for Pam {
    fn id(&self) -> &'static str {
        bundle::KEY_SCOPE
    }
    fn name(&self) -> &'static str {
        "Portable AI Memory (PAM)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            byte_exact: true,
            folder: true,
            signs: true,
            carries_passthrough: true,
            withholds_not_exportable: true,
            accepts_base: true,
            ending: ".pam",
            interchange: true,
            ..Capabilities::default()
        }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, limits)
    }
    fn file_signing(&self) -> Option<&dyn SignFiles> {
        Some(self)
    }
    fn export_identities(&self) -> Option<&dyn IdentifyExports> {
        Some(self)
    }
    fn check_base(&self, delta: &DeltaFile<'_>, base: &Path) -> Result<Option<BaseFindings>, FormatError> {
        let export = increment::export_of(delta.catalog, delta.detected, delta.limits)?;
        let Some(export) = export.filter(|export| export.incremental) else { return Ok(None) };
        let warnings = increment::check_base(base, &export, delta.limits)?.into_iter().collect();
        Ok(Some(BaseFindings { warnings, ..BaseFindings::default() }))
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        let bundle = Bundle::open(catalog, detected, &context.limits)?;
        read::read(&bundle, detected, context, sink)
    }
    fn read_elements(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read_elements(&Bundle::open(catalog, detected, &context.limits)?, detected, context, sink)
    }
    fn can_salvage(&self, catalog: &Catalog, detected: &Detected, code: &str, place: &str) -> bool {
        salvage::can_salvage(catalog, detected, code, place)
    }
    fn salvage_codes(&self) -> &'static [&'static str] {
        &salvage::SALVAGEABLE_CODES
    }
    fn salvage(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        let bundle = Bundle::open(catalog, detected, &context.limits)?;
        read::salvage(&bundle, detected, context, sink)
    }
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, out, options, &Limits::default())
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::plan(source, options, &Limits::default())
    }
    fn signatures(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        visit: &mut dyn FnMut(Signed) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        validate::signatures(&Bundle::open(catalog, detected, limits)?, visit)
    }
    fn signature_remover(&self, part: &PassthroughItem) -> Option<SignatureRemover> {
        (part.role == "manifest" && part.name == increment::STORE_FILE).then_some(envelope::without_signature)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        trust: &[String],
    ) -> Result<Validation, FormatError> {
        validate::validate(&Bundle::open(catalog, detected, limits)?, trust)
    }
}

impl IdentifyExports for Pam {
    fn export_of(
        &self,
        catalog: &Catalog,
        source: &Detected,
        limits: &Limits,
    ) -> Result<Option<ExportIdentity>, FormatError> {
        increment::export_of(catalog, source, limits)
    }
    fn passthrough_name(&self) -> &'static str {
        increment::STORE_FILE
    }
    fn id_in_passthrough(&self, text: &str) -> Option<String> {
        increment::id_of_envelope(text)
    }
}
