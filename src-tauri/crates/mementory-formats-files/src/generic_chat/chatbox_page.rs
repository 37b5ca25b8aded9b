//! Reads a session that Chatbox exported as a page. Below the title are its threads, each with a numbered heading and an
//! element for each message; the first line of a message is its role.
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::html::{self, RowKind};
use mementory_formats_shared::message::send;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::roles::{self, SYSTEM, TOOL};
use mementory_formats_shared::text_head::{may_be_page, page_text, text_head};
use mementory_model::{Issue, Verbatim};

const PLATFORM: &str = "chatbox";
/// Number of bytes that detection reads. The first message begins soon after the head of the page.
const HEAD_BYTES: usize = 16 << 10;
/// The element that contains all threads, the element of a message, and the heading of a thread.
const THREADS: RowKind = RowKind { name: "div", class: "prose-sm" };
const MESSAGE: RowKind = RowKind { name: "div", class: "mb-4" };
const HEADING: RowKind = RowKind { name: "h2", class: "" };

/// True for a page that Chatbox exported.
pub(super) fn is_page(catalog: &Catalog, member: &Member) -> bool {
    if !may_be_page(catalog, member) {
        return false;
    }
    let head = text_head(catalog, member, HEAD_BYTES).unwrap_or_default();
    let threads = html::find_element(&head, 0, THREADS).filter(|_| head.contains("https://chatboxai.app"));
    threads.is_some_and(|tag| html::find_element(&head, tag.end, HEADING).is_some())
}

/// Sends each thread with messages as a conversation. The whole page is in memory, because its pictures are embedded in
/// it.
pub(super) fn read(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let bytes = files.catalog.bytes(member, files.context.limits.element_bytes)?;
    let page = page_text(&bytes);
    let words = page.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let session = words.map(|(words, _)| html::to_text(words)).filter(|words| !words.trim().is_empty());
    let mut threads: Vec<Chat> = Vec::new();
    let mut at = html::find_element(&page, 0, THREADS).map_or(0, |tag| tag.end);
    loop {
        let (heading, message) = (html::find_element(&page, at, HEADING), html::find_element(&page, at, MESSAGE));
        let is_before = |other: &std::ops::Range<usize>| message.as_ref().is_none_or(|tag| other.start < tag.start);
        if let Some(tag) = heading.filter(is_before) {
            let end = page.get(tag.end..).and_then(|rest| rest.find("</h2>")).map_or(page.len(), |end| tag.end + end);
            threads.push(Chat { title: thread_name(page.get(tag.end..end)), is_log: true, ..Chat::default() });
            at = end;
            continue;
        }
        let Some(tag) = message else { break };
        let rest = page.get(tag.start..).unwrap_or_default();
        let end = html::element_end(rest, MESSAGE.name);
        if end.is_none() {
            let place = format!("{}#@{}", member.place, tag.start);
            let text = "the page ends inside this message; what is there was read";
            files.sink.note(Issue::new("truncated", place, text));
        }
        let element = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        if threads.is_empty() {
            threads.push(Chat { is_log: true, ..Chat::default() });
        }
        if let Some(thread) = threads.last_mut() {
            thread.turns.push(turn(files, member, element, tag.start)?);
        }
        at = tag.start + element.len();
    }
    threads.retain(|thread| !thread.turns.is_empty());
    if let [only] = threads.as_mut_slice() {
        only.title = session.or(only.title.take());
    }
    for mut thread in threads {
        thread.pointer = thread.turns.first().map(|turn| turn.pointer.clone()).unwrap_or_default();
        send(files, member, thread, PLATFORM, Some("chatbox"))?;
    }
    Ok(())
}

/// The name in a heading, without its number.
fn thread_name(heading: Option<&str>) -> Option<String> {
    let text = html::to_text(heading?);
    let text = text.trim();
    let name = text.split_once(". ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    Some(name.map_or(text, |(_, name)| name).to_owned()).filter(|name| !name.is_empty())
}

/// Reads a message from its element, which begins at byte `start` of the page. The pictures in it become files.
fn turn(files: &mut FileReader<'_>, member: &Member, element: &str, start: usize) -> Result<Turn, FormatError> {
    let (first, body) = element.split_once("</p>").unwrap_or((element, ""));
    let mut content = AgentContent { text: html::to_text(body).trim().to_owned(), ..AgentContent::default() };
    for address in html::pictures(body) {
        if !content.push_data_url(&address) {
            // A `data:` address contains the picture itself. If its data is damaged, the block shows no address.
            let place = if address.starts_with("data:") { "" } else { address.as_str() };
            content.push_block("image", Some("image"), place);
        }
    }
    files.store_files(member, &mut content)?;
    let role = roles::role_or_name(&html::to_text(first));
    let mut turn = Turn {
        pointer: format!("@{start}"),
        verbatim: Some(Verbatim { media_type: "text/html".into(), text: element.to_owned() }),
        ..Turn::default()
    };
    content.fill(&mut turn);
    turn.hidden = matches!(role.as_str(), SYSTEM | TOOL);
    turn.content_type = if role == SYSTEM { "context" } else { "text" }.into();
    turn.role = role;
    Ok(turn)
}
