//! `history.jsonl`: the prompts of all sessions.
use super::chat_file;
use crate::prompt_history::{Prompt, PromptHistory};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;
use std::borrow::Cow;
use std::collections::HashSet;

/// Reads the prompts of the sessions that are not in `known_sessions`. Each session becomes a conversation. Older files
/// have no session ids, so the prompts of each project become one conversation.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    known_sessions: &HashSet<String>,
) -> Result<(), FormatError> {
    let mut history = PromptHistory::new(known_sessions);
    reader.lines(member, Kind::Message, |reader, line| {
        history.add(reader, member, line, prompt(&line.object));
        Ok(())
    })?;
    history.send(reader, chat_file)
}

fn prompt<'a>(line: &Object<'a>) -> Option<Prompt<'a>> {
    let session = line.non_blank_text("sessionId");
    let project = line.non_blank_text("project");
    let key = match session.as_ref().or(project.as_ref()) {
        Some(name) => format!("history/{name}"),
        None => "history".into(),
    };
    Some(Prompt {
        key,
        session,
        text: line.non_blank_text("display")?,
        role: "user",
        time_member: "timestamp",
        project: project.map(Cow::into_owned),
    })
}
