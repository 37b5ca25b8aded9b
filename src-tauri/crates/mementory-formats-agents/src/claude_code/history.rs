//! `history.jsonl`: the prompts of all sessions. Claude Code deletes old session logs, so a session may only be left in
//! this file.
use super::chat_file;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::{Sessions, any_time};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};
use std::collections::HashSet;

/// Reads the prompts of the sessions that are not in `known_sessions`. Each session becomes a conversation. Older files
/// have no session ids, so the prompts of each project become one conversation.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    known_sessions: &HashSet<String>,
) -> Result<(), FormatError> {
    let mut sessions = Sessions::default();
    let limit = reader.context.limits.element_bytes;
    reader.lines(member, Kind::Message, |reader, line| {
        let place = format!("{}#{}", member.place, line.pointer);
        let Some(display) = line.object.non_blank_text("display") else {
            let reason = "no_content: a line of the history without a prompt";
            reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Message));
            return Ok(());
        };
        let session = line.object.non_blank_text("sessionId");
        if session.as_ref().is_some_and(|id| known_sessions.contains(id.as_ref())) {
            let reason = "duplicate: the session of this prompt is imported";
            reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Message));
            return Ok(());
        }
        if !sessions.add_bytes_within(line.text.len(), limit) {
            let reason = "too_large: the history is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let project = line.object.non_blank_text("project");
        let key = match (&session, &project) {
            (Some(session), _) => format!("history/{session}"),
            (None, Some(project)) => format!("history/{project}"),
            (None, None) => "history".into(),
        };
        let id = content_id(&format!("{:?}\n{display}", line.object.raw_value("timestamp").map(|t| t.get())));
        let mut turn = prompt(display.into_owned(), id, &line.pointer, line.text);
        turn.times.created = any_time(&line.object, "timestamp");
        let found = sessions.get(&key, &member.place);
        found.chat.source.project = project.map(|p| p.into_owned());
        found.add_turn(turn);
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

fn prompt(text: String, id: String, pointer: &str, verbatim: &str) -> Turn {
    Turn {
        id: Some(id),
        role: "user".into(),
        content_type: "text".into(),
        text,
        pointer: pointer.into(),
        verbatim: Some(Verbatim::json(verbatim)),
        ..Turn::default()
    }
}
