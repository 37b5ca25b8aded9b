//! Recognises a page to which Pi exported a session (`/export`). The page contains the session as base64 of a JSON
//! object with the header, the lines (`entries`) and the id of the last line of the active branch (`leafId`).
use mementory_format::{Catalog, Member};
use mementory_formats_shared::agent_content::embedded_bytes;
use mementory_formats_shared::text_head::text_head;

/// Start tag of the HTML element that contains the session.
const ELEMENT_START: &str = "<script id=\"session-data\" type=\"application/json\">";
/// Number of bytes at the start of a page that are searched for the element. Styles and templates are above it.
const HEAD_BYTES: usize = 256 << 10;
/// First bytes of the JSON of the session.
const SESSION_START: &[u8] = b"{\"header\":";

/// True if the file is a page to which Pi exported a session.
pub(super) fn is_page(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    if !name.ends_with(".html") && !name.ends_with(".htm") {
        return false;
    }
    let head = text_head(catalog, member, HEAD_BYTES).unwrap_or_default();
    let start = session_in(&head).and_then(|data| embedded_bytes(data.get(..16)?));
    start.is_some_and(|start| start.starts_with(SESSION_START))
}

/// The base64 of the session, up to the end of the element or of the text.
pub(super) fn session_in(page: &str) -> Option<&str> {
    let (_, data) = page.split_once(ELEMENT_START)?;
    data.split('<').next().map(str::trim)
}
