//! Meta AI: reads the conversations that the Accounts Center exports as web pages and as JSON, and those that WhatsApp
//! exports as text. See README.md.
mod blocks;
mod detect;
mod page;
mod read;
#[cfg(test)]
mod tests;
mod thread;
mod transcript;
mod whatsapp;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const SCOPE: &str = "meta_ai";
/// Name of the platform in the records.
const PLATFORM: &str = "meta-ai";

/// Meta's export of conversations with Meta AI.
pub struct MetaAi;

impl Format for MetaAi {
    fn id(&self) -> &'static str {
        SCOPE
    }
    fn name(&self) -> &'static str {
        "Meta AI"
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
