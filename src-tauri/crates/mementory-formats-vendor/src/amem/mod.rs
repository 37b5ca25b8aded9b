//! Exports of ApertoMemory, which are encrypted with the keys of their owner. They are read with the passphrase of the
//! owner's vault. See README.md.
mod cbor;
mod detect;
mod object;
mod read;
mod wire;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const ID: &str = "amem";

/// Exports of ApertoMemory.
pub struct Amem;

impl Format for Amem {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "ApertoMemory (.amem)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, interchange: true, ending: ".amem", ..Capabilities::default() }
    }
    fn media_type(&self) -> &'static str {
        "application/cbor"
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
