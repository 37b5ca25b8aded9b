//! Reads the notes that Codex takes about earlier sessions, and its list of prompts.
use super::FORMAT;
use super::session::chat_file;
use crate::prompt_history::{Prompt, PromptHistory};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::frontmatter::Document;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::rules_text;
use mementory_model::{Kind, Origin, Record, RecordKey, Verbatim};
use std::collections::HashSet;

/// Reads a file of notes. Each item becomes a memory.
pub(super) fn read_notes(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    if text.trim().is_empty() {
        reader.report_empty(member, Kind::Memory);
        return Ok(());
    }
    let document = Document::parse(&text);
    let frontmatter = text.get(..text.len() - document.body.len()).unwrap_or_default();
    for piece in rules_text::items(&text, frontmatter) {
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
    let mut history = PromptHistory::new(known_sessions);
    reader.lines(member, Kind::Message, |reader, line| {
        history.add(reader, member, line, prompt(&line.object));
        Ok(())
    })?;
    history.send(reader, chat_file)
}

fn prompt<'a>(line: &Object<'a>) -> Option<Prompt<'a>> {
    let session = line.non_blank_text("session_id")?;
    Some(Prompt {
        key: format!("history/{session}"),
        session: Some(session),
        text: line.non_blank_text("text")?,
        role: "user",
        time_member: "ts",
        project: None,
    })
}
