//! Markdown notes (Obsidian). See README.md.
mod detect;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, FolderKeys, Format, FormatError, ReadContext, Sink};
use mementory_formats_shared::note_folder::NoteFolder;
use mementory_model::Limits;

/// Markdown notes (Obsidian).
pub struct Obsidian;

impl Format for Obsidian {
    fn id(&self) -> &'static str {
        "obsidian"
    }
    fn name(&self) -> &'static str {
        "Markdown notes (Obsidian)"
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
    fn folder_keys(&self, catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
        NoteFolder::of(catalog, detected).keys("obsidian")
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
