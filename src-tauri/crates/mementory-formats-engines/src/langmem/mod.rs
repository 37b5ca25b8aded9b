//! Reads and writes rows of a LangGraph store, in which LangMem stores memories. Also reads threads of LangGraph. See
//! README.md.
mod checkpoints;
mod detect;
mod msgpack;
mod read;
#[cfg(test)]
mod tests;
mod threads;
mod write;
#[cfg(test)]
mod write_tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// Id of the format. It is also the scope of the record keys.
const ID: &str = "langmem";
/// Name of the platform in the records, by which people can filter.
const PLATFORM: &str = "langmem";

/// Rows of a LangGraph store, in which LangMem stores memories.
pub struct LangMem;

impl Format for LangMem {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "LangMem and LangGraph store"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, write: true, validate: true, ending: ".json", ..Capabilities::default() }
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
        mementory_formats_shared::check::validate(self, catalog, detected, limits)
    }
}
