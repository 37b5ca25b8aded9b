//! Claude (claude.ai): conversations, projects, memory documents and design chats, in all three layouts. See README.md.
mod artifacts;
mod blocks;
mod conversation;
mod design;
mod detect;
mod documents;
mod frames;
mod front_matter;
mod manifest;
mod memory;
mod projects;
mod read;
#[cfg(test)]
mod shapes_tests;
mod split;
#[cfg(test)]
mod tests;
mod wire;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Claude's data export.
pub struct Claude;

impl Format for Claude {
    fn id(&self) -> &'static str {
        "claude"
    }
    fn name(&self) -> &'static str {
        "Claude"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, complete_account_export: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::claims(catalog)
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
