//! Reads exported chats and databases of Open WebUI. See README.md.
mod chat;
mod database;
mod detect;
mod read;
mod steps;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Exports and databases of Open WebUI.
pub struct OpenWebui;

impl Format for OpenWebui {
    fn id(&self) -> &'static str {
        "open_webui"
    }
    fn name(&self) -> &'static str {
        "Open WebUI"
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
