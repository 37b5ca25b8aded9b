//! Agent Life Format (.alf).
use crate::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use keepsake_model::Limits;

/// Agent Life Format (.alf).
pub struct Alf;

impl Format for Alf {
    fn id(&self) -> &'static str {
        "alf"
    }
    fn name(&self) -> &'static str {
        "Agent Life Format (.alf)"
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
