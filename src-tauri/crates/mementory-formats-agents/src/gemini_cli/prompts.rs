//! Reads `logs.json`, which has the prompts of all sessions, and checkpoints, which consist of `Content` objects of
//! Google's API.
use super::messages;
use super::session::chat_file;
use crate::prompt_history::{Prompt, PromptHistory};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::Chat;
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;
use std::collections::HashSet;

/// Reads the prompts of sessions that are not in `known_sessions`.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    known_sessions: &HashSet<String>,
) -> Result<(), FormatError> {
    let mut history = PromptHistory::new(known_sessions);
    reader.lines_or_elements(member, &[], Kind::Message, |reader, entry| {
        history.add(reader, member, entry, prompt(&entry.object));
        Ok(())
    })?;
    history.send(reader, chat_file)
}

fn prompt<'a>(entry: &Object<'a>) -> Option<Prompt<'a>> {
    let session = entry.non_blank_text("sessionId")?;
    Some(Prompt {
        key: format!("prompts/{session}"),
        session: Some(session),
        text: entry.non_blank_text("message")?,
        role: if entry.text("type").as_deref() == Some("user") { "user" } else { "system" },
        time_member: "timestamp",
        project: None,
    })
}

/// Reads a checkpoint: a conversation that the command `/chat save` stored under a name.
pub(super) fn read_checkpoint(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut chat = Chat { is_log: true, record_type: Some("checkpoint".into()), ..Chat::default() };
    let mut bytes = 0;
    reader.objects(member, &["history"], Kind::Message, |reader, line| {
        if !reader.add_message_size(&mut bytes, member, line, "checkpoint") {
            return Ok(());
        }
        let (mut turn, mut content) = messages::content(line.text, &line.object);
        reader.store_files(member, &mut content)?;
        turn.pointer.clone_from(&line.pointer);
        chat.note_time(turn.times.created);
        chat.turns.push(turn);
        Ok(())
    })?;
    let stem = without_extension(member.file_name());
    if let Some(tag) = stem.strip_prefix("checkpoint-") {
        chat.fields.insert("tag".into(), tag.into());
    }
    reader.send_chat(chat, chat_file(&member.place))
}
