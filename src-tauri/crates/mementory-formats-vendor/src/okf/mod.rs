//! Open Knowledge Format. See README.md.
mod detect;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Open Knowledge Format.
pub struct Okf;

impl Format for Okf {
    fn id(&self) -> &'static str {
        "okf"
    }
    fn name(&self) -> &'static str {
        "Open Knowledge Format"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, attachments: true, ..Capabilities::default() }
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
        read::read(catalog, detected, context, sink)
    }
}

/// True for the files that have a meaning of their own at any level: lists of concepts and of changes.
fn is_reserved(name: &str) -> bool {
    name == "index.md" || name == "log.md"
}
