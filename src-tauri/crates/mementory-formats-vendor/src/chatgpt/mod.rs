//! Reads ChatGPT exports in all layouts (classic, sharded, from the privacy portal, unpacked folders and single files),
//! and writes exports. See README.md.
mod attachments;
mod compose;
mod content;
mod conversation;
mod detect;
mod export_file;
mod graph;
mod group_chat;
mod head;
mod memories;
mod merged_links;
mod missing_parts;
mod page;
mod part_names;
mod read;
mod saved_page;
mod shared_page;
#[cfg(test)]
mod tests;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

const WRITTEN_LAYOUT: &str = "sharded";

/// ChatGPT's data export.
pub struct ChatGpt;

impl Format for ChatGpt {
    fn id(&self) -> &'static str {
        "chatgpt"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["chatgpt_zip"]
    }
    fn export_note(&self) -> Option<&'static str> {
        Some(
            "OpenAI has not confirmed that it accepts a file that Mementory wrote. Other programs that import its exports do.",
        )
    }
    fn name(&self) -> &'static str {
        "ChatGPT"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            attachments: true,
            byte_exact: true,
            complete_account_export: true,
            ending: ".zip",
            ..Capabilities::default()
        }
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
