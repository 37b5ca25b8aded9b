//! Memory lists as text (read and written) and conversations as text or Markdown (only read). See README.md.
mod ai_chat_exporter;
mod aider;
mod callouts;
mod cascade;
mod chatbox;
mod claude_exporter;
mod claude_terminal;
mod conversation;
mod copilot_chat;
mod dates;
mod detect;
mod duck_ai;
mod entries;
mod folded;
mod head;
mod headed_export;
mod kagi;
mod llm_log;
mod marks;
mod program_lines;
mod programs;
mod read;
mod speaker;
#[cfg(test)]
mod tests;
mod transcript;
mod write;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// Id of the format. It is also the scope of the record keys.
const FORMAT_ID: &str = "transfer_text";

/// True for a line with nothing but the name of a speaker, such as `You said`.
pub(crate) fn names_only_speaker(line: &str) -> bool {
    speaker::parse(line)
        .is_some_and(|found| found.style == speaker::Style::Plain && found.rest.is_empty() && found.is_certain)
}

/// The format of pasted memory text.
pub struct TransferText;

impl Format for TransferText {
    fn id(&self) -> &'static str {
        FORMAT_ID
    }
    fn name(&self) -> &'static str {
        "Pasted memory text"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            text: true,
            ending: ".md",
            withholds_not_exportable: true,
            ..Capabilities::default()
        }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::claims(catalog, false)
    }
    fn detect_selected(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::claims(catalog, true)
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
    fn text(&self, source: &mut dyn RecordSource) -> Result<(String, WriteReport), FormatError> {
        write::memory_text(source, &WriteOptions::default())
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        Ok(write::memory_text(source, options)?.1)
    }
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        let (text, report) = write::memory_text(source, options)?;
        if text.is_empty() {
            return Err(FormatError::invalid(
                "nothing_to_write",
                self.id(),
                "there is no memory to write among these records",
            ));
        }
        std::fs::write(out, text).map_err(|e| FormatError::io(out.display().to_string(), e))?;
        Ok(report)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        read::validate(catalog, detected, limits)
    }
}

/// Decodes UTF-8, UTF-16 with a byte order mark, or otherwise Western European text. The second value is true if the
/// encoding was guessed. None for bytes that contain NULs and have no byte order mark. `is_whole_file` is false if the
/// bytes are only the start of a file.
fn decode(bytes: &[u8], is_whole_file: bool) -> Option<(String, bool)> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return Some((encoding.decode(bytes).0.into_owned(), false));
    }
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((text.to_owned(), false)),
        // The start of a file may end inside a character.
        Err(e) if !is_whole_file && e.error_len().is_none() => {
            Some((String::from_utf8_lossy(&bytes[..e.valid_up_to()]).into_owned(), false))
        }
        Err(_) => Some((encoding_rs::WINDOWS_1252.decode(bytes).0.into_owned(), true)),
    }
}
