//! Reads the files of a claim: the logs, then the prompts of sessions without a log, then the notes.
use super::session::Session;
use super::{FORMAT, memory};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind};
use std::collections::{HashMap, HashSet};

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
    let mut names: HashMap<String, String> = HashMap::new();
    reader.each_member(&members_of(Role::Manifest), |reader, member| {
        reader.lines(member, Kind::Conversation, |_, line| {
            let text = |key: &str| line.object.non_blank_text(key).map(|t| t.into_owned());
            if let (Some(id), Some(name)) = (text("id"), text("thread_name")) {
                names.insert(id, name);
            }
            Ok(())
        })?;
        reader.pass_through(member, "", "sidecar")
    })?;
    let mut known_sessions = HashSet::new();
    reader.each_member(&members_of(Role::Conversations), |reader, member| {
        let mut session = read_log(reader, member)?;
        session.set_title(&names);
        known_sessions.extend(session.id().map(str::to_owned));
        session.send(reader, member)
    })?;
    reader.each_member(&members_of(Role::Records), |reader, member| {
        memory::read_history(reader, member, &known_sessions)
    })?;
    reader.each_member(&members_of(Role::Memories), memory::read_notes)
}

fn read_log(reader: &mut FileReader<'_>, member: &Member) -> Result<Session, FormatError> {
    let mut session = Session::default();
    let mut bytes = 0;
    reader.lines_or_elements(member, &["items"], Kind::Message, |reader, line| {
        if !reader.add_message_size(&mut bytes, member, line, "session") {
            return Ok(());
        }
        // In the oldest layout, a log can be one object on a single line.
        if let (Some(header), Some(items)) = (line.object.object("session"), line.object.list("items")) {
            session.read_document(&header);
            for (n, raw) in items.into_iter().enumerate() {
                match Object::parse(raw.get()) {
                    Some(item) => session.add(reader, member, raw.get(), &item, &format!("/items/{n}"))?,
                    None => {
                        let place = format!("{}#/items/{n}", member.place);
                        let reason = "not_an_object: this entry is not an object";
                        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
                    }
                }
            }
            return Ok(());
        }
        session.add(reader, member, line.text, &line.object, &line.pointer)
    })?;
    // In the oldest layout, the header is a sibling of the list of items.
    if session.id().is_none()
        && let Some(text) = reader.wrapper(member, &["items"])?
        && let Some(header) = Object::parse(&text).and_then(|w| w.object("session"))
    {
        session.read_document(&header);
    }
    Ok(session)
}
