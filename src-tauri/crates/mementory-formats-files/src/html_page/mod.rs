//! One page for people to read and print. See README.md.
mod detect;
mod escape;
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
const ID: &str = "html_page";
/// Version of the page.
const VERSION: &str = "1";
/// A line in the head of a page by which detection recognises the format.
const FORMAT_MARK: &str = "<meta name=\"mementory\" content=\"html_page 1\">";
/// Beginnings of the first and the last line of a record. Texts are escaped, so no line of a text begins like this.
const ARTICLE_START: &str = "<article ";
const ARTICLE_END: &str = "</article>";

/// A page with all records.
pub struct HtmlPage;

impl Format for HtmlPage {
    fn id(&self) -> &'static str {
        ID
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["html"]
    }
    fn name(&self) -> &'static str {
        "Page for reading and printing (HTML)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            for_reading: true,
            ending: ".html",
            ..Capabilities::default()
        }
    }
    fn media_type(&self) -> &'static str {
        "text/html"
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
