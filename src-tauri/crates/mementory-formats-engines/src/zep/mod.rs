//! Reads facts, entities, episodes and sessions of Zep and of its graph library Graphiti. See README.md.
mod context;
mod detect;
mod read;
mod session;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const ID: &str = "zep";
/// Name of the platform in the records, by which people can filter.
const PLATFORM: &str = "zep";

/// Facts, entities, episodes and sessions of Zep and of its graph library Graphiti.
pub struct Zep;

impl Format for Zep {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "Zep and Graphiti"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, ..Capabilities::default() }
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
}
