//! A chat while its requests are read.
use super::{FORMAT, PLATFORM, request};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, ChatFile};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};

/// The state of a chat while its requests are read.
#[derive(Debug, Default)]
pub(super) struct Session {
    chat: Chat,
}

impl Session {
    /// Creates a chat. `pointer` is its place in the file.
    pub(super) fn with_pointer(pointer: &str) -> Self {
        Self { chat: Chat { pointer: pointer.to_owned(), ..Chat::default() } }
    }

    pub(super) fn add(&mut self, text: &str, object: &Object<'_>, pointer: &str) {
        for turn in request::turns(text, object, pointer) {
            self.chat.note_time(turn.times.created);
            self.chat.turns.push(turn);
        }
    }

    /// Reads the members of the chat other than the requests. `text` is their JSON.
    pub(super) fn read_header(&mut self, header: &Object<'_>, text: String) {
        let member = |key: &str| header.non_blank_text(key).map(|text| text.into_owned());
        self.chat.id = member("sessionId");
        self.chat.title = member("customTitle").or_else(|| member("title"));
        self.chat.note_time(any_time(header, "creationDate"));
        self.chat.note_time(any_time(header, "lastMessageDate"));
        for (name, key) in [("responder", "responderUsername"), ("requester", "requesterUsername")] {
            if let Some(value) = member(key) {
                self.chat.fields.insert(name.into(), value.into());
            }
        }
        self.chat.verbatim = Some(Verbatim::json(text));
    }

    pub(super) fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let mut chat = self.chat;
        chat.is_log = true;
        if chat.turns.is_empty() && chat.title.is_none() {
            let reason = "no_content: a chat without messages";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Conversation));
            return Ok(());
        }
        // An exported chat has no id. The id of its first request is the same in every export of the chat.
        let first = chat.turns.first().map(|turn| turn.id.clone().unwrap_or_else(|| content_id(&turn.text)));
        chat.id = chat.id.take().or_else(|| first.map(|id| format!("export/{id}")));
        let file = ChatFile { format: FORMAT, platform: PLATFORM, version: None, container: &member.place };
        reader.send_chat(chat, file)
    }
}
