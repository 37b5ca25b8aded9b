//! Reads Grok's data export, and single files of such an export. See README.md.
mod conversation;
mod detect;
mod files;
mod other;
mod read;
#[cfg(test)]
mod tests;
mod x_archive;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const GROK: &str = "grok";

/// Grok's data export.
pub struct Grok;

impl Format for Grok {
    fn id(&self) -> &'static str {
        GROK
    }
    fn name(&self) -> &'static str {
        "Grok"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, attachments: true, complete_account_export: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        let mut out = detect::claims(catalog);
        out.extend(x_archive::claims(catalog));
        Ok(out)
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        match detected.claim.version.as_deref() {
            Some(x_archive::LAYOUT) => x_archive::read(catalog, detected, context, sink),
            _ => read::read(catalog, detected, context, sink),
        }
    }
}
