//! Reads a page on which each message is an element that names its speaker: a page of an assistant that a browser
//! saved, or a page that an exporter wrote. Nothing is guessed: an element that does not name a speaker is not a
//! message.
use super::platform::platform_of_link;
use crate::transfer_text::names_only_speaker;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, beginning};
use mementory_formats_shared::html;
use mementory_formats_shared::message::send;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_formats_shared::text_head::{may_be_page, page_text, text_head};
use mementory_formats_shared::values::block;
use mementory_model::{Issue, Verbatim};

/// Number of bytes that detection reads. The styles of a saved page come before its messages.
const PAGE_BYTES: usize = 4 << 20;
/// Attributes whose value is the role of the speaker.
const ROLE_ATTRIBUTES: [&str; 7] = [
    "data-message-author-role",
    "data-message-role",
    "data-author-role",
    "data-author",
    "data-role",
    "data-turn",
    "data-message-type",
];
/// Attributes and classes whose value is the name of an element in the program.
const NAME_ATTRIBUTES: [&str; 4] = ["data-testid", "data-test-id", "data-content", "class"];
/// Beginning of a class that only names an element, for the styles of the elements inside it.
const GROUP: &str = "group/";
/// Values of a role attribute, by the role that they mean. The name of a product means the assistant.
const ROLES: [(&str, &[&str]); 2] = [
    (USER, &["user", "human"]),
    (
        ASSISTANT,
        &[
            "assistant",
            "ai",
            "bot",
            "model",
            "chatgpt",
            "claude",
            "gemini",
            "copilot",
            "grok",
            "deepseek",
            "mistral",
            "perplexity",
        ],
    ),
];
/// Names that programs give to the elements of messages, by the role of the speaker.
const NAMES: [(&str, &[&str]); 2] = [
    (USER, &["user-query", "segment-user", "chat-user", "qwen-chat-message-user", "fai-UserMessage"]),
    (
        ASSISTANT,
        &[
            "model-response",
            "response-container",
            "segment-assistant",
            "chat-assistant",
            "qwen-chat-message-assistant",
            "fai-CopilotMessage",
            "font-claude-response",
            "font-claude-message",
        ],
    ),
];
/// Words that mean a message if a role is next to them in the name of an element: `user-message`, or the classes `msg`
/// and `user`.
const MESSAGE_WORDS: [&str; 4] = ["message", "msg", "turn", "bubble"];
/// Words that the name of a message's element may contain besides a role and the [`MESSAGE_WORDS`], as in
/// `chat-message-user`. A name with any other word is ignored.
const NEUTRAL_WORDS: [&str; 2] = ["chat", "conversation"];
/// Class of a message on DeepSeek's page, which does not name the speaker, and a class inside the assistant's messages.
const DEEPSEEK_MESSAGE: &str = "ds-message";
const DEEPSEEK_ANSWER: &str = "ds-markdown";
/// Class of the model's thoughts on DeepSeek's page.
const THOUGHTS: [&str; 1] = ["ds-think-content"];
/// Texts before and after the address of a page: in the comment of a browser that saved the page, and in tags of its
/// head.
const ADDRESSES: [(&str, &str); 3] =
    [("<!-- saved from url=(", ")"), ("rel=\"canonical\"", "href=\""), ("property=\"og:url\"", "content=\"")];
/// Elements inside a message that the program added, and classes of text that only screen readers read.
const ADDED_ELEMENTS: [&str; 6] = ["button", "svg", "mat-icon", "style", "script", "form"];
const ADDED_CLASSES: [&str; 3] = ["sr-only", "cdk-visually-hidden", "visually-hidden"];
/// Elements whose content is not markup.
const RAW_ELEMENTS: [&str; 5] = ["script", "style", "template", "textarea", "noscript"];
/// Elements that have no end tag.
const VOID_ELEMENTS: [&str; 7] = ["input", "img", "br", "hr", "meta", "link", "source"];

/// A start tag.
struct Tag<'t> {
    name: &'t str,
    attributes: &'t str,
    start: usize,
    end: usize,
}

/// The first start tag at or after a position that is markup: not in a script, a style or a comment.
fn next_markup(page: &str, from: usize) -> Option<Tag<'_>> {
    let mut at = from;
    loop {
        let tag = next_tag(page, at)?;
        let before = page.get(at..tag.start)?;
        if let Some((_, inside)) = before.rsplit_once("<!--")
            && !inside.contains("-->")
        {
            at = tag.end + page.get(tag.end..)?.find("-->")?;
        } else if RAW_ELEMENTS.contains(&tag.name) {
            at = tag.end + page.get(tag.end..)?.find(&format!("</{}", tag.name))?;
        } else {
            return Some(tag);
        }
    }
}

/// The first start tag at or after a position.
fn next_tag(page: &str, from: usize) -> Option<Tag<'_>> {
    let mut at = from;
    loop {
        let start = at + memchr::memchr(b'<', page.as_bytes().get(at..)?)?;
        at = start + 1;
        let rest = page.get(at..)?;
        let name_length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let (name, after_name) = rest.split_at_checked(name_length)?;
        let mut quote = None;
        let length = after_name.bytes().position(|byte| {
            match quote {
                Some(open) if byte == open => quote = None,
                None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                _ => {}
            }
            quote.is_none() && byte == b'>'
        })?;
        return Some(Tag { name, attributes: after_name.get(..length)?, start, end: at + name_length + length + 1 });
    }
}

impl Tag<'_> {
    /// The value of an attribute.
    fn attribute(&self, name: &str) -> Option<&str> {
        let mut at = 0;
        loop {
            let found = at + memchr::memmem::find(self.attributes.as_bytes().get(at..)?, name.as_bytes())?;
            at = found + name.len();
            let is_name = self.attributes.get(..found)?.ends_with(|c: char| c.is_ascii_whitespace());
            let Some(value) = self.attributes.get(at..)?.strip_prefix('=').filter(|_| is_name) else { continue };
            return match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value.get(1..)?.split(quote).next(),
                _ => value.split_ascii_whitespace().next(),
            };
        }
    }

    fn has_class(&self, classes: &[&str]) -> bool {
        self.attribute("class").is_some_and(|words| words.split_ascii_whitespace().any(|word| classes.contains(&word)))
    }

    /// The role that the element states.
    fn role(&self) -> Option<&'static str> {
        if VOID_ELEMENTS.contains(&self.name) {
            return None;
        }
        let role_of_word = |table: &[(&'static str, &[&str]); 2], word: &str| {
            table.iter().find(|(_, words)| words.contains(&word)).map(|(role, _)| *role)
        };
        let stated_role = ROLE_ATTRIBUTES.iter().find_map(|name| role_of_word(&ROLES, self.attribute(name)?));
        let by_type = || role_of_word(&ROLES, self.attribute("type").filter(|_| self.name.ends_with("-message"))?);
        let by_name = |names: &str| {
            let words = || names.split_ascii_whitespace().map(|word| word.strip_prefix(GROUP).unwrap_or(word));
            words().find_map(|word| role_of_word(&NAMES, word)).or_else(|| {
                let is_part = |part: &&str| role_of_word(&ROLES, part).is_some() || MESSAGE_WORDS.contains(part);
                let is_known =
                    |word: &&str| name_parts(word).all(|part| is_part(&part) || NEUTRAL_WORDS.contains(&part));
                let known_parts = || words().filter(is_known).flat_map(name_parts);
                let role = known_parts().find_map(|part| role_of_word(&ROLES, part));
                role.filter(|_| known_parts().any(|part| MESSAGE_WORDS.contains(&part)))
            })
        };
        let mut names = NAME_ATTRIBUTES.iter().filter_map(|name| self.attribute(name));
        stated_role.or_else(by_type).or_else(|| by_name(self.name)).or_else(|| names.find_map(by_name))
    }

    /// The role that the element states, or that its content shows.
    fn role_in(&self, page: &str) -> Option<&'static str> {
        self.role().or_else(|| {
            let rest = page.get(self.start..).filter(|_| self.has_class(&[DEEPSEEK_MESSAGE]))?;
            let element = html::element_end(rest, self.name).and_then(|end| rest.get(..end)).unwrap_or(rest);
            Some(if element.contains(DEEPSEEK_ANSWER) { ASSISTANT } else { USER })
        })
    }
}

/// True for a line that is only a name of this role.
fn is_role_name(line: &str, role: &str) -> bool {
    let name = line.trim().to_lowercase();
    ROLES.iter().any(|(known, words)| *known == role && words.contains(&name.as_str()))
}

/// The words of a name such as `msg-user` or `message--assistant`.
fn name_parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['-', '_']).filter(|part| !part.is_empty())
}

/// True for a page with a message of the person and a message of the assistant.
pub(super) fn is_page(catalog: &Catalog, member: &Member) -> bool {
    if !may_be_page(catalog, member) {
        return false;
    }
    let page = text_head(catalog, member, PAGE_BYTES).unwrap_or_default();
    let may_have = |role: usize| {
        let mut words = [ROLES.get(role), NAMES.get(role)].into_iter().flatten().flat_map(|(_, words)| words.iter());
        words.any(|word| memchr::memmem::find(page.as_bytes(), word.as_bytes()).is_some())
    };
    if (!may_have(0) || !may_have(1)) && !page.contains(DEEPSEEK_ANSWER) {
        return false;
    }
    let (mut at, mut has_user, mut has_assistant) = (0, false, false);
    while let Some(tag) = next_markup(&page, at) {
        at = tag.end;
        match tag.role_in(&page) {
            Some(USER) => has_user = true,
            Some(_) => has_assistant = true,
            None => {}
        }
        if has_user && has_assistant {
            return true;
        }
    }
    false
}

/// Sends the messages of a page as a conversation. The whole page is in memory. A message inside another one is read as
/// part of the outer message.
pub(super) fn read(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let bytes = files.catalog.bytes(member, files.context.limits.element_bytes)?;
    let page = page_text(&bytes);
    let title = page.split_once("<title").and_then(|(_, rest)| rest.split_once('>')).map(|(_, rest)| rest);
    let title = title.and_then(|rest| rest.split_once("</title")).map(|(words, _)| html::to_text(words));
    let mut chat = Chat { title: title.filter(|words| !words.trim().is_empty()), is_log: true, ..Chat::default() };
    let mut at = 0;
    while let Some(tag) = next_markup(&page, at) {
        at = tag.end;
        let Some(role) = tag.role_in(&page) else { continue };
        let rest = page.get(tag.start..).unwrap_or_default();
        let end = html::element_end(rest, tag.name);
        if end.is_none() {
            let place = format!("{}#@{}", member.place, tag.start);
            let text = "the page ends inside this message; what is there was read";
            files.sink.note(Issue::new("truncated", place, text));
        }
        let element = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        at = tag.start + element.len();
        let (answer, thoughts) = deepseek_answer(element);
        let text = html::to_text(&without_added_elements(if answer.is_empty() { element } else { &answer }));
        // A page may show the name of the speaker above each message.
        let text = match text.trim().split_once('\n') {
            Some((first, rest)) if names_only_speaker(first) || is_role_name(first, role) => rest,
            _ => &text,
        };
        if text.trim().is_empty() {
            continue;
        }
        let mut turn = Turn {
            role: role.into(),
            text: text.trim().to_owned(),
            content_type: "text".into(),
            pointer: format!("@{}", tag.start),
            verbatim: Some(Verbatim { media_type: "text/html".into(), text: element.to_owned() }),
            ..Turn::default()
        };
        if !thoughts.is_empty() {
            let thoughts = block("thinking", None, html::to_text(&without_added_elements(&thoughts)));
            turn.fields.insert("blocks".into(), vec![thoughts].into());
        }
        chat.turns.push(turn);
    }
    chat.key = Some(format!("page/{}", content_id(&beginning(&chat.turns))));
    chat.pointer = chat.turns.first().map(|turn| turn.pointer.clone()).unwrap_or_default();
    send(files, member, chat, platform(&page), Some("marked_page"))
}

/// The assistant from whose website the page was saved, if the page says so.
fn platform(page: &str) -> &'static str {
    let mut links = ADDRESSES.iter().filter_map(|(before, after)| {
        let (_, rest) = page.split_once(before)?;
        rest.split_once(after)?.1.split(['"', '\'', ' ', '>']).next()
    });
    links.find_map(platform_of_link).unwrap_or("other")
}

/// The answer and the thoughts in an element of DeepSeek's page, without the words of the page around them.
fn deepseek_answer(element: &str) -> (String, String) {
    let (mut answer, mut thoughts, mut at) = (String::new(), String::new(), 0);
    while let Some(tag) = next_tag(element, at) {
        at = tag.end;
        let out = match tag.has_class(&THOUGHTS) {
            true => &mut thoughts,
            false if tag.has_class(&[DEEPSEEK_ANSWER]) => &mut answer,
            false => continue,
        };
        let rest = element.get(tag.start..).unwrap_or_default();
        let part = html::element_end(rest, tag.name).and_then(|end| rest.get(..end)).unwrap_or(rest);
        out.push_str(part);
        at = tag.start + part.len();
    }
    (answer, thoughts)
}

/// Returns an element without the buttons, icons and other elements that the program added to it.
fn without_added_elements(element: &str) -> String {
    let mut out = String::with_capacity(element.len());
    let (mut at, mut copied_to) = (0, 0);
    while let Some(tag) = next_tag(element, at) {
        at = tag.end;
        let is_added = ADDED_ELEMENTS.contains(&tag.name) || tag.has_class(&ADDED_CLASSES);
        if tag.start == 0 || !is_added || VOID_ELEMENTS.contains(&tag.name) {
            continue;
        }
        out.push_str(element.get(copied_to..tag.start).unwrap_or_default());
        let rest = element.get(tag.start..).unwrap_or_default();
        at = html::element_end(rest, tag.name).map_or(element.len(), |end| tag.start + end);
        copied_to = at;
    }
    out.push_str(element.get(copied_to..).unwrap_or_default());
    out
}
