//! Notes of Google Keep, as Google Takeout exports them. See README.md.
mod detect;
mod files;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format, scope of the record keys, and name of the platform in the records.
const ID: &str = "google_keep";
/// Member of a note that lists its files, and member of each of these that contains the name of the file.
const ATTACHMENTS: &str = "attachments";
const FILE_PATH: &str = "filePath";

/// Notes of Google Keep.
pub struct GoogleKeep;

impl Format for GoogleKeep {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "Google Keep"
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
