//! Cursor: conversations in its databases, and transcripts of its agents. See README.md.
mod bubble;
mod detect;
mod dump;
mod headers;
mod items;
mod messages;
mod read;
mod setting;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod text_transcript;
mod transcript;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_formats_shared::chat::ChatFile;
use mementory_model::Limits;

/// Id of the format and scope of its keys. The module has another name, because `cursor` is a common identifier.
const FORMAT: &str = "cursor";
/// Name of the platform.
const PLATFORM: &str = "cursor";

/// Describes the file from which a conversation is read.
fn chat_file(container: &str) -> ChatFile<'_> {
    ChatFile { format: FORMAT, platform: PLATFORM, version: None, container }
}

/// Conversations of Cursor.
pub struct CursorEditor;

impl Format for CursorEditor {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["cursor_editor"]
    }
    fn name(&self) -> &'static str {
        "Cursor editor"
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
