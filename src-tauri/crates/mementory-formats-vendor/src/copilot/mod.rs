//! Reads the activity history of Microsoft Copilot as CSV, and the interactions that Microsoft Graph returns. See
//! README.md.
mod columns;
mod detect;
mod interactions;
mod read;
mod start;
#[cfg(test)]
mod tests;
mod time;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const COPILOT: &str = "copilot";

/// The activity history of Microsoft Copilot.
pub struct Copilot;

impl Format for Copilot {
    fn id(&self) -> &'static str {
        COPILOT
    }
    fn name(&self) -> &'static str {
        "Microsoft Copilot"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, ..Capabilities::default() }
    }
    fn media_type(&self) -> &'static str {
        "text/csv"
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, limits, false))
    }
    fn detect_selected(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, limits, true))
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
