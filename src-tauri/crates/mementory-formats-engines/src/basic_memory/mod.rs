//! Reads notes and databases of Basic Memory, and writes notes. See README.md.
mod database;
mod detect;
mod lines;
mod read;
#[cfg(test)]
mod tests;
mod write;
#[cfg(test)]
mod write_tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Role, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_formats_shared::reader::FileReader;
use mementory_model::Limits;
use std::path::Path;

/// Id of the format. It is also the scope of the record keys.
const FORMAT_ID: &str = "basic_memory";
/// Version in the origin of records that were read from the database.
const DATABASE: &str = "database";

/// Notes and databases of Basic Memory.
pub struct BasicMemory;

impl Format for BasicMemory {
    fn id(&self) -> &'static str {
        FORMAT_ID
    }
    fn name(&self) -> &'static str {
        "Basic Memory notes"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, write: true, validate: true, folder: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, false))
    }
    fn detect_selected(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, true))
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        if !database::is_claimed(detected) {
            return read::read(catalog, detected, context, sink);
        }
        FileReader::new(FORMAT_ID, catalog, context, sink).each_file(detected, |files, member, role| match role {
            Role::Manifest => database::read(files, member),
            _ => Ok(()),
        })
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
        mementory_formats_shared::check::validate(self, catalog, detected, limits)
    }
}
