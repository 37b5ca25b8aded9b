//! Gemini: reads activities of Google Takeout as JSON and as web pages, threads of Gemini in Workspace, Gems, and chats
//! that Gemini Voyager exports. See README.md.
mod activity;
mod detect;
mod gems;
mod html_row;
mod json_row;
mod months;
mod plan;
mod read;
mod records;
mod stamp;
#[cfg(test)]
mod tests;
mod verbs;
mod voyager;
mod workspace;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Google's export of Gemini.
pub struct Gemini;

impl Format for Gemini {
    fn id(&self) -> &'static str {
        "gemini"
    }
    fn name(&self) -> &'static str {
        "Gemini"
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
