//! Memory Interchange Format (MIF): version 1, the specification, and version 2, which its reference program writes;
//! as JSON, YAML and JSON lines, in the clear or under a passphrase. See README.md.
mod adapters;
mod canonical;
mod compose;
mod detect;
mod document;
mod envelope;
mod extension;
mod lesser;
mod map;
mod part;
mod plan;
mod read;
mod redaction;
mod sections;
mod shape;
mod source;
mod spare;
mod survey;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod testing;
#[cfg(test)]
mod tests;
mod validate;
mod walk;
mod wire;
mod write;
mod yaml;
mod yaml_write;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, Passphrase, ReadContext, RecordSource, Sink,
    Validation, WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// Memory Interchange Format.
pub struct Mif;

/// As [`Format::validate`], and what is inside of an encrypted document too.
///
/// # Errors
/// As there; `passphrase_wrong`.
pub fn validate_with(
    catalog: &Catalog,
    detected: &Detected,
    limits: &Limits,
    passphrase: &dyn Passphrase,
) -> Result<Validation, FormatError> {
    validate::validate(catalog, detected, limits, Some(passphrase))
}

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
            ..Capabilities::default()
        }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, false)
    }
    fn detect_asked(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, true)
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
        write::write(source, out, options)
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
}
