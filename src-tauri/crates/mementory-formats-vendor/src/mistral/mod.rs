//! Reads exports of Mistral's Le Chat, and sessions of Mistral's command-line agent Vibe. See README.md.
mod content;
mod detect;
mod le_chat;
mod memories;
mod read;
#[cfg(test)]
mod tests;
mod vibe;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const MISTRAL: &str = "mistral";
/// Name of the platform of the command-line agent.
const VIBE: &str = "mistral-vibe";
/// Version that claims state for exports of Le Chat.
const LE_CHAT_LAYOUT: &str = "le_chat";
/// Version that claims state for sessions of Vibe.
const VIBE_LAYOUT: &str = "vibe";

/// Exports of Le Chat and sessions of Vibe.
pub struct Mistral;

impl Format for Mistral {
    fn id(&self) -> &'static str {
        MISTRAL
    }
    fn name(&self) -> &'static str {
        "Mistral Le Chat and Vibe"
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
