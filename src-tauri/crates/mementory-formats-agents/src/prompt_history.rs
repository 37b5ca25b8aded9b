//! Prompt histories: files in which an agent stores the prompts of all sessions. Agents delete old session logs, so a
//! prompt history may be the only file that still contains the prompts of a session.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{ChatFile, Turn};
use mementory_formats_shared::jsonl_session::{Sessions, any_time};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Kind, Verbatim};
use std::borrow::Cow;
use std::collections::HashSet;

/// An entry of a prompt history.
pub(crate) struct Prompt<'e> {
    /// Key of the conversation to which the prompt belongs.
    pub key: String,
    /// Id of the session. None in files that have no session ids.
    pub session: Option<Cow<'e, str>>,
    /// Text of the prompt.
    pub text: Cow<'e, str>,
    /// Role of the message: `user`, or `system` for a text that the program wrote.
    pub role: &'static str,
    /// Name of the member that has the time.
    pub time_member: &'static str,
    /// Folder of the project.
    pub project: Option<String>,
}

/// Collects the entries of a prompt history into conversations. Each conversation becomes a record of type
/// `prompt_history`.
pub(crate) struct PromptHistory<'k> {
    known_sessions: &'k HashSet<String>,
    sessions: Sessions,
}

impl<'k> PromptHistory<'k> {
    /// Starts a history. Prompts of `known_sessions`, whose logs are imported, are left out.
    pub fn new(known_sessions: &'k HashSet<String>) -> Self {
        Self { known_sessions, sessions: Sessions::default() }
    }

    /// Adds the prompt of an entry. Drops and reports an entry that has no prompt, an entry whose session is imported
    /// from its log, and an entry with which the history would exceed the size limit of an element.
    pub fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        entry: &ObjectElement<'_>,
        prompt: Option<Prompt<'_>>,
    ) {
        let limit = reader.context.limits.element_bytes;
        let dropped = match &prompt {
            None => Some((DroppedAs::Skipped, "no_content: an entry without a prompt or a session")),
            Some(prompt) if prompt.session.as_ref().is_some_and(|id| self.known_sessions.contains(id.as_ref())) => {
                Some((DroppedAs::Skipped, "duplicate: the session of this prompt is imported"))
            }
            Some(_) if !self.sessions.add_bytes_within(entry.text.len(), limit) => {
                Some((DroppedAs::Failed, "too_large: the list of prompts is larger than an element may be"))
            }
            Some(_) => None,
        };
        if let Some((outcome, reason)) = dropped {
            let place = format!("{}#{}", member.place, entry.pointer);
            reader.report_dropped(place, outcome, reason, Some(Kind::Message));
        } else if let Some(prompt) = prompt {
            self.add_turn(member, entry, prompt);
        }
    }

    fn add_turn(&mut self, member: &Member, entry: &ObjectElement<'_>, prompt: Prompt<'_>) {
        let stated_time = entry.object.raw_value(prompt.time_member).map(|time| time.get());
        let mut turn = Turn {
            id: Some(content_id(&format!("{stated_time:?}\n{}", prompt.text))),
            role: prompt.role.into(),
            content_type: "text".into(),
            text: prompt.text.into_owned(),
            pointer: entry.pointer.clone(),
            verbatim: Some(Verbatim::json(entry.text)),
            ..Turn::default()
        };
        turn.times.created = any_time(&entry.object, prompt.time_member);
        let session = self.sessions.get(&prompt.key, &member.place);
        if prompt.project.is_some() {
            session.chat.source.project = prompt.project;
        }
        session.add_turn(turn);
    }

    /// Sends the conversations. `chat_file` describes the file of a conversation.
    pub fn send(
        self,
        reader: &mut FileReader<'_>,
        chat_file: for<'f> fn(&'f str) -> ChatFile<'f>,
    ) -> Result<(), FormatError> {
        for mut session in self.sessions.chats {
            session.chat.id = Some(session.key.clone());
            session.chat.is_log = true;
            session.chat.record_type = Some("prompt_history".into());
            reader.send_chat(session.chat, chat_file(&session.container))?;
        }
        Ok(())
    }
}
