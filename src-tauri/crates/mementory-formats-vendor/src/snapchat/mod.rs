//! Reads chats with Snapchat's My AI. See README.md.
mod detect;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const ID: &str = "snapchat";
/// Name of the platform in the records, by which people can filter.
const PLATFORM: &str = "snapchat";

/// Chats with Snapchat's My AI.
pub struct Snapchat;

impl Format for Snapchat {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "Snapchat My AI"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, ..Capabilities::default() }
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
