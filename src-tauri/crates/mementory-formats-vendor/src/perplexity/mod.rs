//! Perplexity: reads the export of an account (workbook and JSON) that Perplexity sends on request, and threads that
//! browser extensions save. See README.md.
mod answer;
mod detect;
mod document;
mod entry;
mod exchange;
mod perplexport;
mod read;
mod sheets;
#[cfg(test)]
mod tests;
mod threads;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const PERPLEXITY: &str = "perplexity";

/// Exports of Perplexity.
pub struct Perplexity;

impl Format for Perplexity {
    fn id(&self) -> &'static str {
        PERPLEXITY
    }
    fn name(&self) -> &'static str {
        "Perplexity"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, attachments: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, limits))
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
