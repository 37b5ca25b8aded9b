//! Portable Memory (.mem).
use crate::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use keepsake_model::Limits;

/// Portable Memory (.mem).
pub struct Mem;

impl Format for Mem {
    fn id(&self) -> &'static str {
        "mem"
    }
    fn name(&self) -> &'static str {
        "Portable Memory (.mem)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, ..Capabilities::default() }
    }
    fn detect(&self, _catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(vec![])
    }
    fn read(
        &self,
        _catalog: &Catalog,
        _detected: &Detected,
        _context: &ReadContext,
        _sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        Ok(())
    }
}
