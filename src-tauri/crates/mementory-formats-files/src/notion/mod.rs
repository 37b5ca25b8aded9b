//! Pages of Notion, as its export writes them in HTML, and tables that were exported without pages. See README.md.
mod detect;
mod page;
mod properties;
mod read;
mod tables;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format, scope of the record keys, and name of the platform in the records.
const ID: &str = "notion";

/// Pages of Notion in HTML, and tables without pages.
pub struct Notion;

impl Format for Notion {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "Notion (HTML export)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, attachments: true, ..Capabilities::default() }
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
