//! A list of memories as JSON. See README.md.
mod detect;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// A list of memories as JSON.
pub struct GenericMemories;

impl Format for GenericMemories {
    fn id(&self) -> &'static str {
        "generic_memories"
    }
    fn name(&self) -> &'static str {
        "A list of memories as JSON"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, limits, false))
    }
    fn detect_selected(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, limits, true))
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
}

/// Keys under which memories are listed.
const WRAPPER_KEYS: [&str; 7] = ["memories", "results", "data", "items", "facts", "notes", "entries"];
