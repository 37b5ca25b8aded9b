//! Reads a conversation on chatgpt.com that was saved as a web page. A page that a browser saved ("Save page as")
//! contains only the messages that were shown, and no times. A page that ChatGPT Exporter (pionxzh/chatgpt-exporter)
//! saved contains the messages of one branch.
use super::page::head_text;
use mementory_format::{Catalog, FormatError, Member, Sink, is_uuid};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::html::{self, Row, RowError, RowKind, Rows};
use mementory_formats_shared::roles;
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Times, Timestamp, Verbatim};

/// Number of bytes at the beginning of a page that are searched for its address and title.
const HEAD_BYTES: usize = 256 << 10;
/// Number of bytes at the beginning of a page in which detection searches for a message. It is large because the styles
/// of a page come before the messages.
const PAGE_BYTES: usize = 16 << 20;
/// The element that contains a message, in a page that a browser saved.
const MESSAGE: RowKind = RowKind { name: "div", class: "text-message" };
const ROLE: &str = "data-message-author-role";
/// The element that contains a message, in a page that ChatGPT Exporter saved. `ITEM_TEXT` is the element in it that
/// contains the text.
const ITEM: RowKind = RowKind { name: "div", class: "conversation-item" };
const ITEM_TEXT: RowKind = RowKind { name: "div", class: "conversation-content" };

/// The program that saved a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SavedBy {
    Browser,
    Exporter,
}

/// True for a saved page with messages.
pub(super) fn is_saved_page(catalog: &Catalog, member: &Member) -> Result<bool, FormatError> {
    Ok(saved_by(catalog, member)?.is_some())
}

/// Returns the program that saved a page. None for a page without ChatGPT messages.
fn saved_by(catalog: &Catalog, member: &Member) -> Result<Option<SavedBy>, FormatError> {
    let read = |count| head_text(catalog, member, count);
    let has_message = |page: &str| {
        let tag = html::find_element(page, 0, MESSAGE).and_then(|range| page.get(range));
        tag.is_some_and(|tag| attribute(tag, ROLE).is_some())
    };
    let head = read(HEAD_BYTES)?;
    let has_site_address = head.contains("chatgpt.com") || head.contains("chat.openai.com");
    if has_site_address && head.contains(">ChatGPT Exporter</a>") && html::find_element(&head, 0, ITEM).is_some() {
        return Ok(Some(SavedBy::Exporter));
    }
    let is_page = has_site_address && (has_message(&head) || has_message(&read(PAGE_BYTES)?));
    Ok(is_page.then_some(SavedBy::Browser))
}

/// Reads the messages of a page, and sends them to the sink as one conversation.
///
/// # Errors
/// Returns an error if the page is damaged. The messages before the damage have already been sent.
pub(super) fn read(
    catalog: &Catalog,
    member: &Member,
    limits: &Limits,
    version: Option<&str>,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let saved_by = saved_by(catalog, member)?.unwrap_or(SavedBy::Browser);
    let (kind, turn) = match saved_by {
        SavedBy::Browser => (MESSAGE, turn as fn(Row) -> Option<Turn>),
        SavedBy::Exporter => (ITEM, exported_turn as fn(Row) -> Option<Turn>),
    };
    let mut turns = Vec::new();
    let result = catalog.read(member, |bytes| {
        let mut rows = Rows::new(bytes, kind, limits);
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
    let page = head_text(catalog, member, HEAD_BYTES)?;
    // The id is in an address of the form `/c/<id>`. The body contains the addresses of other conversations too, so in
    // a page that a browser saved only the text before the body is searched. In a page of the exporter, the title at
    // the beginning of the body links to the conversation.
    let id = match saved_by {
        SavedBy::Browser => page.split("<body").next().and_then(conversation_id),
        SavedBy::Exporter => {
            page.split_once("<body").and_then(|(_, body)| conversation_id(body.split(ITEM.class).next()?))
        }
    };
    let title = page.split_once("<title").and_then(|(_, rest)| rest.split_once('>')?.1.split_once("</title>"));
    let chat = Chat {
        id: id.map(str::to_owned),
        // The key differs from the key that the same conversation has in an export. Otherwise the page, which contains
        // less, would replace the conversation from the export.
        key: id.map(|id| if saved_by == SavedBy::Exporter { format!("exporter/{id}") } else { format!("page/{id}") }),
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

/// Returns the conversation id in an address such as `https://chatgpt.com/c/<id>`.
fn conversation_id(head: &str) -> Option<&str> {
    head.match_indices("/c/").find_map(|(at, _)| head.get(at + 3..at + 39).filter(|id| is_uuid(id)))
}

/// Returns the message in an element of a page that a browser saved. None if the element does not contain a message.
fn turn(row: Row) -> Option<Turn> {
    let (tag, _) = row.html.split_once('>')?;
    let role = attribute(tag, ROLE)?.to_owned();
    let message_html = without_buttons(&row.html);
    // The page shows the text of a person as it was typed, so its line breaks are preserved.
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

/// Returns the message in an element of a page that ChatGPT Exporter saved. The author is the model, unless the element
/// names the user as the author.
fn exported_turn(row: Row) -> Option<Turn> {
    let is_user = row.html.contains("class=\"author user\"");
    let start = html::find_element(&row.html, 0, ITEM_TEXT)?.start;
    let content = row.html.get(start..)?;
    let content = html::element_end(content, ITEM_TEXT.name).and_then(|end| content.get(..end)).unwrap_or(content);
    let time = row.html.split_once("<time ").and_then(|(_, rest)| attribute(rest.split('>').next()?, "datetime"));
    Some(Turn {
        role: if is_user { roles::USER } else { roles::ASSISTANT }.to_owned(),
        text: if is_user { html::to_text_with_lines(content).trim().to_owned() } else { html::to_text(content) },
        content_type: "text".into(),
        times: Times { created: time.and_then(Timestamp::parse), ..Times::default() },
        pointer: format!("@{}", row.offset),
        verbatim: Some(Verbatim { media_type: "text/html".into(), text: row.html }),
        ..Turn::default()
    })
}

/// Returns the value of an attribute in a start tag. Only double quotes are recognised, because browsers write no
/// others.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let value = tag.split_once(name)?.1.strip_prefix("=\"")?;
    value.split('"').next().filter(|value| !value.is_empty())
}

/// Returns the HTML of an element without its buttons, such as the button "Copy" above code.
fn without_buttons(html: &str) -> String {
    let mut parts = html.split("<button");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("</button>").map_or("", |(_, after)| after))
}
