//! Reads the files of a claim: first the sessions, then the checkpoints, then the prompts of sessions without a log.
use super::session::Session;
use super::{FORMAT, antigravity, prompts, qwen, trajectory};
use mementory_format::{Catalog, Detected, FormatError, JsonHead, Member, ReadContext, Role, Sink};
use mementory_formats_shared::jsonl_session::head_lines;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;
use std::collections::HashSet;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    let members_of = |role: Role| {
        let parts = detected.claim.parts.iter().filter(move |p| p.role == role);
        parts.filter_map(|p| catalog.members().get(p.member)).collect::<Vec<&Member>>()
    };
    let mut known_sessions = HashSet::new();
    reader.each_member(&members_of(Role::Conversations), |reader, member| {
        if qwen::is_log(catalog, member) {
            return qwen::Log::read(reader, member, &mut known_sessions);
        }
        if JsonHead::of(catalog, member).is_some_and(|head| trajectory::is_trajectory(&head)) {
            return trajectory::read(reader, member);
        }
        if head_lines(catalog, member).is_some_and(|lines| antigravity::is_transcript_of_lines(&lines)) {
            return antigravity::read(reader, member);
        }
        let session = read_session(reader, member)?;
        known_sessions.extend(session.id.clone());
        session.send(reader, member)
    })?;
    reader.each_member(&members_of(Role::Projects), prompts::read_checkpoint)?;
    reader.each_member(&members_of(Role::Sidecar), |reader, member| reader.pass_through(member, "", "sidecar"))?;
    reader.each_member(&members_of(Role::Records), |reader, member| prompts::read(reader, member, &known_sessions))
}

fn read_session(reader: &mut FileReader<'_>, member: &Member) -> Result<Session, FormatError> {
    let mut session = Session::default();
    let mut bytes = 0;
    reader.lines_or_elements(member, &["messages"], Kind::Message, |reader, line| {
        if !reader.add_message_size(&mut bytes, member, line, "session") {
            return Ok(());
        }
        session.add(reader, member, line.text, &line.object, &line.pointer);
        Ok(())
    })?;
    if session.id.is_none()
        && let Some(text) = reader.wrapper(member, &["messages"])?
        && let Some(header) = Object::parse(&text)
    {
        session.read_header(&header);
        session.keep_header(text.clone());
    }
    Ok(session)
}
