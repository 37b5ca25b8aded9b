//! Agents of Letta (MemGPT) with their memory blocks and messages. See README.md.
mod detect;
mod message_list;
mod messages;
mod read;
mod secrets;
#[cfg(test)]
mod tests;
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
const ID: &str = "letta";
/// Name of the platform, for the filter by source.
const PLATFORM: &str = "letta";

/// Agents of Letta (MemGPT) with their memory blocks and messages.
pub struct Letta;

impl Format for Letta {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "Letta agent file"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, write: true, validate: true, ending: ".af", ..Capabilities::default() }
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

/// True for an id that is only valid in one agent file, such as `block-0`.
fn is_local_id(id: &str) -> bool {
    id.rsplit_once('-').is_some_and(|(_, number)| number.len() < 8 && number.bytes().all(|b| b.is_ascii_digit()))
}
