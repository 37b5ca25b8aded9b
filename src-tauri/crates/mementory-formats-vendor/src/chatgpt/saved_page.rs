//! A conversation on chatgpt.com that was saved with a browser ("Save page as"). The page has only the messages that it
//! showed, and no times.
use mementory_format::{Catalog, FormatError, Member, Sink, is_uuid};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::html::{self, Row, RowError, RowKind, Rows};
use mementory_formats_shared::roles;
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Verbatim};

/// Number of bytes that are searched for the address and the title of the page.
const HEAD_BYTES: usize = 256 << 10;
/// Number of bytes that detection searches for a message. The styles of a page come before it.
const PAGE_BYTES: usize = 16 << 20;
/// The element of a message.
const MESSAGE: RowKind = RowKind { name: "div", class: "text-message" };
const ROLE: &str = "data-message-author-role";

/// True for a saved page with messages.
pub(super) fn is_saved_page(catalog: &Catalog, member: &Member) -> Result<bool, FormatError> {
    let read = |count| match catalog.head(member, count) {
        Err(e @ FormatError::Limit { .. }) => Err(e),
        head => Ok(String::from_utf8_lossy(&head.unwrap_or_default()).into_owned()),
    };
    let has_message = |page: &str| {
        let tag = html::find_element(page, 0, MESSAGE).and_then(|range| page.get(range));
        tag.is_some_and(|tag| attribute(tag, ROLE).is_some())
    };
    let head = read(HEAD_BYTES)?;
    let names_site = head.contains("chatgpt.com") || head.contains("chat.openai.com");
    Ok(names_site && (has_message(&head) || has_message(&read(PAGE_BYTES)?)))
}

/// Reads the messages of a page.
///
/// # Errors
/// If the page is damaged, its messages before the damage have been sent.
pub(super) fn read(
    catalog: &Catalog,
    member: &Member,
    limits: &Limits,
    version: Option<&str>,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut turns = Vec::new();
    let result = catalog.read(member, |bytes| {
        let mut rows = Rows::new(bytes, MESSAGE, limits);
        loop {
            match rows.next_row() {
                Ok(Some(row)) => {
                    if row.is_cut {
                        let place = format!("{}#@{}", member.place, row.offset);
                        let message = "the page ends inside this message; what is there was read";
                        sink.note(Issue::new("truncated", place, message));
                    }
                    turns.extend(turn(row));
                }
                Ok(None) => return Ok(()),
                Err(RowError::Io(error)) => return Err(FormatError::io(&member.place, error)),
                Err(RowError::TooLarge(offset)) => sink.dropped(Dropped {
                    place: format!("{}#@{offset}", member.place),
                    outcome: DroppedAs::Failed,
                    reason: "too_large: this message is larger than the limit".into(),
                    kind: Some(Kind::Message),
                }),
            }
        }
    });
    if turns.is_empty() {
        return result;
    }
    let head = catalog.head(member, HEAD_BYTES)?;
    let page = String::from_utf8_lossy(&head);
    // The body contains the addresses of other conversations, so only the text before it is searched for the id.
    let id = page.split("<body").next().and_then(conversation_id);
    let title = page.split_once("<title").and_then(|(_, rest)| rest.split_once('>')?.1.split_once("</title>"));
    let chat = Chat {
        id: id.map(str::to_owned),
        // The key differs from that of the same conversation in an export, because the page contains less and must not
        // replace that conversation.
        key: id.map(|id| format!("page/{id}")),
        title: title.map(|(words, _)| html::to_text(words)).filter(|words| !words.is_empty()),
        turns,
        is_log: true,
        ..Chat::default()
    };
    let file = ChatFile { format: "chatgpt", platform: "chatgpt", version, container: &member.place };
    let mut issues = Vec::new();
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| sink.note(issue));
    sink.unit(unit)?;
    result
}

/// The id in an address such as `https://chatgpt.com/c/<id>`.
fn conversation_id(head: &str) -> Option<&str> {
    head.match_indices("/c/").find_map(|(at, _)| head.get(at + 3..at + 39).filter(|id| is_uuid(id)))
}

/// The message in an element. None if the element is not a message.
fn turn(row: Row) -> Option<Turn> {
    let (tag, _) = row.html.split_once('>')?;
    let role = attribute(tag, ROLE)?.to_owned();
    let message_html = without_buttons(&row.html);
    // The page shows the person's text exactly as it was typed, so its line breaks are preserved.
    let text = if role == roles::USER { html::to_text_with_lines(&message_html) } else { html::to_text(&message_html) };
    Some(Turn {
        id: attribute(tag, "data-message-id").map(str::to_owned),
        model: attribute(tag, "data-message-model-slug").map(str::to_owned),
        role,
        text,
        content_type: "text".into(),
        pointer: format!("@{}", row.offset),
        verbatim: Some(Verbatim { media_type: "text/html".into(), text: row.html }),
        ..Turn::default()
    })
}

/// The value of an attribute in a start tag. Browsers write all values in double quotes.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let value = tag.split_once(name)?.1.strip_prefix("=\"")?;
    value.split('"').next().filter(|value| !value.is_empty())
}

/// The text of an element without the buttons in it, such as "Copy" above code.
fn without_buttons(html: &str) -> String {
    let mut parts = html.split("<button");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("</button>").map_or("", |(_, after)| after))
}
