//! Google AI Studio: reads prompts, which it stores as files on Google Drive. See README.md.
mod chunk;
mod detect;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format and scope of the record keys.
const SCOPE: &str = "gemini_aistudio";
/// Name of the platform in the records.
const PLATFORM: &str = "ai-studio";

/// Prompts of Google AI Studio.
pub struct AiStudio;

impl Format for AiStudio {
    fn id(&self) -> &'static str {
        SCOPE
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["ai_studio"]
    }
    fn name(&self) -> &'static str {
        "Google AI Studio"
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
