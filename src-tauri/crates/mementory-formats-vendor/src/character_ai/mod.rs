//! Chats with characters: histories of Character.AI in the form in which the extension CAI Tools saves them, and chats
//! and characters of SillyTavern. See README.md.
mod card;
mod detect;
mod histories;
mod read;
mod tavern;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and, for histories, the name of the platform.
const CHARACTER_AI: &str = "character_ai";
/// Name of the platform for chats in the form of SillyTavern.
const SILLY_TAVERN: &str = "sillytavern";

/// Character.AI: the user's conversations with characters.
pub struct CharacterAi;

impl Format for CharacterAi {
    fn id(&self) -> &'static str {
        CHARACTER_AI
    }
    fn name(&self) -> &'static str {
        "Character.AI and SillyTavern"
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
