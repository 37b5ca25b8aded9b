//! Reads exports and databases of the program mcp-memory-service. See README.md.
mod database;
mod detect;
mod memory;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const ID: &str = "mcp_memory_service";
/// Name of the platform in the records, by which people can filter.
const PLATFORM: &str = "mcp-memory-service";

/// Exports and databases of the program mcp-memory-service.
pub struct McpMemoryService;

impl Format for McpMemoryService {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "mcp-memory-service"
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
