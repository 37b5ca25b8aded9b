//! ChatGPT.
use crate::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use keepsake_model::Limits;

/// ChatGPT.
pub struct ChatGpt;

impl Format for ChatGpt {
    fn id(&self) -> &'static str {
        "chatgpt"
    }
    fn name(&self) -> &'static str {
        "ChatGPT"
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
