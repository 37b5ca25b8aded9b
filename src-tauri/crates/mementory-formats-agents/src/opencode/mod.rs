//! OpenCode: exports of sessions, its storage of small files, and its database. See README.md.
mod database;
mod detect;
mod first_database;
mod read;
mod session;
mod share;
mod storage;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const FORMAT: &str = "opencode";

/// Sessions of OpenCode.
pub struct OpenCode;

impl Format for OpenCode {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "OpenCode"
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
