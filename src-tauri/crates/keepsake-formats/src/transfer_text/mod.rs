//! Pasted memory text and copied conversations. See README.md.
mod dates;
mod detect;
mod entries;
mod marks;
mod read;
#[cfg(test)]
mod tests;
mod transcript;

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
        Capabilities { read: true, text: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::claims(catalog, false)
    }
    fn detect_asked(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
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
}

/// Bytes as text (`whole`: not the head of something longer): UTF-8, UTF-16 with a mark, else Western European (true = guessed). None for what holds NUL bytes.
fn decode(bytes: &[u8], whole: bool) -> Option<(String, bool)> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return Some((encoding.decode(bytes).0.into_owned(), false));
    }
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((text.to_owned(), false)),
        // A head may end inside a character.
        Err(e) if !whole && e.error_len().is_none() => {
            Some((String::from_utf8_lossy(&bytes[..e.valid_up_to()]).into_owned(), false))
        }
        Err(_) => Some((encoding_rs::WINDOWS_1252.decode(bytes).0.into_owned(), true)),
    }
}
