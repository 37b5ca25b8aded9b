//! Reads the files of a claim: first the logs, then the prompts of sessions without a log, then the memory.
use super::detect::{WEB_LINES_MEMBER, is_web_log};
use super::session::Session;
use super::{FORMAT, cowork, history, memory, session_index};
use crate::agent_rules;
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink, is_uuid};
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Kind};
use std::collections::{HashMap, HashSet};
use std::io::Read;

/// Largest number of session ids that are collected from one file.
const MAX_SESSIONS_PER_FILE: usize = 10_000;

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
    let titles = cowork::titles(&reader, &members_of(Role::Sidecar));
    let summaries = session_index::summaries(&reader, &members_of(Role::Sidecar));
    let mut known_sessions = HashSet::new();
    for group in groups(catalog, &members_of(Role::Conversations), context.limits.element_bytes)? {
        let mut sessions = GroupSessions::default();
        reader.each_member(&group, |reader, member| sessions.read(reader, member))?;
        known_sessions.extend(sessions.list.iter().map(|s| s.id.clone()));
        sessions.send(&mut reader, &group, (&titles, &summaries))?;
    }
    reader.each_member(&members_of(Role::Records), |reader, member| history::read(reader, member, &known_sessions))?;
    let mut known_ids = memory::KnownIds::default();
    reader.each_member(&members_of(Role::Memories), |reader, member| memory::read(reader, member, &mut known_ids))?;
    let rules: Vec<(&Member, Role)> =
        members_of(Role::Projects).into_iter().map(|member| (member, Role::Memories)).collect();
    agent_rules::read_members(&mut reader, &rules)?;
    reader.each_member(&members_of(Role::Sidecar), |reader, member| {
        let group = member.name.split('/').rev().find(|f| is_uuid(f)).unwrap_or_default().to_owned();
        reader.pass_through(member, &group, "sidecar")
    })
}

/// Groups the files that contain lines of the same session. They must be read together, because Claude Code copies the
/// lines of a continued session into the next file. If a group exceeds the size limit of one element, its files are
/// read one by one.
fn groups<'m>(catalog: &Catalog, members: &[&'m Member], limit: u64) -> Result<Vec<Vec<&'m Member>>, FormatError> {
    if members.len() < 2 {
        return Ok(members.iter().map(|m| vec![*m]).collect());
    }
    let mut group_of_session: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Vec<&'m Member>> = Vec::new();
    for member in members {
        let is_subagent = member.file_name().starts_with("agent-");
        let ids = if is_subagent { HashSet::new() } else { session_ids(catalog, member)? };
        let found: HashSet<usize> = ids.iter().filter_map(|id| group_of_session.get(id).copied()).collect();
        let mut found: Vec<usize> = found.into_iter().collect();
        found.sort_unstable();
        let target = found.first().copied().unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        for other in found.into_iter().skip(1) {
            let moved_members = std::mem::take(&mut groups[other]);
            groups[target].extend(moved_members);
            group_of_session.values_mut().filter(|g| **g == other).for_each(|g| *g = target);
        }
        groups[target].push(member);
        group_of_session.extend(ids.into_iter().map(|id| (id, target)));
    }
    let mut out = Vec::new();
    for mut group in groups.into_iter().filter(|g| !g.is_empty()) {
        group.sort_by_key(|m| m.id);
        if group.iter().map(|m| m.size).sum::<u64>() > limit {
            out.extend(group.into_iter().map(|m| vec![m]));
        } else {
            out.push(group);
        }
    }
    Ok(out)
}

/// The session ids in a file: the texts after `"sessionId":`, and after `"session_id":` in the output of a session that
/// ran without a terminal.
fn session_ids(catalog: &Catalog, member: &Member) -> Result<HashSet<String>, FormatError> {
    const SESSION_ID_KEYS: [&[u8]; 2] = [b"\"sessionId\"", b"\"session_id\""];
    catalog.read(member, |bytes| {
        let mut out = HashSet::new();
        let mut buffer: Vec<u8> = Vec::new();
        loop {
            let kept_bytes = buffer.len();
            let read = (&mut *bytes).take(256 << 10).read_to_end(&mut buffer);
            let is_damaged = match read {
                Ok(_) => false,
                Err(e) if mementory_model::is_damage(&e) => true,
                Err(e) => return Err(FormatError::io(&member.place, e)),
            };
            let ends = |key: &'static [u8]| memchr::memmem::find_iter(&buffer, key).map(move |at| at + key.len());
            for from in SESSION_ID_KEYS.into_iter().flat_map(ends) {
                let rest = buffer.get(from..(from + 80).min(buffer.len())).unwrap_or_default();
                let value = rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
                let value = value.and_then(|v| v.strip_prefix(b"\"")).unwrap_or_default();
                if let Some(end) = memchr::memchr(b'"', value)
                    && out.len() < MAX_SESSIONS_PER_FILE
                {
                    out.insert(String::from_utf8_lossy(&value[..end]).into_owned());
                }
            }
            if is_damaged || buffer.len() == kept_bytes {
                return Ok(out);
            }
            let tail = buffer.len().saturating_sub(128);
            buffer.drain(..tail);
        }
    })
}

/// The state of a file while its lines are read.
struct OpenFile {
    /// Id of the session of the last line, and id of the subagent if a subagent wrote the line.
    current: Option<(String, Option<String>)>,
    /// Lines before the first line with a session id.
    lines_before_id: Vec<(String, String)>,
}

/// The sessions of a group of files.
#[derive(Default)]
struct GroupSessions {
    list: Vec<Session>,
    position: HashMap<String, usize>,
    bytes: u64,
}

impl GroupSessions {
    fn read(&mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let stem = without_extension(member.file_name());
        let mut open =
            OpenFile { current: is_uuid(stem).then(|| (stem.to_owned(), None)), lines_before_id: Vec::new() };
        if is_web_log(reader.catalog, member) {
            reader.objects(member, &[WEB_LINES_MEMBER], Kind::Message, |reader, line| {
                self.read_line(reader, member, line, &mut open);
                Ok(())
            })?;
        } else {
            reader.lines_or_elements(member, &[], Kind::Message, |reader, line| {
                self.read_line(reader, member, line, &mut open);
                Ok(())
            })?;
        }
        if let Some((first, _)) = open.lines_before_id.first() {
            // A session without an id gets a digest of its first line as id.
            let id = open.current.unwrap_or_else(|| (content_id(first), None));
            let session = self.get(&id, member);
            add_all(session, open.lines_before_id);
        }
        Ok(())
    }

    fn read_line(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        line: &ObjectElement<'_>,
        open: &mut OpenFile,
    ) {
        self.bytes += line.text.len() as u64;
        if self.bytes > reader.context.limits.element_bytes {
            let place = format!("{}#{}", member.place, line.pointer);
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return;
        }
        let id = line.object.non_blank_text("sessionId").or_else(|| line.object.non_blank_text("session_id"));
        let agent = line.object.non_blank_text("agentId").filter(|_| line.object.is_true("isSidechain"));
        match id {
            Some(id) => open.current = Some((id.into_owned(), agent.map(|a| a.into_owned()))),
            None if open.current.is_none() => {
                open.lines_before_id.push((line.text.to_owned(), line.pointer.clone()));
                return;
            }
            None => {}
        }
        let Some(current) = &open.current else { return };
        let session = self.get(current, member);
        add_all(session, std::mem::take(&mut open.lines_before_id));
        session.add(line.text, &line.object, &line.pointer);
    }

    fn get(&mut self, (id, agent): &(String, Option<String>), member: &Member) -> &mut Session {
        let key = format!("{id}/{}", agent.as_deref().unwrap_or_default());
        let at = *self.position.entry(key).or_insert_with(|| {
            let (id, agent) = (id.clone(), agent.clone());
            self.list.push(Session::new(id, agent, member.place.clone()));
            self.list.len() - 1
        });
        &mut self.list[at]
    }

    /// Sends the sessions. `titles` contains the titles that another program gave to sessions, and `summaries` the
    /// titles in the lists of sessions. Both maps are keyed by session id.
    fn send(
        self,
        reader: &mut FileReader<'_>,
        group: &[&Member],
        (titles, summaries): (&HashMap<String, String>, &HashMap<String, String>),
    ) -> Result<(), FormatError> {
        let Some(first) = group.first().copied() else { return Ok(()) };
        let session_of: HashMap<String, String> =
            self.list.iter().flat_map(|s| s.uuids().map(|u| (u.clone(), s.key()))).collect();
        for mut session in self.list {
            if let Some(title) = titles.get(&session.id) {
                session.note_given_title(title);
            }
            if let Some(summary) = summaries.get(&session.id).filter(|_| session.key() == session.id) {
                session.note_listed_title(summary);
            }
            let member = group.iter().copied().find(|m| m.place == session.container).unwrap_or(first);
            if session.progress_lines > 0 {
                let reason = format!("progress: {} lines that report on a running tool", session.progress_lines);
                reader.report_dropped(session.container.clone(), DroppedAs::Skipped, &reason, None);
            }
            if session.is_empty() {
                reader.sink.note(mementory_model::Issue::new(
                    "empty",
                    &session.container,
                    "a session without messages",
                ));
            }
            session.send(reader, member, &session_of)?;
        }
        Ok(())
    }
}

fn add_all(session: &mut Session, lines: Vec<(String, String)>) {
    for (text, pointer) in lines {
        if let Some(object) = mementory_formats_shared::object::Object::parse(&text) {
            session.add(&text, &object, &pointer);
        }
    }
}
