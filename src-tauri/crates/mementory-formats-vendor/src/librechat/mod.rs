//! Reads exported conversations of LibreChat and collections of its database. See README.md.
mod collections;
mod detect;
mod memory;
mod parts;
mod read;
#[cfg(test)]
mod tests;
mod text_export;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Conversations and memories of LibreChat.
pub struct Librechat;

impl Format for Librechat {
    fn id(&self) -> &'static str {
        "librechat"
    }
    fn name(&self) -> &'static str {
        "LibreChat"
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
