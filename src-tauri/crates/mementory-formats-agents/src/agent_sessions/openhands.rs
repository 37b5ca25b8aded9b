//! Reads the events of a conversation with OpenHands. Each event is a separate file, or an element of the list in a
//! saved trajectory. Events of version 1 state their kind. Events of earlier versions are actions or observations.
use super::openhands_event::{self, Message};
use super::openhands_files::{CACHE_FOLDER, EVENTS_FOLDER, Header, sequence_number};
use super::session::Session;
use mementory_format::{FormatError, Member, is_uuid};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::files::folder;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Timestamp, Verbatim};

/// Name of the platform.
const PLATFORM: &str = "openhands";

/// An event with the values by which events are sorted.
struct Event {
    number: Option<u64>,
    time: Option<Timestamp>,
    text: String,
    pointer: String,
}

/// Reads the events in `members`, which are the files of one folder or one trajectory, as one conversation.
pub(super) fn read(reader: &mut FileReader<'_>, members: &[&Member], header: Header) -> Result<(), FormatError> {
    let Some(first) = members.first().copied() else { return Ok(()) };
    let (mut events, mut bytes) = (Vec::new(), 0);
    for member in members.iter().copied() {
        let result = reader.objects(member, &[], Kind::Message, |reader, element| {
            if reader.add_message_size(&mut bytes, member, element, "conversation") {
                let is_file = element.pointer.is_empty();
                events.push(Event {
                    number: element.object.whole_number("id").or_else(|| sequence_number(member.file_name())),
                    time: any_time(&element.object, "timestamp"),
                    text: element.text.to_owned(),
                    pointer: if is_file { member.file_name().to_owned() } else { element.pointer.clone() },
                });
            }
            Ok(())
        });
        reader.drop_if_damaged(member, result.map(|_| ()))?;
    }
    // If some events have no number, the events are sorted by time.
    let has_numbers = events.iter().all(|event| event.number.is_some());
    match has_numbers {
        true => events.sort_by_key(|event| event.number),
        false => events.sort_by_key(|event| event.time),
    }
    let mut conversation = Conversation::default();
    for event in events {
        conversation.add(reader, first, event)?;
    }
    conversation.send(reader, first, header)
}

/// The state of a conversation while its events are read.
#[derive(Default)]
struct Conversation {
    session: Session,
    /// Number of events with a part of a text that a later event contains.
    skipped_events: u64,
    first_id: Option<String>,
}

impl Conversation {
    fn add(&mut self, reader: &mut FileReader<'_>, member: &Member, event: Event) -> Result<(), FormatError> {
        let Some(object) = Object::parse(&event.text) else { return Ok(()) };
        let id = object.non_blank_text("id").map(|id| id.into_owned());
        self.first_id = self.first_id.take().or_else(|| id.clone());
        match openhands_event::message(&object) {
            Message::Turn(role, content) => {
                let mut turn = Turn { role: role.into(), pointer: event.pointer, ..Turn::default() };
                turn.id = id.or_else(|| object.whole_number("id").map(|id| id.to_string()));
                turn.times.created = event.time;
                turn.verbatim = Some(Verbatim::json(event.text.as_str()));
                self.session.push(reader, member, turn, content)?;
            }
            Message::Progress => self.skipped_events += 1,
            Message::None => {
                self.session.chat.note_time(event.time);
                self.session.other_lines.push(single_line(&event.text));
            }
        }
        Ok(())
    }

    fn send(mut self, reader: &mut FileReader<'_>, member: &Member, header: Header) -> Result<(), FormatError> {
        Session::report_skipped(reader, member, self.skipped_events, "events with parts of a text that follows");
        let chat = &mut self.session.chat;
        chat.id = header.id.as_deref().map(plain_id).or_else(|| folder_id(member));
        if chat.id.is_none() {
            chat.id = self.first_id.as_deref().map(content_id);
        }
        (chat.title, chat.model) = (header.title, header.model);
        chat.source.project = header.project;
        chat.note_time(header.created);
        self.session.send(reader, member, PLATFORM)
    }
}

/// Removes the hyphens from an id that is a UUID. Names of folders contain no hyphens, but some headers do.
fn plain_id(id: &str) -> String {
    if is_uuid(id) { id.replace('-', "") } else { id.to_owned() }
}

/// The name of the folder of a conversation, if the name is an id: at least 8 letters, digits or hyphens, including a
/// digit.
fn folder_id(member: &Member) -> Option<String> {
    let mut names = folder(&member.name).rsplit('/');
    let name = names
        .next()
        .map(|name| if [EVENTS_FOLDER, CACHE_FOLDER].contains(&name) { names.next() } else { Some(name) })??;
    let is_id = name.len() >= 8
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && name.bytes().any(|b| b.is_ascii_digit());
    is_id.then(|| plain_id(name))
}

/// Joins the lines of a JSON text. This is safe, because a line break in JSON is always between two tokens.
fn single_line(text: &str) -> String {
    text.lines().map(str::trim).collect()
}
