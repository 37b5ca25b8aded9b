//! ChatGPT exports: classic, sharded, privacy portal, unpacked folders and single files. See README.md.
mod attachments;
mod content;
mod conversation;
mod detect;
mod graph;
mod head;
mod memories;
mod missing_parts;
mod page;
mod part_names;
mod read;
#[cfg(test)]
mod tests;
mod wire;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// ChatGPT's data export.
pub struct ChatGpt;

impl Format for ChatGpt {
    fn id(&self) -> &'static str {
        "chatgpt"
    }
    fn name(&self) -> &'static str {
        "ChatGPT"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, attachments: true, complete_account_export: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, limits)
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
