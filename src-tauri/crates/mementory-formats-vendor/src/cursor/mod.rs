//! Cursor: conversations in its databases, and transcripts of its agents. See README.md.
mod bubble;
mod detect;
mod items;
mod read;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod transcript;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format, scope of its keys and name of the platform.
const FORMAT: &str = "cursor";

/// Conversations of Cursor.
pub struct Cursor;

impl Format for Cursor {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "Cursor"
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
