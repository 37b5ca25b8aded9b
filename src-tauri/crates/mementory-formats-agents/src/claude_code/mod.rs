//! Claude Code: logs of its sessions, and the files of its memory. See README.md.
mod cowork;
mod detect;
mod history;
mod lines;
mod memory;
mod read;
mod session;
mod session_index;
#[cfg(test)]
mod tests;
mod write;
#[cfg(test)]
mod write_tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_formats_shared::chat::ChatFile;
use mementory_model::Limits;
use std::path::Path;

/// Id of the format. It is also the scope of the record keys.
const FORMAT: &str = "claude_code";
/// Name of the platform.
const PLATFORM: &str = "claude-code";

/// Describes the file from which a conversation is read.
fn chat_file(container: &str) -> ChatFile<'_> {
    ChatFile { format: FORMAT, platform: PLATFORM, version: None, container }
}

/// Sessions and memory of Claude Code.
pub struct ClaudeCode;

impl Format for ClaudeCode {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn name(&self) -> &'static str {
        "Claude Code"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, write: true, validate: true, folder: true, ..Capabilities::default() }
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
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, Some(out), options)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::write(source, None, options)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        mementory_formats_shared::check::validate(self, catalog, detected, limits)
    }
}
