//! Reads a page to which Pi exported a session (`/export`). The session is in the page as base64 of a JSON object with
//! the header, the lines (`entries`) and the id of the last line of the active branch (`leafId`).
use super::pi::PiSession;
use memchr::memmem;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::agent_content::embedded_bytes;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Kind};
use serde_json::value::RawValue;

/// Beginning of the element with the session.
const ELEMENT: &[u8] = b"<script id=\"session-data\" type=\"application/json\">";
/// Number of bytes at the start of a page that are searched for the element. Styles and templates are above it.
const HEAD_BYTES: usize = 256 << 10;
/// Beginning of the session.
const START: &[u8] = b"{\"header\":";

/// True for a page of Pi.
pub(super) fn is_page(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    if !name.ends_with(".html") && !name.ends_with(".htm") {
        return false;
    }
    let head = catalog.head(member, HEAD_BYTES).unwrap_or_default();
    let start = session_in(&head).and_then(|data| embedded_bytes(data.get(..16)?));
    start.is_some_and(|start| start.starts_with(START))
}

/// The base64 of the session, up to the end of the element or of the text.
fn session_in(page: &[u8]) -> Option<&str> {
    let at = memmem::find(page, ELEMENT)?;
    let data = page.get(at + ELEMENT.len()..)?;
    let data = data.get(..memchr::memchr(b'<', data).unwrap_or(data.len()))?;
    Some(std::str::from_utf8(data).ok()?.trim())
}

/// Sends the session in a page.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let page = reader.catalog.bytes(member, reader.context.limits.element_bytes)?;
    let text = session_in(&page).and_then(embedded_bytes).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(object) = text.as_deref().and_then(Object::parse) else {
        return Err(FormatError::invalid("malformed", &member.place, "the session in this page cannot be decoded"));
    };
    let mut session = PiSession::default();
    let header = object.raw_value("header").map(|raw| ("header".to_owned(), raw));
    let entries = object.list("entries").unwrap_or_default().into_iter().enumerate();
    let lines = header.into_iter().chain(entries.map(|(index, raw)| (format!("entries/{index}"), raw)));
    for (pointer, raw) in lines {
        add(reader, member, &mut session, pointer, raw)?;
    }
    if let Some(leaf) = object.text("leafId") {
        session.set_leaf(&leaf);
    }
    session.send(reader, member)
}

fn add(
    reader: &mut FileReader<'_>,
    member: &Member,
    session: &mut PiSession,
    pointer: String,
    raw: &RawValue,
) -> Result<(), FormatError> {
    let pointer = format!("session-data/{pointer}");
    match Object::parse(raw.get()) {
        Some(object) => session.add(reader, member, &ObjectElement { text: raw.get(), object, pointer }),
        None => {
            let place = format!("{}#{pointer}", member.place);
            let reason = "not_an_object: this entry is not an object";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            Ok(())
        }
    }
}
