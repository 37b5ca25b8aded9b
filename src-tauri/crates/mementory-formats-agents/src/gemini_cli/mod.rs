//! Gemini CLI: its sessions as JSON and as JSON Lines, checkpoints and the list of prompts; logs of Qwen Code and
//! transcripts and trajectories of Antigravity. See README.md.
mod antigravity;
mod detect;
mod messages;
mod prompts;
mod qwen;
mod read;
mod session;
#[cfg(test)]
mod tests;
mod trajectory;
mod transcripts;
mod update;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const FORMAT: &str = "gemini_cli";
/// Name of the platform.
const PLATFORM: &str = "gemini-cli";
/// Name of the platform of Qwen Code, a fork.
const QWEN: &str = "qwen-code";

/// Sessions of Gemini CLI.
pub struct GeminiCli;

impl Format for GeminiCli {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "Gemini CLI"
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
