//! Reads the notes that Codex takes about earlier sessions, and its list of prompts.
use super::FORMAT;
use super::session::chat_file;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::frontmatter::Document;
use mementory_formats_shared::jsonl_session::{Sessions, any_time};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::rules_text;
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Verbatim};
use std::collections::HashSet;

/// Reads a file of notes. Each item becomes a memory.
pub(super) fn read_notes(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    if text.trim().is_empty() {
        reader.report_dropped(
            member.place.clone(),
            DroppedAs::Skipped,
            "no_content: an empty file",
            Some(Kind::Memory),
        );
        return Ok(());
    }
    let document = Document::parse(&text);
    let before = text.get(..text.len() - document.body.len()).unwrap_or_default();
    for piece in rules_text::items(&text, before) {
        let id = format!("memory/{}/{}", member.file_name(), piece.id);
        let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT, id), piece.text);
        record.title = piece.section;
        record.source.platform = FORMAT.into();
        record.source.method = Some("agent_memory".into());
        record.fields.insert("file".into(), member.file_name().into());
        record.origin =
            Origin { format: FORMAT.into(), version: None, container: member.place.clone(), pointer: piece.pointer };
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: piece.source.into() });
        reader.sink.unit(record.into())?;
    }
    Ok(())
}

/// Reads `history.jsonl`: the prompts of sessions that are not in `known_sessions`.
pub(super) fn read_history(
    reader: &mut FileReader<'_>,
    member: &Member,
    known_sessions: &HashSet<String>,
) -> Result<(), FormatError> {
    let mut sessions = Sessions::default();
    let limit = reader.context.limits.element_bytes;
    reader.lines(member, Kind::Message, |reader, line| {
        let place = format!("{}#{}", member.place, line.pointer);
        let (session, text) = (line.object.non_blank_text("session_id"), line.object.non_blank_text("text"));
        let (Some(session), Some(text)) = (session, text) else {
            let reason = "no_content: a line of the history without a prompt or a session";
            reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Message));
            return Ok(());
        };
        let reason =
            match (known_sessions.contains(session.as_ref()), sessions.add_bytes_within(line.text.len(), limit)) {
                (true, _) => Some((DroppedAs::Skipped, "duplicate: the session of this prompt is imported")),
                (_, false) => Some((DroppedAs::Failed, "too_large: the history is larger than an element may be")),
                _ => None,
            };
        if let Some((outcome, reason)) = reason {
            reader.report_dropped(place, outcome, reason, Some(Kind::Message));
            return Ok(());
        }
        let mut turn = Turn {
            id: Some(content_id(&format!("{:?}\n{text}", line.object.raw_value("ts").map(|t| t.get())))),
            role: "user".into(),
            content_type: "text".into(),
            text: text.into_owned(),
            pointer: line.pointer.clone(),
            verbatim: Some(Verbatim::json(line.text)),
            ..Turn::default()
        };
        turn.times.created = any_time(&line.object, "ts");
        sessions.get(&format!("history/{session}"), &member.place).add_turn(turn);
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
