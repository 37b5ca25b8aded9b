//! Reads each file as one conversation.
use super::detect::{FileKind, file_kind};
use super::log::{Log, LoggedChat};
use super::nodes::TooLarge;
use super::session::Session;
use super::{FORMAT, state};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Issue, Kind};

/// Name of the list of requests.
const REQUESTS: &str = "requests";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    reader.each_file(detected, |reader, member, role| match file_kind(reader.catalog, member) {
        // A write-ahead log is read together with its database.
        _ if role == Role::Junk => Ok(()),
        Some(FileKind::List) => state::read_list(reader, member),
        Some(FileKind::State) => state::read_state(reader, member),
        Some(FileKind::Document) => read_document(reader, member),
        Some(FileKind::Log) => read_log(reader, member),
        None => Err(FormatError::invalid("changed", &member.place, "the file is no longer what was detected")),
    })
}

fn read_document(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut session = Session::default();
    let mut bytes = 0;
    let (_, wrapper) = reader.elements(member, &[REQUESTS], Kind::Message, |reader, element| {
        // If the list of requests is empty, the only element is the chat itself, which is not a request.
        if element.object.has(REQUESTS) {
            return Ok(());
        }
        if !reader.add_message_size(&mut bytes, member, element, "chat") {
            return Ok(());
        }
        session.add(element.text, &element.object, &element.pointer);
        Ok(())
    })?;
    if let Some(text) = wrapper.as_deref().map(str::trim)
        && let Some(header) = Object::parse(text)
    {
        session.read_header(&header, text.to_owned());
    }
    session.send(reader, member)
}

fn read_log(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let too_large = |e: TooLarge| FormatError::invalid("too_large", &member.place, e.to_string());
    let mut log = Log::new(reader.context.limits.tree_bytes);
    let (mut bytes, mut lost_changes) = (0, 0u64);
    reader.lines(member, Kind::Message, |reader, line| {
        if !reader.add_message_size(&mut bytes, member, line, "log") {
            return Ok(());
        }
        lost_changes += u64::from(!log.apply(&line.object).map_err(too_large)?);
        Ok(())
    })?;
    if lost_changes > 0 {
        let message = format!("{lost_changes} lines change what is not in the chat, or are of an unknown kind");
        reader.sink.note(Issue::new("unknown_lines", &member.place, message));
    }
    let Some(LoggedChat { header, requests }) = log.into_chat(REQUESTS).map_err(too_large)? else {
        let reason = "no_content: the log has no line with the chat";
        reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let mut session = Session::default();
    for (n, text) in requests.iter().enumerate() {
        let pointer = format!("/{REQUESTS}/{n}");
        match Object::parse(text) {
            Some(request) => session.add(text, &request, &pointer),
            // A line of the log deleted this item.
            None if text == "null" => {}
            None => {
                let place = format!("{}#{pointer}", member.place);
                let reason = "not_an_object: this entry is not an object";
                reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            }
        }
    }
    session.read_header(&Object::parse(&header).unwrap_or_default(), header.clone());
    session.send(reader, member)
}
