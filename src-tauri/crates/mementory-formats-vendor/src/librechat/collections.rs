//! Reads the collections `conversations` and `messages` of LibreChat's database, in the JSON that `mongoexport` writes.
use super::parts::{FORMAT_ID, head, message_turn};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, send};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};
use std::collections::HashMap;

/// The conversations and messages that were read so far. They are collected first, because the messages of a
/// conversation may be anywhere in the collection of messages.
#[derive(Default)]
pub(super) struct Collections<'m> {
    /// The first file of messages, which becomes the container in the origin of all records.
    file: Option<&'m Member>,
    /// The place and the conversation without its messages, by conversation id.
    heads: HashMap<String, (String, Chat)>,
    turns: HashMap<String, Vec<Turn>>,
    /// Ids of the conversations, in the order in which they were first read.
    order: Vec<String>,
    bytes: u64,
}

impl<'m> Collections<'m> {
    /// Reads the collection of conversations. Must be called before [`Self::read_messages`].
    pub(super) fn read_conversations(
        &mut self,
        files: &mut FileReader<'_>,
        member: &'m Member,
    ) -> Result<(), FormatError> {
        files.objects(member, &[], Kind::Conversation, |files, element| {
            let place = format!("{}#{}", member.place, element.pointer);
            let Some(id) = first_text(&element.object, &["conversationId"]) else {
                let reason = "no_id: this conversation has no id, so its messages are not known";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
                return Ok(());
            };
            self.count(files, member, element.text)?;
            // The container of the record is the file of messages, so a pointer into the file of conversations would be
            // wrong.
            let chat = head(&element.object, String::new(), Verbatim::json(element.text));
            if self.heads.insert(id.clone(), (place, chat)).is_none() {
                self.order.push(id);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Reads the collection of messages.
    pub(super) fn read_messages(&mut self, files: &mut FileReader<'_>, member: &'m Member) -> Result<(), FormatError> {
        self.file = self.file.or(Some(member));
        files.objects(member, &[], Kind::Message, |files, element| {
            let Some(id) = first_text(&element.object, &["conversationId"]) else {
                let place = format!("{}#{}", member.place, element.pointer);
                let reason = "no_conversation: this message does not name its conversation";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
                return Ok(());
            };
            self.count(files, member, element.text)?;
            if !self.heads.contains_key(&id) && !self.turns.contains_key(&id) {
                self.order.push(id.clone());
            }
            let turn = message_turn(&element.object, element.text, element.pointer.clone());
            self.turns.entry(id).or_default().push(turn);
            Ok(())
        })?;
        Ok(())
    }

    /// Adds the size of a row. Returns an error if all rows together are larger than the size limit of an element.
    fn count(&mut self, files: &FileReader<'_>, member: &Member, text: &str) -> Result<(), FormatError> {
        self.bytes += text.len() as u64;
        let limit = files.context.limits.element_bytes;
        if self.bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        Ok(())
    }

    /// Sends all conversations. A conversation without messages is reported as dropped.
    pub(super) fn send(mut self, files: &mut FileReader<'_>) -> Result<(), FormatError> {
        for id in std::mem::take(&mut self.order) {
            let head = self.heads.remove(&id);
            let (Some(mut turns), Some(member)) = (self.turns.remove(&id), self.file) else {
                let place = head.map(|(place, _)| place).unwrap_or_default();
                let reason = "no_messages: the messages of this conversation are not in the input";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
                continue;
            };
            // The database stores rows in any order, so the messages are sorted by time.
            if turns.iter().all(|turn| turn.times.created.is_some()) {
                turns.sort_by_key(|turn| turn.times.created);
            }
            let chat = head.map(|(_, chat)| chat).unwrap_or_default();
            send(files, member, Chat { id: Some(id), turns, ..chat }, FORMAT_ID, None)?;
        }
        Ok(())
    }
}
