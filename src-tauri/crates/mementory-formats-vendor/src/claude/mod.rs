//! Claude (claude.ai): reads conversations, projects, memory documents and design chats in all three layouts, and
//! writes exports. See README.md.
mod artifacts;
mod blocks;
mod compose;
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
mod write;
mod write_memory;
#[cfg(test)]
mod write_tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

const WRITTEN_LAYOUT: &str = "flat";

/// Claude's data export.
pub struct Claude;

impl Format for Claude {
    fn id(&self) -> &'static str {
        "claude"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["claude_zip"]
    }
    fn export_note(&self) -> Option<&'static str> {
        Some(
            "Anthropic has not confirmed that it accepts a file that Mementory wrote. Other programs that import its exports do.",
        )
    }
    fn name(&self) -> &'static str {
        "Claude"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            byte_exact: true,
            complete_account_export: true,
            ending: ".zip",
            ..Capabilities::default()
        }
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
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, Some(out), options)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::write(source, None, options)
    }
    fn media_type(&self) -> &'static str {
        "application/zip"
    }
    /// Checks an export after it was written. The check is not declared as a capability, because then an import would
    /// refuse a damaged archive instead of reading its intact conversations.
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        mementory_formats_shared::check::validate(self, catalog, detected, limits)
    }
}
