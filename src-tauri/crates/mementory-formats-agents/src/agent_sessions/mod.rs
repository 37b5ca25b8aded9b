//! Sessions of Pi, OpenClaw, Droid, OpenHands, Hermes Agent, DeepSeek Harness and the command lines of GitHub Copilot
//! and Kimi, exports of agtrace, trajectories in the ATIF format, logs in the ATOF format, and runs that LangSmith
//! traced. See README.md.
mod agtrace;
mod atif;
mod atof;
mod atof_scopes;
mod copilot;
mod deepseek_harness;
mod detect;
mod hermes;
mod kimi;
mod kimi_code;
mod langsmith;
mod langsmith_messages;
mod openhands;
mod openhands_event;
mod openhands_files;
mod otel;
mod pi;
mod pi_page;
mod posit;
mod read;
mod session;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const FORMAT: &str = "agent_sessions";

/// Sessions of agents that log events.
pub struct AgentSessions;

impl Format for AgentSessions {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "Sessions of Pi, OpenClaw and Copilot CLI"
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
