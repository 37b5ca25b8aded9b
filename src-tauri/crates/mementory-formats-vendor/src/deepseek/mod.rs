//! Reads DeepSeek's data export. See README.md.
mod conversation;
mod detect;
mod fragments;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const DEEPSEEK: &str = "deepseek";

/// DeepSeek's data export.
pub struct DeepSeek;

impl Format for DeepSeek {
    fn id(&self) -> &'static str {
        DEEPSEEK
    }
    fn name(&self) -> &'static str {
        "DeepSeek"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, attachments: true, complete_account_export: true, ..Capabilities::default() }
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
