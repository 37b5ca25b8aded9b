//! Files with rules that a person writes for coding agents, and notes that agents keep in the same form. See README.md.
mod detect;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format and scope of its keys.
const FORMAT: &str = "agent_rules";

/// Rules for coding agents.
pub struct AgentRules;

impl Format for AgentRules {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "Rules for coding agents"
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
