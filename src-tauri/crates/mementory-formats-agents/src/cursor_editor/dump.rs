//! Reads conversations that a program copied from Cursor's database into a file: the value of the conversation's row,
//! followed by the values of its messages' rows, as JSON Lines or as a list. The value of a single row is read too.
use super::messages::Messages;
use super::{bubble, chat_file, state};
use mementory_format::{Catalog, FormatError, JsonHead, Member};
use mementory_formats_shared::chat::Chat;
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Issue, Kind, Verbatim};
use std::collections::HashSet;

/// Key of a conversation's id.
const ID_KEY: &str = "composerId";
/// Keys of the lists of messages in a conversation.
const LIST_KEYS: [&str; 2] = ["fullConversationHeadersOnly", "conversationMap"];
/// Keys that a conversation does not have. Other programs write messages below them, which are not read here.
const WRAPPER_KEYS: [&str; 5] = ["conversations", "projects", "data", "messages", "bubbles"];

/// True for a file that begins with the value of a conversation's row.
pub(super) fn is_dump(catalog: &Catalog, member: &Member) -> bool {
    JsonHead::of(catalog, member).is_some_and(|head| {
        let has_any = |names: &[&str]| names.iter().any(|name| head.keys.has(name));
        head.keys.has(ID_KEY) && has_any(&LIST_KEYS) && !has_any(&WRAPPER_KEYS)
    })
}

/// Reads all conversations of a file.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut open: Option<Conversation> = None;
    // Ids of the messages that earlier conversations list.
    let mut listed_before: HashSet<String> = HashSet::new();
    reader.lines_or_elements(member, &[], Kind::Message, |reader, element| {
        if is_conversation(&element.object) {
            let next = Conversation::begin(reader, member, element)?;
            let Some(previous) = open.replace(next) else { return Ok(()) };
            listed_before.extend(previous.messages.listed().cloned());
            return previous.send(reader, member);
        }
        match &mut open {
            Some(conversation) if element.object.has("bubbleId") => {
                let id = element.object.text("bubbleId").unwrap_or_default();
                if conversation.messages.rank(&id).is_none() && listed_before.contains(&*id) {
                    report(
                        reader,
                        member,
                        element,
                        "misplaced: an earlier conversation of the file lists this message",
                    );
                    return Ok(());
                }
                conversation.add(reader, member, element)
            }
            _ => {
                let reason = "no_content: neither a conversation nor one of its messages";
                report(reader, member, element, reason);
                Ok(())
            }
        }
    })?;
    open.map_or(Ok(()), |conversation| conversation.send(reader, member))
}

fn is_conversation(object: &Object<'_>) -> bool {
    object.has(ID_KEY) && LIST_KEYS.iter().any(|key| object.has(key))
}

fn report(reader: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>, reason: &str) {
    let place = format!("{}#{}", member.place, element.pointer);
    reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Message));
}

/// A conversation whose messages are being read.
struct Conversation {
    chat: Chat,
    messages: Messages,
    /// Size of the values so far.
    bytes: u64,
}

impl Conversation {
    fn begin(reader: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Result<Self, FormatError> {
        let (object, at) = (&element.object, element.pointer.as_str());
        let mut chat = Chat { is_log: true, pointer: at.to_owned(), ..Chat::default() };
        chat.id = object.non_blank_text(ID_KEY).map(|id| id.into_owned());
        bubble::fill_chat(&mut chat, object);
        let mut messages = Messages::of(object);
        let mut cuts = Vec::new();
        cuts.extend(state::read_inline(reader, member, object, at, &mut messages)?.map(|raw| (raw, "[]")));
        cuts.extend(state::read_map(reader, member, object, at, &mut messages)?.map(|raw| (raw, "{}")));
        chat.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &cuts)));
        Ok(Self { chat, messages, bytes: element.text.len() as u64 })
    }

    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        if !reader.add_message_size(&mut self.bytes, member, element, "conversation") {
            return Ok(());
        }
        let id = element.object.text("bubbleId").unwrap_or_default();
        self.messages.note_present(&id);
        if !self.messages.insert_id(&id) {
            report(reader, member, element, "duplicate: the conversation has this message already");
            return Ok(());
        }
        let turn = state::read_turn(reader, member, element.text, &element.object, element.pointer.clone())?;
        self.messages.add(&id, turn);
        Ok(())
    }

    fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let Self { mut chat, messages, .. } = self;
        let missing = messages.missing_count();
        if missing > 0 {
            let place = format!("{}#{}", member.place, chat.pointer);
            let message = format!("{missing} messages that this conversation lists are not in the file");
            reader.sink.note(Issue::new("messages_missing", place, message));
        }
        messages.fill(&mut chat);
        reader.send_chat(chat, chat_file(&member.place))
    }
}
