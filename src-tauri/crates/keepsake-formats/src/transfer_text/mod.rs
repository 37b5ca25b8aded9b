//! Pasted memory text.
use crate::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use keepsake_model::Limits;

/// Pasted memory text.
pub struct TransferText;

impl Format for TransferText {
    fn id(&self) -> &'static str {
        "transfer_text"
    }
    fn name(&self) -> &'static str {
        "Pasted memory text"
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
