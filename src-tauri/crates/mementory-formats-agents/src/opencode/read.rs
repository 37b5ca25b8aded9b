//! Reads the files of a claim.
use super::detect::{FileKind, file_kind};
use super::session::Session;
use super::{FORMAT, database, first_database, share, storage};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    let mut files: Vec<&Member> = Vec::new();
    for part in &detected.claim.parts {
        let Some(member) = catalog.members().get(part.member) else { continue };
        if part.role == Role::Sidecar {
            let reason = "database_log: it is read with its database and not stored";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            continue;
        }
        match file_kind(catalog, member) {
            Some(FileKind::Storage) => files.push(member),
            Some(FileKind::Database) => reader.each_member(&[member], database::read)?,
            Some(FileKind::FirstDatabase) => reader.each_member(&[member], first_database::read)?,
            Some(FileKind::SharedList) => reader.each_member(&[member], share::read_list)?,
            Some(FileKind::SharedMap) => reader.each_member(&[member], share::read_map)?,
            Some(FileKind::Export) => reader.each_member(&[member], read_export)?,
            None => {
                let reason = "changed: the file is no longer what was detected";
                reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, None);
            }
        }
    }
    storage::read(&mut reader, &files)
}

/// Reads the output of `opencode export`: one session with its messages.
fn read_export(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let wrapper = reader.wrapper(member, &["messages"])?;
    let header = wrapper.as_deref().and_then(Object::parse).and_then(|w| w.raw_value("info").map(|raw| raw.get()));
    let mut session = Session::new(None, header);
    let (limit, mut bytes) = (reader.context.limits.element_bytes, 0);
    let (count, _) = reader.elements(member, &["messages"], Kind::Message, |reader, element| {
        bytes += element.text.len() as u64;
        let place = format!("{}#{}", member.place, element.pointer);
        if bytes > limit {
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let Some(info) = element.object.object("info") else {
            let reason = "not_a_message: an entry without `info`";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        };
        let raw_parts = element.object.list("parts").unwrap_or_default();
        let parts: Vec<Object<'_>> = raw_parts.iter().filter_map(|raw| Object::parse(raw.get())).collect();
        session.add(reader, member, (&info, &parts), (Verbatim::json(element.text), element.pointer.clone()))
    })?;
    if count == 0 {
        let reason = "no_content: a session without messages";
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Conversation));
        return Ok(());
    }
    session.send(reader, &member.place)
}
