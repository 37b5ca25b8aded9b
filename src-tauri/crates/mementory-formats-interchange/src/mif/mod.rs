//! Memory Interchange Format (MIF), as JSON, YAML or JSON lines, plain or encrypted with a passphrase: version 1 as
//! defined by the specification, and version 2 as written by the reference program. See README.md.
mod canonical;
mod compose;
mod detect;
mod document;
mod document_frame;
mod element_stream;
mod encoding;
mod envelope;
mod export_plan;
mod extension;
mod first_pass;
mod interop_export;
mod interop_import;
mod invalid_values;
mod json_faults;
mod lenient_elements;
mod read;
mod redaction;
mod rewrite;
mod schema;
mod sections;
mod source;
mod source_date;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod testing;
#[cfg(test)]
mod tests;
mod to_record;
mod validate;
mod version;
mod wire;
mod write;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, Passphrase, ReadContext, RecordSource, Sink,
    SourceDate, Validation, WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// The Memory Interchange Format.
pub struct Mif;

impl Format for Mif {
    fn id(&self) -> &'static str {
        "mif"
    }
    fn name(&self) -> &'static str {
        "Memory Interchange Format (MIF)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            byte_exact: true,
            encrypts: true,
            carries_passthrough: true,
            encodings: true,
            ending: ".mif.json",
            interchange: true,
            export_tool: Some("export_memory"),
            import_tool: Some("import_memory"),
            ..Capabilities::default()
        }
    }
    /// Returns an empty list, because the reader itself rejects unreadable documents. An import validates a document
    /// only to report values that the format forbids.
    fn import_refuses(&self) -> Option<&'static [&'static str]> {
        Some(&[])
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, false)
    }
    fn detect_selected(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, true)
    }
    fn date_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceDate>, FormatError> {
        source_date::date_of(catalog, detected, limits)
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
        write::write(source, out, options)
    }
    fn write_answer(
        &self,
        source: &mut dyn RecordSource,
        out: &mut Vec<u8>,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write_answer(source, out, options)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::plan(source, options)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        validate::validate(catalog, detected, limits, None)
    }
    fn validate_with(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<Validation, FormatError> {
        validate::validate(catalog, detected, limits, passphrase)
    }
}
