//! A folder of Markdown for people to read. See README.md.
mod detect;
mod note;
mod read;
#[cfg(test)]
mod tests;
mod write;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// Id of the format.
const ID: &str = "markdown_folder";
/// Version of the folder.
const VERSION: &str = "1";
/// First line of every file, by which the folder is recognised.
const FORMAT_MARK: &str = "<!-- mementory markdown_folder 1 -->";
/// Folder with the conversations.
const CONVERSATIONS: &str = "conversations";
/// Folder with the files.
const FILES: &str = "files";

/// A folder with a file for each conversation.
pub struct MarkdownFolder;

impl Format for MarkdownFolder {
    fn id(&self) -> &'static str {
        ID
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["markdown"]
    }
    fn name(&self) -> &'static str {
        "Folder of Markdown for reading"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            attachments: true,
            folder: true,
            for_reading: true,
            ..Capabilities::default()
        }
    }
    fn media_type(&self) -> &'static str {
        "text/markdown"
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
