//! Reads and writes exports of ApertoMemory, which are encrypted with the keys of their owner. The keys are derived
//! from a passphrase and the salt in the file. See README.md.
mod cbor;
mod detect;
mod object;
mod payload;
mod read;
#[cfg(test)]
mod tests;
mod validate;
mod wire;
mod write;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, Passphrase, ReadContext, RecordSource, Sink,
    Validation, WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const ID: &str = "amem";

/// Exports of ApertoMemory.
pub struct Amem;

impl Format for Amem {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "ApertoMemory (.amem)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            encrypts: true,
            needs_passphrase: true,
            accepts_base: true,
            interchange: true,
            ending: ".amem",
            ..Capabilities::default()
        }
    }
    fn media_type(&self) -> &'static str {
        "application/cbor"
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog))
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(catalog, detected, &context.limits, context.passphrase.as_deref(), sink)
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
