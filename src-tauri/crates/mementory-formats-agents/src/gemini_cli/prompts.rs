//! Reads `logs.json`, which has the prompts of all sessions, and checkpoints, which consist of `Content` objects of
//! Google's API.
use super::messages;
use super::session::chat_file;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::jsonl_session::{Sessions, any_time};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};
use std::collections::HashSet;

/// Reads the prompts of sessions that are not in `known_sessions`.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    known_sessions: &HashSet<String>,
) -> Result<(), FormatError> {
    let mut sessions = Sessions::default();
    let limit = reader.context.limits.element_bytes;
    reader.lines_or_elements(member, &[], Kind::Message, |reader, line| {
        let object = &line.object;
        let (session, text) = (object.non_blank_text("sessionId"), object.non_blank_text("message"));
        let reason = match (&session, &text) {
            (Some(session), Some(_)) if known_sessions.contains(session.as_ref()) => {
                Some((DroppedAs::Skipped, "duplicate: the session of this prompt is imported"))
            }
            (Some(_), Some(_)) if !sessions.add_bytes_within(line.text.len(), limit) => {
                Some((DroppedAs::Failed, "too_large: the list of prompts is larger than an element may be"))
            }
            (Some(_), Some(_)) => None,
            _ => Some((DroppedAs::Skipped, "no_content: an entry without a prompt or a session")),
        };
        if let Some((outcome, reason)) = reason {
            let place = format!("{}#{}", member.place, line.pointer);
            reader.report_dropped(place, outcome, reason, Some(Kind::Message));
            return Ok(());
        }
        let text = text.unwrap_or_default().into_owned();
        let time = object.raw_value("timestamp").map(|t| t.get());
        let mut turn = Turn {
            id: Some(content_id(&format!("{time:?}\n{text}"))),
            role: if object.text("type").as_deref() == Some("user") { "user" } else { "system" }.into(),
            content_type: "text".into(),
            text,
            pointer: line.pointer.clone(),
            verbatim: Some(Verbatim::json(line.text)),
            ..Turn::default()
        };
        turn.times.created = any_time(object, "timestamp");
        sessions.get(&format!("prompts/{}", session.unwrap_or_default()), &member.place).add_turn(turn);
        Ok(())
    })?;
    for mut found in sessions.chats {
        found.chat.id = Some(found.key.clone());
        found.chat.is_log = true;
        found.chat.record_type = Some("prompt_history".into());
        reader.send_chat(found.chat, chat_file(&found.container))?;
    }
    Ok(())
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
    let stem = member.file_name().rsplit_once('.').map_or(member.file_name(), |(stem, _)| stem);
    if let Some(tag) = stem.strip_prefix("checkpoint-") {
        chat.fields.insert("tag".into(), tag.into());
    }
    reader.send_chat(chat, chat_file(&member.place))
}
