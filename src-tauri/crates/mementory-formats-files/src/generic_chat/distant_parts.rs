//! A message whose parts are stored elsewhere in the file.
use super::FORMAT_ID;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::content::Content;
use mementory_model::Verbatim;
use serde_json::value::RawValue;

/// The parts of a message.
#[derive(Default)]
pub(super) struct DistantParts<'a> {
    /// The content of the parts.
    pub content: Content,
    sources: Vec<&'a RawValue>,
}

impl<'a> DistantParts<'a> {
    /// Adds the source of a part, so that the message's verbatim contains it.
    pub fn add_source(&mut self, part: &'a RawValue) {
        self.sources.push(part);
    }

    /// Adds the parts to their message, whose source is `text`. The verbatim has one line for the message and one line
    /// for each part.
    pub fn put_into(self, turn: &mut Turn, text: &str) {
        if !self.sources.is_empty() {
            let lines = std::iter::once(text).chain(self.sources.iter().map(|part| part.get()));
            let text = lines.collect::<Vec<_>>().join("\n");
            turn.verbatim = Some(Verbatim { media_type: "application/x-ndjson".into(), text });
        }
        if !self.content.is_empty() {
            turn.content_type = self.content.content_type().into();
            self.content.add_to(turn, FORMAT_ID);
        }
    }
}
