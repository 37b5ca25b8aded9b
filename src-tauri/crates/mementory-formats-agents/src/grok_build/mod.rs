//! Grok Build, xAI's coding agent: the history of a session as JSON Lines. See README.md.
mod detect;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const FORMAT: &str = "grok_build";
/// Name of the platform.
const PLATFORM: &str = "grok-build";

/// Sessions of Grok Build.
pub struct GrokBuild;

impl Format for GrokBuild {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "Grok Build"
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
