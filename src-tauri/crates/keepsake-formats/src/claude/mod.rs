//! Claude.
use crate::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use keepsake_model::Limits;

/// Claude.
pub struct Claude;

impl Format for Claude {
    fn id(&self) -> &'static str {
        "claude"
    }
    fn name(&self) -> &'static str {
        "Claude"
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
