//! Chats of VS Code with GitHub Copilot: exported chats, and the files in which VS Code stores chats. See README.md.
mod detect;
mod log;
mod nodes;
mod read;
mod request;
mod session;
mod state;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const FORMAT: &str = "vscode_chat";
/// Name of the platform.
const PLATFORM: &str = "github-copilot";

/// Chats of VS Code.
pub struct VsCodeChat;

impl Format for VsCodeChat {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "VS Code Copilot Chat"
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
